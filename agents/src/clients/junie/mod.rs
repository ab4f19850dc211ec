//! Junie, in the JetBrains editors and on the command line. All of this is from its documentation;
//! it was never run with anchord.

#[cfg(feature = "setup")]
mod setup;

use crate::Client;

const KNOWN: Client = Client::new("junie", "JetBrains Junie");

pub(super) static CLIENT: Client = Client {
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
