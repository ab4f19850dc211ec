//! One event of one conversation, as an adapter has read it.

use anchord_memory::lifecycle::{Event, Subagent};

/// An event and where it comes from. Texts are as the client gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The client, as its hooks name it.
    pub(crate) client: &'static str,
    /// The client's own name of the event.
    pub(crate) name: String,
    /// What the client calls the conversation.
    pub(crate) agent_session: String,
    /// What the client calls the part of the conversation that began with its last reset, where that has a name of its
    /// own.
    pub(crate) run: Option<String>,
    /// The directory that the conversation works in, where the client says it.
    pub(crate) cwd: Option<String>,
    /// The subagent in which it happened; none in the conversation itself.
    pub(crate) agent: Option<Subagent>,
    /// The agent's process, where the client says it.
    pub(crate) pid: Option<u32>,
    /// What happened.
    pub(crate) event: Event,
}

/// What starts a run that is no conversation with a person: nothing of it is remembered, and nothing shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A look around every few minutes.
    Heartbeat,
    /// A planned job.
    Cron,
    /// The client's own care for its memory files.
    Upkeep,
}

impl Trigger {
    /// By the names that clients have for it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "heartbeat" => Some(Self::Heartbeat),
            "cron" => Some(Self::Cron),
            "memory" => Some(Self::Upkeep),
            _ => None,
        }
    }
}
