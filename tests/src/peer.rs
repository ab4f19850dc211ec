//! A peer at the daemon's socket without a shim in between. It can send lines that no shim of this
//! build sends.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::Instance;
use crate::poll::PATIENCE;

/// A raw connection.
#[derive(Debug)]
pub struct Peer {
    stream: BufReader<UnixStream>,
}

impl Peer {
    /// Connects to a running daemon.
    pub fn connect(instance: &Instance) -> Self {
        let stream = UnixStream::connect(instance.socket()).expect("a daemon listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("the time is not zero");
        Self { stream: BufReader::new(stream) }
    }

    /// Connects and says hello in a protocol version and role. Also returns the daemon's answer.
    pub fn hello(instance: &Instance, version: u32, role: &str) -> (Self, Value) {
        let mut peer = Self::connect(instance);
        peer.send(&hello(version, role).to_string());
        let answer = peer.next_line().expect("a hello is answered");
        let answer = serde_json::from_str(&answer).expect("the answer is JSON");
        (peer, answer)
    }

    /// Writes a line.
    pub fn send(&mut self, line: &str) {
        let stream = self.stream.get_mut();
        stream.write_all(line.as_bytes()).expect("the daemon reads");
        stream.write_all(b"\n").expect("the daemon reads");
    }

    /// Reads the next line without its end; `None` if the daemon has closed the connection.
    pub fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
            Err(reason) if reason.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(reason) => panic!("nothing from the daemon: {reason}"),
        }
    }
}

/// Returns line 1 with the fields that every version needs, for this process.
pub fn hello(version: u32, role: &str) -> Value {
    json!({
        "anchord": version,
        "role": role,
        "build": "0.0.0-test",
        "instance": "0197a6a0-0000-7000-8000-000000000001",
        "pid": std::process::id(),
    })
}
