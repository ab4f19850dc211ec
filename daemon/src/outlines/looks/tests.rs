//! Looks survive a new daemon, their number is bounded, and a call that comes again sees what its
//! first try saw.

use anchord_memory::Timestamp;

use super::*;

fn look(time: i64) -> Look {
    let digest = FileDigest::of(&time.to_le_bytes());
    Look { digest, language: None, time: Timestamp(time), call: None }
}

fn called(time: i64, number: u64) -> Look {
    Look { call: Some(("shim".to_owned(), number)), ..look(time) }
}

fn session(number: usize) -> SessionId {
    SessionId::new(format!("s{number}"))
}

fn looks() -> (tempfile::TempDir, Looks) {
    let directory = tempfile::tempdir().unwrap();
    let looks = Looks::new(directory.path().join("looks"));
    (directory, looks)
}

/// Returns the looks as a daemon that starts again has them.
fn restarted(looks: &Looks) -> Looks {
    Looks::new(looks.directory.clone())
}

fn seen(look: Option<Look>) -> Option<i64> {
    look.map(|look| look.time.0)
}

#[test]
fn a_session_has_its_own_looks() {
    let (_directory, looks) = looks();
    assert_eq!(seen(looks.replace(&session(1), "a", look(1))), None);
    assert_eq!(seen(looks.replace(&session(2), "a", look(2))), None);
    assert_eq!(seen(looks.replace(&session(1), "b", look(3))), None);
    assert_eq!(seen(looks.replace(&session(1), "a", look(4))), Some(1));
    looks.clear();
    assert_eq!(seen(looks.replace(&session(1), "a", look(5))), None);
}

#[test]
fn a_daemon_that_starts_again_knows_the_looks() {
    let (_directory, looks) = looks();
    looks.replace(&session(1), "a", look(1));
    looks.replace(&session(1), "a", look(2));
    looks.replace(&session(1), "b", look(3));
    let looks = restarted(&looks);
    assert_eq!(seen(looks.replace(&session(2), "a", look(4))), None);
    assert_eq!(seen(looks.replace(&session(1), "a", look(5))), Some(2));
    looks.clear();
    assert_eq!(seen(restarted(&looks).replace(&session(1), "a", look(6))), None);
}

#[test]
fn a_call_that_comes_again_sees_what_its_first_try_saw() {
    let (_directory, looks) = looks();
    looks.replace(&session(1), "a", called(1, 1));
    assert_eq!(seen(looks.replace(&session(1), "a", called(2, 2))), Some(1));
    // The daemon died before it answered.
    let looks = restarted(&looks);
    assert_eq!(seen(looks.replace(&session(1), "a", called(3, 2))), Some(1));
    assert_eq!(seen(looks.replace(&session(1), "a", called(4, 3))), Some(2));
}

#[test]
fn a_line_that_was_cut_off_costs_that_look_alone() {
    let (_directory, looks) = looks();
    looks.replace(&session(1), "a", look(1));
    looks.replace(&session(1), "b", look(2));
    let file = looks.file(&session(1));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 9]).unwrap();
    let looks = restarted(&looks);
    assert_eq!(seen(looks.replace(&session(1), "b", look(3))), None);
    let looks = restarted(&looks);
    assert_eq!(seen(looks.replace(&session(1), "a", look(4))), Some(1));
    assert_eq!(seen(looks.replace(&session(1), "b", look(5))), Some(3));
}

#[test]
fn the_oldest_look_and_the_session_silent_for_longest_make_room() {
    let (_directory, looks) = looks();
    for number in 0..=LOOKED_FILES_MAX {
        looks.replace(&session(0), &number.to_string(), look(i64::try_from(number).unwrap()));
    }
    assert_eq!(looks.sessions()[&session(0)].seen.len(), LOOKED_FILES_MAX);
    assert_eq!(seen(looks.replace(&session(0), "0", look(9_000))), None, "it was forgotten");
    for number in 1..=LOOKING_SESSIONS_MAX {
        looks.replace(&session(number), "a", look(10_000 + i64::try_from(number).unwrap()));
    }
    assert_eq!(looks.sessions().len(), LOOKING_SESSIONS_MAX);
    assert!(!looks.sessions().contains_key(&session(0)));
    assert_eq!(fs::read_dir(&looks.directory).unwrap().count(), LOOKING_SESSIONS_MAX);
}

#[test]
fn a_file_does_not_grow_with_each_look() {
    let (_directory, looks) = looks();
    for number in 0..5 * LOOK_LINES_MAX {
        looks.replace(&session(0), "a", look(i64::try_from(number).unwrap()));
    }
    let text = fs::read_to_string(looks.file(&session(0))).unwrap();
    assert!(text.lines().count() <= LOOK_LINES_MAX, "{}", text.lines().count());
    let last = i64::try_from(5 * LOOK_LINES_MAX - 1).unwrap();
    assert_eq!(seen(restarted(&looks).replace(&session(0), "a", look(0))), Some(last));
}
