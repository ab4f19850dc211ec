//! Codex.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, ContextLimits, Environment, McpNames};

const KNOWN: Client = Client::new("codex", "Codex");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { suffix: Some("-mcp-client"), conversation: Some("threadId"), ..KNOWN.mcp },
    environment: Environment { folder: Some("CODEX_HOME"), ..KNOWN.environment },
    session_end: Some("SessionEnd"),
    // It cuts a longer text in the middle.
    limits: ContextLimits { text_chars_max: Some(9_900), ..KNOWN.limits },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
