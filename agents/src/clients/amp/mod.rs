//! Amp. Its own command was seen to list the server that set-up writes. The rest is from its
//! documentation, since it works only with an account.

#[cfg(feature = "setup")]
mod setup;

use crate::Client;

const KNOWN: Client = Client::new("amp", "Amp");

pub(super) static CLIENT: Client = Client {
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
