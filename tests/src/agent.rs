//! An agent: a child process that runs a shim, and MCP over the shim's stdin and stdout.
//!
//! Ids count from 0 in every agent, as in real clients. Two agents therefore always use the same
//! ids.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::poll::{PATIENCE, poll};
use crate::{Instance, process};

/// A tool's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// All of its text, joined.
    pub text: String,
    /// Whether it is a tool error, which is the caller's mistake.
    pub is_error: bool,
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The code from JSON-RPC or MCP.
    pub code: i64,
    /// The message for people.
    pub message: String,
}

/// A running shim and its output.
#[derive(Debug)]
pub struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Arc<Mutex<String>>,
    next_id: u64,
    /// Replies that came while another reply was awaited.
    early: BTreeMap<u64, Value>,
    /// Messages that answer no request of ours, in order of arrival.
    notifications: Vec<Value>,
}

impl Agent {
    /// Starts `anchord-mcp` in a directory and sends nothing yet.
    pub fn start(instance: &Instance, directory: &Path) -> Self {
        Self::start_by(instance.shim(directory))
    }

    /// Starts a shim and opens the session.
    pub fn open(instance: &Instance, directory: &Path) -> Self {
        let mut agent = Self::start(instance, directory);
        agent.initialize();
        agent
    }

    /// Starts a shim that offers all tools, and makes the handshake.
    pub fn with_all_tools(instance: &Instance, directory: &Path) -> Self {
        let mut shim = instance.shim(directory);
        shim.args(["--tools", "all"]);
        let mut agent = Self::start_by(shim);
        agent.initialize();
        agent
    }

    /// Starts any command that speaks MCP on stdio.
    pub fn start_by(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the shim was built and can be run");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut from = child.stderr.take().expect("stderr is piped");
        let into = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut chunk) {
                let text = String::from_utf8_lossy(chunk.get(..read).unwrap_or_default());
                into.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            }
        });
        Self {
            child,
            stdin,
            lines,
            stderr,
            next_id: 0,
            early: BTreeMap::new(),
            notifications: Vec::new(),
        }
    }

    /// Returns the shim's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns everything that the shim has written to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the messages that answer no request of ours, read while waiting for replies.
    pub fn notifications(&self) -> &[Value] {
        &self.notifications
    }

    /// Shakes hands in the MCP revision that most clients open with. Returns the server's result.
    pub fn initialize(&mut self) -> Value {
        self.initialize_as("2025-11-25")
    }

    /// Shakes hands in a given MCP revision.
    pub fn initialize_as(&mut self, revision: &str) -> Value {
        let parameters = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "anchord-tests", "version": "0"},
        });
        let result = self.request("initialize", &parameters).expect("initialize is answered");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    /// Calls a tool and waits for its reply.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Reply, RpcError> {
        let id = self.call_later(tool, arguments);
        self.reply(id)
    }

    /// Calls a tool and returns its text. Panics if the call fails.
    #[track_caller]
    pub fn tool(&mut self, tool: &str, arguments: &Value) -> String {
        match self.call(tool, arguments) {
            Ok(Reply { text, is_error: false }) => text,
            other => panic!("{tool} {arguments} gave {other:?}; stderr: {}", self.stderr()),
        }
    }

    /// Calls a tool and does not wait. Returns the id for [`Self::reply`].
    pub fn call_later(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.request_later("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Waits for the reply to a tool call.
    pub fn reply(&mut self, id: u64) -> Result<Reply, RpcError> {
        let result = self.result(id)?;
        let content = result.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
        let text = content.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
        Ok(Reply { text, is_error })
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, parameters: &Value) -> Result<Value, RpcError> {
        let id = self.request_later(method, parameters);
        self.result(id)
    }

    /// Sends a request and does not wait. Returns its id.
    pub fn request_later(&mut self, method: &str, parameters: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        self.send(&request);
        id
    }

    /// Waits for the result of a request.
    pub fn result(&mut self, id: u64) -> Result<Value, RpcError> {
        let message = self.message(id);
        match (message.get("result"), message.get("error")) {
            (Some(result), None) => Ok(result.clone()),
            (None, Some(error)) => Err(RpcError {
                code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
                message: error
                    .get("message")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
            }),
            _ => panic!("neither result nor error: {message}"),
        }
    }

    /// Writes one message.
    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Writes one line unchanged.
    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is still open");
        stdin.write_all(line.as_bytes()).expect("the shim reads");
        stdin.write_all(b"\n").expect("the shim reads");
    }

    /// Reads the next line on stdout; `None` if the shim has closed it. Panics after `deadline`.
    pub fn next_line(&self, deadline: Duration) -> Option<String> {
        match self.lines.recv_timeout(deadline) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("no line within {deadline:?}; stderr: {}", self.stderr())
            }
        }
    }

    /// Closes the shim's stdin, as a client does at its end.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends the shim a signal.
    pub fn signal(&self, signal: Signal) {
        process::signal(self.pid(), signal);
    }

    /// Kills the shim, as the system does when memory runs out, and reaps it.
    pub fn kill9(&mut self) {
        self.signal(Signal::KILL);
        self.wait_exit(PATIENCE);
    }

    /// Waits until the shim has ended. Returns its status, and how long it took.
    pub fn wait_exit(&mut self, deadline: Duration) -> (ExitStatus, Duration) {
        let start = Instant::now();
        let child = &mut self.child;
        let status = poll(deadline, "the shim ends", || child.try_wait().expect("ours"));
        (status, start.elapsed())
    }

    fn message(&mut self, id: u64) -> Value {
        if let Some(message) = self.early.remove(&id) {
            return message;
        }
        loop {
            let Some(line) = self.next_line(PATIENCE) else {
                panic!("the shim ended before request {id} was answered: {}", self.stderr());
            };
            let message: Value = serde_json::from_str(&line)
                .unwrap_or_else(|_| panic!("not JSON on stdout: {line:?}"));
            let is_reply = message.get("method").is_none();
            match message.get("id").and_then(Value::as_u64).filter(|_| is_reply) {
                Some(got) if got == id => return message,
                Some(other) => {
                    let twice = self.early.insert(other, message);
                    assert!(twice.is_none(), "request {other} was answered twice");
                }
                None => self.notifications.push(message),
            }
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Harmless if it has ended already. SIGKILL also ends a stopped process.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
