//! Events that clients' hooks report, and the answers to them. A client's adapter, in its folder,
//! alone knows its names and formats.

mod envelope;
mod input;
mod payload;
pub(crate) mod plugin;
#[cfg(test)]
pub(crate) mod testing;

use std::path::Path;

use anchord_memory::lifecycle::{Answer, Event, Subagent, ToolRun, ToolUse};

pub use envelope::{Envelope, Trigger};
pub(crate) use input::normalise_input;
pub use payload::Payload;
pub(crate) use payload::only_reads;

use crate::Client;

/// A payload, as its client's adapter reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The event; `None` if it means nothing here.
    pub event: Option<Event>,
    /// The trigger of the run, if the client says that no person started it.
    pub trigger: Option<Trigger>,
}

impl Read {
    /// Returns an event in a conversation with a person.
    pub(crate) fn event(event: Event) -> Self {
        Self { event: Some(event), trigger: None }
    }

    /// Returns a known event that means nothing here.
    pub(crate) fn nothing() -> Self {
        Self { event: None, trigger: None }
    }
}

/// An adapter, which reads one client's payloads and writes the answers to them.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// The client's id, the argument of its hooks.
    pub client: &'static str,
    /// Fields that its payloads are known to have.
    pub(crate) fields: &'static [&'static str],
    /// Brings a payload into the form that most clients use: the names of its fields, and its
    /// event's name if it has none.
    pub(crate) usual: fn(&mut serde_json::Map<String, serde_json::Value>),
    /// Returns the client's id for the conversation.
    pub(crate) session: fn(Payload<'_>) -> Option<&str>,
    /// Returns the client's id for the part of the conversation since its last reset.
    pub(crate) run: fn(Payload<'_>) -> Option<&str>,
    /// Returns the subagent in which the event happened.
    pub(crate) agent: fn(Payload<'_>) -> Option<Subagent>,
    /// Reads an event by its name; `None` if the name is unknown.
    pub(crate) read: fn(&str, Payload<'_>) -> Option<Read>,
    /// Whether the client asks a person by itself when a hook wants that before a tool.
    pub asks: bool,
    /// Writes the hook's stdout; empty if the client has no channel for the answer.
    pub(crate) write: fn(&Envelope, &Answer) -> String,
}

/// The reason an event is not handled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The payload is not a JSON object.
    #[error("the event is not a JSON object")]
    Malformed,
    /// The payload lacks a required field.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
}

/// An event that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedEvent {
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
    pub fn of(client: &str) -> Option<Self> {
        Client::named(client)?.events
    }

    /// Reads a payload. Also returns the fields that this build does not know.
    pub fn read(&self, line: &[u8]) -> Result<(ParsedEvent, Vec<String>), Unreadable> {
        let mut payload: serde_json::Map<_, _> =
            serde_json::from_slice(line).map_err(|_| Unreadable::Malformed)?;
        let unknown = payload.keys().filter(|name| !self.fields.contains(&name.as_str()));
        let unknown = unknown.cloned().collect();
        (self.usual)(&mut payload);
        normalise_input(&mut payload);
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
        let cwd = payload.owned("cwd").filter(|cwd| Path::new(cwd).is_absolute());
        let heard = ParsedEvent::Event(Box::new(Envelope {
            client: self.client,
            name: name.to_owned(),
            agent_session: agent_session.to_owned(),
            run: (self.run)(payload).map(str::to_owned),
            names_cwd: payload.value("cwd").is_some_and(|cwd| !cwd.is_null()),
            pid: payload.number("pid"),
            agent: (self.agent)(payload),
            event: match &cwd {
                Some(cwd) => in_directory(event, cwd),
                None => event,
            },
            cwd,
        }));
        Ok((heard, unknown))
    }

    /// Returns the text that the hook prints; empty for none.
    pub fn write(&self, envelope: &Envelope, answer: &Answer) -> String {
        match answer {
            Answer::Nothing => String::new(),
            answer => (self.write)(envelope, answer),
        }
    }
}

/// Names a tool's files absolutely. A client may name them relative to the directory in which the
/// tool runs, which need not be the project's root.
fn in_directory(event: Event, cwd: &str) -> Event {
    let beneath = |directory: &str, file: String| {
        if file.starts_with(['/', '~', '\\']) || file.as_bytes().get(1) == Some(&b':') {
            return file;
        }
        format!("{}/{file}", directory.trim_end_matches('/'))
    };
    let all = |directory: &str, files: Vec<String>| {
        files.into_iter().map(|file| beneath(directory, file)).collect()
    };
    match event {
        Event::ToolBegins(begins) => {
            let own = begins.directory.map(|own| beneath(cwd, own));
            let directory = own.unwrap_or_else(|| cwd.to_owned());
            Event::ToolBegins(ToolUse {
                files: all(&directory, begins.files),
                writes: all(&directory, begins.writes),
                directory: Some(directory),
                ..begins
            })
        }
        Event::ToolRan(run) => Event::ToolRan(ToolRun {
            edited: all(cwd, run.edited),
            read: all(cwd, run.read),
            ..run
        }),
        event => event,
    }
}

/// Formats context as Claude Code introduced it and other clients adopted it.
pub(crate) fn hook_specific(envelope: &Envelope, context: &str) -> String {
    serde_json::json!({
        "hookSpecificOutput": {
            "hookEventName": envelope.name,
            "additionalContext": context,
        }
    })
    .to_string()
}

/// Formats a stop before a tool as Claude Code introduced it and Codex adopted it.
pub(crate) fn permission_decision(envelope: &Envelope, asks: bool, reason: &str) -> String {
    serde_json::json!({
        "hookSpecificOutput": {
            "hookEventName": envelope.name,
            "permissionDecision": if asks { "ask" } else { "deny" },
            "permissionDecisionReason": reason,
        }
    })
    .to_string()
}

#[cfg(test)]
mod tests;
