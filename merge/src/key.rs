//! Reads API keys, from a file that only its owner can read or from a command. An agent's
//! environment is never a source.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anchord_daemon::config::KeySource;

use crate::limits::{KEY_BYTES_MAX, KEY_COMMAND_TIME_MAX};

/// The reason why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("read the key file {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// Others can read the file, or it belongs to another user.
    #[error(
        "use the key file {}: its mode is {mode:o}, and only you may read it: chmod 600 {}",
        file.display(),
        file.display()
    )]
    Exposed {
        /// The file.
        file: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file belongs to another user.
    #[error("use the key file {}: it belongs to another user", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// The command cannot be run, failed, or took too long.
    #[error("get the key from `{command}`: {reason}")]
    Command {
        /// The command, as configured.
        command: String,
        /// The reason.
        reason: String,
    },
    /// The key is empty, too long, or more than one line.
    #[error("use the key from {origin}: {reason}")]
    Unusable {
        /// The file or command.
        origin: String,
        /// The reason.
        reason: &'static str,
    },
}

/// Reads a key; `None` if the provider needs none.
///
/// # Errors
/// Fails if others can read the file, or if the command fails or takes more than ten seconds. Fails
/// too if the result is not one word.
pub fn read(source: &KeySource) -> Result<Option<String>, KeyError> {
    match source {
        KeySource::None => Ok(None),
        KeySource::File(file) => from_file(file).map(Some),
        KeySource::Command(command) => from_command(command).map(Some),
    }
}

fn from_file(file: &Path) -> Result<String, KeyError> {
    let unreadable = |source| KeyError::Unreadable { file: file.to_owned(), source };
    let mut opened = File::open(file).map_err(unreadable)?;
    let metadata = opened.metadata().map_err(unreadable)?;
    if metadata.uid() != rustix::process::getuid().as_raw() {
        return Err(KeyError::Foreign { file: file.to_owned() });
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Exposed { file: file.to_owned(), mode });
    }
    let text = bounded(&mut opened).map_err(unreadable)?;
    usable(text, || file.display().to_string())
}

fn from_command(command: &str) -> Result<String, KeyError> {
    let failed = |reason: String| KeyError::Command { command: command.to_owned(), reason };
    let words = shlex::split(command).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else {
        return Err(failed("it is not a command line".to_owned()));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let stdout = child.stdout.take();
    let reader = std::thread::spawn(move || stdout.map(|mut pipe| bounded(&mut pipe)));
    let status = wait(&mut child).map_err(failed)?;
    let text = match reader.join() {
        Ok(Some(read)) => read.map_err(|error| failed(error.to_string()))?,
        Ok(None) | Err(_) => return Err(failed("its output cannot be read".to_owned())),
    };
    if !status.success() {
        return Err(failed(format!("it ended with {status}")));
    }
    usable(text, || format!("`{command}`"))
}

/// Waits for a child to end; ends it after the time limit.
fn wait(child: &mut Child) -> Result<std::process::ExitStatus, String> {
    let mut waited = Duration::ZERO;
    while waited < KEY_COMMAND_TIME_MAX {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    let seconds = KEY_COMMAND_TIME_MAX.as_secs();
    Err(match child.kill().and_then(|()| child.wait()) {
        Ok(_) => format!("it took more than {seconds} s"),
        Err(error) => format!("it took more than {seconds} s and goes on: {error}"),
    })
}

/// The time between two looks at a command.
const STEP: Duration = Duration::from_millis(10);

/// Reads at most one byte more than a key may have.
fn bounded(from: &mut impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(KEY_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

fn usable(text: String, origin: impl Fn() -> String) -> Result<String, KeyError> {
    let unusable = |reason| Err(KeyError::Unusable { origin: origin(), reason });
    if text.len() > KEY_BYTES_MAX {
        return unusable("it is longer than any key");
    }
    let key = text.trim();
    if key.is_empty() {
        return unusable("it is empty");
    }
    if !key.chars().all(|c| c.is_ascii_graphic()) {
        return unusable("it is not one word of plain characters");
    }
    Ok(key.to_owned())
}
