//! Goose. All of this is from its documentation; it was never run with anchord.

#[cfg(feature = "setup")]
mod setup;

use crate::{Client, Environment};

const KNOWN: Client = Client::new("goose", "Goose");

pub(super) static CLIENT: Client = Client {
    // The parent of its folder.
    environment: Environment { folder: Some("XDG_CONFIG_HOME"), ..KNOWN.environment },
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
