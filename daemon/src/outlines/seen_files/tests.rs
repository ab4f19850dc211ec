//! Versions that sessions saw survive a new daemon, and their number is bounded. A call that is
//! sent again gets what its first try got.

use anchord_memory::Timestamp;

use super::*;

fn version(time: i64) -> SeenVersion {
    let digest = FileDigest::of(&time.to_le_bytes());
    SeenVersion { digest, language: None, time: Timestamp(time), call: None }
}

fn called(time: i64, number: u64) -> SeenVersion {
    SeenVersion { call: Some(("shim".to_owned(), number)), ..version(time) }
}

fn session(number: usize) -> SessionId {
    SessionId::new(format!("s{number}"))
}

fn seen_files() -> (tempfile::TempDir, SeenFiles) {
    let directory = tempfile::tempdir().unwrap();
    let seen_files = SeenFiles::new(directory.path().join("looks"));
    (directory, seen_files)
}

/// Returns the files as a daemon that starts again has them.
fn restarted(seen_files: &SeenFiles) -> SeenFiles {
    SeenFiles::new(seen_files.directory.clone())
}

fn seen(version: Option<SeenVersion>) -> Option<i64> {
    version.map(|version| version.time.0)
}

#[test]
fn a_session_has_its_own_files() {
    let (_directory, seen_files) = seen_files();
    assert_eq!(seen(seen_files.replace(&session(1), "a", version(1))), None);
    assert_eq!(seen(seen_files.replace(&session(2), "a", version(2))), None);
    assert_eq!(seen(seen_files.replace(&session(1), "b", version(3))), None);
    assert_eq!(seen(seen_files.replace(&session(1), "a", version(4))), Some(1));
    seen_files.clear();
    assert_eq!(seen(seen_files.replace(&session(1), "a", version(5))), None);
}

#[test]
fn a_daemon_that_starts_again_knows_what_was_seen() {
    let (_directory, seen_files) = seen_files();
    seen_files.replace(&session(1), "a", version(1));
    seen_files.replace(&session(1), "a", version(2));
    seen_files.replace(&session(1), "b", version(3));
    let seen_files = restarted(&seen_files);
    assert_eq!(seen(seen_files.replace(&session(2), "a", version(4))), None);
    assert_eq!(seen(seen_files.replace(&session(1), "a", version(5))), Some(2));
    seen_files.clear();
    assert_eq!(seen(restarted(&seen_files).replace(&session(1), "a", version(6))), None);
}

#[test]
fn a_call_that_comes_again_sees_what_its_first_try_saw() {
    let (_directory, seen_files) = seen_files();
    seen_files.replace(&session(1), "a", called(1, 1));
    assert_eq!(seen(seen_files.replace(&session(1), "a", called(2, 2))), Some(1));
    // The daemon died before it answered.
    let seen_files = restarted(&seen_files);
    assert_eq!(seen(seen_files.replace(&session(1), "a", called(3, 2))), Some(1));
    assert_eq!(seen(seen_files.replace(&session(1), "a", called(4, 3))), Some(2));
}

#[test]
fn a_line_that_was_cut_off_costs_that_look_alone() {
    let (_directory, seen_files) = seen_files();
    seen_files.replace(&session(1), "a", version(1));
    seen_files.replace(&session(1), "b", version(2));
    let file = seen_files.file(&session(1));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 9]).unwrap();
    let seen_files = restarted(&seen_files);
    assert_eq!(seen(seen_files.replace(&session(1), "b", version(3))), None);
    let seen_files = restarted(&seen_files);
    assert_eq!(seen(seen_files.replace(&session(1), "a", version(4))), Some(1));
    assert_eq!(seen(seen_files.replace(&session(1), "b", version(5))), Some(3));
}

#[test]
fn the_oldest_look_and_the_session_silent_for_longest_make_room() {
    let (_directory, seen_files) = seen_files();
    for number in 0..=SEEN_FILES_MAX {
        seen_files.replace(
            &session(0),
            &number.to_string(),
            version(i64::try_from(number).unwrap()),
        );
    }
    assert_eq!(seen_files.sessions()[&session(0)].seen.len(), SEEN_FILES_MAX);
    assert_eq!(
        seen(seen_files.replace(&session(0), "0", version(9_000))),
        None,
        "it was forgotten"
    );
    for number in 1..=SEEN_SESSIONS_MAX {
        seen_files.replace(&session(number), "a", version(10_000 + i64::try_from(number).unwrap()));
    }
    assert_eq!(seen_files.sessions().len(), SEEN_SESSIONS_MAX);
    assert!(!seen_files.sessions().contains_key(&session(0)));
    assert_eq!(fs::read_dir(&seen_files.directory).unwrap().count(), SEEN_SESSIONS_MAX);
}

#[test]
fn a_file_does_not_grow_with_each_look() {
    let (_directory, seen_files) = seen_files();
    for number in 0..5 * SEEN_LINES_MAX {
        seen_files.replace(&session(0), "a", version(i64::try_from(number).unwrap()));
    }
    let text = fs::read_to_string(seen_files.file(&session(0))).unwrap();
    assert!(text.lines().count() <= SEEN_LINES_MAX, "{}", text.lines().count());
    let last = i64::try_from(5 * SEEN_LINES_MAX - 1).unwrap();
    assert_eq!(seen(restarted(&seen_files).replace(&session(0), "a", version(0))), Some(last));
}
