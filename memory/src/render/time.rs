//! Spans of time, as people read them.

/// Formats a duration in at most its two largest units: `3 s`, `12 min`, `2 h 13 min`, `5 days`.
pub fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match (minutes, hours, days) {
        (0, ..) => format!("{seconds} s"),
        (_, 0, _) => format!("{minutes} min"),
        (_, _, 0) if minutes % 60 == 0 => format!("{hours} h"),
        (_, _, 0) => format!("{hours} h {} min", minutes % 60),
        (_, _, 1) => "1 day".to_owned(),
        (_, _, days) => format!("{days} days"),
    }
}

/// Formats the time from `then` to `now`: `just now`, `3 s ago`.
pub fn ago(now: i64, then: i64) -> String {
    match u64::try_from(now.saturating_sub(then)) {
        Ok(gone) if gone >= 1000 => format!("{} ago", duration(gone)),
        _ => "just now".to_owned(),
    }
}
