//! Codex.

#[cfg(feature = "events")]
mod events;

use crate::{Client, ContextLimits, Environment, McpNames};

const ID: &str = "codex";

pub(super) static CLIENT: Client = Client {
    mcp: McpNames {
        suffix: Some("-mcp-client"),
        conversation: Some("threadId"),
        ..Client::new(ID).mcp
    },
    environment: Environment { folder: Some("CODEX_HOME"), ..Client::new(ID).environment },
    session_end: Some("SessionEnd"),
    // It cuts a longer text in the middle.
    limits: ContextLimits { text_chars_max: Some(9_900), ..Client::new(ID).limits },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    ..Client::new(ID)
};
