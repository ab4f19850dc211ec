//! GitHub Copilot CLI.

#[cfg(feature = "events")]
mod events;
#[cfg(any(feature = "events", feature = "transcripts"))]
mod printed;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::Client;

const KNOWN: Client = Client::new("copilot", "GitHub Copilot CLI");

pub(super) static CLIENT: Client = Client {
    session_end: Some("sessionEnd"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
