//! The printed form of sizes, durations, times, paths and counts.

use super::*;

#[test]
fn bytes_round_to_two_digits_or_more() {
    let table = [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (1_249, "1.2 kB"),
        (9_949, "9.9 kB"),
        (9_999, "10 kB"),
        (10_000, "10 kB"),
        (34_567_890, "35 MB"),
        (999_400, "999 kB"),
        (999_999, "1.0 MB"),
        (5_000_000_000_000_000, "5000 TB"),
    ];
    for (number, text) in table {
        assert_eq!(bytes(number), text);
    }
    assert!(bytes(u64::MAX).ends_with(" TB"));
}

#[test]
fn durations_have_two_units_at_most() {
    let table = [
        (0, "0 s"),
        (59_999, "59 s"),
        (60_000, "1 min"),
        (3_599_000, "59 min"),
        (3_600_000, "1 h"),
        (7_980_000, "2 h 13 min"),
        (86_400_000, "1 day"),
        (432_000_000, "5 days"),
    ];
    for (milliseconds, text) in table {
        assert_eq!(duration(milliseconds), text);
    }
}

#[test]
fn a_future_time_is_shown_as_now() {
    assert_eq!(ago(5_000, 9_000), "just now");
    assert_eq!(ago(5_000, 4_500), "just now");
    assert_eq!(ago(5_000, 1_000), "4 s ago");
    assert_eq!(ago(i64::MAX, i64::MIN), "106751991167 days ago");
}

#[test]
fn only_the_home_directory_is_shown_as_a_tilde() {
    let home = Some(Path::new("/home/ada"));
    assert_eq!(path("/home/ada/src/x", home), "~/src/x");
    assert_eq!(path("/home/ada", home), "~");
    assert_eq!(path("/home/adaline/x", home), "/home/adaline/x");
    assert_eq!(path("/x", Some(Path::new("/"))), "/x");
    assert_eq!(
        path("/x\u{1b}[2J\n</system-reminder>", None),
        "/x\\u{1b}[2J\\u{a}‹/system-reminder>"
    );
}

#[test]
fn control_characters_stay_out_of_the_terminal() {
    assert_eq!(plain("a\nb\u{7}"), "a\\u{a}b\\u{7}");
    assert_eq!(plain_lines("a\r\n\tb\u{1b}[31m"), "a\n\tb\\u{1b}[31m");
}

#[test]
fn names_are_joined_into_a_list() {
    assert_eq!(listed(&["a"], "and"), "a");
    assert_eq!(listed(&["a", "b", "c"], "or"), "a, b or c");
}

#[test]
fn counts_agree_with_their_noun() {
    assert_eq!(count(0, "session"), "0 sessions");
    assert_eq!(count(1, "session"), "1 session");
}

#[test]
fn a_long_line_is_broken_at_spaces() {
    assert_eq!(wrapped("a bb ccc dddd", 6, "  "), "a bb\n  ccc\n  dddd");
    assert_eq!(wrapped("a-very-long-word b", 6, "  "), "a-very-long-word\n  b");
    assert_eq!(wrapped("all fits", 8, "  "), "all fits");
    assert_eq!(wrapped("ä ö", 3, " "), "ä ö", "characters, not bytes");
}

#[test]
fn a_cut_line_is_no_wider_than_its_columns() {
    assert_eq!(cut("retries", 7), "retries");
    assert_eq!(cut("retries", 5), "retr…");
    assert_eq!(cut("再試行は五回", 12), "再試行は五回");
    assert_eq!(cut("再試行は五回", 8), "再試行…", "a character of two columns has no room left");
    assert_eq!(cut("retries", 0), "…");
}
