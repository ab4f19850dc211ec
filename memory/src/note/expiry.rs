//! When a note expires: a duration from now, a date, or never.

use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Moment};

use crate::fold::clip;
use crate::ids::Timestamp;

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
        "is neither a duration (30d, 12h, 2w), a date (2026-12-01), a time (2026-12-01T09:00:00Z) nor never: `{0}`"
    )]
    Form(String),
    /// It is over already.
    #[error("is in the past: `{0}`")]
    Past(String),
}

impl Expires {
    /// Reads a duration (`30d`, `12h`, `1h 30m`, also ISO 8601), a date (from its first moment in UTC on), a
    /// time with its offset, or `never`.
    ///
    /// # Errors
    /// When it is none of these, or not after `now`.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, ParseExpiryError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("never") {
            return Ok(Self::Never);
        }
        let shown = || clip(text, 40);
        let moment = moment(text, now).ok_or_else(|| ParseExpiryError::Form(shown()))?;
        let at = Timestamp(moment.as_millisecond());
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

fn moment(text: &str, now: Timestamp) -> Option<Moment> {
    if let Some(time) = Timestamp::parse(text) {
        return Moment::from_millisecond(time.0).ok();
    }
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    if let Ok(time) = DateTime::from_str(text) {
        return utc(time);
    }
    if let Ok(date) = Date::from_str(text) {
        return utc(date.to_datetime(jiff::civil::Time::midnight()));
    }
    let span = Span::from_str(text).ok()?;
    let start = Moment::from_millisecond(now.0).ok()?.to_zoned(TimeZone::UTC);
    start.checked_add(span).ok().map(|end| end.timestamp())
}

#[cfg(test)]
mod tests;
