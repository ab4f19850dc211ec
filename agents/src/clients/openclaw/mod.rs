//! OpenClaw.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;

use crate::{Client, Environment, McpNames};

const KNOWN: Client = Client::new("openclaw", "OpenClaw");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames {
        suffix: Some("-bundle-mcp"),
        // `before_tool_call` in our plugin adds it.
        conversation_argument: Some("anchord_conversation"),
        ..KNOWN.mcp
    },
    environment: Environment { folder: Some("OPENCLAW_STATE_DIR"), ..KNOWN.environment },
    session_end: Some("session_end"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
