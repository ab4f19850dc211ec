//! The time of a hello, and the meaning of silence.

use std::time::Duration;

use super::*;

const ASK_AFTER: Duration = millis(HANG_ASK_AFTER_MS);
const REPLY: Duration = millis(HANG_REPLY_MS);

#[test]
fn a_daemon_is_probed_after_a_while_and_counts_as_hung_if_silent() {
    let start = Instant::now();
    let mut pulse = Pulse::new(start);
    let mut asked = 0;
    let mut beat = |pulse: &mut Pulse, at| {
        pulse.beat(at, || {
            asked += 1;
            None
        })
    };
    assert!(!beat(&mut pulse, start + ASK_AFTER / 2), "not yet");
    assert_eq!(pulse.due(), Some(start + ASK_AFTER));
    let first = start + ASK_AFTER;
    assert!(!beat(&mut pulse, first), "asked");
    assert!(!beat(&mut pulse, first + REPLY / 2), "it has time for its answer");
    assert!(beat(&mut pulse, first + REPLY), "it hangs");
    assert_eq!((pulse.hangs_since(), pulse.due()), (Some(first), None));
    assert!(!beat(&mut pulse, first + 2 * REPLY), "reported once");
    assert_eq!(asked, 1);
}

#[test]
fn any_sign_of_life_restarts_the_wait() {
    let start = Instant::now();
    let mut pulse = Pulse::new(start);
    assert!(!pulse.runs(start + ASK_AFTER / 2), "it was not known to hang");
    assert_eq!(pulse.due(), Some(start + ASK_AFTER / 2 + ASK_AFTER));
    let later = start + 2 * ASK_AFTER;
    pulse.beat(later, || None);
    assert!(!pulse.runs(later + REPLY / 2));
    assert_eq!(pulse.due(), Some(later + REPLY / 2 + ASK_AFTER));
    pulse.beat(later + 2 * ASK_AFTER, || None);
    assert!(pulse.beat(later + 3 * ASK_AFTER, || None));
    assert!(pulse.runs(later + 4 * ASK_AFTER), "it was known to hang");
    assert_eq!(pulse.hangs_since(), None);
}
