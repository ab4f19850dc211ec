//! Factory Droid. Its hooks are in Claude Code's form.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;

use crate::{Client, McpNames};

const KNOWN: Client = Client::new("droid", "Factory Droid");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { name: "factory-cli", ..KNOWN.mcp },
    session_end: Some("SessionEnd"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
