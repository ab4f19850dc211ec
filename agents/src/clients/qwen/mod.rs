//! Qwen Code. It began as a fork of Gemini CLI, and its hooks are in Claude Code's form.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::Client;

const KNOWN: Client = Client::new("qwen", "Qwen Code");

pub(super) static CLIENT: Client = Client {
    session_end: Some("SessionEnd"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
