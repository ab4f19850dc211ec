//! The time of a hello, and the meaning of silence.

use std::time::Duration;

use super::*;

const ASK_AFTER: Duration = millis(HANG_ASK_AFTER_MS);
const REPLY: Duration = millis(HANG_REPLY_MS);

#[test]
fn a_daemon_is_probed_after_a_while_and_counts_as_hung_if_silent() {
    let start = Instant::now();
    let mut check = HangCheck::new(start);
    let mut asked = 0;
    let mut finds_hang = |check: &mut HangCheck, at| {
        check.check(at, || {
            asked += 1;
            None
        })
    };
    assert!(!finds_hang(&mut check, start + ASK_AFTER / 2), "not yet");
    assert_eq!(check.due(), Some(start + ASK_AFTER));
    let first = start + ASK_AFTER;
    assert!(!finds_hang(&mut check, first), "asked");
    assert!(!finds_hang(&mut check, first + REPLY / 2), "it has time for its answer");
    assert!(finds_hang(&mut check, first + REPLY), "it hangs");
    assert_eq!((check.hangs_since(), check.due()), (Some(first), None));
    assert!(!finds_hang(&mut check, first + 2 * REPLY), "reported once");
    assert_eq!(asked, 1);
}

#[test]
fn any_sign_of_life_restarts_the_wait() {
    let start = Instant::now();
    let mut check = HangCheck::new(start);
    assert!(!check.runs(start + ASK_AFTER / 2), "it was not known to hang");
    assert_eq!(check.due(), Some(start + ASK_AFTER / 2 + ASK_AFTER));
    let later = start + 2 * ASK_AFTER;
    check.check(later, || None);
    assert!(!check.runs(later + REPLY / 2));
    assert_eq!(check.due(), Some(later + REPLY / 2 + ASK_AFTER));
    check.check(later + 2 * ASK_AFTER, || None);
    assert!(check.check(later + 3 * ASK_AFTER, || None));
    assert!(check.runs(later + 4 * ASK_AFTER), "it was known to hang");
    assert_eq!(check.hangs_since(), None);
}
