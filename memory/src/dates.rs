//! Dates and times as people write them: `yesterday`, `2w`, `3 days ago`, `next monday`,
//! `2026-12-01`.
//!
//! Days begin at midnight UTC, weeks on Monday. Durations are jiff's friendly ones. Ambiguous
//! forms, such as 01/04/26, are not understood.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Moment, ToSpan, Zoned};

use crate::fold::clip;
use crate::ids::Timestamp;

/// The direction of a text that has none of its own: `2w` and `monday` may be past or future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toward {
    Past,
    Future,
}

/// The text does not name a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}: `{text}`")]
pub struct ParsePastError {
    text: String,
    fault: &'static str,
}

impl ParsePastError {
    /// Returns the fault alone, for a reader who has the text before them.
    pub fn fault(&self) -> &'static str {
        self.fault
    }
}

const NEITHER: &str = "is neither a date (2026-11-02, yesterday, monday), \
                       a time (2026-11-02T09:00:00Z) nor how long ago (2w, 3 days ago)";

/// The fault of a date as 2026-02-30.
pub(crate) const NO_SUCH_DAY: &str = "names a day that does not exist";

/// Returns whether a text begins with a date in digits that no calendar has.
pub fn names_no_day(text: &str) -> bool {
    let text = text.trim();
    let Some((date, rest)) = text.split_at_checked("2026-11-02".len()) else { return false };
    let is_date = date.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let is_over = rest.is_empty() || rest.starts_with([' ', 'T', 't']);
    is_date && is_over && date.parse::<Date>().is_err()
}

/// Reads a time in the past: a date or time, a day by its name, or how long ago.
///
/// # Errors
/// Fails if the text is not one of these.
pub fn parse_past(text: &str, now: Timestamp) -> Result<Timestamp, ParsePastError> {
    parse(text, now, Toward::Past).ok_or_else(|| ParsePastError {
        text: clip(text.trim(), 40),
        fault: if names_no_day(text) { NO_SUCH_DAY } else { NEITHER },
    })
}

/// Reads a time in the past up to which something counts. A minute without its seconds, the form in
/// which commits show their time, includes all of the minute so far.
///
/// # Errors
/// Fails if the text is not a time.
pub fn parse_past_up_to(text: &str, now: Timestamp) -> Result<Timestamp, ParsePastError> {
    let time = parse_past(text, now)?;
    if !is_minute(text) {
        return Ok(time);
    }
    let last = Timestamp(time.0.saturating_add(MINUTE_MILLIS - 1));
    Ok(last.min(now).max(time))
}

/// Returns whether a text ends with hours and minutes, without seconds.
fn is_minute(text: &str) -> bool {
    let text = without_utc(text.trim());
    let clock = text.rsplit([' ', 'T', 't']).next().unwrap_or_default();
    let clock = clock.split(['+', '-', 'Z', 'z']).next().unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    clock.split_once(':').is_some_and(|(hours, minutes)| is_number(hours) && is_number(minutes))
}

/// Removes `UTC` behind a time of day, where our own times have it.
fn without_utc(text: &str) -> &str {
    let cut = text.len().saturating_sub(" UTC".len());
    match text.split_at_checked(cut) {
        Some((time, zone)) if zone.eq_ignore_ascii_case(" UTC") && time.contains(':') => time,
        _ => text,
    }
}

const MINUTE_MILLIS: i64 = 60 * 1000;

/// Reads a date, a time or a duration. Returns `None` if the text is not one of these.
pub(crate) fn parse(text: &str, now: Timestamp, toward: Toward) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let text = without_utc(&text);
    if let Some(time) = Timestamp::parse(text) {
        return Some(time);
    }
    let now = Moment::from_millisecond(now.0).ok()?.to_zoned(TimeZone::UTC);
    if let Ok(time) = text.parse::<DateTime>() {
        return in_utc(time);
    }
    let text = text.to_lowercase();
    if text == "now" {
        return Some(stamp(&now));
    }
    day_and_time(&text, now.date(), toward)
        .and_then(in_utc)
        .or_else(|| Some(stamp(&after_span(&text, &now, toward)?)))
}

fn in_utc(time: DateTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| stamp(&zoned))
}

fn stamp(time: &Zoned) -> Timestamp {
    Timestamp(time.timestamp().as_millisecond())
}

/// Reads a day, which means its first moment, or a day with a time: `yesterday`, `monday 09:30`,
/// `on 2026-12-01 at 9:30`.
fn day_and_time(text: &str, today: Date, toward: Toward) -> Option<DateTime> {
    let text = text.strip_prefix("on ").unwrap_or(text);
    if let Some(day) = day(text, today, toward) {
        return Some(day.to_datetime(Time::midnight()));
    }
    let (text, time) = text.rsplit_once(' ')?;
    let time = time.split_once(':').and_then(|_| format!("{time:0>5}").parse::<Time>().ok())?;
    let text = text.strip_suffix(" at").unwrap_or(text);
    Some(day(text, today, toward)?.to_datetime(time))
}

fn day(text: &str, today: Date, toward: Toward) -> Option<Date> {
    let days = |days: i64| today.checked_add(days.days()).ok();
    match text {
        "today" => return Some(today),
        "yesterday" => return days(-1),
        "tomorrow" => return days(1),
        _ => {}
    }
    let (which, unit) = match text.split_once(' ') {
        Some((which @ ("last" | "this" | "next"), unit)) => (which, unit),
        _ => ("", text),
    };
    let into_week = i64::from(today.weekday().to_monday_zero_offset());
    if let Some(weekday) = weekday(unit) {
        let since = (into_week - weekday).rem_euclid(7);
        return match (which, toward) {
            ("last", _) if since == 0 => days(-7),
            ("next", _) | ("this" | "", Toward::Future) => days(7 - since),
            _ => days(-since),
        };
    }
    let number: i64 = match which {
        "last" => -1,
        "this" => 0,
        "next" => 1,
        _ => return date(text, today, toward),
    };
    match unit {
        "week" => days(7 * number - into_week),
        "month" => today.first_of_month().checked_add(number.months()).ok(),
        "year" => today.first_of_year().checked_add(number.years()).ok(),
        _ => None,
    }
}

/// Returns how many days a weekday is after Monday. Its name may be cut to three letters or more.
fn weekday(name: &str) -> Option<i64> {
    let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let is_meant = |day: &&str| name.len() >= 3 && day.starts_with(name);
    names.iter().position(is_meant).and_then(|at| i64::try_from(at).ok())
}

/// Reads a date in digits, or with its month's name. Without a year it is the nearest one in the
/// direction.
fn date(text: &str, today: Date, toward: Toward) -> Option<Date> {
    if let Ok(date) = text.parse::<Date>() {
        return Some(date);
    }
    let in_form = |form: &str, text: &str| {
        // A two-digit year would be in the first century.
        Date::strptime(form, text).ok().filter(|date| date.year() >= 1000)
    };
    if let Some(date) = in_form("%Y/%m/%d", text) {
        return Some(date);
    }
    let text = text.replace(',', "");
    let named = |text: &str| {
        let forms = ["%d %b %Y", "%b %d %Y", "%d %B %Y", "%B %d %Y"];
        forms.iter().find_map(|form| in_form(form, text))
    };
    named(&text).or_else(|| {
        let in_year = |year: i16| named(&format!("{text} {year}"));
        let year = today.year();
        match toward {
            Toward::Past => {
                in_year(year).filter(|date| *date <= today).or_else(|| in_year(year - 1))
            }
            Toward::Future => {
                in_year(year).filter(|date| *date > today).or_else(|| in_year(year + 1))
            }
        }
    })
}

/// Reads a duration from now, ahead or back: `2w`, `a week ago`, `in 3 days`, `-12h`, `P2D`.
fn after_span(text: &str, now: &Zoned, toward: Toward) -> Option<Zoned> {
    let ahead = text.strip_prefix("in ").or_else(|| text.strip_suffix(" from now"));
    let back = text.strip_suffix(" ago");
    let (text, toward) = match (ahead, back) {
        (Some(text), _) => (text, Toward::Future),
        (None, Some(text)) => (text, Toward::Past),
        (None, None) if text.starts_with(['+', '-']) => (text, Toward::Future),
        (None, None) => (text, toward),
    };
    let text = match text.split_once(' ') {
        Some(("a" | "an" | "one", unit)) => format!("1 {unit}"),
        _ => text.to_owned(),
    };
    let span: Span = text.parse().ok()?;
    match toward {
        Toward::Past => now.checked_sub(span).ok(),
        Toward::Future => now.checked_add(span).ok(),
    }
}

#[cfg(test)]
mod tests;
