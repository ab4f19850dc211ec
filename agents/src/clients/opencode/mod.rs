//! opencode. It passes its own environment on to its child processes.

#[cfg(feature = "events")]
pub(super) mod events;

use crate::{Client, Environment};

const ID: &str = "opencode";

pub(super) static CLIENT: Client = Client {
    environment: Environment {
        // The parent of its folder.
        folder: Some("XDG_CONFIG_HOME"),
        mark: Some("OPENCODE"),
        ..Client::new(ID).environment
    },
    session_end: Some("session.deleted"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    ..Client::new(ID)
};
