//! pi, through our extension. The extension sends what `docs/hooks.md` specifies and reads
//! `{"context": …}`, and before a tool `{"deny": …}` or `{"ask": …}`.
//!
//! The text of a start goes to the model with the next prompt. So does that of a compaction; in the
//! middle of a run it comes before the next call. pi has no subagents of its own.

use anchord_memory::lifecycle::{Answer, Event};
use serde_json::json;

use crate::events::{Adapter, Envelope, Payload, Read, plugin};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "call_id",
        "command",
        "cwd",
        "exit",
        "file",
        "hook_event_name",
        "last_message",
        "output",
        "pid",
        "prompt",
        "session_id",
        "source",
        "summary",
        "tool",
    ],
    usual: |_| {},
    session: |payload| payload.session(),
    run: |_| None,
    agent: |_| None,
    read,
    asks: true,
    write,
};

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let event = match name {
        "session_start" => Event::SessionStarted { source: payload.source() },
        "before_agent_start" => payload.prompted(),
        "tool_call" => Event::ToolBegins(plugin::tool_use(payload, &plugin::WRITES)),
        "tool_result" => Event::ToolRan(plugin::tool(payload, &plugin::WRITES)),
        "session_before_compact" => Event::CompactionBegins { messages: None },
        "session_compact" => Event::Compacted { summary: payload.owned("summary"), messages: None },
        "agent_end" => Event::TurnEnded { last_message: payload.owned("last_message") },
        "session_shutdown" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (Answer::Context(text), Event::Compacted { .. }) => json!({ "context": text }).to_string(),
        // It takes no instructions for a compaction.
        (Answer::Instructions(_), _) => String::new(),
        _ => plugin::write(envelope, answer),
    }
}

#[cfg(test)]
mod tests;
