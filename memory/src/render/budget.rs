//! Renders a budget in one line. Also says which budgets are nearly used up, since that changes how
//! records are shown.

use crate::record::Record;
use crate::settings::Budget;

/// Budgets that are nearly used up. Records under such a budget are shown by their summaries, if
/// they have any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tight {
    /// Whether the budget of the project's shared notes is tight.
    pub project: bool,
    /// Whether the budget of the reader's private notes is tight.
    pub own: bool,
}

impl Tight {
    /// Whether the budget that bounds a record is tight.
    pub fn is(&self, record: &Record) -> bool {
        if record.owner().is_some() { self.own } else { self.project }
    }
}

/// Renders `Budget: 12345/100000 tokens (12.3%), 40 notes`.
pub fn budget(used: u64, notes: u64, budget: &Budget) -> String {
    let noun = if notes == 1 { "note" } else { "notes" };
    format!(
        "Budget: {used}/{} tokens ({}%), {notes} {noun}",
        budget.tokens,
        percent(used, budget.tokens)
    )
}

/// Renders a share of a budget with one decimal, `12.3`.
pub fn percent(used: u64, tokens: u32) -> String {
    let tokens = u64::from(tokens).max(1);
    let tenths = (used.saturating_mul(1000) + tokens / 2) / tokens;
    format!("{}.{}", tenths / 10, tenths % 10)
}
