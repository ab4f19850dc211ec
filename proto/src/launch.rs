//! The report of a starting daemon to the process that started it: one line on its stdout, which it
//! then closes.
//!
//! The daemon is started as `anchord daemon --detach`, with stderr on `/dev/null`, in `/`. Its
//! environment is [`PASSED_VARIABLES`] and the variables that begin with [`PASSED_PREFIX`]. Its
//! stdin is the file [`starting`](crate::instance::InstanceDir::starting) with its lock, which it
//! closes with stdout. So the lock is held for as long as the start lasts, even if the starter
//! dies, and is released if the daemon dies.

use std::fmt;

/// The program's arguments that start a daemon.
pub const ARGUMENTS: [&str; 2] = ["daemon", "--detach"];

/// The variables that a daemon is started with, if they are set.
pub const PASSED_VARIABLES: [&str; 5] = ["HOME", "USER", "PATH", "LANG", "TMPDIR"];

/// The prefix of further variables that are passed.
pub const PASSED_PREFIX: &str = "ANCHORD_";

/// The outcome of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The daemon accepts connections.
    Ready,
    /// Another daemon has the lock, and accepts connections now or soon.
    Running,
    /// There is no daemon, for this reason.
    Failed(String),
}

impl Report {
    /// Reads a line without its newline. Returns `None` if it is not a report.
    pub fn parse(line: &str) -> Option<Self> {
        match line {
            "ready" => Some(Self::Ready),
            "running" => Some(Self::Running),
            _ => line.strip_prefix("failed: ").map(|reason| Self::Failed(reason.to_owned())),
        }
    }
}

/// Writes the line, without its newline. Line breaks in a reason become spaces.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Running => f.write_str("running"),
            Self::Failed(reason) => write!(f, "failed: {}", reason.replace(['\r', '\n'], " ")),
        }
    }
}

#[cfg(test)]
mod tests;
