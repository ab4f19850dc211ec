//! Windows at the edges of days, weeks and changes of the clock.

use jiff::Timestamp;

use super::{Bound, Day, Window, free_from};

fn window(days: &[Day], from: &str, until: &str, tz: &str) -> Window {
    let bound = |text: &str| (!text.is_empty()).then(|| text.parse::<Bound>().unwrap());
    Window { days: days.to_vec(), from: bound(from), until: bound(until), tz: tz.to_owned() }
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn fridays_after_noon_follow_the_zone_and_its_summer_time() {
    let window = window(&[Day::Fri], "12:00", "", "Europe/Berlin");
    // Noon in Berlin is 11:00 UTC in winter and 10:00 UTC in summer.
    assert!(!window.contains(at("2026-11-20T10:59:59Z")));
    assert!(window.contains(at("2026-11-20T11:00:00Z")));
    assert!(window.contains(at("2026-07-03T10:00:00Z")));
    assert!(!window.contains(at("2026-07-03T09:59:59Z")));
    assert!(window.contains(at("2026-11-20T22:59:59Z")));
    assert!(!window.contains(at("2026-11-20T23:00:00Z")), "it is Saturday in Berlin");
    let free = free_from(&[window], None, at("2026-11-20T12:00:00Z"));
    assert_eq!(free, Some(at("2026-11-20T23:00:00Z")));
}

#[test]
fn a_freeze_has_both_of_its_days() {
    let freeze = window(&[], "2026-11-20", "2026-12-01", "America/New_York");
    assert!(!freeze.contains(at("2026-11-20T04:59:59Z")));
    assert!(freeze.contains(at("2026-11-20T05:00:00Z")));
    assert!(freeze.contains(at("2026-12-02T04:59:59Z")));
    assert!(!freeze.contains(at("2026-12-02T05:00:00Z")));
    let free = free_from(&[freeze], None, at("2026-11-25T00:00:00Z"));
    assert_eq!(free, Some(at("2026-12-02T05:00:00Z")));
    let timed = window(&[], "2026-11-20T18:00", "2026-12-01T18:00", "UTC");
    assert!(timed.contains(at("2026-11-20T18:00:00Z")));
    assert!(!timed.contains(at("2026-12-01T18:00:00Z")));
}

#[test]
fn a_night_reaches_into_the_next_day() {
    let night = window(&[Day::Fri], "22:00", "06:00", "UTC");
    assert!(night.contains(at("2026-11-20T22:00:00Z")));
    assert!(night.contains(at("2026-11-21T05:59:00Z")));
    assert!(!night.contains(at("2026-11-21T06:00:00Z")));
    assert!(!night.contains(at("2026-11-20T05:00:00Z")), "Thursday's night is not listed");
    let free = free_from(&[night], None, at("2026-11-20T23:00:00Z"));
    assert_eq!(free, Some(at("2026-11-21T06:00:00Z")));
}

#[test]
fn a_window_that_cannot_be_read_never_switches_a_rule_off() {
    assert!(window(&[], "12:00", "", "Europe/Atlantis").contains(at("2026-11-20T01:00:00Z")));
    assert!(window(&[], "12:00", "2026-01-01", "UTC").contains(at("2026-11-20T01:00:00Z")));
}

#[test]
fn bounds_are_written_as_they_are_read() {
    for text in ["12:00:00", "2026-11-20", "2026-11-20T18:00:00"] {
        assert_eq!(text.parse::<Bound>().unwrap().to_string(), text);
    }
    for bad in ["noon", "25:00", "2026-13-01", "", "12"] {
        assert!(bad.parse::<Bound>().is_err(), "{bad}");
    }
}
