//! OpenClaw.

#[cfg(feature = "events")]
mod events;

use crate::{Client, Environment, McpNames};

const ID: &str = "openclaw";

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { suffix: Some("-bundle-mcp"), ..Client::new(ID).mcp },
    environment: Environment { folder: Some("OPENCLAW_STATE_DIR"), ..Client::new(ID).environment },
    session_end: Some("session_end"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    ..Client::new(ID)
};
