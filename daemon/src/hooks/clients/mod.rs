//! The clients whose hooks anchord understands, one file each. Only that file knows the client's
//! names.

mod claude_code;
mod codex;
mod gemini;
mod openclaw;
mod opencode;
mod payload;

use anchord_memory::lifecycle::{Answer, Event, Subagent};

use super::envelope::{Envelope, Trigger};
use payload::Payload;

/// A payload, as its client's adapter reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// The event; `None` if it means nothing here.
    pub(crate) event: Option<Event>,
    /// The trigger of the run, if the client says that no person started it.
    pub(crate) trigger: Option<Trigger>,
}

impl Read {
    /// Returns an event in a conversation with a person.
    fn event(event: Event) -> Self {
        Self { event: Some(event), trigger: None }
    }

    /// Returns a known event that means nothing here.
    fn nothing() -> Self {
        Self { event: None, trigger: None }
    }
}

/// An adapter, which reads one client's payloads and writes the answers to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adapter {
    /// The client's name, the argument of its hooks.
    pub(crate) client: &'static str,
    /// Fields that its payloads are known to have.
    fields: &'static [&'static str],
    /// Returns the client's id for the conversation.
    session: fn(Payload<'_>) -> Option<&str>,
    /// Returns the subagent in which the event happened.
    agent: fn(Payload<'_>) -> Option<Subagent>,
    /// Reads an event by its name; `None` if the name is unknown.
    read: fn(&str, Payload<'_>) -> Option<Read>,
    /// Writes the hook's stdout; empty if the client has no channel for the answer.
    write: fn(&Envelope, &Answer) -> String,
}

const ADAPTERS: [Adapter; 5] =
    [claude_code::ADAPTER, codex::ADAPTER, gemini::ADAPTER, opencode::ADAPTER, openclaw::ADAPTER];

/// The reason an event is not handled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The payload is not a JSON object.
    #[error("the event is no JSON object")]
    Malformed,
    /// The payload lacks a required field.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
}

/// An event that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParsedEvent {
    /// An event of the closed set.
    Event(Box<Envelope>),
    /// An event of a run that is skipped.
    Skipped(Trigger),
    /// An event that is known to mean nothing here.
    Nothing,
    /// An event that this build does not know.
    Unknown(String),
}

impl Adapter {
    /// Returns the adapter of a client.
    pub(crate) fn of(client: &str) -> Option<Self> {
        ADAPTERS.into_iter().find(|adapter| adapter.client == client)
    }

    /// Reads a payload. Also returns the fields that this build does not know.
    pub(crate) fn read(&self, line: &[u8]) -> Result<(ParsedEvent, Vec<String>), Unreadable> {
        let payload: serde_json::Map<_, _> =
            serde_json::from_slice(line).map_err(|_| Unreadable::Malformed)?;
        let unknown = payload.keys().filter(|name| !self.fields.contains(&name.as_str()));
        let unknown = unknown.cloned().collect();
        let payload = Payload::new(&payload);
        let name = payload.text("hook_event_name").ok_or(Unreadable::Missing("hook_event_name"))?;
        let Some(Read { event, trigger }) = (self.read)(name, payload) else {
            return Ok((ParsedEvent::Unknown(name.to_owned()), unknown));
        };
        if let Some(trigger) = trigger {
            return Ok((ParsedEvent::Skipped(trigger), unknown));
        }
        let Some(event) = event else { return Ok((ParsedEvent::Nothing, unknown)) };
        let agent_session = (self.session)(payload).ok_or(Unreadable::Missing("session"))?;
        let heard = ParsedEvent::Event(Box::new(Envelope {
            client: self.client,
            name: name.to_owned(),
            agent_session: agent_session.to_owned(),
            // A client with both ids uses the key for the conversation that outlives resets.
            run: payload.text("session_key").and_then(|_| payload.owned("session_id")),
            cwd: payload.text("cwd").map(str::to_owned),
            pid: payload.number("pid"),
            agent: (self.agent)(payload),
            event,
        }));
        Ok((heard, unknown))
    }

    /// Returns the text that the hook prints; empty for none.
    pub(crate) fn write(&self, envelope: &Envelope, answer: &Answer) -> String {
        match answer {
            Answer::Nothing => String::new(),
            answer => (self.write)(envelope, answer),
        }
    }
}

/// Formats context as Claude Code introduced it and other clients adopted it.
fn hook_specific(envelope: &Envelope, context: &str) -> String {
    serde_json::json!({
        "hookSpecificOutput": {
            "hookEventName": envelope.name,
            "additionalContext": context,
        }
    })
    .to_string()
}

#[cfg(test)]
mod tests;
