//! A budget in one line, and what is shown differently when it is nearly used up.

use crate::record::Record;
use crate::settings::Budget;

/// Which budgets are nearly used up: what they bound is shown by its summary, where it has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tight {
    /// That of what the project shares.
    pub project: bool,
    /// That of what the reader keeps for itself.
    pub own: bool,
}

impl Tight {
    /// Whether it is so of the budget that bounds a record.
    pub fn is(&self, record: &Record) -> bool {
        if record.owner().is_some() { self.own } else { self.project }
    }
}

/// `Budget: 12345/100000 tokens (12.3%), 40 notes`.
pub fn budget(used: u64, notes: u64, budget: &Budget) -> String {
    let noun = if notes == 1 { "note" } else { "notes" };
    format!(
        "Budget: {used}/{} tokens ({}%), {notes} {noun}",
        budget.tokens,
        percent(used, budget.tokens)
    )
}

/// A share of a budget with one digit, `12.3`.
pub fn percent(used: u64, tokens: u32) -> String {
    let tokens = u64::from(tokens).max(1);
    let tenths = (used.saturating_mul(1000) + tokens / 2) / tokens;
    format!("{}.{}", tenths / 10, tenths % 10)
}
