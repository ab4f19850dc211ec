//! One shim has the turn; the next waits, but not for ever.

use super::*;

#[test]
fn a_turn_belongs_to_one_shim_until_released() {
    let scratch = tempfile::tempdir().unwrap();
    let path = Some(scratch.path().join("turn"));
    let (mut one, mut two) = (Turn::new(path.clone()), Turn::new(path));
    let now = Instant::now();
    assert!(one.take(now));
    assert!(one.take(now));
    assert!(!two.take(now));
    one.release();
    assert!(two.take(now));
    assert!(!one.take(now));
    drop(two);
    assert!(one.take(now));
}

#[test]
fn a_long_wait_for_a_turn_ends_without_one() {
    let scratch = tempfile::tempdir().unwrap();
    let path = Some(scratch.path().join("turn"));
    let (mut one, mut two) = (Turn::new(path.clone()), Turn::new(path));
    let now = Instant::now();
    assert!(one.take(now));
    assert!(!two.take(now));
    assert!(!two.take(now + millis(TURN_DEADLINE_MS - 1)));
    assert!(two.take(now + millis(TURN_DEADLINE_MS)));
    two.release();
    assert!(!two.take(now + millis(TURN_DEADLINE_MS)), "each wait begins anew");
}

#[test]
fn nobody_waits_if_turns_are_unavailable() {
    assert!(Turn::new(None).take(Instant::now()));
    let nowhere = Some(PathBuf::from("/nonexistent/turn"));
    assert!(Turn::new(nowhere).take(Instant::now()));
}
