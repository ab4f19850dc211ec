//! A daemon and an agent for this crate's tests. Both run in this process, over real descriptors.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anchord_proto::hello::{Answer, Hello, RefusalCode, Refused, Role, Welcome};
use anchord_proto::instance::InstanceDir;
use anchord_proto::launch::Report;
use anchord_proto::line::McpLine;
use anchord_proto::socket;
use rustix::event::{PollFd, PollFlags};
use uuid::Uuid;

use crate::link::Search;
use crate::pipe::{self, Ends};
use crate::start::Launcher;
use crate::turn::Turn;
use crate::watch::Parent;

/// Longer than anything here takes, so that a test that would hang fails.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// An instance directory that is removed with the test.
pub(crate) struct Instance {
    _scratch: tempfile::TempDir,
    pub(crate) dir: InstanceDir,
}

impl Instance {
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let dir = InstanceDir::named(scratch.path().join("instance"));
        dir.ensure().unwrap();
        Self { _scratch: scratch, dir }
    }

    /// Returns a search in this instance that cannot start a daemon.
    pub(crate) fn search(&self) -> Search {
        Search {
            dir: Ok(self.dir.clone()),
            hello: Hello::new(Role::Mcp, Uuid::from_u128(7), 1),
            opening: Vec::new(),
            launcher: None,
            patience: SOON,
            may_start: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Binds the daemon's socket. The test accepts the connections.
    pub(crate) fn daemon(&self) -> Daemon {
        Daemon { listener: socket::bind(&self.dir).unwrap() }
    }
}

/// A daemon whose answers the test writes.
pub(crate) struct Daemon {
    listener: UnixListener,
}

impl Daemon {
    /// Accepts a connection, reads the hello, and sends `answer`.
    pub(crate) fn answer(&self, answer: &Answer) -> (Hello, Served) {
        let (hello, mut served) = self.hear_hello();
        served.say(&serde_json::to_string(answer).unwrap());
        (hello, served)
    }

    /// Accepts a connection that its client may have left, and reads the hello.
    pub(crate) fn hear_hello(&self) -> (Hello, Served) {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let mut served = Served { lines: BufReader::new(stream.try_clone().unwrap()), stream };
        (serde_json::from_str(&served.raw_line()).unwrap(), served)
    }

    /// Returns whether a client connects within this time.
    pub(crate) fn is_asked_within(&self, limit: Duration) -> bool {
        readable_within(&self.listener, limit)
    }

    /// Accepts a connection and welcomes it.
    pub(crate) fn welcome(&self) -> (Hello, Served) {
        self.answer(&welcome("token"))
    }
}

pub(crate) fn welcome(token: &str) -> Answer {
    Answer::Welcome(Welcome {
        anchord: 1,
        build: "test".to_owned(),
        session: Some("s".to_owned()),
        resume: Some(token.to_owned()),
    })
}

pub(crate) fn refused(code: RefusalCode) -> Answer {
    Answer::Refused(Refused {
        code,
        message: "the message".to_owned(),
        action: "the action".to_owned(),
    })
}

/// The daemon's side of a connection. Dropping it leaves what a killed daemon leaves.
pub(crate) struct Served {
    lines: BufReader<UnixStream>,
    stream: UnixStream,
}

impl Served {
    /// Reads the next line unchanged.
    pub(crate) fn raw_line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert_eq!(line.pop(), Some('\n'), "the shim closed the connection");
        line
    }

    /// Reads the next `mcp` line: number, acknowledged, JSON.
    pub(crate) fn line(&mut self) -> (u64, u64, String) {
        let line = self.raw_line();
        let McpLine { number, acknowledged, json } = McpLine::parse(line.as_bytes()).unwrap();
        (number, acknowledged, json.to_owned())
    }

    /// Checks the next line's JSON and returns its number.
    pub(crate) fn expect(&mut self, json: &str) -> u64 {
        let (number, _, found) = self.line();
        assert_eq!(found, json);
        number
    }

    pub(crate) fn say(&mut self, line: &str) {
        // In one write: a shim that only checks whether a daemon runs leaves at the first byte.
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Writes the beginning of a line.
    pub(crate) fn begin(&mut self, part: &str) {
        self.stream.write_all(part.as_bytes()).unwrap();
    }

    /// Returns whether the shim writes anything within this time.
    pub(crate) fn has_input_within(&self, limit: Duration) -> bool {
        readable_within(&self.stream, limit)
    }

    /// Writes `line` until the shim takes no more, at most `times`. Returns how often the shim took
    /// it.
    pub(crate) fn say_until_full(&mut self, line: &str, times: usize) -> usize {
        self.stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
        let line = format!("{line}\n");
        (0..times).take_while(|_| self.stream.write_all(line.as_bytes()).is_ok()).count()
    }

    /// Dies. This is explicit, since a reader thread of a test may hold a copy of the socket.
    pub(crate) fn die(self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
    }

    /// Waits until the shim has closed the connection, and returns the rest of its output.
    pub(crate) fn rest(mut self) -> String {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        rest
    }
}

/// An agent with a shim.
pub(crate) struct Agent {
    stdin: Option<UnixStream>,
    stdout: BufReader<UnixStream>,
    stop: UnixStream,
    shim: Option<JoinHandle<std::io::Result<()>>>,
}

impl Agent {
    pub(crate) fn start(search: Search) -> Self {
        let (stdin, shim_stdin) = UnixStream::pair().unwrap();
        let (stdout, shim_stdout) = UnixStream::pair().unwrap();
        let (stop, shim_stop) = UnixStream::pair().unwrap();
        stdout.set_read_timeout(Some(SOON)).unwrap();
        let turn = Turn::new(search.dir.as_ref().ok().map(InstanceDir::resending));
        let shim = thread::spawn(move || {
            let ends = Ends {
                stdin: shim_stdin.as_fd(),
                stdout: shim_stdout.as_fd(),
                stop: shim_stop.as_fd(),
                parent: Parent::watch(),
            };
            pipe::run(&ends, search, turn)
        });
        Self { stdin: Some(stdin), stdout: BufReader::new(stdout), stop, shim: Some(shim) }
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.say_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Reads the next line on stdout.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line.pop(), Some('\n'), "the shim closed stdout");
        line
    }

    /// Returns whether stdout stays silent for this time.
    pub(crate) fn hears_nothing_for(&self, limit: Duration) -> bool {
        self.stdout.buffer().is_empty() && !readable_within(self.stdout.get_ref(), limit)
    }

    /// Checks that the shim ends even though nobody reads its stdout.
    pub(crate) fn shim_ends_within(mut self, limit: Duration) {
        let begin = Instant::now();
        self.shim.take().unwrap().join().unwrap().unwrap();
        assert!(begin.elapsed() < limit, "took {:?}", begin.elapsed());
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Has the effect of a signal.
    pub(crate) fn signal(&mut self) {
        self.stop.write_all(&[0]).unwrap();
    }

    /// Waits for the shim's end. Returns the rest of its output, and how long the end took.
    pub(crate) fn wait(mut self) -> (String, Duration) {
        let begin = Instant::now();
        self.shim.take().unwrap().join().unwrap().unwrap();
        let took = begin.elapsed();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (rest, took)
    }
}

/// Writes a shell script with this body and returns its launcher. In the script, `until_there`
/// waits for a file. It exits once the test has ended, which removes the script's directory.
pub(crate) fn program(instance: &Instance, body: &str) -> Launcher {
    let (text, path) = (instance.dir.path().join("text"), instance.dir.path().join("program"));
    let wait = r#"until_there() { until [ -e "$1" ]; do [ -e "$0" ] || exit; sleep 0.01; done; }"#;
    fs::write(&text, format!("#!/bin/sh\n{wait}\n{body}\n")).unwrap();
    fs::set_permissions(&text, fs::Permissions::from_mode(0o700)).unwrap();
    // Another process copies it. A process that another test starts now could inherit a descriptor
    // that this process writes with, and the program could then not be run.
    assert!(Command::new("cp").arg("-p").args([&text, &path]).status().unwrap().success());
    Launcher::new(path)
}

/// Starts a daemon and waits for its report.
pub(crate) fn reported(launcher: &Launcher, instance: &Instance) -> Report {
    let mut starting = launcher.start(&instance.dir, Instant::now()).unwrap().unwrap();
    starting.report_within(SOON).unwrap().unwrap()
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < until, "waited in vain until {what}");
        thread::park_timeout(Duration::from_millis(1));
    }
}

fn readable_within(stream: &impl AsFd, limit: Duration) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::IN)];
    rustix::event::poll(&mut polled, Some(&limit.try_into().unwrap())).unwrap() > 0
}

/// Returns a request with this id.
pub(crate) fn request(id: &str, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

/// Returns a notification.
pub(crate) fn notification(method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#)
}

/// Returns a reply to the request with this id.
pub(crate) fn reply(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// Returns a reply to `initialize`.
pub(crate) fn initialize_reply(id: &str, revision: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{revision}"}}}}"#)
}
