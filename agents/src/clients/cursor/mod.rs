//! Cursor. anchord neither sets it up nor reads its events; it uses the server alone.

use crate::{Client, ContextLimits};

const KNOWN: Client = Client::new("cursor", "Cursor");

pub(super) static CLIENT: Client =
    Client { limits: ContextLimits { session_tokens: Some(60_000), ..KNOWN.limits }, ..KNOWN };
