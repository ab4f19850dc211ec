//! A session at the daemon's socket. A shim for each session would take processor time from what is
//! measured.

use anchord_tests::{Instance, Peer, Project, hello};
use serde_json::{Value, json};

/// A session without a shim.
pub(crate) struct Client {
    peer: Peer,
    /// The number of the last line sent. All earlier lines are answered.
    number: u64,
}

impl Client {
    /// Opens the numbered session of an instance. The daemon must run.
    pub(crate) fn open(instance: &Instance, project: &Project, session: usize) -> Self {
        let mut hello = hello(anchord_proto::PROTOCOL, "mcp");
        let fields = hello.as_object_mut().expect("a hello is an object");
        let process = std::process::id();
        let own_instance = format!("0197a6a0-0000-7000-8000-{process:06x}{session:06x}");
        fields.insert("instance".to_owned(), own_instance.into());
        fields.insert("project".to_owned(), json!(project.path()));
        let mut peer = Peer::connect(instance);
        peer.send(&hello.to_string());
        peer.next_line().expect("a hello is answered");
        let mut client = Self { peer, number: 0 };
        client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "anchord-benches", "version": "0"},
            }),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// Calls a tool. Returns its text, as an error if the call failed.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let parts = reply.pointer("/result/content").and_then(Value::as_array);
        let Some(parts) = parts else { return Err(reply.to_string()) };
        let text = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        let is_error = reply.pointer("/result/isError") == Some(&Value::Bool(true));
        if is_error { Err(text) } else { Ok(text) }
    }

    /// Calls a tool that must succeed.
    pub(crate) fn tool(&mut self, tool: &str, arguments: &Value) -> String {
        self.call(tool, arguments).expect("the call succeeds")
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.number + 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let line = self.peer.next_line().expect("the daemon answers");
            let message: Value = serde_json::from_str(&line).expect("the daemon sends JSON");
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return message;
            }
        }
    }

    fn send(&mut self, message: &Value) {
        self.number += 1;
        self.peer.send(&format!("{} {} {message}", self.number, self.number - 1));
    }
}
