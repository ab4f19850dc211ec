//! Gemini CLI. It passes its own environment on to its child processes.

#[cfg(feature = "events")]
mod events;

use crate::{Client, Environment};

const ID: &str = "gemini";

pub(super) static CLIENT: Client = Client {
    environment: Environment {
        session: Some("GEMINI_SESSION_ID"),
        mark: Some("GEMINI_CLI"),
        ..Client::new(ID).environment
    },
    session_end: Some("SessionEnd"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    ..Client::new(ID)
};
