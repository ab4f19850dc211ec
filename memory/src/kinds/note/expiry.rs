//! Parses when a note expires: a duration from now, a date, or never.

use std::fmt;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseExpiryError {
    /// The text has no known form.
    Form(String),
    /// The text is a date in digits that no calendar has.
    NoSuchDay(String),
    /// The time has passed.
    Past(String),
}

impl ParseExpiryError {
    /// Returns the fault alone, for a reader who has the text before them.
    pub fn fault(&self) -> &'static str {
        match self {
            Self::Form(_) => {
                "is neither a duration (30d, 12h, 2w), a date (2026-12-01, tomorrow, friday), \
                 a time (2026-12-01T09:00:00Z) nor never"
            }
            Self::NoSuchDay(_) => dates::NO_SUCH_DAY,
            Self::Past(_) => "is in the past",
        }
    }
}

impl fmt::Display for ParseExpiryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Form(text) | Self::NoSuchDay(text) | Self::Past(text)) = self;
        write!(f, "{}: `{text}`", self.fault())
    }
}

impl std::error::Error for ParseExpiryError {}

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
        let fault = if dates::names_no_day(text) {
            ParseExpiryError::NoSuchDay
        } else {
            ParseExpiryError::Form
        };
        let at = at.ok_or_else(|| fault(shown()))?;
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
