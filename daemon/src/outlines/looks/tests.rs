//! The number of remembered looks is bounded.

use super::*;
use crate::projects::FileDigest;

fn look(time: i64) -> Look {
    Look { digest: FileDigest::of(&time.to_le_bytes()), language: None, time: Timestamp(time) }
}

fn session(number: usize) -> SessionId {
    SessionId::new(format!("s{number}"))
}

#[test]
fn a_session_has_its_own_looks() {
    let looks = Looks::default();
    assert!(looks.replace(&session(1), "a", look(1)).is_none());
    assert!(looks.replace(&session(2), "a", look(2)).is_none());
    assert!(looks.replace(&session(1), "b", look(3)).is_none());
    assert_eq!(looks.replace(&session(1), "a", look(4)).unwrap().time, Timestamp(1));
    looks.clear();
    assert!(looks.replace(&session(1), "a", look(5)).is_none());
}

#[test]
fn the_oldest_look_and_the_session_silent_for_longest_make_room() {
    let looks = Looks::default();
    for number in 0..=LOOKED_FILES_MAX {
        looks.replace(&session(0), &number.to_string(), look(i64::try_from(number).unwrap()));
    }
    let sessions = |looks: &Looks| looks.0.lock().unwrap().len();
    assert_eq!(looks.0.lock().unwrap()[&session(0)].len(), LOOKED_FILES_MAX);
    assert!(looks.replace(&session(0), "0", look(9_000)).is_none(), "it was forgotten");
    for number in 1..=LOOKING_SESSIONS_MAX {
        looks.replace(&session(number), "a", look(10_000 + i64::try_from(number).unwrap()));
    }
    assert_eq!(sessions(&looks), LOOKING_SESSIONS_MAX);
    assert!(!looks.0.lock().unwrap().contains_key(&session(0)));
}
