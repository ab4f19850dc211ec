//! Kilo, its command line. It is a fork of opencode and runs the same plugin.

#[cfg(feature = "events")]
use super::opencode::events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, Environment};

const KNOWN: Client = Client::new("kilo", "Kilo");

pub(super) static CLIENT: Client = Client {
    environment: Environment {
        // The parent of its folder.
        folder: Some("XDG_CONFIG_HOME"),
        mark: Some("KILO"),
        ..KNOWN.environment
    },
    session_end: Some("session.deleted"),
    #[cfg(feature = "events")]
    events: Some(crate::events::Adapter { client: KNOWN.id, ..events::ADAPTER }),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &[transcript::TRANSCRIPTS],
    ..KNOWN
};
