//! Factory Droid. Its hooks are in Claude Code's form.

#[cfg(feature = "events")]
mod events;
#[cfg(any(feature = "events", feature = "transcripts"))]
mod printed;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, McpNames};

const KNOWN: Client = Client::new("droid", "Factory Droid");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { name: "factory-cli", ..KNOWN.mcp },
    session_end: Some("SessionEnd"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
