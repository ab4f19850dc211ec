//! Gemini CLI. It passes its own environment on to its child processes.

#[cfg(feature = "events")]
mod events;
#[cfg(any(feature = "events", feature = "transcripts"))]
mod printed;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, Environment};

const KNOWN: Client = Client::new("gemini", "Gemini CLI");

pub(super) static CLIENT: Client = Client {
    environment: Environment {
        session: Some("GEMINI_SESSION_ID"),
        mark: Some("GEMINI_CLI"),
        ..KNOWN.environment
    },
    session_end: Some("SessionEnd"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
