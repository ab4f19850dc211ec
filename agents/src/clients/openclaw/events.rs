//! OpenClaw, through our plugin. The plugin sends what `docs/hooks.md` specifies and reads
//! `{"context": …}`, and before a tool `{"deny": …}` or `{"ask": …}`.
//!
//! A conversation is a channel, named by its session key, which outlives resets. The system prompt
//! is rebuilt for every run and needs the same bytes each time. News for one prompt is requested
//! separately.

use anchord_memory::lifecycle::{Answer, Event, StartSource};

use crate::events::{Adapter, Envelope, Payload, Read, Trigger, plugin};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "call_id",
        "channel",
        "command",
        "cwd",
        "exit",
        "file",
        "hook_event_name",
        "last_message",
        "message_count",
        "message_id",
        "output",
        "patch",
        "pid",
        "prompt",
        "reason",
        "resumed_from",
        "session_id",
        "session_key",
        "summary",
        "tool",
        "trigger",
    ],
    usual: |_| {},
    session: |payload| payload.text("session_key"),
    run: |payload| payload.text("session_id"),
    agent: |_| None,
    read,
    asks: true,
    write,
};

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let messages = payload.number("message_count");
    let event = match name {
        "before_prompt_build" => Event::SessionStarted { source: StartSource::Rebuilt },
        "prompt_submitted" => payload.prompted(),
        "before_tool_call" => Event::ToolBegins(plugin::tool_use(payload, &plugin::WRITES)),
        "after_tool_call" => Event::ToolRan(plugin::tool(payload, &plugin::WRITES)),
        "before_compaction" => Event::CompactionBegins { messages },
        "after_compaction" => Event::Compacted { summary: payload.owned("summary"), messages },
        "agent_end" => Event::TurnEnded { last_message: payload.owned("last_message") },
        "before_reset" => Event::Reset,
        "session_end" => Event::SessionEnded,
        // No answer is possible here; the prompt is built next.
        "session_start" => return Some(Read::nothing()),
        _ => return None,
    };
    let trigger = payload.text("trigger").and_then(trigger);
    Some(Read { event: Some(event), trigger })
}

/// Returns the trigger that has this name. All others belong to a conversation with a person.
fn trigger(name: &str) -> Option<Trigger> {
    match name {
        "heartbeat" => Some(Trigger::Heartbeat),
        "cron" => Some(Trigger::Cron),
        "memory" => Some(Trigger::Upkeep),
        _ => None,
    }
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match envelope.event {
        // Its hook after a tool only observes, so it cannot carry a text.
        Event::ToolRan(_) => String::new(),
        _ => plugin::write(envelope, answer),
    }
}

#[cfg(test)]
mod tests;
