//! The pipe: forwards lines between the agent and the daemon, and survives the daemon's death.
//!
//! One thread owns everything and waits in one `poll` for stdin, stdout, the socket, signals and
//! the parent. A search for a daemon blocks, so it has a thread of its own. No write blocks, so a
//! signal is always noticed at once. Nothing grows without bound:
//! - The ledger limits unanswered requests. Requests beyond its limit are answered "busy".
//! - While an agent does not read its answers, the daemon's stay in the socket. A daemon that
//!   cannot write delays only its own session.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anchord_proto::hello::{Hello, Resume, Role};
use anchord_proto::limits::{
    ALONE_MS, BACKOFF_MAX_MS, LINE_BYTES_MAX, PARENT_POLL_MS, RETRY_PAUSE_MS, STDIN_END_GRACE_MS,
    TURN_POLL_MS, millis,
};
use anchord_proto::line::{LineRead, LineSplitter};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::hang_check::{self, HangCheck};
use crate::ledger::{Ledger, Reply};
use crate::link::{Connection, Search};
use crate::message::{self, FromAgent, FromDaemon, Id, Problem};
use crate::outbox::Outbox;
use crate::turn::Turn;
use crate::watch::Parent;

/// The most bytes that one read takes.
const READ_BYTES: usize = 16 * 1024;

/// The descriptors on both sides of a pipe, and the signals that end it.
#[derive(Debug)]
pub(crate) struct Ends<'a> {
    pub(crate) stdin: BorrowedFd<'a>,
    pub(crate) stdout: BorrowedFd<'a>,
    /// A descriptor that becomes readable to end the pipe at once.
    pub(crate) stop: BorrowedFd<'a>,
    pub(crate) parent: Parent,
}

/// Runs until stdin ends, `stop` is readable, or the parent or the reader of stdout is gone. Adds
/// the token that resumes a connection to the hello of `search`.
pub(crate) fn run(ends: &Ends<'_>, search: Search, turn: Turn) -> io::Result<()> {
    let (wake, waker) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    waker.set_nonblocking(true)?;
    let mut pipe = Pipe {
        ends,
        search,
        turn,
        ledger: Ledger::default(),
        stdin: LineSplitter::new(LINE_BYTES_MAX),
        stdout: Outbox::default(),
        link: Link::Down(None),
        wake,
        waker: Arc::new(waker),
        token: None,
        alone_until: None,
        waits_for_turn: false,
        end_at: None,
        hang_check: HangCheck::new(Instant::now()),
    };
    pipe.seek(true, Duration::ZERO, pipe.search.patience);
    pipe.run()
}

struct Pipe<'a> {
    ends: &'a Ends<'a>,
    search: Search,
    turn: Turn,
    ledger: Ledger,
    stdin: LineSplitter,
    stdout: Outbox,
    link: Link,
    wake: UnixStream,
    waker: Arc<UnixStream>,
    token: Option<String>,
    /// The time until which the request in flight alone stays alone.
    alone_until: Option<Instant>,
    waits_for_turn: bool,
    /// The latest time to end, set when stdin has ended.
    end_at: Option<Instant>,
    hang_check: HangCheck,
}

type SearchResult = Result<Connection, String>;

enum Link {
    /// No search runs; the last one may have failed.
    Down(Option<Failure>),
    /// Requests that were in flight at a death wait for the turn, at least until `until`.
    Waiting {
        since: Instant,
        until: Instant,
    },
    Looking {
        may_start: Arc<AtomicBool>,
        search: JoinHandle<SearchResult>,
    },
    Up(Box<Open>),
}

struct Failure {
    at: Instant,
    reason: String,
}

struct Open {
    stream: UnixStream,
    input: LineSplitter,
    output: Outbox,
    since: Instant,
}

/// A guard that writes a byte when the search ends, even by a panic.
struct WakeWhenDone(Arc<UnixStream>);

impl Drop for WakeWhenDone {
    fn drop(&mut self) {
        // Fails if the pipe has ended meanwhile and nobody waits.
        let _ = rustix::io::write(&*self.0, &[0]);
    }
}

/// The reason that the pipe ends before stdin does.
enum Leave {
    Told,
    Errno(Errno),
}

impl From<Errno> for Leave {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

/// A result of `poll`.
#[derive(Clone, Copy, Debug)]
enum Event {
    Leave,
    Woken,
    Socket,
    /// The daemon has answered the hello that checks whether it runs.
    HangCheck,
    Stdin,
    /// The next round writes.
    Stdout,
}

impl Pipe<'_> {
    fn run(&mut self) -> io::Result<()> {
        let result = loop {
            match self.turn_around() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(leave) => break Err(leave),
            }
        };
        match result {
            Ok(()) => {
                for failed in self.ledger.fail_all() {
                    self.answer(Problem::Ended, Some(&failed.id));
                }
                // Only what the agent takes now; it gets no more time.
                Ok(self.stdout.write_to_blocking(self.ends.stdout)?)
            }
            // The agent is gone, or has told us to end.
            Err(Leave::Told | Leave::Errno(Errno::PIPE)) => Ok(()),
            Err(Leave::Errno(errno)) => Err(errno.into()),
        }
    }

    /// Sends, waits and receives once. Returns false at the end.
    fn turn_around(&mut self) -> Result<bool, Leave> {
        self.look_in_turn(Instant::now());
        self.send(Instant::now());
        self.stdout.write_to_blocking(self.ends.stdout)?;
        if self.is_done(Instant::now()) {
            return Ok(false);
        }
        let events = self.wait(Instant::now())?;
        let now = Instant::now();
        if self.ends.parent.is_gone() {
            return Err(Leave::Told);
        }
        if self.alone_until.is_some_and(|until| until <= now) {
            self.ledger.let_go();
            self.alone_until = None;
        }
        for event in events {
            match event {
                Event::Leave => return Err(Leave::Told),
                Event::Woken => self.take_found(now),
                Event::Socket => self.read_socket(now),
                Event::HangCheck => self.daemon_runs(now),
                Event::Stdin => self.read_stdin(now)?,
                Event::Stdout => {}
            }
        }
        self.check_for_hang(now);
        Ok(true)
    }

    fn is_done(&self, now: Instant) -> bool {
        let flushed = match &self.link {
            Link::Up(open) => open.output.is_empty(),
            Link::Down(_) | Link::Waiting { .. } | Link::Looking { .. } => true,
        };
        let quiet = self.ledger.is_settled() && flushed && self.stdout.is_empty();
        self.end_at.is_some_and(|end_at| quiet || end_at <= now)
    }

    fn wait(&self, now: Instant) -> Result<Vec<Event>, Leave> {
        let mut polled = Vec::with_capacity(6);
        let mut events = Vec::with_capacity(6);
        let mut add = |descriptor, flags, event| {
            polled.push(PollFd::from_borrowed_fd(descriptor, flags));
            events.push(event);
        };
        add(self.ends.stop, PollFlags::IN, Event::Leave);
        if let Some(parent) = self.ends.parent.descriptor() {
            add(parent, PollFlags::IN, Event::Leave);
        }
        add(self.wake.as_fd(), PollFlags::IN, Event::Woken);
        if let Link::Up(open) = &self.link {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, self.stdout.len() <= LINE_BYTES_MAX);
            flags.set(PollFlags::OUT, !open.output.is_empty());
            add(open.stream.as_fd(), flags, Event::Socket);
        }
        if let Some(asked) = self.hang_check.descriptor() {
            add(asked, PollFlags::IN, Event::HangCheck);
        }
        if self.reads_stdin() {
            add(self.ends.stdin, PollFlags::IN, Event::Stdin);
        }
        if !self.stdout.is_empty() {
            add(self.ends.stdout, PollFlags::OUT, Event::Stdout);
        }
        let limit = self.next_timer(now).map(|at| at.saturating_duration_since(now));
        let limit = limit.map(Timespec::try_from).transpose().unwrap_or_default();
        match rustix::event::poll(&mut polled, limit.as_ref()) {
            Err(Errno::INTR) => return Ok(Vec::new()),
            result => result?,
        };
        let mut found = polled.iter().map(|polled| !polled.revents().is_empty());
        events.retain(|_| found.next().unwrap_or(false));
        Ok(events)
    }

    /// Returns whether to read stdin. Pauses while the agent floods us or reads no answers.
    fn reads_stdin(&self) -> bool {
        self.end_at.is_none() && self.stdout.len() <= LINE_BYTES_MAX && !self.ledger.is_flooded()
    }

    /// Returns when to wake even if nothing happens.
    fn next_timer(&self, now: Instant) -> Option<Instant> {
        let ask_parent = self.ends.parent.descriptor().is_none();
        let waits_until = match self.link {
            Link::Waiting { until, .. } => Some(until.max(now + millis(TURN_POLL_MS))),
            Link::Down(_) | Link::Looking { .. } | Link::Up(_) => None,
        };
        [
            self.end_at,
            self.alone_until,
            self.waits_for_turn.then(|| now + millis(TURN_POLL_MS)),
            waits_until,
            self.hang_check_due(),
            ask_parent.then(|| now + millis(PARENT_POLL_MS)),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Moves lines from the ledger to the connection's buffer, and from there to the socket.
    fn send(&mut self, now: Instant) {
        let Link::Up(open) = &mut self.link else {
            return;
        };
        self.waits_for_turn = false;
        while open.output.len() <= LINE_BYTES_MAX {
            if self.ledger.needs_turn() && !self.turn.take(now) {
                self.waits_for_turn = true;
                break;
            }
            if !self.ledger.write_next(open.output.end()) {
                break;
            }
        }
        if !self.ledger.is_alone() {
            self.alone_until = None;
            if !self.waits_for_turn {
                self.turn.release();
            }
        } else if self.alone_until.is_none() {
            self.alone_until = Some(now + millis(ALONE_MS));
        }
        if open.output.write_to(&open.stream).is_err() {
            self.lose(now);
        }
    }

    fn read_stdin(&mut self, now: Instant) -> Result<(), Leave> {
        let mut buffer = [0; READ_BYTES];
        let length = match rustix::io::read(self.ends.stdin, &mut buffer) {
            Err(Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(Errno::IO) => 0, // The terminal is gone.
            length => length?,
        };
        if length == 0 {
            self.end_at = Some(now + millis(STDIN_END_GRACE_MS));
            // Some agents write no final newline.
            self.take_line_of_agent(self.stdin.unfinished().to_vec(), now);
            return Ok(());
        }
        let mut piece = buffer.get(..length).unwrap_or_default();
        while let Some(found) = self.stdin.take(&mut piece) {
            match found {
                LineRead::TooLong(bytes) => {
                    let id = message::id_of_cut(self.stdin.line(), &self.stdin.end());
                    self.answer(Problem::TooLong(bytes), id.as_ref());
                }
                LineRead::Line | LineRead::End => {
                    self.take_line_of_agent(self.stdin.line().to_vec(), now);
                }
            }
        }
        Ok(())
    }

    fn take_line_of_agent(&mut self, line: Vec<u8>, now: Instant) {
        let Ok(line) = String::from_utf8(line) else {
            return self.answer(Problem::NotJson, None);
        };
        let json = line.trim_ascii();
        if json.is_empty() {
            return;
        }
        let kind = match message::from_agent(json) {
            Ok(kind) => kind,
            Err(problem) => return self.answer(problem, None),
        };
        let json = if json.len() == line.len() { line } else { json.to_owned() };
        match kind {
            FromAgent::Request(id, call) => {
                if let Link::Down(Some(failure)) = &self.link
                    && now.duration_since(failure.at) < millis(RETRY_PAUSE_MS)
                {
                    let answer = Problem::NoDaemon(&failure.reason).answer(Some(&id));
                    self.stdout.push_line(answer.as_bytes());
                } else if self.ledger.is_full_for(&json) {
                    self.answer(Problem::Busy, Some(&id));
                } else {
                    self.ledger.request(id, call, json);
                    self.want_daemon();
                }
                return;
            }
            FromAgent::Initialized => self.ledger.initialized(json),
            FromAgent::Cancelled(id) => {
                self.ledger.cancelled(&id);
                self.ledger.notification(json);
            }
            FromAgent::Other => self.ledger.notification(json),
        }
        if let Link::Down(_) = self.link {
            self.ledger.drop_notifications();
        }
    }

    fn answer(&mut self, problem: Problem<'_>, id: Option<&Id>) {
        self.stdout.push_line(problem.answer(id).as_bytes());
    }

    /// Returns when to check whether the daemon runs; `None` while it owes no answer.
    fn hang_check_due(&self) -> Option<Instant> {
        self.ledger.due().next()?;
        self.hang_check.due().or_else(|| self.hang_ends())
    }

    /// Returns when calls stop waiting for a daemon that hangs. A search has its own limit.
    fn hang_ends(&self) -> Option<Instant> {
        let is_up = matches!(self.link, Link::Up(_));
        self.hang_check.hangs_since().filter(|_| is_up).map(|since| since + self.search.patience)
    }

    /// Checks whether the daemon hangs, and reports it. Calls wait for it, but not for ever.
    fn check_for_hang(&mut self, now: Instant) {
        if self.ledger.due().next().is_none() {
            self.hang_check.runs(now);
            return;
        }
        let say_hello = || {
            let hello = Hello { role: Role::Http, resume: None, ..self.search.hello.clone() };
            match (&self.link, &self.search.dir) {
                (Link::Up(_), Ok(dir)) => hang_check::say_hello(dir, &hello),
                // A search has said hello, or starts a daemon.
                _ => None,
            }
        };
        if self.hang_check.check(now, say_hello) {
            self.report(hang_check::HANGS);
        }
        if self.hang_ends().is_some_and(|end| end <= now) {
            for id in self.ledger.lost() {
                self.answer(Problem::FailedTwice, Some(&id));
            }
            self.give_up(hang_check::HANGS.to_owned(), now);
        }
    }

    fn daemon_runs(&mut self, now: Instant) {
        if self.hang_check.runs(now) {
            crate::complain("the daemon answers again");
        }
    }

    /// Reports why calls wait to the user, and to the agent if it wants progress.
    fn report(&mut self, what: &str) {
        crate::complain(what);
        for request in self.ledger.due() {
            if let Some(line) = message::progress(request, what) {
                self.stdout.push_line(line.as_bytes());
            }
        }
    }

    fn read_socket(&mut self, now: Instant) {
        let Link::Up(open) = &self.link else {
            return;
        };
        let mut buffer = [0; READ_BYTES];
        match rustix::io::read(&open.stream, &mut buffer) {
            Ok(length) if length > 0 => {
                self.daemon_runs(now);
                self.take_bytes_of_daemon(buffer.get(..length).unwrap_or_default(), now);
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            // The connection's unfinished line is lost with it.
            Ok(_) | Err(_) => self.lose(now),
        }
    }

    fn take_bytes_of_daemon(&mut self, mut piece: &[u8], now: Instant) {
        while let Link::Up(open) = &mut self.link
            && let Some(found) = open.input.take(&mut piece)
        {
            let line = open.input.line();
            let message = match found {
                LineRead::Line => message::from_daemon(line),
                LineRead::TooLong(_) | LineRead::End => None,
            };
            let forward = match message {
                Some(FromDaemon::Reply(id, result)) => {
                    self.ledger.reply(&id, || message::revision(result)) == Reply::Forward
                }
                Some(FromDaemon::Other) => true,
                // No daemon of ours writes this. It is unclear what it answers, so all requests are
                // sent again on a new connection.
                None => return self.lose(now),
            };
            if forward {
                self.stdout.push_line(line);
            }
        }
    }

    /// Handles a lost connection: looks for another daemon, and starts one if a request waits.
    fn lose(&mut self, now: Instant) {
        let lived = match std::mem::replace(&mut self.link, Link::Down(None)) {
            Link::Up(open) => now.duration_since(open.since),
            Link::Down(_) | Link::Waiting { .. } | Link::Looking { .. } => return,
        };
        self.alone_until = None;
        self.waits_for_turn = false;
        self.turn.release();
        for id in self.ledger.lost() {
            self.answer(Problem::FailedTwice, Some(&id));
        }
        // A daemon that welcomes and leaves must not cause a tight loop.
        let pause = millis(BACKOFF_MAX_MS).saturating_sub(lived);
        if self.ledger.has_open() {
            self.link = Link::Waiting { since: now, until: now + pause };
            self.look_in_turn(now);
        } else {
            self.seek(false, pause, self.search.patience);
        }
    }

    /// Looks for a daemon once the turn is taken. An earlier connection could be to the daemon that
    /// the turn's last holder just killed, and requests sent there would die twice. If all requests
    /// were cancelled meanwhile, looks without the turn, for which others wait.
    fn look_in_turn(&mut self, now: Instant) {
        match self.link {
            Link::Waiting { until, .. } if !self.ledger.has_open() => {
                self.turn.release();
                self.seek(false, until.saturating_duration_since(now), self.search.patience);
            }
            Link::Waiting { since, until } if until <= now && self.turn.take(now) => {
                // The callers have waited for the turn, too.
                let waited = now.saturating_duration_since(since);
                self.seek(true, Duration::ZERO, self.search.patience.saturating_sub(waited));
            }
            Link::Looking { .. } if !self.ledger.has_open() => self.turn.release(),
            Link::Waiting { .. } | Link::Down(_) | Link::Looking { .. } | Link::Up(_) => {}
        }
    }

    fn want_daemon(&mut self) {
        match &self.link {
            Link::Up(_) | Link::Waiting { .. } => {}
            Link::Down(_) => self.seek(true, Duration::ZERO, self.search.patience),
            Link::Looking { may_start, search } => {
                may_start.store(true, Ordering::Relaxed);
                search.thread().unpark();
            }
        }
    }

    /// Looks for a daemon on a thread of its own. Without `may_start` it starts none: a daemon that
    /// was stopped on purpose must not return before it is needed.
    fn seek(&mut self, may_start: bool, pause: Duration, patience: Duration) {
        let may_start = Arc::new(AtomicBool::new(may_start));
        let mut search = self.search.clone();
        search.patience = patience;
        search.may_start = Arc::clone(&may_start);
        search.hello.resume = self
            .token
            .clone()
            .map(|token| Resume { token, revision: self.ledger.revision().map(str::to_owned) });
        let wake = WakeWhenDone(Arc::clone(&self.waker));
        let thread = thread::Builder::new().name("search".to_owned()).stack_size(256 * 1024);
        let spawned = thread.spawn(move || {
            let _wake = wake;
            if !pause.is_zero() {
                thread::park_timeout(pause);
            }
            search.run()
        });
        match spawned {
            Ok(search) => self.link = Link::Looking { may_start, search },
            Err(reason) => self.give_up(reason.to_string(), Instant::now()),
        }
    }

    fn take_found(&mut self, now: Instant) {
        let mut bytes = [0; 16];
        // One byte, written as the last act of the only search.
        let _ = rustix::io::read(&self.wake, &mut bytes);
        match std::mem::replace(&mut self.link, Link::Down(None)) {
            Link::Looking { search, .. } => match search.join() {
                Ok(Ok(connection)) => self.open(connection, now),
                Ok(Err(reason)) => self.give_up(reason, now),
                Err(_) => self.give_up("the search for it panicked".to_owned(), now),
            },
            link => self.link = link,
        }
    }

    fn open(&mut self, connection: Connection, now: Instant) {
        let Connection { stream, welcome, rest } = connection;
        if let Err(reason) = stream.set_nonblocking(true) {
            return self.give_up(reason.to_string(), now);
        }
        self.token = welcome.resume.or(self.token.take());
        self.link = Link::Up(Box::new(Open {
            stream,
            input: LineSplitter::new(LINE_BYTES_MAX),
            output: Outbox::default(),
            since: now,
        }));
        self.ledger.connected();
        self.daemon_runs(now);
        self.take_bytes_of_daemon(&rest, now);
    }

    /// Gives up: reports to each caller why, and whether its call may have taken effect.
    fn give_up(&mut self, reason: String, now: Instant) {
        let failed = self.ledger.fail_all();
        for request in &failed {
            let problem =
                if request.died { Problem::Stranded(&reason) } else { Problem::NoDaemon(&reason) };
            self.answer(problem, Some(&request.id));
        }
        let failure = (!failed.is_empty()).then_some(Failure { at: now, reason });
        self.link = Link::Down(failure);
        self.turn.release();
    }
}

#[cfg(test)]
mod tests;
