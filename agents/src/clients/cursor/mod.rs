//! Cursor. All of this is from its documentation; no Cursor has run with it.

#[cfg(feature = "events")]
mod events;
#[cfg(feature = "setup")]
mod setup;
#[cfg(feature = "transcripts")]
mod transcript;

use crate::{Client, ContextLimits};

const KNOWN: Client = Client::new("cursor", "Cursor");

/// Tools that write the file they name.
#[cfg(any(feature = "events", feature = "transcripts"))]
const WRITES: [&str; 3] = ["Write", "Edit", "StrReplace"];

pub(super) static CLIENT: Client = Client {
    session_end: Some("sessionEnd"),
    limits: ContextLimits { session_tokens: Some(60_000), ..KNOWN.limits },
    #[cfg(feature = "events")]
    events: Some(events::ADAPTER),
    #[cfg(feature = "setup")]
    setup: Some(setup::FACTS),
    #[cfg(feature = "transcripts")]
    transcripts: &transcript::TRANSCRIPTS,
    ..KNOWN
};
