//! Asks for history and prints it, coloured by the styles that its words have.

use std::io::Write;

use anchord_daemon::api::ToolReply;
use anchord_memory::render::{self, Style, StyledLine};
use anchord_memory::{Audience, HistoryView, RecordId, Shell};
use owo_colors::OwoColorize;
use serde_json::Value;

use crate::commands::print_json;
use crate::exit::Error;
use crate::pager::paged;
use crate::show;
use crate::tool::{Caller, older_daemon, typed};

/// Parses the number of a commit.
pub(crate) fn revision(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        if let Ok(id) = text.parse::<RecordId>() {
            let history = person().command(&["history", &id.to_string()]);
            return format!("this is a record; {history} lists its versions");
        }
        format!("give the number of a commit, as {} shows it", person().command(&["history"]))
    })
}

/// Calls a tool about history, and returns its answer as data. A remark goes to standard error,
/// beside data that may be piped.
pub(crate) fn ask(
    caller: &mut Caller,
    tool: &str,
    arguments: Value,
) -> Result<(HistoryView, ToolReply), Error> {
    let mut reply = caller.call(tool, arguments)?;
    if let Some(remark) = &reply.remark {
        anstream::eprintln!("{}", show::plain_lines(remark));
    }
    let view = reply.history.take().ok_or_else(older_daemon)?;
    Ok((view, reply))
}

/// Returns the person at this shell, as the reader of what is printed.
pub(crate) fn person() -> Audience {
    Audience::Person(Shell { typed: typed() })
}

/// Calls a tool about history and prints its answer, as JSON or with a pager.
pub(crate) fn answer(
    out: &mut dyn Write,
    memory: String,
    tool: &str,
    arguments: Value,
    json: bool,
) -> Result<(), Error> {
    let (view, _) = ask(&mut Caller::new(memory)?, tool, arguments)?;
    if json {
        return print_json(out, &view);
    }
    paged(out, |out| print(out, &view))
}

/// Prints an answer.
pub(crate) fn print(out: &mut dyn Write, view: &HistoryView) -> Result<(), Error> {
    print_lines(out, &render::history(view, &person()))
}

/// Prints lines in the colours of their styles.
pub(crate) fn print_lines(out: &mut dyn Write, lines: &[StyledLine]) -> Result<(), Error> {
    for StyledLine { style, text } in lines {
        let text = show::plain(text);
        match style {
            Style::Plain => writeln!(out, "{text}")?,
            Style::Head => writeln!(out, "{}", text.bold())?,
            Style::Faint => writeln!(out, "{}", text.dimmed())?,
            Style::Added => writeln!(out, "{}", text.green())?,
            Style::Removed => writeln!(out, "{}", text.red())?,
            Style::Warning => writeln!(out, "{}", text.yellow())?,
        }
    }
    Ok(())
}
