//! Connects to the daemon: finds or starts it, says hello, and reads the welcome.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anchord_proto::hello::{Answer, Hello, RefusalCode, Role, Welcome};
use anchord_proto::instance::InstanceDir;
use anchord_proto::launch::Report;
use anchord_proto::limits::{
    BACKOFF_FIRST_MS, BACKOFF_MAX_MS, DRAIN_DEADLINE_MS, HELLO_BYTES_MAX, SILENT_STARTS_MAX,
    WELCOME_DEADLINE_MS, millis,
};
use anchord_proto::line::{LineRead, LineSplitter};
use anchord_proto::socket::{self, ConnectError};

use crate::start::{Launcher, StartError, Starting};

/// Advice where there is nothing better.
const SEE_MORE: &str = "run `anchord daemon` in a terminal to see more";

/// The remedy where a person removed anchord.
const SET_UP_AGAIN: &str = "`anchord setup` brings it back";

/// The error if only more time is needed.
const STARTS_YET: &str =
    "a daemon is starting and does not answer yet; the disk may be busy: try again in a moment";

/// A search for a daemon: the hello, the means and the limits.
#[derive(Clone, Debug)]
pub struct Search {
    /// The daemon's directory, or the error that explains why there is none.
    pub dir: Result<InstanceDir, String>,
    /// The hello, which is line 1.
    pub hello: Hello,
    /// Lines that are sent with the hello, before its answer. A daemon that answers late has them.
    pub opening: Vec<u8>,
    /// The launcher that starts a daemon; `None` to only wait for one.
    pub launcher: Option<Launcher>,
    /// The longest time to try. It starts again when a daemon may first be started.
    pub patience: Duration,
    /// Whether a daemon may be started now. It may become true during the search;
    /// [`thread::Thread::unpark`] makes the search notice at once.
    pub may_start: Arc<AtomicBool>,
}

/// A connection that the daemon has welcomed.
#[derive(Debug)]
pub struct Connection {
    /// The socket, which blocks and has no deadlines.
    pub stream: UnixStream,
    /// The daemon's welcome.
    pub welcome: Welcome,
    /// Bytes that came after the welcome, so far.
    pub rest: Vec<u8>,
}

/// A failed attempt to connect.
struct Failed {
    next: Next,
    reason: String,
}

/// The remedy for a failed attempt.
enum Next {
    Start,
    Replace,
    TryAgain,
    Nothing,
}

impl Search {
    /// Searches until a daemon welcomes this shim. It reports a failed start at once, repeats one
    /// that ends silently, and waits for one that continues. Meanwhile it takes any daemon that
    /// listens, whoever started it.
    ///
    /// # Errors
    /// The error is for people: what is wrong, and if the daemon gave advice, what to do.
    pub fn run(&self) -> Result<Connection, String> {
        let dir = self.dir.as_ref().map_err(Clone::clone)?;
        let mut may_start = self.may_start.load(Ordering::Relaxed);
        let mut begin = Instant::now();
        let mut pause = millis(BACKOFF_FIRST_MS);
        let mut replaced = false;
        let mut starting: Option<Starting> = None;
        let mut start_failed: Option<String> = None;
        let mut silent_starts = 0;
        loop {
            let until = begin + self.patience;
            let Failed { next, reason } = match attempt(dir, &self.hello, &self.opening, until) {
                Ok(connection) => return Ok(connection),
                Err(failed) => failed,
            };
            match next {
                Next::TryAgain => {}
                Next::Replace if !replaced => {
                    replaced = true;
                    self.replace(dir, until);
                }
                Next::Nothing | Next::Replace => return Err(reason),
                Next::Start => {
                    // If the start failed because another daemon was quicker, the attempt after it
                    // succeeds and does not end here.
                    if let Some(reason) = start_failed {
                        return Err(reason);
                    }
                    if starting.is_none()
                        && may_start
                        && let Some(launcher) = &self.launcher
                    {
                        match launcher.start(dir, begin) {
                            Ok(begun) => starting = begun,
                            Err(error @ StartError::Removed) => {
                                return Err(format!("{error}; {SET_UP_AGAIN}"));
                            }
                            Err(error) => {
                                start_failed = Some(format!("{error}; {SEE_MORE}"));
                                continue;
                            }
                        }
                    }
                }
            }
            let now = Instant::now();
            if !may_start && self.may_start.load(Ordering::Relaxed) {
                (may_start, begin) = (true, now);
                continue;
            }
            if now >= until {
                return Err(if starting.is_some() { STARTS_YET.to_owned() } else { reason });
            }
            let limit = pause.min(until - now);
            pause = (pause * 2).min(millis(BACKOFF_MAX_MS));
            let Some(begun) = &mut starting else {
                thread::park_timeout(limit);
                continue;
            };
            let Some(report) = begun.report_within(limit) else { continue };
            starting = None;
            match report {
                Ok(Report::Ready) => {}
                Ok(Report::Running) => thread::park_timeout(limit),
                // A daemon that was killed while it started gave no reason, and the next one may
                // live. A program that always ends like this is not tried for ever.
                Err(StartError::Silent) if silent_starts < SILENT_STARTS_MAX => {
                    silent_starts += 1;
                    thread::park_timeout(limit);
                }
                Ok(Report::Failed(reason)) => {
                    start_failed = Some(format!("{reason}; {SEE_MORE}"));
                }
                Err(error) => start_failed = Some(format!("{error}; {SEE_MORE}")),
            }
        }
    }

    /// Asks a daemon that is too old to make room, and waits until it has. The next attempt shows
    /// whether it did.
    fn replace(&self, dir: &InstanceDir, until: Instant) {
        let hello = Hello { role: Role::Replace, resume: None, ..self.hello.clone() };
        let Ok(mut connection) = attempt(dir, &hello, &[], until) else {
            return;
        };
        let left = until.saturating_duration_since(Instant::now());
        let patience = left.clamp(millis(BACKOFF_MAX_MS), millis(DRAIN_DEADLINE_MS));
        if connection.stream.set_read_timeout(Some(patience)).is_ok() {
            let mut rest = [0; 64];
            while connection.stream.read(&mut rest).is_ok_and(|length| length > 0) {}
        }
    }
}

/// Connects and says hello once. Waits for the answer until `until`, since repeated hellos would
/// queue up at a daemon that listens but does not answer yet. It takes the last one that it reads
/// for the shim's newest.
fn attempt(
    dir: &InstanceDir,
    hello: &Hello,
    opening: &[u8],
    until: Instant,
) -> Result<Connection, Failed> {
    let deadline = until.saturating_duration_since(Instant::now()).max(millis(BACKOFF_MAX_MS));
    let stream =
        socket::connect(dir, deadline.min(millis(WELCOME_DEADLINE_MS))).map_err(|error| {
            Failed {
                reason: match &error {
                    ConnectError::NoDaemon(_) => format!("{error}; {SEE_MORE}"),
                    error => error.to_string(),
                },
                next: match error {
                    ConnectError::NoDaemon(_) => Next::Start,
                    ConnectError::Io(_) => Next::TryAgain,
                    ConnectError::Instance(_) | ConnectError::Peer(_) => Next::Nothing,
                },
            }
        })?;
    let (answer, rest) = say_hello(&stream, hello, opening, deadline).map_err(|reason| Failed {
        reason: format!(
            "the daemon did not answer: {reason}; `anchord doctor` says which process it is"
        ),
        next: Next::TryAgain,
    })?;
    match answer {
        Answer::Welcome(welcome) => Ok(Connection { stream, welcome, rest }),
        Answer::Refused(refused) => Err(Failed {
            reason: refused.to_string(),
            next: match refused.code {
                RefusalCode::TooOld => Next::Replace,
                RefusalCode::Busy | RefusalCode::Draining | RefusalCode::NotReady => Next::TryAgain,
                RefusalCode::TooNew
                | RefusalCode::BadHello
                | RefusalCode::NotYours
                | RefusalCode::Other => Next::Nothing,
            },
        }),
    }
}

/// Writes the hello (line 1) and `opening`. Returns the answer (line 2) and the bytes that came
/// with it. Leaves the stream blocking and without deadlines.
///
/// A daemon that refuses answers the hello alone and closes, perhaps before everything was sent.
/// Its answer is still read. After a welcome everything must have been sent.
pub fn say_hello(
    mut stream: &UnixStream,
    hello: &Hello,
    opening: &[u8],
    deadline: Duration,
) -> io::Result<(Answer, Vec<u8>)> {
    let until = Instant::now() + deadline;
    let mut line = serde_json::to_vec(hello).map_err(|_| io::ErrorKind::InvalidInput)?;
    line.push(b'\n');
    line.extend_from_slice(opening);
    stream.set_write_timeout(Some(deadline))?;
    let cut = match stream.write_all(&line) {
        Err(reason) if is_closed(&reason) => Some(reason),
        sent => sent.map(|()| None)?,
    };

    let mut answer = LineSplitter::new(HELLO_BYTES_MAX);
    let mut buffer = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let length = match stream.read(&mut buffer) {
            Ok(0) => return Err(cut.unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into())),
            Ok(length) => length,
            // The deadline is checked above.
            Err(reason) if is_passing(&reason) => continue,
            Err(reason) => return Err(reason),
        };
        let mut piece = buffer.get(..length).unwrap_or_default();
        match answer.take(&mut piece) {
            None => {}
            Some(LineRead::Line) => {
                stream.set_read_timeout(None)?;
                stream.set_write_timeout(None)?;
                let answer = serde_json::from_slice(answer.line());
                let answer = answer.map_err(|_| io::ErrorKind::InvalidData)?;
                return match (answer, cut) {
                    (Answer::Welcome(_), Some(reason)) => Err(reason),
                    (answer, _) => Ok((answer, piece.to_vec())),
                };
            }
            Some(LineRead::TooLong(_) | LineRead::End) => {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}

/// Whether the other side reads no more.
fn is_closed(reason: &io::Error) -> bool {
    matches!(reason.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

fn is_passing(reason: &io::Error) -> bool {
    matches!(reason.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests;
