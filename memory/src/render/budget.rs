//! A budget in one line.

use crate::settings::Budget;

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
