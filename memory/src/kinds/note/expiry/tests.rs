//! Texts that are times, and texts that are not.

use super::*;
use crate::testing::day;

#[test]
fn durations_dates_and_times_are_understood() {
    let now = day(1);
    let parse = |text: &str| Expires::parse(text, now).map(Expires::moment);
    assert_eq!(parse("2d"), Ok(Some(day(3))));
    assert_eq!(parse("1w"), Ok(Some(day(8))));
    assert_eq!(parse("24h 1440m"), Ok(Some(day(3))));
    assert_eq!(parse("P2D"), Ok(Some(day(3))));
    assert_eq!(parse("2026-11-03T12:00:00Z"), Ok(Some(day(3))));
    assert_eq!(parse("2026-11-03"), Ok(Timestamp::parse("2026-11-03T00:00:00Z")));
    assert_eq!(parse("tomorrow"), Ok(Timestamp::parse("2026-11-02T00:00:00Z")));
    assert_eq!(parse("friday"), Ok(Timestamp::parse("2026-11-06T00:00:00Z")));
    assert_eq!(parse("in 2 days"), Ok(Some(day(3))));
    assert_eq!(parse(" Never "), Ok(None));
}

#[test]
fn an_invalid_or_past_expiry_is_refused() {
    let parse = |text: &str| Expires::parse(text, day(2)).unwrap_err();
    assert_eq!(parse("soon"), ParseExpiryError::Form("soon".to_owned()));
    assert_eq!(parse(""), ParseExpiryError::Form(String::new()));
    let no_day = parse("2026-02-30");
    assert_eq!(no_day, ParseExpiryError::NoSuchDay("2026-02-30".to_owned()));
    assert_eq!(no_day.to_string(), "names a day that does not exist: `2026-02-30`");
    assert_eq!(parse("yesterday"), ParseExpiryError::Past("yesterday".to_owned()));
    assert_eq!(parse("-2d"), ParseExpiryError::Past("-2d".to_owned()));
    assert_eq!(parse("2026-11-01"), ParseExpiryError::Past("2026-11-01".to_owned()));
    assert!(matches!(parse("99999999999999y"), ParseExpiryError::Form(_)));
}
