//! An agent for the demo and for the check of a set-up. It runs a shim as a child
//! process and talks JSON-RPC with it over stdio.
//!
//! The caller decides what an agent does when its shim is killed. The child is always reaped.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::limits::CALL_SECONDS_MAX;

/// A session: a shim that has answered the handshake.
#[derive(Debug)]
pub struct Agent {
    child: Shim,
    stdin: ChildStdin,
    lines: Receiver<String>,
    last_id: u64,
}

/// The reason a call returned nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The shim is gone. The call may or may not have been carried out.
    #[error("the shim is gone")]
    Gone,
    /// The tool or the server refused.
    #[error("{0}")]
    Refused(String),
    /// No answer came in time. The call may or may not have been carried out.
    #[error("no answer within {CALL_SECONDS_MAX} s")]
    Silent,
}

/// The number of a call that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallId(u64);

/// The shim's process, which another thread may kill.
#[derive(Clone, Debug)]
pub struct Shim(Arc<Mutex<Child>>);

impl Shim {
    /// Sends SIGKILL. Leaves a reaped shim alone, since another process may have its number.
    pub fn kill(&self) {
        let mut child = self.0.lock();
        // This fails only for a process that has ended.
        let _ = child.kill();
    }

    fn collect(&self) {
        self.kill();
        let mut child = self.0.lock();
        // A killed child ends at once.
        let _ = child.wait();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.child.collect();
    }
}

impl Agent {
    /// Starts a shim and performs the handshake.
    pub fn start(mut command: Command, client: &str) -> io::Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let child = Shim(Arc::new(Mutex::new(child)));
        let Some((stdin, stdout)) = pipes else {
            child.collect();
            return Err(io::Error::other("the shim has no pipes"));
        };
        let (sender, lines) = channel();
        // The thread ends with the shim's stdout, which ends with the shim.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut agent = Self { child, stdin, lines, last_id: 0 };
        agent.shake_hands(client).map_err(io::Error::other)?;
        Ok(agent)
    }

    /// Returns the process, so that another thread can kill it.
    pub fn shim(&self) -> Shim {
        self.child.clone()
    }

    /// Returns the names of the tools that the server offers.
    pub fn tools(&mut self) -> Result<Vec<String>, CallError> {
        let id = self.request("tools/list", &json!({}))?;
        let result = self.response(id)?;
        let tools = result.get("tools").and_then(Value::as_array).into_iter().flatten();
        Ok(tools.filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect())
    }

    /// Calls a tool and waits for its text.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, CallError> {
        let id = self.send(tool, arguments)?;
        self.receive(id)
    }

    /// Sends a call without waiting.
    pub fn send(&mut self, tool: &str, arguments: &Value) -> Result<CallId, CallError> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Waits for the answer to a call, and skips earlier answers to other calls. Calls must
    /// therefore be received in the order in which the server answers them; for writes that is the
    /// order of sending.
    pub fn receive(&mut self, id: CallId) -> Result<String, CallError> {
        let result = self.response(id)?;
        let content = result.get("content").and_then(Value::as_array).into_iter().flatten();
        let texts: Vec<&str> =
            content.filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
        let text = texts.join("\n");
        match result.get("isError").and_then(Value::as_bool) {
            Some(true) => Err(CallError::Refused(text)),
            _ => Ok(text),
        }
    }

    fn shake_hands(&mut self, client: &str) -> Result<(), CallError> {
        let id = self.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": client, "version": env!("CARGO_PKG_VERSION")},
            }),
        )?;
        self.response(id)?;
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<CallId, CallError> {
        self.last_id += 1;
        let id = self.last_id;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(CallId(id))
    }

    fn line(&mut self, message: &Value) -> Result<(), CallError> {
        let line = format!("{message}\n");
        self.stdin.write_all(line.as_bytes()).map_err(|_| CallError::Gone)
    }

    fn response(&mut self, CallId(id): CallId) -> Result<Value, CallError> {
        let deadline = Instant::now() + Duration::from_secs(CALL_SECONDS_MAX);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => CallError::Silent,
                RecvTimeoutError::Disconnected => CallError::Gone,
            })?;
            let message: Value = serde_json::from_str(&line)
                .map_err(|_| CallError::Refused(format!("the shim wrote no JSON: {line}")))?;
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = message.get("error") {
                let words = error.get("message").and_then(Value::as_str).map(str::to_owned);
                return Err(CallError::Refused(words.unwrap_or_else(|| error.to_string())));
            }
            return Ok(message.get("result").cloned().unwrap_or_default());
        }
    }
}
