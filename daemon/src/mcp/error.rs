//! The ways in which a call fails, and texts made safe to show.

use std::borrow::Cow;

use anchord_memory::defuse::defuse_answer;
use anchord_memory::limits::ANSWER_CHARS_MAX;

use crate::project::WriteError;
use crate::sessions::BindError;

/// The ways in which a call fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// An error that the caller can fix; the text says how. Becomes a result with `isError`.
    #[error("{0}")]
    Caller(String),
    /// The memory is damaged or has a newer format, and can only be read; the text names the
    /// remedy. An agent gets it like an error of its own; a command has a separate exit code for
    /// it.
    #[error("{0}")]
    Damaged(String),
    /// A fault in anchord. Becomes a protocol error with an id that is also in the log.
    #[error("{0}")]
    Internal(String),
}

impl ToolError {
    /// Makes the text of an error safe to show to a model.
    pub(super) fn defused(self) -> Self {
        match self {
            Self::Caller(text) => Self::Caller(defused(text)),
            Self::Damaged(text) => Self::Damaged(defused(text)),
            Self::Internal(text) => Self::Internal(defused(text)),
        }
    }
}

impl From<WriteError> for ToolError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Unreadable(_) | WriteError::Internal => Self::Internal(error.to_string()),
            WriteError::Refused(text) => Self::Caller(text),
            WriteError::NotSaved(why) if why.is_damage() => Self::Damaged(why.to_string()),
            WriteError::Busy | WriteError::NotSaved(_) | WriteError::Closed | WriteError::Stale => {
                Self::Caller(error.to_string())
            }
        }
    }
}

impl From<BindError> for ToolError {
    fn from(error: BindError) -> Self {
        match error {
            BindError::Write(error) => error.into(),
            BindError::NotAProject(_) | BindError::Unreadable(_) => {
                Self::Caller(format!("failed to {error}"))
            }
            BindError::Store(ref why) if why.is_damage() => Self::Damaged(error.to_string()),
            BindError::Foreign
            | BindError::Hangs(_)
            | BindError::Unknown(_)
            | BindError::Store(_) => Self::Caller(error.to_string()),
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
