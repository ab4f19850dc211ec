//! Ids, counters and kinds, each a type of its own.

mod hashed;
mod share;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use crate::kinds::Kind;
pub use hashed::ItemIds;
pub use share::{ParseShareIdError, ShareId};

/// Milliseconds since the Unix epoch, UTC. The domain never reads a clock; times are arguments.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// A day in milliseconds.
    pub const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

    /// Formats the calendar day in UTC, `YYYY-MM-DD`.
    pub fn date(self) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .strftime("%Y-%m-%d")
            .to_string()
    }

    /// Formats the day and minute in UTC, `2026-11-02 09:30 UTC`.
    pub fn minute(self) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .strftime("%Y-%m-%d %H:%M UTC")
            .to_string()
    }

    /// Formats the day and second in UTC, `2026-11-02 09:30:00 UTC`.
    pub fn second(self) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .strftime("%Y-%m-%d %H:%M:%S UTC")
            .to_string()
    }

    /// Formats the date and time in UTC, `2026-11-02T09:30:00.000Z`.
    pub fn iso(self) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .strftime("%Y-%m-%dT%H:%M:%S.%3fZ")
            .to_string()
    }

    /// Returns the beginning of its day in UTC.
    #[must_use]
    pub fn day_start(self) -> Self {
        Self(self.0 - self.0.rem_euclid(Self::DAY_MILLIS))
    }

    /// Parses a calendar day, `YYYY-MM-DD`, as its beginning in UTC. Days up to the epoch are not
    /// understood, since the epoch means that no time is set.
    pub fn parse_day(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_digit_or_dash = |byte: u8| byte.is_ascii_digit() || byte == b'-';
        let day: jiff::civil::Date =
            Some(text).filter(|text| text.bytes().all(is_digit_or_dash))?.parse().ok()?;
        let begins = day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond();
        Some(Self(begins)).filter(|begins| begins.0 > 0 && begins.date() == text)
    }

    /// Parses a date and time with its offset, as in RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        text.trim().parse::<jiff::Timestamp>().ok().map(|time| Self(time.as_millisecond()))
    }
}

/// The number of a journal entry. Every acknowledged change has one, from 1 and without gaps.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// The number of commits so far: entries that changed shared memory. Private entries do not count.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Revision(pub u64);

/// The version of one record, from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Version(pub u32);

impl Version {
    /// The first version of a record.
    pub const FIRST: Self = Self(1);

    /// Returns the version after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The separator between a session and its subagent. It occurs nowhere else in a session's id.
const SUBAGENT: &str = "//";

/// One agent conversation, as far as it can be identified. Opaque; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub Arc<str>);

impl SessionId {
    /// Wraps an id made elsewhere.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the session of a subagent under this one.
    #[must_use]
    pub fn subagent(&self, agent: &str) -> Self {
        Self::new(format!("{self}{SUBAGENT}{agent}"))
    }

    /// Returns the parent of a subagent's session; `None` for any other session.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once(SUBAGENT).map(|(parent, _)| Self::new(parent))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of a notice within its project.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NoticeId(pub u64);

/// First letter of the id of a note that belongs to the user.
const USER: char = 'u';

/// Last letter of the id of a record that stays on one machine.
const PRIVATE: char = 'p';

/// The numbers of records that stay on one machine begin after this one. Those that a team shares
/// never get so far.
const PRIVATE_AFTER: u64 = 1 << 40;

/// A record's id: the letter of its kind and a number that is never used twice in its store, `b12`.
/// A note that belongs to the user has a letter of its own, `u12`, so it is never taken for a
/// project's note. Where a team shares a memory, a record that stays on one machine is counted
/// apart and ends in a letter, `n12p`. Ids are short, since agents pay for every token of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// The kind, which never changes.
    pub kind: Kind,
    /// A number counted over all kinds of a store, from 1.
    pub number: u64,
    personal: bool,
}

impl RecordId {
    /// Creates the id of a project's record.
    pub const fn new(kind: Kind, number: u64) -> Self {
        Self { kind, number, personal: false }
    }

    /// Creates the id of a note that belongs to the user.
    pub const fn personal(number: u64) -> Self {
        Self { kind: Kind::Note, number, personal: true }
    }

    /// Creates the id of a record that stays on this machine, though a team shares the project.
    pub const fn private(kind: Kind, count: u64) -> Self {
        Self::new(kind, PRIVATE_AFTER + count)
    }

    /// Returns whether it names a record that stays on one machine. Where no team shares a memory,
    /// no id does.
    pub fn is_private(self) -> bool {
        self.number > PRIVATE_AFTER
    }

    /// Returns the number as it is shown, counted from 1 among records of the same reach.
    pub(crate) fn count(self) -> u64 {
        if self.is_private() { self.number - PRIVATE_AFTER } else { self.number }
    }

    /// Returns whether it names a note that belongs to the user.
    pub fn is_personal(self) -> bool {
        self.personal
    }

    fn letter(self) -> char {
        if self.personal { USER } else { self.kind.letter() }
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.letter(), self.count())?;
        if self.is_private() { write!(f, "{PRIVATE}") } else { Ok(()) }
    }
}

/// The text is not a record id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a record id; ids look like {looks}", looks = looks())]
pub struct ParseIdError(String);

/// Returns an id of each kind.
fn looks() -> String {
    let mut looks: Vec<String> = Kind::ALL
        .into_iter()
        .map(|kind| format!("{} ({})", RecordId::new(kind, 12), kind.noun()))
        .collect();
    looks.push(format!("{} (the user's own note)", RecordId::personal(12)));
    looks.join(", ")
}

impl FromStr for RecordId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || ParseIdError(text.chars().take(40).collect());
        let trimmed = text.trim();
        let mut chars = trimmed.chars();
        let letter = chars.next().ok_or_else(fail)?.to_ascii_lowercase();
        let is_last = |last: char| last.eq_ignore_ascii_case(&PRIVATE);
        let (digits, private) = match chars.as_str().strip_suffix(is_last) {
            Some(digits) => (digits, true),
            None => (chars.as_str(), false),
        };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(fail());
        }
        let number: u64 = digits.parse().map_err(|_| fail())?;
        if letter == USER && !private {
            return Ok(Self::personal(number));
        }
        let kind = Kind::ALL.into_iter().find(|kind| kind.letter() == letter).ok_or_else(fail)?;
        match private {
            true if number.checked_add(PRIVATE_AFTER).is_none() => Err(fail()),
            true => Ok(Self::private(kind, number)),
            false => Ok(Self::new(kind, number)),
        }
    }
}

impl Serialize for RecordId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RecordId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
