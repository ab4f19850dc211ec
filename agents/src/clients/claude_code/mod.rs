//! Claude Code.

#[cfg(feature = "events")]
pub(super) mod events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, ContextLimits, Environment, McpNames};

const KNOWN: Client = Client::new("claude-code", "Claude Code");

pub(super) static CLIENT: Client = Client {
    // The desktop application gives another name that begins in the same way.
    mcp: McpNames { name: "claude", call: Some("claudecode/toolUseId"), ..KNOWN.mcp },
    environment: Environment {
        folder: Some("CLAUDE_CONFIG_DIR"),
        project: Some("CLAUDE_PROJECT_DIR"),
        session: Some("CLAUDE_CODE_SESSION_ID"),
        process: Some("CLAUDE_PID"),
        mark: None,
    },
    session_end: Some("SessionEnd"),
    // It writes a longer text of a hook to a file and shows the model its beginning.
    limits: ContextLimits { text_chars_max: Some(10_000), session_tokens: Some(80_000) },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
