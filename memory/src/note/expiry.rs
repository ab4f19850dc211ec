//! When a note expires: a duration from now, a date, or never.

use crate::fold::clip;
use crate::ids::Timestamp;
use crate::when::{self, Toward};

/// What an agent says of when a note expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expires {
    /// Not any more.
    Never,
    /// From this moment on.
    At(Timestamp),
}

/// The text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseExpiryError {
    /// It is of no known form.
    #[error(
        "is neither a duration (30d, 12h, 2w), a date (2026-12-01, tomorrow, friday), a time (2026-12-01T09:00:00Z) nor \
         never: `{0}`"
    )]
    Form(String),
    /// It is over already.
    #[error("is in the past: `{0}`")]
    Past(String),
}

impl Expires {
    /// Reads a duration (`30d`, `12h`, `1h 30m`, also ISO 8601), a day by its date or name (from
    /// its first moment in UTC on), a time with its offset, or `never`.
    ///
    /// # Errors
    /// If it is not one of these, or not after `now`.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, ParseExpiryError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("never") {
            return Ok(Self::Never);
        }
        let shown = || clip(text, 40);
        let at = when::parse(text, now, Toward::Future);
        let at = at.ok_or_else(|| ParseExpiryError::Form(shown()))?;
        if at <= now { Err(ParseExpiryError::Past(shown())) } else { Ok(Self::At(at)) }
    }

    /// The moment, if there is one.
    pub fn moment(self) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::At(at) => Some(at),
        }
    }
}

#[cfg(test)]
mod tests;
