//! Cline, through our plugin file. The plugin sends what `docs/hooks.md` specifies and reads
//! `{"context": …}`, and before a tool `{"deny": …}`.
//!
//! A run is one prompt. A call may run several commands or read several files; the plugin sends
//! each by itself. The end of a session and a compaction are not reported.

use anchord_memory::lifecycle::{Answer, Event, Subagent};
use serde_json::json;

use crate::events::{Adapter, Envelope, Payload, Read, plugin};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "agent_id",
        "call_id",
        "command",
        "cwd",
        "exit",
        "file",
        "hook_event_name",
        "last_message",
        "output",
        "patch",
        "pid",
        "prompt",
        "session_id",
        "source",
        "tool",
    ],
    usual: |_| {},
    session: |payload| payload.session(),
    run: |_| None,
    agent,
    read,
    asks: false,
    write,
};

/// Tools that write the file they name.
const WRITES: [&str; 2] = ["editor", "apply_patch"];

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let event = match (name, agent(payload)) {
        ("start", Some(agent)) => Event::SubagentStarted(agent),
        ("start", None) => Event::SessionStarted { source: payload.source() },
        ("beforeRun", _) => payload.prompted(),
        ("beforeTool", _) => Event::ToolBegins(plugin::tool_use(payload, &WRITES)),
        ("afterTool", _) => Event::ToolRan(plugin::tool(payload, &WRITES)),
        ("afterRun", Some(agent)) => Event::SubagentEnded(agent),
        ("afterRun", None) => Event::TurnEnded { last_message: payload.owned("last_message") },
        _ => return None,
    };
    Some(Read::event(event))
}

/// Returns the subagent in which the event happened.
fn agent(payload: Payload<'_>) -> Option<Subagent> {
    let id = payload.owned("agent_id")?;
    Some(Subagent { id, last_message: payload.owned("last_message"), ..Subagent::default() })
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (Answer::Context(text), Event::SubagentStarted(_)) => {
            json!({ "context": text }).to_string()
        }
        _ => plugin::write(envelope, answer),
    }
}

#[cfg(test)]
mod tests;
