//! OpenClaw.

#[cfg(feature = "events")]
mod events;

use crate::{Client, Environment, McpNames};

const KNOWN: Client = Client::new("openclaw", "OpenClaw");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { suffix: Some("-bundle-mcp"), ..KNOWN.mcp },
    environment: Environment { folder: Some("OPENCLAW_STATE_DIR"), ..KNOWN.environment },
    session_end: Some("session_end"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    ..KNOWN
};
