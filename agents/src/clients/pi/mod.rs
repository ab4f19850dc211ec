//! pi. It has no MCP, so our extension brings the tools as well.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, Environment, McpNames};

const KNOWN: Client = Client::new("pi", "pi");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { name: "pi-coding-agent", ..KNOWN.mcp },
    environment: Environment { folder: Some("PI_CODING_AGENT_DIR"), ..KNOWN.environment },
    session_end: Some("session_shutdown"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
