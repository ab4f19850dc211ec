//! What a daemon tells the one who started it: one line on its stdout, which it then closes.
//!
//! It is started as `anchord daemon --detach`, with stderr on `/dev/null`, in `/`, with an environment of
//! [`PASSED_VARIABLES`] and what begins with [`PASSED_PREFIX`]. Its stdin is the file
//! [`starting`](crate::instance::InstanceDir::starting) with its lock, which it closes with stdout: the lock is held for as
//! long as the start lasts, whatever becomes of the starter, and ends with a daemon that dies.

use std::fmt;

/// The arguments of the program that start a daemon.
pub const ARGUMENTS: [&str; 2] = ["daemon", "--detach"];

/// The variables that a daemon is started with, where they are set.
pub const PASSED_VARIABLES: [&str; 5] = ["HOME", "USER", "PATH", "LANG", "TMPDIR"];

/// Variables that begin like this are passed, too.
pub const PASSED_PREFIX: &str = "ANCHORD_";

/// How a start ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The daemon accepts connections.
    Ready,
    /// Another daemon has the lock and either accepts connections or will soon.
    Running,
    /// There is no daemon, and why.
    Failed(String),
}

impl Report {
    /// Reads a line without its newline; `None` if it is no report.
    pub fn parse(line: &str) -> Option<Self> {
        match line {
            "ready" => Some(Self::Ready),
            "running" => Some(Self::Running),
            _ => line.strip_prefix("failed: ").map(|reason| Self::Failed(reason.to_owned())),
        }
    }
}

/// The line, without its newline. Line breaks in a reason become spaces.
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
