//! sled's own traps; what a store does about a bad index is tested with the store.

use tempfile::TempDir;

use super::*;
use crate::store::index::{REPLIES, STATE};

fn row(key: &str, value: Option<&str>) -> Row {
    Row { key: key.to_owned(), value: value.map(str::to_owned) }
}

fn place() -> (TempDir, SledPlace) {
    let dir = tempfile::tempdir().unwrap();
    let place = SledPlace::new(dir.path().join("sled"));
    (dir, place)
}

fn scanned(index: &dyn Index, prefix: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    index.scan(prefix, &mut |key, value| found.push((key.to_owned(), value.to_owned()))).unwrap();
    found
}

#[test]
fn values_of_any_length_come_back_and_leave_nothing_behind() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    let lengths = [0, 1, 4095, 4096, 4097, 8192, 50_000, 5000, 10, 20_000];
    for length in lengths {
        let value = "é".repeat(length / 2) + if length % 2 == 1 { "x" } else { "" };
        index.apply(&[row("d/a", Some(&value)), row("d/a\0b", Some("other"))]).unwrap();
        assert_eq!(index.get("d/a").unwrap().as_deref(), Some(value.as_str()), "{length}");
        assert_eq!(
            scanned(&*index, STATE),
            [("a".to_owned(), value), ("a\0b".to_owned(), "other".to_owned())]
        );
    }
    index.check_count(2).unwrap();
    index.apply(&[row("d/a", None), row("d/a\0b", None)]).unwrap();
    index.flush().unwrap();
    drop(index);

    let db = place.open_db().unwrap();
    let left: Vec<_> = db.iter().keys().map(Result::unwrap).collect();
    assert_eq!(left, [COUNT_KEY], "parts of long values are left");
}

#[test]
fn no_value_that_sled_is_given_is_long() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    index.apply(&[row("d/a", Some(&"x".repeat(100_000)))]).unwrap();
    drop(index);
    let db = place.open_db().unwrap();
    for pair in db.iter() {
        assert!(pair.unwrap().1.len() <= SLED_VALUE_BYTES_MAX);
    }
    assert_eq!(fs::read_dir(place.dir.join("blobs")).unwrap().count(), 0, "blobs are never synced");
}

#[test]
fn counted_rows_survive_reopening_and_a_missing_one_is_noticed() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    let rows: Vec<Row> = (0..100).map(|n| row(&format!("{REPLIES}{n}"), Some("1"))).collect();
    index.apply(&rows).unwrap();
    index.apply(&[row("r/7", Some("2")), row("r/8", None), row("h/x", Some("1:2:3"))]).unwrap();
    drop(index);
    {
        let db = place.open_db().unwrap();
        db.remove("r/9").unwrap();
        db.flush().unwrap();
    }
    let index = place.open().unwrap();
    let found = scanned(&*index, REPLIES).len() as u64;
    assert_eq!(found, 98);
    assert_eq!(index.check_count(found), Err(IndexError::damaged("it holds 98 rows of 99")));
}

#[test]
fn what_a_killed_open_left_is_removed_first() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    index.apply(&[row("d/a", Some("1"))]).unwrap();
    drop(index);
    let left = place.dir.join("snap.0000000000000ABC.generating");
    fs::write(&left, "half a snapshot").unwrap();
    assert!(place.open_db().is_err(), "sled got better: the removal may go");

    let index = place.open().unwrap();
    assert!(!left.exists());
    assert_eq!(index.get("d/a").unwrap().as_deref(), Some("1"));
}

#[test]
fn a_panic_in_sled_is_an_error() {
    let outcome: Result<(), _> = guarded(|| panic!("bad page {}", 7));
    assert_eq!(outcome, Err(IndexError::damaged("sled panicked: bad page 7")));
}
