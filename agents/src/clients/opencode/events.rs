//! opencode, through our plugin file. The plugin sends what `docs/hooks.md` specifies and reads
//! `{"context": …}`, and before a tool `{"deny": …}` or `{"ask": …}`.
//!
//! The system prompt is rebuilt for every model call and needs the same bytes each time. A subagent
//! is a session with a parent. Its events belong to the parent, and its task arrives as its prompt.

use anchord_memory::lifecycle::{Event, StartSource, Subagent};

use crate::events::{Adapter, Payload, Read, plugin};

pub(in crate::clients) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "call_id",
        "command",
        "cwd",
        "exit",
        "file",
        "hook_event_name",
        "last_message",
        "message_id",
        "output",
        "parent_id",
        "patch",
        "pid",
        "prompt",
        "session_id",
        "summary",
        "tool",
    ],
    usual: |_| {},
    session: |payload| payload.text("parent_id").or(payload.session()),
    run: |_| None,
    agent: child,
    read,
    asks: false,
    write: plugin::write,
};

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let child = child(payload);
    let event = match name {
        // No answer is possible here; the system prompt follows.
        "session.created" => return Some(Read::nothing()),
        "system.transform" => Event::SessionStarted { source: StartSource::Rebuilt },
        "tool.execute.before" => Event::ToolBegins(plugin::tool_use(payload, &plugin::WRITES)),
        "tool.execute.after" => Event::ToolRan(plugin::tool(payload, &plugin::WRITES)),
        "session.idle" => {
            let last_message = payload.owned("last_message");
            match child {
                Some(child) => Event::SubagentEnded(Subagent { last_message, ..child }),
                None => Event::TurnEnded { last_message },
            }
        }
        // A subagent's context is not the conversation's.
        "session.compacting" | "session.compacted" | "session.deleted" if child.is_some() => {
            return Some(Read::nothing());
        }
        "chat.message" => payload.prompted(),
        "session.compacting" => Event::CompactionBegins { messages: None },
        "session.compacted" => {
            Event::Compacted { summary: payload.owned("summary"), messages: None }
        }
        "session.deleted" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}

/// Returns the subagent, if the session has a parent.
fn child(payload: Payload<'_>) -> Option<Subagent> {
    payload.text("parent_id")?;
    Some(Subagent { id: payload.owned("session_id")?, ..Subagent::default() })
}

#[cfg(test)]
mod tests;
