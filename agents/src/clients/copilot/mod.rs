//! GitHub Copilot CLI.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;

use crate::Client;

const KNOWN: Client = Client::new("copilot", "GitHub Copilot CLI");

pub(super) static CLIENT: Client = Client {
    session_end: Some("sessionEnd"),
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
