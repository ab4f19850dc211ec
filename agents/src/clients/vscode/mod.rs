//! VS Code. All of this is from its documentation; it was never run with anchord.

#[cfg(feature = "setup")]
mod setup;

use crate::{Client, McpNames};

const KNOWN: Client = Client::new("vscode", "VS Code");

pub(super) static CLIENT: Client = Client {
    mcp: McpNames { name: "visual studio code", ..KNOWN.mcp },
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
