//! Crush. All of this is from its documentation; it was never run with anchord.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;

use crate::{Client, Environment};

const KNOWN: Client = Client::new("crush", "Crush");

pub(super) static CLIENT: Client = Client {
    // The parent of its folder.
    environment: Environment { folder: Some("XDG_CONFIG_HOME"), ..KNOWN.environment },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
