//! A pager for long output, as git has one. Output that is not a terminal gets the text as it is.

use std::io::{IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use anstream::{AutoStream, ColorChoice, StripStream};

use crate::exit::Error;
use crate::terminal::Terminal;

/// Runs `write` with a pager in place of `out`, if standard output is a terminal. The pager is
/// $PAGER, or else `less`. An empty $PAGER or `cat` means no pager.
pub(crate) fn paged(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    let stdout = std::io::stdout();
    let command = std::env::var("PAGER").ok();
    let pager = wanted(command.as_deref(), stdout.is_terminal()).and_then(start);
    let Some(mut pager) = pager else { return write(out) };
    let Some(stdin) = pager.stdin.take() else { return write(out) };
    let written = if AutoStream::choice(&stdout) == ColorChoice::Never {
        let stdin: Box<dyn Write> = Box::new(stdin);
        into(Terminal::new(StripStream::new(stdin)), write)
    } else {
        into(Terminal::new(stdin), write)
    };
    // Its input is closed now, so it ends when its reader has seen enough.
    let _ = pager.wait();
    written
}

fn into(
    mut pager: impl Write,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    write(&mut pager)?;
    Ok(pager.flush()?)
}

/// Returns the pager's command, if there should be a pager.
fn wanted(pager: Option<&str>, is_terminal: bool) -> Option<&str> {
    let pager = pager.unwrap_or("less").trim();
    (is_terminal && !pager.is_empty() && pager != "cat").then_some(pager)
}

/// Variables of pagers with the values they get, unless one of the names is set.
const DEFAULTS: [(&[&str], &str); 3] = [
    // As git does: leave at once if all fits on a screen, pass colours on, keep the screen.
    (&["LESS"], "FRX"),
    (&["LV"], "-c"),
    // The text is UTF-8 in every locale. In another one less shows its bytes.
    (&["LESSCHARSET", "LESSCHARDEF"], "utf-8"),
];

/// Starts the pager. Returns `None` if it cannot run; the text is then printed.
fn start(pager: &str) -> Option<Child> {
    prepared(pager, |name| std::env::var_os(name).is_some())?.spawn().ok()
}

fn prepared(pager: &str, is_set: impl Fn(&str) -> bool) -> Option<Command> {
    // A shell would start even if the pager does not exist.
    let mut words = shlex::split(pager)?.into_iter();
    let mut command = Command::new(words.next()?);
    command.args(words).stdin(Stdio::piped());
    for (names, value) in DEFAULTS {
        if !names.iter().any(|name| is_set(name)) {
            command.envs(names.first().map(|name| (name, value)));
        }
    }
    Some(command)
}

#[cfg(test)]
mod tests;
