//! One event of one conversation, as an adapter reads it.

use anchord_memory::lifecycle::{Event, Subagent};

/// An event and its origin. Texts are as the client sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The client, as its hooks name it.
    pub client: &'static str,
    /// The client's own name for the event.
    pub name: String,
    /// The client's id for the conversation.
    pub agent_session: String,
    /// The client's id for the part of the conversation since its last reset, if it has one.
    pub run: Option<String>,
    /// The directory in which the conversation works, if the client reports an absolute path.
    pub cwd: Option<String>,
    /// Whether the client reports any directory, even one that is not an absolute path.
    pub names_cwd: bool,
    /// The subagent in which it happened; `None` in the conversation itself.
    pub agent: Option<Subagent>,
    /// The agent's process, if the client reports it.
    pub pid: Option<u32>,
    /// The event itself.
    pub event: Event,
}

/// The trigger of a run that is not a conversation with a person. Such a run is not remembered and
/// gets no context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A check every few minutes.
    Heartbeat,
    /// A scheduled job.
    Cron,
    /// The client's own maintenance of its memory files.
    Upkeep,
}
