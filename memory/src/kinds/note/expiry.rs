//! Parses when a note expires: a duration from now, a date, or never.

use crate::dates::{self, Toward};
use crate::fold::clip;
use crate::ids::Timestamp;

/// An agent's statement of when a note expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expires {
    /// Never.
    Never,
    /// From this moment on.
    At(Timestamp),
}

/// The text is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseExpiryError {
    /// The text has no known form.
    #[error(
        "is neither a duration (30d, 12h, 2w), a date (2026-12-01, tomorrow, friday), a time (2026-12-01T09:00:00Z) nor \
         never: `{0}`"
    )]
    Form(String),
    /// The time has passed.
    #[error("is in the past: `{0}`")]
    Past(String),
}

impl Expires {
    /// Reads a duration, a day, a time with its offset, or `never`. A duration is `30d`, `12h`, `1h
    /// 30m`, or ISO 8601. A day is a date or a name, and means its first moment in UTC.
    ///
    /// # Errors
    /// Fails if the text is not one of these, or not after `now`.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, ParseExpiryError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("never") {
            return Ok(Self::Never);
        }
        let shown = || clip(text, 40);
        let at = dates::parse(text, now, Toward::Future);
        let at = at.ok_or_else(|| ParseExpiryError::Form(shown()))?;
        if at <= now { Err(ParseExpiryError::Past(shown())) } else { Ok(Self::At(at)) }
    }

    /// Returns the moment, if there is one.
    pub fn moment(self) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::At(at) => Some(at),
        }
    }
}

#[cfg(test)]
mod tests;
