//! One shim has the turn; the next waits, but not for ever.

use super::*;

#[test]
fn the_turn_is_one_shims_until_it_gives_it_back() {
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
fn who_has_waited_for_long_goes_on_without() {
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
fn where_no_turn_can_be_had_nobody_waits() {
    assert!(Turn::new(None).take(Instant::now()));
    let nowhere = Some(PathBuf::from("/nonexistent/turn"));
    assert!(Turn::new(nowhere).take(Instant::now()));
}
