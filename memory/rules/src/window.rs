//! Times at which a rule is in force.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan, Zoned};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::WINDOW_CHANGES_MAX;

/// The zones that come with the program, so that every machine decides alike.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A recurring time of the week, or a period between two dates.
///
/// - Times of day, as in `days = ["fri"], from = "12:00"`: from that time until the end of the day.
///   `from` later than `until` reaches past midnight, into the next day.
/// - Dates, as in `from = "2026-11-20", until = "2026-12-01"`: both days in full. With a time, as
///   in `2026-12-01T18:00`, until that time. `days` restricts the period to days of the week.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The days of the week; all, if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
    /// The first instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Bound>,
    /// The end. A time is not itself part of the window; a date is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Bound>,
    /// The time zone's name, such as `Europe/Berlin`.
    #[serde(default = "utc")]
    pub tz: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// A day of the week.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Day {
    #[serde(alias = "monday", alias = "Mon", alias = "Monday")]
    Mon,
    #[serde(alias = "tuesday", alias = "Tue", alias = "Tuesday")]
    Tue,
    #[serde(alias = "wednesday", alias = "Wed", alias = "Wednesday")]
    Wed,
    #[serde(alias = "thursday", alias = "Thu", alias = "Thursday")]
    Thu,
    #[serde(alias = "friday", alias = "Fri", alias = "Friday")]
    Fri,
    #[serde(alias = "saturday", alias = "Sat", alias = "Saturday")]
    Sat,
    #[serde(alias = "sunday", alias = "Sun", alias = "Sunday")]
    Sun,
}

impl Day {
    /// Returns the word that files and tools use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mon => "mon",
            Self::Tue => "tue",
            Self::Wed => "wed",
            Self::Thu => "thu",
            Self::Fri => "fri",
            Self::Sat => "sat",
            Self::Sun => "sun",
        }
    }
}

impl From<Weekday> for Day {
    fn from(day: Weekday) -> Self {
        match day {
            Weekday::Monday => Self::Mon,
            Weekday::Tuesday => Self::Tue,
            Weekday::Wednesday => Self::Wed,
            Weekday::Thursday => Self::Thu,
            Weekday::Friday => Self::Fri,
            Weekday::Saturday => Self::Sat,
            Weekday::Sunday => Self::Sun,
        }
    }
}

/// One end of a window, on the clock of the window's zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A time of day, as in `12:00`. `24:00` is written as no bound at all.
    Time(Time),
    /// A whole day, as in `2026-11-20`.
    Date(Date),
    /// A time of one day, as in `2026-11-20T18:00`.
    DateTime(DateTime),
}

impl Bound {
    /// Returns the first instant of a dated bound.
    pub(crate) fn start(self) -> Option<DateTime> {
        match self {
            Self::Time(_) => None,
            Self::Date(date) => Some(date.to_datetime(Time::midnight())),
            Self::DateTime(time) => Some(time),
        }
    }

    /// Returns the first instant that is no longer part of a window until this dated bound.
    pub(crate) fn end(self) -> Option<DateTime> {
        match self {
            Self::Date(date) => {
                date.checked_add(1.day()).ok()?.to_datetime(Time::midnight()).into()
            }
            other => other.start(),
        }
    }
}

/// A text that is neither a time of day nor a date.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a time such as 12:00, nor a date such as 2026-11-20 or 2026-11-20T18:00")]
pub struct BadBound(String);

impl FromStr for Bound {
    type Err = BadBound;

    fn from_str(text: &str) -> Result<Self, BadBound> {
        let bad = || BadBound(text.to_owned());
        match (text.contains(':'), text.contains('-')) {
            (true, false) => text.parse().map(Self::Time).map_err(|_| bad()),
            (false, true) => text.parse().map(Self::Date).map_err(|_| bad()),
            (true, true) => text.parse().map(Self::DateTime).map_err(|_| bad()),
            (false, false) => Err(bad()),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{time}"),
            Self::Date(date) => write!(f, "{date}"),
            Self::DateTime(time) => write!(f, "{time}"),
        }
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl Window {
    /// Returns the window's zone, or `None` if there is no zone of that name.
    pub(crate) fn zone(&self) -> Option<TimeZone> {
        ZONES.get(&self.tz).ok()
    }

    /// Whether the window can be evaluated: its zone exists and its ends are of one sort.
    pub(crate) fn is_sound(&self) -> bool {
        let mixed = matches!(
            (self.from, self.until),
            (Some(Bound::Time(_)), Some(Bound::Date(_) | Bound::DateTime(_)))
                | (Some(Bound::Date(_) | Bound::DateTime(_)), Some(Bound::Time(_)))
        );
        !mixed && self.zone().is_some()
    }

    /// Whether `now` is within the window. One that cannot be evaluated contains every instant, so
    /// that a mistake never switches a rule off.
    pub fn contains(&self, now: Timestamp) -> bool {
        let Some(zone) = self.zone().filter(|_| self.is_sound()) else { return true };
        self.contains_zoned(&now.to_zoned(zone))
    }

    fn contains_zoned(&self, now: &Zoned) -> bool {
        let (date, time) = (now.date(), now.time());
        let on =
            |date: Date| self.days.is_empty() || self.days.contains(&Day::from(date.weekday()));
        match (self.from, self.until) {
            (Some(Bound::Time(from)), Some(Bound::Time(until))) if from > until => {
                let before = date.checked_sub(1.day()).is_ok_and(on);
                on(date) && time >= from || before && time < until
            }
            (from, until) => {
                on(date)
                    && from.is_none_or(|from| match from {
                        Bound::Time(from) => time >= from,
                        Bound::Date(from) => date >= from,
                        Bound::DateTime(from) => now.datetime() >= from,
                    })
                    && until.is_none_or(|until| match until {
                        Bound::Time(until) => time < until,
                        Bound::Date(until) => date <= until,
                        Bound::DateTime(until) => now.datetime() < until,
                    })
            }
        }
    }
}

/// Returns the first instant at which none of the windows contains the time, or at which the rule
/// expires. `None` if it is always in force, or if that instant is further away than a year.
pub(crate) fn free_from(
    windows: &[Window],
    expires: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut at = now;
    for _ in 0..WINDOW_CHANGES_MAX {
        if windows.is_empty() {
            return expires;
        }
        let Some(window) = windows.iter().find(|window| window.contains(at)) else {
            return Some(expires.map_or(at, |expires| expires.min(at)));
        };
        let Some(next) = window.next_change(at) else { return expires };
        if expires.is_some_and(|expires| expires <= next) {
            return expires;
        }
        at = next;
    }
    expires
}

impl Window {
    /// Returns the next instant after `now` at which the window may end: one of its bounds, or
    /// midnight.
    fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let zone = self.zone().filter(|_| self.is_sound())?;
        let local = now.to_zoned(zone.clone());
        let date = local.date();
        let tomorrow = date.checked_add(1.day()).ok()?;
        let mut changes = vec![tomorrow.to_datetime(Time::midnight())];
        for bound in [self.from, self.until].into_iter().flatten() {
            match bound {
                Bound::Time(time) => changes.push(date.to_datetime(time)),
                Bound::Date(_) => {}
                Bound::DateTime(time) => changes.push(time),
            }
        }
        let instants = changes.into_iter().filter_map(|change| {
            let instant = zone.to_ambiguous_timestamp(change).compatible().ok()?;
            (instant > now).then_some(instant)
        });
        instants.min()
    }
}

#[cfg(test)]
mod tests;
