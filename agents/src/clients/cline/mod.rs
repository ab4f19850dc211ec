//! Cline, its command line. Its plugin runs in a child of its process.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, Environment, McpNames};

const KNOWN: Client = Client::new("cline", "Cline");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { name: "@cline/core", ..KNOWN.mcp },
    environment: Environment { folder: Some("CLINE_DIR"), ..KNOWN.environment },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
