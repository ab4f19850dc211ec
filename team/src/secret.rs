//! The source of a password, which is read again for each connection.
//!
//! A password stays in memory only while a connection is made. It is in no message.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::error::Error;
use crate::limits::{SECRET_BYTES_MAX, SECRET_COMMAND_TIME_MAX};

/// The source of the password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secret {
    /// The server asks for none, as with peer authentication.
    #[default]
    None,
    /// The first line of a file. It belongs to this user, and no other user has access. Or it
    /// belongs to root, as secrets that are mounted in a container do, and its group may read it.
    File(PathBuf),
    /// The first line that `sh -c` prints for a command. It has 10 s.
    Command(String),
}

/// A password. Its debug output hides it.
pub(crate) struct Password(Vec<u8>);

impl Password {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password(…)")
    }
}

impl Secret {
    /// Reads the password.
    pub(crate) async fn read(&self) -> Result<Option<Password>, Error> {
        match self {
            Self::None => Ok(None),
            Self::File(path) => {
                let path = path.clone();
                let read = tokio::task::spawn_blocking(move || from_file(&path)).await;
                read.map_err(|_| Error::Secret("the read was interrupted".to_owned()))?.map(Some)
            }
            Self::Command(line) => from_command(line, SECRET_COMMAND_TIME_MAX).await.map(Some),
        }
    }
}

fn from_file(path: &Path) -> Result<Password, Error> {
    let failed = |what: &str| Error::Secret(format!("{}: {what}", path.display()));
    // A FIFO would block until somebody writes to it.
    let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let flags = i32::try_from(flags).map_err(|_| failed("cannot be opened"))?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| failed(&format!("{error}; {}", action(error.kind()))))?;
    // Metadata of the open file, so that nobody exchanges the file in between.
    let meta = file.metadata().map_err(|error| failed(&error.to_string()))?;
    if !meta.is_file() {
        return Err(failed("it is not a regular file"));
    }
    check_access(meta.uid(), meta.mode(), geteuid().as_raw()).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(SECRET_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(&error.to_string()))?;
    first_line(bytes).ok_or_else(|| failed("its first line is empty or too long"))
}

/// Returns the user's way out when the file cannot be opened.
fn action(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied => {
            "give it to the user of the daemon with mode 600, or to root and a group of that user's \
             with mode 440"
        }
        _ => "put the password into it, readable for its owner alone",
    }
}

/// Refuses a file that others may read or change, by the rule that libpq has for keys. Root reads
/// every file in any case, and gives a mounted secret to the group that it chooses.
fn check_access(owner: u32, mode: u32, user: u32) -> Result<(), &'static str> {
    const ROOT: u32 = 0;
    match owner {
        ROOT if mode & 0o137 != 0 => {
            Err("others than root and its group have access to it; give it mode 440 or 600")
        }
        ROOT => Ok(()),
        _ if owner != user => Err("it belongs to another user; chown it"),
        _ if mode & 0o177 != 0 => {
            Err("other users have access to it, or it can be run; chmod it to 600")
        }
        _ => Ok(()),
    }
}

async fn from_command(line: &str, limit: Duration) -> Result<Password, Error> {
    let failed = |what: &str| Error::Secret(format!("the password command {what}"));
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).stdin(Stdio::null()).stdout(Stdio::piped());
    // Its complaints may contain the password.
    command.stderr(Stdio::null()).process_group(0).kill_on_drop(true);
    let child = command.spawn().map_err(|error| failed(&format!("does not start: {error}")))?;
    let mut group = Group(child);
    let mut stdout = group.0.stdout.take().ok_or_else(|| failed("has no output"))?;
    let run = async {
        let mut bytes = Vec::new();
        let read = (&mut stdout).take(SECRET_BYTES_MAX).read_to_end(&mut bytes).await;
        read.map_err(|error| failed(&format!("cannot be read: {error}")))?;
        drop(stdout);
        let status = group.0.wait().await;
        let status = status.map_err(|error| failed(&format!("cannot be awaited: {error}")))?;
        if status.success() { Ok(bytes) } else { Err(failed(&format!("failed: {status}"))) }
    };
    let ended = tokio::time::timeout(limit, run).await;
    let bytes = ended.map_err(|_| failed("takes too long"))??;
    first_line(bytes).ok_or_else(|| failed("prints an empty first line, or one that is too long"))
}

/// A shell and the processes that it has started. They end with it.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let pid = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended in between, which is what is wanted.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

fn first_line(bytes: Vec<u8>) -> Option<Password> {
    let is_whole = (bytes.len() as u64) < SECRET_BYTES_MAX || bytes.contains(&b'\n');
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    (is_whole && !line.is_empty()).then(|| Password(line.to_vec()))
}

#[cfg(test)]
mod tests;
