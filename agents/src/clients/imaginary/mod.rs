//! A client that does not exist. It shows what a folder needs, and that a folder is all. Only tests
//! know it.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

#[cfg(all(test, feature = "events", feature = "setup", feature = "transcripts"))]
mod tests;

use crate::{Client, ContextLimits, Environment, McpNames};

const KNOWN: Client = Client::new("imaginary", "Imaginary");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames {
        name: "imaginary",
        suffix: Some("-tools"),
        conversation: Some("imaginary/talk"),
        conversation_argument: None,
        call: Some("imaginary/call"),
    },
    environment: Environment {
        folder: Some("IMAGINARY_HOME"),
        project: Some("IMAGINARY_DIR"),
        session: Some("IMAGINARY_TALK"),
        process: Some("IMAGINARY_PID"),
        mark: None,
    },
    session_end: Some("talk.ends"),
    limits: ContextLimits { text_chars_max: Some(9_500), session_tokens: Some(40_000) },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
