//! The ways in which a call fails, and texts made safe to show.

use std::borrow::Cow;
use std::fmt;

use anchord_memory::Revision;
use anchord_memory::defuse::defuse_answer;
use anchord_memory::limits::ANSWER_CHARS_MAX;

use super::input::CallersNames;
use crate::project::WriteError;
use crate::sessions::BindError;

/// The ways in which a call fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// An error that the caller can fix. Becomes a result with `isError`.
    #[error("{0}")]
    Caller(Mistake),
    /// The memory is damaged or has a newer format, and can only be read; the text names the
    /// remedy. An agent gets it like an error of its own; a command has a separate exit code for
    /// it.
    #[error("{0}")]
    Damaged(String),
    /// A fault in anchord. Becomes a protocol error with an id that is also in the log.
    #[error("{0}")]
    Internal(String),
}

/// A mistake of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The operation, such as `failed to note` or the tool's name; empty if the reason says it.
    what: Cow<'static, str>,
    /// The reason, and what to do about it.
    pub(super) why: String,
    /// Whether it names a value that cannot be meant. A command has a separate exit code for it.
    pub(crate) is_usage: bool,
}

impl Mistake {
    /// Creates a mistake of which the text says all.
    pub(super) fn of(text: String) -> Self {
        Self { what: Cow::Borrowed(""), why: text, is_usage: false }
    }

    /// Returns the text of an error that snap-memory would throw: `Error: topic is too long`. A
    /// text that says all stays as it is.
    pub(super) fn as_thrown(&self) -> String {
        if self.what.is_empty() { self.why.clone() } else { format!("Error: {}", self.why) }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.what.is_empty() {
            return f.write_str(&self.why);
        }
        write!(f, "{}: {}", self.what, self.why)
    }
}

impl ToolError {
    /// Creates an error that the caller can fix. The text says what failed.
    pub(crate) fn caller(text: impl Into<String>) -> Self {
        Self::Caller(Mistake::of(text.into()))
    }

    /// Creates an error that the caller can fix: `failed to note: content is missing`.
    pub(crate) fn failed(operation: &str, why: impl fmt::Display) -> Self {
        let what = Cow::Owned(format!("failed to {operation}"));
        Self::Caller(Mistake { what, why: why.to_string(), is_usage: false })
    }

    /// Creates an error for a revision that does not exist yet.
    pub(super) fn no_revision(operation: &str, missing: Revision, newest: Revision) -> Self {
        let what = Cow::Owned(format!("failed to {operation}"));
        let why = format!("there is no revision {}; the newest is {}", missing.0, newest.0);
        Self::Caller(Mistake { what, why, is_usage: true })
    }

    /// Creates an error for parameters that a tool cannot read.
    pub(super) fn unreadable(tool: &'static str, why: impl fmt::Display) -> Self {
        let (what, why) = (Cow::Borrowed(tool), why.to_string());
        Self::Caller(Mistake { what, why, is_usage: false })
    }

    /// Names a refused field as the caller does.
    pub(super) fn reworded(self, names: &CallersNames) -> Self {
        match self {
            Self::Caller(Mistake { what, why, is_usage }) if !what.is_empty() => {
                Self::Caller(Mistake { what, why: names.reword(&why), is_usage })
            }
            error => error,
        }
    }

    /// Makes the text of an error safe to show to a model.
    pub(super) fn defused(self) -> Self {
        match self {
            Self::Caller(Mistake { what, why, is_usage }) => {
                Self::Caller(Mistake { what, why: defused(why), is_usage })
            }
            Self::Damaged(text) => Self::Damaged(defused(text)),
            Self::Internal(text) => Self::Internal(defused(text)),
        }
    }
}

impl From<WriteError> for ToolError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Unreadable(_) | WriteError::Internal => Self::Internal(error.to_string()),
            WriteError::NotSaved(why) if why.is_damage() => Self::Damaged(why.to_string()),
            WriteError::Refused(_)
            | WriteError::Busy
            | WriteError::NotSaved(_)
            | WriteError::Closed
            | WriteError::Stale => Self::caller(error.to_string()),
        }
    }
}

impl From<BindError> for ToolError {
    fn from(error: BindError) -> Self {
        match error {
            BindError::Write(error) => error.into(),
            BindError::Store(ref why) if why.is_damage() => Self::Damaged(error.to_string()),
            BindError::NotAProject(_)
            | BindError::Unreadable(_)
            | BindError::Foreign
            | BindError::Hangs(_)
            | BindError::NotJoined(_)
            | BindError::Unknown(_)
            | BindError::Store(_) => Self::caller(error.to_string()),
        }
    }
}

/// Makes a text safe to show to a model, within the limit of an answer.
pub(super) fn defused(text: String) -> String {
    match defuse_answer(&text, ANSWER_CHARS_MAX) {
        Cow::Owned(safe) => safe,
        Cow::Borrowed(_) => text,
    }
}
