//! Times as people write them, and as they are read. Now is noon on Wednesday, 2026-11-18.

use super::*;

const NOW: &str = "2026-11-18T12:00:00Z";

fn read(text: &str, toward: Toward) -> Option<String> {
    let now = Timestamp::parse(NOW).unwrap();
    let time = parse(text, now, toward)?.iso();
    Some(time.chars().take("2026-11-02T09:30".len()).collect())
}

/// Checks a text that is the same whichever way it points.
#[track_caller]
fn check(text: &str, expected: &str) {
    for toward in [Toward::Past, Toward::Future] {
        assert_eq!(read(text, toward).as_deref(), Some(expected), "{text} {toward:?}");
    }
}

/// Checks a text that points back or ahead.
#[track_caller]
fn check_both(text: &str, past: &str, future: &str) {
    assert_eq!(read(text, Toward::Past).as_deref(), Some(past), "{text}");
    assert_eq!(read(text, Toward::Future).as_deref(), Some(future), "{text}");
}

#[test]
fn dates_and_times() {
    check("2026-11-02", "2026-11-02T00:00");
    check("2026/11/02", "2026-11-02T00:00");
    check("20261102", "2026-11-02T00:00");
    check("2026-11-02T09:30:00Z", "2026-11-02T09:30");
    check("2026-11-02T09:30:00+02:00", "2026-11-02T07:30");
    check(" 2026-11-02  09:30 ", "2026-11-02T09:30");
    check("2026-11-02 09:30 UTC", "2026-11-02T09:30");
    check("2026-11-02 09:30:00 utc", "2026-11-02T09:30");
    check("2 November 2026", "2026-11-02T00:00");
    check("Nov 2, 2026", "2026-11-02T00:00");
    check_both("20 nov", "2025-11-20T00:00", "2026-11-20T00:00");
    check_both("November 2", "2026-11-02T00:00", "2027-11-02T00:00");
    check("now", "2026-11-18T12:00");
}

#[test]
fn named_days() {
    check("today", "2026-11-18T00:00");
    check("Yesterday", "2026-11-17T00:00");
    check("tomorrow", "2026-11-19T00:00");
    check("yesterday 14:30", "2026-11-17T14:30");
    check("tomorrow at 9:30", "2026-11-19T09:30");
    check_both("monday", "2026-11-16T00:00", "2026-11-23T00:00");
    check_both("fri", "2026-11-13T00:00", "2026-11-20T00:00");
    check_both("on friday 09:00", "2026-11-13T09:00", "2026-11-20T09:00");
    check_both("wednesday", "2026-11-18T00:00", "2026-11-25T00:00");
    check("last wednesday", "2026-11-11T00:00");
    check("last monday", "2026-11-16T00:00");
    check("next wednesday", "2026-11-25T00:00");
    check("next thurs", "2026-11-19T00:00");
    check("last week", "2026-11-09T00:00");
    check("this week", "2026-11-16T00:00");
    check("next week", "2026-11-23T00:00");
    check("last month", "2026-10-01T00:00");
    check("next month", "2026-12-01T00:00");
    check("this year", "2026-01-01T00:00");
}

#[test]
fn durations() {
    check_both("2w", "2026-11-04T12:00", "2026-12-02T12:00");
    check_both("1h 30m", "2026-11-18T10:30", "2026-11-18T13:30");
    check_both("P2D", "2026-11-16T12:00", "2026-11-20T12:00");
    check_both("a month", "2026-10-18T12:00", "2026-12-18T12:00");
    check("3 days ago", "2026-11-15T12:00");
    check("a week ago", "2026-11-11T12:00");
    check("an hour ago", "2026-11-18T11:00");
    check("in 3 days", "2026-11-21T12:00");
    check("2 weeks from now", "2026-12-02T12:00");
    check("-2d", "2026-11-16T12:00");
    check("+2d", "2026-11-20T12:00");
}

#[test]
fn an_invalid_time_is_refused() {
    for text in [
        "",
        " ",
        "soon",
        "ago",
        "in",
        "last",
        "next",
        "mo",
        "day",
        "2",
        "2x",
        "01/04/26",
        "2 nov 26",
        "2026-13-01",
        "2026-02-30",
        "yesterday 25:00",
        "last someday",
        "99999999999999y",
        "next 2w",
        "monday monday",
        "UTC",
        "3 days ago UTC",
        "2026-11-02 UTC",
    ] {
        assert_eq!(read(text, Toward::Past), None, "{text}");
        assert_eq!(read(text, Toward::Future), None, "{text}");
    }
    let now = Timestamp::parse(NOW).unwrap();
    insta::assert_snapshot!(
        parse_past(&"soon ".repeat(30), now).unwrap_err(),
        @"is neither a date (2026-11-02, yesterday, monday), a time (2026-11-02T09:00:00Z) nor how long ago (2w, 3 days ago): `soon soon soon soon soon soon soon soon…`"
    );
}

#[test]
fn a_day_that_does_not_exist_is_named_as_such() {
    let now = Timestamp::parse(NOW).unwrap();
    for text in ["2026-02-30", "2026-13-01", " 2026-02-30 09:00 ", "2026-02-30T09:00"] {
        let error = parse_past(text, now).unwrap_err();
        assert_eq!(error.fault(), "names a day that does not exist", "{text}");
        assert_eq!(error.to_string(), format!("{}: `{}`", error.fault(), text.trim()));
    }
    for text in ["2026-02-28 25:00", "2026-11-021", "soon", ""] {
        assert!(parse_past(text, now).unwrap_err().fault().starts_with("is neither"), "{text}");
    }
}

#[test]
fn a_time_as_commits_show_it_includes_its_minute() {
    let now = Timestamp::parse(NOW).unwrap();
    let commit = Timestamp::parse("2026-11-02T09:30:59.999Z").unwrap();
    for text in [
        &commit.minute(),
        "2026-11-02 09:30",
        "2026-11-02 9:30",
        "2026-11-02T09:30",
        "2026-11-02T09:30Z",
        "2026-11-02T11:30+02:00",
        "on 2026-11-02 at 9:30",
    ] {
        assert_eq!(parse_past_up_to(text, now), Ok(commit), "{text}");
    }
    // Seconds are exact, and so is what names no minute.
    for text in
        [&commit.second(), "2026-11-02T09:30:59Z", "2026-11-02 09:30:00", "2026-11-02", "2w"]
    {
        assert_eq!(parse_past_up_to(text, now), parse_past(text, now), "{text}");
    }
    // The minute that goes on includes what has been.
    let now = Timestamp(now.0 + 30_000);
    assert_eq!(parse_past_up_to(&now.minute(), now), Ok(now));
}
