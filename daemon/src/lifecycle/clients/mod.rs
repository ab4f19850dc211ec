//! The clients whose hooks are understood: one file each, which alone knows what the client calls things.

mod claude_code;
mod codex;
mod gemini;
mod openclaw;
mod opencode;
mod payload;

use anchord_memory::lifecycle::{Answer, Event, Subagent};

use super::envelope::{Envelope, Trigger};
use payload::Payload;

/// What a client's payload says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// What happened; none where nothing here is about it.
    pub(crate) event: Option<Event>,
    /// What started the run, where the client says that it was no person.
    pub(crate) trigger: Option<Trigger>,
}

impl Read {
    /// An event in a conversation with a person.
    fn event(event: Event) -> Self {
        Self { event: Some(event), trigger: None }
    }

    /// A known event that means nothing here.
    fn nothing() -> Self {
        Self { event: None, trigger: None }
    }
}

/// How one client is understood and answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adapter {
    /// The client's name, the argument of its hooks.
    pub(crate) client: &'static str,
    /// Fields that its payloads are known to have.
    fields: &'static [&'static str],
    /// What the client calls the conversation.
    session: fn(Payload<'_>) -> Option<&str>,
    /// The subagent that it happened in.
    agent: fn(Payload<'_>) -> Option<Subagent>,
    /// Reads an event by its name; `None` when there is none of that name.
    read: fn(&str, Payload<'_>) -> Option<Read>,
    /// What the client is to find on the hook's stdout; empty when it has no channel for the answer.
    write: fn(&Envelope, &Answer) -> String,
}

const ADAPTERS: [Adapter; 5] =
    [claude_code::ADAPTER, codex::ADAPTER, gemini::ADAPTER, opencode::ADAPTER, openclaw::ADAPTER];

/// Why an event is not handled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// It is no JSON object.
    #[error("the event is no JSON object")]
    Malformed,
    /// A field is missing without which nothing can be done.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
}

/// An event that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It is one of the closed set.
    Event(Box<Envelope>),
    /// It is of a run that is skipped.
    Skipped(Trigger),
    /// It is known to mean nothing here.
    Nothing,
    /// The client has events that this build does not know.
    Unknown(String),
}

impl Adapter {
    /// The adapter of a client.
    pub(crate) fn of(client: &str) -> Option<Self> {
        ADAPTERS.into_iter().find(|adapter| adapter.client == client)
    }

    /// Reads a payload; also gives the fields that this build does not know.
    pub(crate) fn read(&self, line: &[u8]) -> Result<(Heard, Vec<String>), Unreadable> {
        let payload: serde_json::Map<_, _> =
            serde_json::from_slice(line).map_err(|_| Unreadable::Malformed)?;
        let unknown = payload.keys().filter(|name| !self.fields.contains(&name.as_str()));
        let unknown = unknown.cloned().collect();
        let payload = Payload::new(&payload);
        let name = payload.text("hook_event_name").ok_or(Unreadable::Missing("hook_event_name"))?;
        let Some(Read { event, trigger }) = (self.read)(name, payload) else {
            return Ok((Heard::Unknown(name.to_owned()), unknown));
        };
        if let Some(trigger) = trigger {
            return Ok((Heard::Skipped(trigger), unknown));
        }
        let Some(event) = event else { return Ok((Heard::Nothing, unknown)) };
        let agent_session = (self.session)(payload).ok_or(Unreadable::Missing("session"))?;
        let heard = Heard::Event(Box::new(Envelope {
            client: self.client,
            name: name.to_owned(),
            agent_session: agent_session.to_owned(),
            // A client that has both names what outlives resets by the key.
            run: payload.text("session_key").and_then(|_| payload.owned("session_id")),
            cwd: payload.text("cwd").map(str::to_owned),
            pid: payload.number("pid"),
            agent: (self.agent)(payload),
            event,
        }));
        Ok((heard, unknown))
    }

    /// What the hook prints; empty for nothing.
    pub(crate) fn write(&self, envelope: &Envelope, answer: &Answer) -> String {
        match answer {
            Answer::Nothing => String::new(),
            answer => (self.write)(envelope, answer),
        }
    }
}

/// Context in the form that Claude Code brought up and others took over.
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
