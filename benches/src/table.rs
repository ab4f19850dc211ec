//! The table that is printed, a row per number.

use std::fmt;

/// A number, the floor below it, and what was promised.
pub(crate) struct Row {
    /// What was measured.
    pub what: String,
    /// The number with its unit.
    pub measured: String,
    /// What the same machine needs for the least that could be done.
    pub floor: String,
    /// The promise, if there is one.
    pub target: &'static str,
}

/// The two lines above the rows.
pub(crate) fn head() -> &'static str {
    "| what | measured | floor in the same run | target |\n| --- | --- | --- | --- |"
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| {} | {} | {} | {} |", self.what, self.measured, self.floor, self.target)
    }
}
