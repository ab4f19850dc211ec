//! Bars that show how far a long command is.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Returns a bar of this length on a terminal, and elsewhere one that shows nothing.
pub(crate) fn bar(length: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
