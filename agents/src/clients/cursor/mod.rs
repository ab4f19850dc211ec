//! Cursor. anchord neither sets it up nor reads its events; it uses the server alone.

use crate::{Client, ContextLimits};

const ID: &str = "cursor";

pub(super) static CLIENT: Client = Client {
    limits: ContextLimits { session_tokens: Some(60_000), ..Client::new(ID).limits },
    ..Client::new(ID)
};
