//! One event of one conversation, as an adapter reads it.

use anchord_memory::lifecycle::{Event, Subagent};

/// An event and its origin. Texts are as the client sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The client, as its hooks name it.
    pub(crate) client: &'static str,
    /// The client's own name for the event.
    pub(crate) name: String,
    /// The client's id for the conversation.
    pub(crate) agent_session: String,
    /// The client's id for the part of the conversation since its last reset, if it has one.
    pub(crate) run: Option<String>,
    /// The directory in which the conversation works, if the client reports it.
    pub(crate) cwd: Option<String>,
    /// The subagent in which it happened; `None` in the conversation itself.
    pub(crate) agent: Option<Subagent>,
    /// The agent's process, if the client reports it.
    pub(crate) pid: Option<u32>,
    /// The event itself.
    pub(crate) event: Event,
}

/// The trigger of a run that is not a conversation with a person. Such a run is not remembered and
/// gets no context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A check every few minutes.
    Heartbeat,
    /// A scheduled job.
    Cron,
    /// The client's own maintenance of its memory files.
    Upkeep,
}

impl Trigger {
    /// Returns the trigger that has this name among clients.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "heartbeat" => Some(Self::Heartbeat),
            "cron" => Some(Self::Cron),
            "memory" => Some(Self::Upkeep),
            _ => None,
        }
    }
}
