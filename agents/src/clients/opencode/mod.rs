//! opencode. It passes its own environment on to its child processes.

#[cfg(feature = "events")]
pub(super) mod events;
#[cfg(feature = "setup")]
pub(super) mod setup;
#[cfg(feature = "transcripts")]
pub(super) mod transcript;

use crate::{Client, Environment};

const KNOWN: Client = Client::new("opencode", "opencode");

pub(super) static CLIENT: Client = Client {
    environment: Environment {
        // The parent of its folder.
        folder: Some("XDG_CONFIG_HOME"),
        mark: Some("OPENCODE"),
        ..KNOWN.environment
    },
    session_end: Some("session.deleted"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
