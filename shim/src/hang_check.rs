//! Checks whether a daemon that owes an answer still runs. It says hello on a connection of its
//! own. A running daemon answers a hello at once, even while its calls wait.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use anchord_proto::hello::Hello;
use anchord_proto::instance::InstanceDir;
use anchord_proto::limits::{BACKOFF_MAX_MS, HANG_ASK_AFTER_MS, HANG_REPLY_MS, millis};
use anchord_proto::socket;

/// The report for a user and an agent whose calls wait for a daemon that does not answer.
pub(crate) const HANGS: &str = "the daemon does not answer: it is stopped, hangs, or starts on a \
                                busy disk; `anchord doctor` names its process and says what to do";

/// The size of a buffer that holds any welcome.
const ANSWER_BYTES: usize = 4 * 1024;

/// See the module's header.
#[derive(Debug)]
pub(crate) struct HangCheck {
    /// The time when the daemon last showed that it runs, or began to owe an answer.
    seen: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The daemon runs, as far as known.
    Runs,
    /// A hello was sent at this time. There is no stream if a search sent it, or if sending failed.
    Asked(Instant, Option<UnixStream>),
    /// The hello that was sent at this time is still unanswered.
    Hangs(Instant, Option<UnixStream>),
}

impl HangCheck {
    pub(crate) fn new(now: Instant) -> Self {
        Self { seen: now, state: State::Runs }
    }

    /// Records that the daemon runs, or owes nothing. Returns whether it was known to hang.
    pub(crate) fn runs(&mut self, now: Instant) -> bool {
        self.seen = now;
        let (was_hanging, stream) = match std::mem::replace(&mut self.state, State::Runs) {
            State::Runs => (false, None),
            State::Asked(_, stream) => (false, stream),
            State::Hangs(_, stream) => (true, stream),
        };
        if let Some(mut stream) = stream {
            // Read, so that the daemon sees a clean end of the connection. The read does not block.
            let _ = stream.read(&mut [0; ANSWER_BYTES]);
        }
        was_hanging
    }

    /// Returns the connection whose first byte shows that the daemon runs.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Asked(_, stream) | State::Hangs(_, stream) => stream.as_ref().map(AsFd::as_fd),
            State::Runs => None,
        }
    }

    /// Returns when [`Self::check`] is due; `None` once the daemon is known to hang.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self.state {
            State::Runs => Some(self.seen + millis(HANG_ASK_AFTER_MS)),
            State::Asked(at, _) => Some(at + millis(HANG_REPLY_MS)),
            State::Hangs(..) => None,
        }
    }

    /// Calls `say_hello` when a hello is due. Returns true once, when the daemon is found to hang.
    pub(crate) fn check(
        &mut self,
        now: Instant,
        say_hello: impl FnOnce() -> Option<UnixStream>,
    ) -> bool {
        if self.due().is_none_or(|due| now < due) {
            return false;
        }
        match &mut self.state {
            State::Asked(at, stream) => {
                self.state = State::Hangs(*at, stream.take());
                true
            }
            State::Runs | State::Hangs(..) => {
                self.state = State::Asked(now, say_hello());
                false
            }
        }
    }

    /// Returns since when the daemon is known to hang.
    pub(crate) fn hangs_since(&self) -> Option<Instant> {
        match self.state {
            State::Hangs(since, _) => Some(since),
            State::Runs | State::Asked(..) => None,
        }
    }
}

/// Connects and writes the hello, without waiting for an answer.
pub(crate) fn say_hello(dir: &InstanceDir, hello: &Hello) -> Option<UnixStream> {
    let mut stream = socket::connect(dir, millis(BACKOFF_MAX_MS)).ok()?;
    let mut line = serde_json::to_vec(hello).ok()?;
    line.push(b'\n');
    stream.set_nonblocking(true).ok()?;
    stream.write_all(&line).ok()?;
    Some(stream)
}

#[cfg(test)]
mod tests;
