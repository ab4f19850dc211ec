//! Cursor. All of this is from its documentation; no Cursor has run with it.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;

use crate::{Client, ContextLimits};

const KNOWN: Client = Client::new("cursor", "Cursor");

pub(super) static CLIENT: Client = Client {
    session_end: Some("sessionEnd"),
    limits: ContextLimits { session_tokens: Some(60_000), ..KNOWN.limits },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    ..KNOWN
};
