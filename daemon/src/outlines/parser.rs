//! Parses files in a process of its own, `anchord parse-outline`.
//!
//! The grammars are C code, and the text may be anyone's. A crash, or a text that takes too long,
//! ends that process alone. Its memory is returned when it ends.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use anchord_outline::{Language, Outline};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::limits::{OUTLINE_BYTES_MAX, OUTLINE_TIME_MAX, OUTLINES_AT_ONCE_MAX};

/// The command that parses. Its argument is the language, its input the text.
const COMMAND: &str = "parse-outline";

/// The reason why a file was not parsed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParseError {
    /// The process did not start, or could not be talked to.
    #[error("the parser did not start: {0}")]
    Io(#[from] std::io::Error),
    /// It took too long, or waited too long for its turn.
    #[error("it took longer than {} s", OUTLINE_TIME_MAX.as_secs())]
    TooSlow,
    /// The process failed.
    #[error("the parser ended with {0}")]
    Failed(ExitStatus),
    /// Its answer is not an outline.
    #[error("the parser's answer cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// The parser.
#[derive(Debug)]
pub(crate) struct Parser {
    program: Program,
    turns: Semaphore,
}

#[derive(Debug)]
enum Program {
    /// The program `anchord`.
    Anchord(PathBuf),
    /// The function that the program would call.
    #[cfg(test)]
    InProcess,
}

impl Parser {
    /// Creates the parser that starts this program again. An update may have replaced its file.
    pub(crate) fn of_this_program() -> Self {
        let running = PathBuf::from("/proc/self/exe");
        let program = if running.exists() {
            running
        } else {
            std::env::current_exe().unwrap_or_else(|_| PathBuf::from("anchord"))
        };
        Self::new(Program::Anchord(program))
    }

    /// Creates the parser of tests whose program is not `anchord`.
    #[cfg(test)]
    pub(crate) fn in_process() -> Self {
        Self::new(Program::InProcess)
    }

    /// Creates the parser that starts another program.
    #[cfg(test)]
    pub(super) fn of_program(program: &str) -> Self {
        Self::new(Program::Anchord(program.into()))
    }

    fn new(program: Program) -> Self {
        Self { program, turns: Semaphore::new(OUTLINES_AT_ONCE_MAX) }
    }

    /// Parses a text.
    pub(super) async fn parse(
        &self,
        language: &'static Language,
        text: &str,
    ) -> Result<Outline, ParseError> {
        let parsing = async {
            let _turn = self.turns.acquire().await;
            match &self.program {
                Program::Anchord(program) => run(program, language, text).await,
                #[cfg(test)]
                Program::InProcess => Ok(anchord_outline::parse(language, text)),
            }
        };
        let in_time = tokio::time::timeout(OUTLINE_TIME_MAX, parsing).await;
        in_time.unwrap_or(Err(ParseError::TooSlow))
    }
}

/// Runs the process. It is killed when this future is dropped.
async fn run(program: &PathBuf, language: &Language, text: &str) -> Result<Outline, ParseError> {
    let mut child = Command::new(program)
        .args([COMMAND, language.id])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let writing = async {
        if let Some(mut input) = input {
            // A process that ends early says by its status why.
            let _ = input.write_all(text.as_bytes()).await;
        }
    };
    let reading = async {
        let mut answer = Vec::new();
        if let Some(output) = output {
            output.take(OUTLINE_BYTES_MAX).read_to_end(&mut answer).await?;
        }
        Ok::<_, std::io::Error>(answer)
    };
    let ((), answer, status) = tokio::join!(writing, reading, child.wait());
    let status = status?;
    if !status.success() {
        return Err(ParseError::Failed(status));
    }
    Ok(serde_json::from_slice(&answer?)?)
}

#[cfg(test)]
mod tests;
