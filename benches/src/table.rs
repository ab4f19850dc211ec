//! The printed table, with one row for each number.

use std::fmt;

/// A number, its floor, and its target.
pub(crate) struct Row {
    /// A description of the measurement.
    pub what: String,
    /// The number with its unit.
    pub measured: String,
    /// The least that this machine needs for such work.
    pub floor: String,
    /// The target, if there is one.
    pub target: &'static str,
}

/// Returns the table's header.
pub(crate) fn head() -> &'static str {
    "| what | measured | floor in the same run | target |\n| --- | --- | --- | --- |"
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| {} | {} | {} | {} |", self.what, self.measured, self.floor, self.target)
    }
}
