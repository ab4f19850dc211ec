//! Finds the line of a command's output that identifies its error.
//!
//! Tools print an error among progress, stack frames and advice. Each line is ranked by its form,
//! and the best one identifies the failure. Among equals, the first counts for errors that cascade
//! (compilers). The last counts for errors that wrap others (exceptions with causes). Then
//! [`ErrorLine::normalised`] replaces the parts that differ between two runs, so that the same
//! error compares equal.

mod generic;
mod normal;
mod rank;

use crate::fold::{clip, one_line};
use crate::limits::{
    ERROR_LINE_CHARS_MAX, ERROR_LINE_CHARS_MIN, ERROR_TEXT_CHARS_MAX, FAILURE_LINES_MAX,
};
pub(crate) use generic::{CODES, GENERIC};
pub(crate) use normal::normalised;
use rank::{Rank, is_bare_failure, ranked};

/// An error, as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorLine {
    /// The line as it was printed, without colours, positions and frames around it.
    pub text: String,
    /// Whether it is a compiler's or linter's complaint about the code.
    pub is_diagnostic: bool,
    /// The name of the file that a diagnostic is about, without directories.
    pub file: Option<String>,
}

impl ErrorLine {
    /// Returns the line without the parts that differ between two runs of the same command.
    pub fn normalised(&self) -> String {
        normalised(&self.text)
    }
}

/// Finds the line that identifies the error. Returns `None` if no line does.
pub fn error_line(output: &str) -> Option<ErrorLine> {
    let line = error_lines(output, 1).into_iter().next()?;
    Some(ErrorLine { text: clip(&line.text, ERROR_LINE_CHARS_MAX), ..line })
}

/// Finds at most `lines_max` lines about the error, the identifying one first. They may be longer
/// than that of [`error_line`].
pub(crate) fn error_lines(output: &str, lines_max: usize) -> Vec<ErrorLine> {
    let lines: Vec<String> = output.lines().map(bare).collect();
    let mut found = ranked(&lines);
    found.retain(|(_, line)| line.text.chars().nth(ERROR_LINE_CHARS_MIN - 1).is_some());
    if found.is_empty() {
        found.extend(only_line(&lines));
    }
    let order = |at: usize, rank: Rank| if rank.takes_last() { usize::MAX - at } else { at };
    let mut found: Vec<(Rank, usize, ErrorLine)> =
        (0..).zip(found).map(|(at, (rank, line))| (rank, order(at, rank), line)).collect();
    found.sort_by(|(one, first, _), (other, second, _)| other.cmp(one).then(first.cmp(second)));
    // A count, or the status of another program, adds nothing to a better line.
    let best = found.first().map(|(rank, ..)| *rank);
    found.retain(|(rank, ..)| Some(*rank) == best || rank.is_telling());
    found.truncate(lines_max);
    let clipped =
        |line: ErrorLine| ErrorLine { text: clip(&line.text, ERROR_TEXT_CHARS_MAX), ..line };
    found.into_iter().map(|(_, _, line)| clipped(line)).collect()
}

/// Returns whether an output unmistakably ends in an error, for clients that do not report how a
/// command ended. A word such as "error" somewhere is not a sign of one.
pub(crate) fn shows_failure(output: &str) -> bool {
    let lines: Vec<String> = output.lines().map(bare).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(FAILURE_LINES_MAX);
    let end = lines.get(from..).unwrap_or_default();
    let succeeded = end.last().is_some_and(|last| rank::is_success(last));
    !succeeded
        && (end.iter().any(|line| is_bare_failure(line) || line.starts_with("error: "))
            || ranked(end).iter().any(|(rank, _)| rank.is_unmistakable()))
}

/// Returns the line of an output that has only one, status lines aside.
fn only_line(lines: &[String]) -> Option<(Rank, ErrorLine)> {
    let mut others = lines.iter().filter(|line| !line.is_empty() && !rank::says_status(line));
    let (only, more) = (others.next()?, others.next());
    let fits = more.is_none() && only.chars().nth(ERROR_LINE_CHARS_MIN - 1).is_some();
    fits.then(|| (Rank::Word, ErrorLine::plain(only)))
}

impl ErrorLine {
    fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), is_diagnostic: false, file: None }
    }
}

/// Removes colours, the frames that some tools draw, leading times and surplus blanks.
fn bare(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.by_ref().find(char::is_ascii_alphabetic);
            }
            // Text after a carriage return overwrites a line of progress.
            '\r' => plain.clear(),
            '\u{1b}' | '│' | '╷' | '╵' | '┃' => {}
            c => plain.push(c),
        }
    }
    let indent = plain.chars().take_while(|c| c.is_whitespace()).count();
    let line = normal::without_time(one_line(&plain).as_str()).to_owned();
    // Indentation distinguishes causes from frames and details.
    if indent == 0 || line.is_empty() {
        line
    } else {
        format!("{}{line}", " ".repeat(indent.min(8)))
    }
}

#[cfg(test)]
mod tests;
