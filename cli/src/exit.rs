//! Failures, and the table that maps them to exit codes.

use std::fmt;
use std::io;

use anchord_agents::setup::ProgramsError;
use anchord_daemon::api::{ErrorCode, ErrorReply};
use anchord_memory::Audience;

use crate::history::person;

/// The end of `anchord --help`: examples, and the exit codes, which the README has in a line.
pub const AFTER_HELP: &str = "\
Examples:
  anchord setup
  anchord load
  anchord search 'flaky test'
  anchord doctor

Exit codes:
  0  done
  1  failed; the message says why. Also a search that finds nothing
  2  wrong usage: unknown value, missing --yes
  3  no daemon: none is running, none could be started, or the one that runs does not answer
  4  refused: by the daemon, or because the two versions cannot talk
  5  damaged: a journal or a store is damaged, or not every transcript could be read";

/// Kinds of failure, named after what the caller will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The reader of our output has seen enough, as in `anchord load | head`.
    ReaderGone,
    /// A general failure; the message explains it.
    Failed,
    /// The thing named is not there, or nothing is remembered for it.
    NotFound,
    /// The arguments are wrong; change them.
    Usage,
    /// No daemon runs; start one.
    NoDaemon,
    /// The daemon starts, ends, or has no room; try again in a moment.
    Passing,
    /// A listener does not answer; try again for a while. The daemon may be starting, ending or
    /// hanging.
    Silent,
    /// The daemon cannot be reached, though one may well run; find out why.
    Unreachable,
    /// The daemon refuses; do something else first, or update.
    Refused,
    /// The journal is damaged; check it.
    Damaged,
}

impl Kind {
    /// Returns the exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::Failed | Self::NotFound => 1,
            Self::Usage => 2,
            Self::NoDaemon | Self::Passing | Self::Silent | Self::Unreachable => 3,
            Self::Refused => 4,
            Self::Damaged => 5,
        }
    }
}

impl From<ErrorCode> for Kind {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::BadRequest => Self::Usage,
            ErrorCode::NotFound => Self::NotFound,
            ErrorCode::Failed | ErrorCode::Busy | ErrorCode::Internal => Self::Failed,
            ErrorCode::Refused => Self::Refused,
            ErrorCode::Damaged => Self::Damaged,
        }
    }
}

/// A command's failure: what happened and what to do.
#[derive(Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind, which decides the exit code.
    pub kind: Kind,
    /// A lower-case fragment that fits after "error: ".
    pub message: String,
    /// The next step as a sentence; `None` if there is nothing to do.
    pub action: Option<String>,
}

impl Error {
    /// Creates a failure of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), action: None }
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// Adds a further step or remark, on a line of its own.
    #[must_use]
    pub fn and_action(self, more: &str) -> Self {
        let action = self.action.as_ref().map(|action| format!("{action}\n  {more}"));
        self.with_action(action.unwrap_or_else(|| more.to_owned()))
    }

    /// Creates a failure without a kind of its own.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// Creates a failure for wrong arguments.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(action) = &self.action {
            write!(f, "\n  {action}")?;
        }
        Ok(())
    }
}

impl From<ErrorReply> for Error {
    fn from(reply: ErrorReply) -> Self {
        let action = reply.action.map(|action| naming_memory(action, &person()));
        Self { kind: reply.code.into(), message: reply.error, action }
    }
}

/// Adds the options that name the memory to commands in the daemon's advice. The daemon does not
/// know how a command named it.
fn naming_memory(advice: String, person: &Audience) -> String {
    ["verify", "repair"].into_iter().fold(advice, |advice, what| {
        let named = person.command(&["journal", what]);
        advice.replace(&format!("`anchord journal {what}`"), &named)
    })
}

impl From<ProgramsError> for Error {
    fn from(error: ProgramsError) -> Self {
        match error {
            ProgramsError::Unknown(_) => Self::failed(error.to_string()),
            ProgramsError::InBuildFolder(_) => Self::usage(error.to_string()).with_action(
                "Run `cargo install --path cli` and set up with the installed anchord.",
            ),
            ProgramsError::NotUtf8(_) => Self::usage(error.to_string()),
        }
    }
}

/// Errors of output. All other errors carry a context and come through `anyhow`.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(Kind::ReaderGone, "the output was closed");
        }
        Self::failed(format!("cannot write the output: {error}"))
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Self::failed(format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests;
