//! Asks before something is removed.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Context;

use crate::exit::Error;
use crate::show::plain_lines;

/// Returns whether the user agrees. `yes` is an answer given beforehand. Fails without it if there
/// is no terminal to ask on.
pub(crate) fn confirmed(question: &str, yes: bool) -> Result<bool, Error> {
    if yes { Ok(true) } else { asked(question) }
}

/// Asks the user, and returns whether they agree. Fails if there is no terminal to ask on.
pub(crate) fn asked(question: &str) -> Result<bool, Error> {
    if !can_ask() {
        return Err(Error::usage("there is no terminal to ask on")
            .with_action("Add --yes to do it without being asked."));
    }
    let mut terminal = io::stderr();
    write!(terminal, "{} [y/N] ", plain_lines(question))?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
    Ok(agrees(&answer))
}

/// Returns whether there is a terminal to ask on.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn agrees(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests;
