//! sled's own traps. The store's tests cover its reaction to a bad index.

use tempfile::TempDir;

use super::*;
use crate::store::Random;
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

/// Returns the sum of the rows that every open reads.
fn summed(index: &dyn Index) -> RowSum {
    let mut sum = RowSum::default();
    for prefix in [STATE, REPLIES] {
        index.scan(prefix, &mut |key, value| sum.add(prefix, key, value)).unwrap();
    }
    sum
}

#[test]
fn values_of_any_length_are_read_back_and_replaced_without_leftovers() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    let lengths = [0, 1, 4095, 4096, 4097, 8192, 50_000, 5000, 10, 20_000];
    for length in lengths {
        let packable = "é".repeat(length / 2) + if length % 2 == 1 { "x" } else { "" };
        let value = if length > 4097 { noise(length) } else { packable };
        index.apply(&[row("d/a", Some(&value)), row("d/a\0b", Some("other"))]).unwrap();
        assert_eq!(index.get("d/a").unwrap().as_deref(), Some(value.as_str()), "{length}");
        assert_eq!(
            scanned(&*index, STATE),
            [("a".to_owned(), value), ("a\0b".to_owned(), "other".to_owned())]
        );
    }
    let read = summed(&*index);
    assert_eq!(read.rows, 2);
    index.check(read).unwrap();
    index.apply(&[row("d/a", None), row("d/a\0b", None)]).unwrap();
    index.flush().unwrap();
    drop(index);

    let db = SledPlace::open_db(&place.dir).unwrap();
    let left: Vec<_> = db.iter().keys().map(Result::unwrap).collect();
    assert_eq!(left, [COUNT_KEY], "parts of long values are left");
}

/// Returns a text that packing hardly shortens.
fn noise(bytes: usize) -> String {
    let mut random = Random(7);
    (0..bytes).map(|_| char::from(33 + u8::try_from(random.below(90)).unwrap())).collect()
}

#[test]
fn long_values_are_split_before_sled_stores_them() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    index.apply(&[row("d/a", Some(&noise(100_000)))]).unwrap();
    assert_eq!(index.get("d/a").unwrap(), Some(noise(100_000)));
    drop(index);
    let db = SledPlace::open_db(&place.dir).unwrap();
    assert!(db.len() > 15, "{} keys and parts", db.len());
    for pair in db.iter() {
        assert!(pair.unwrap().1.len() <= SLED_VALUE_BYTES_MAX);
    }
    assert_eq!(fs::read_dir(place.dir.join("blobs")).unwrap().count(), 0, "blobs are never synced");
}

#[test]
fn counted_rows_survive_reopening_and_a_missing_one_is_detected() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    let rows: Vec<Row> = (0..100).map(|n| row(&format!("{REPLIES}{n}"), Some("1"))).collect();
    index.apply(&rows).unwrap();
    index.apply(&[row("r/7", Some("2")), row("r/8", None), row("h/x", Some("1:2:3"))]).unwrap();
    drop(index);
    let mut index = place.open().unwrap();
    let read = summed(&*index);
    assert_eq!(read.rows, 99);
    index.check(read).unwrap();
    drop(index);
    let tampered = |key: &[u8], value: Option<&[u8]>| {
        let db = SledPlace::open_db(&place.dir).unwrap();
        match value {
            Some(value) => db.insert(key, value).unwrap(),
            None => db.remove(key).unwrap(),
        };
        db.flush().unwrap();
        drop(db);
        let mut index = place.open().unwrap();
        let read = summed(&*index);
        index.check(read).map_err(|error| error.to_string())
    };
    // The number of rows is right, but one of them is an older one.
    let outcome = tampered(b"r/7", Some(b"=1"));
    assert_eq!(outcome, Err("its rows are not those that were written".to_owned()));
    // An index of an older build has no digest, and adopts the one of the rows that are read.
    let old = tampered(COUNT_KEY, Some(&99_u64.to_be_bytes()));
    assert_eq!(old, Ok(()));
    let mut index = place.open().unwrap();
    index.check(summed(&*index)).unwrap();
    index.apply(&[row("r/7", Some("3"))]).unwrap();
    drop(index);
    let outcome = tampered(b"r/7", Some(b"=2"));
    assert_eq!(outcome, Err("its rows are not those that were written".to_owned()));
    let outcome = tampered(b"r/9", None);
    assert_eq!(outcome, Err("it holds 98 rows of 99".to_owned()));
}

#[test]
fn values_of_older_builds_are_read_and_replaced() {
    let (_dir, place) = place();
    let db = SledPlace::open_db(&place.dir).unwrap();
    let long = "long ".repeat(1000);
    db.insert("d/a", b"=a whole text").unwrap();
    for (part, bytes) in (0..).zip(long.as_bytes().chunks(SLED_VALUE_BYTES_MAX)) {
        db.insert(part_key("d/b", part), bytes).unwrap();
    }
    db.insert("d/b", b"#\0\0\0\x02").unwrap();
    db.insert(COUNT_KEY, &2_u64.to_be_bytes()).unwrap();
    drop(db);
    let mut index = place.open().unwrap();
    assert_eq!(index.get("d/a").unwrap().as_deref(), Some("a whole text"));
    assert_eq!(index.get("d/b").unwrap().as_ref(), Some(&long));
    index.check(summed(&*index)).unwrap();
    index.apply(&[row("d/b", Some("short now"))]).unwrap();
    index.check(summed(&*index)).unwrap();
    drop(index);
    assert_eq!(SledPlace::open_db(&place.dir).unwrap().len(), 3, "no part is left");
}

#[test]
fn an_interrupted_replacement_is_undone_and_a_finished_one_stays() {
    let (dir, place) = place();
    let mut index = place.open().unwrap();
    index.apply(&[row("d/a", Some("old"))]).unwrap();
    drop(index);
    let mut copy = place.begin_copy().unwrap();
    copy.apply(&[row("d/a", Some("new"))]).unwrap();
    drop(copy);
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["sled", "sled.copy"]);
    // Killed between the two renames.
    fs::rename(&place.dir, place.replaced()).unwrap();
    let index = place.open().unwrap();
    assert_eq!(index.get("d/a").unwrap().as_deref(), Some("old"));
    drop(index);
    assert_eq!(names(), ["sled"]);

    // Beginning a copy does not recover: the files next to it stay.
    fs::create_dir(place.replaced()).unwrap();
    let mut copy = place.begin_copy().unwrap();
    assert_eq!(names(), ["sled", "sled.copy", "sled.replaced"]);
    copy.apply(&[row("d/a", Some("new"))]).unwrap();
    drop(copy);
    place.sync_copy().unwrap();
    place.take_copy().unwrap();
    assert_eq!(names(), ["sled", "sled.replaced"]);
    let index = place.open_copy().unwrap();
    assert_eq!(index.get("d/a").unwrap().as_deref(), Some("new"));
    drop(index);
    // Killed before the old index was removed.
    let index = place.open().unwrap();
    assert_eq!(index.get("d/a").unwrap().as_deref(), Some("new"));
    drop(index);
    assert_eq!(names(), ["sled"]);
}

#[test]
fn setting_an_index_aside_twice_keeps_it() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    index.apply(&[row("d/a", Some("1"))]).unwrap();
    drop(index);
    place.set_aside().unwrap();
    place.set_aside().unwrap();
    let kept = SledPlace::new(place.aside());
    assert_eq!(kept.open().unwrap().get("d/a").unwrap().as_deref(), Some("1"));
}

#[test]
fn leftovers_of_a_killed_open_are_removed_first() {
    let (_dir, place) = place();
    let mut index = place.open().unwrap();
    index.apply(&[row("d/a", Some("1"))]).unwrap();
    drop(index);
    let left = place.dir.join("snap.0000000000000ABC.generating");
    fs::write(&left, "half a snapshot").unwrap();
    assert!(SledPlace::open_db(&place.dir).is_err(), "sled got better: the removal may go");

    let index = place.open().unwrap();
    assert!(!left.exists());
    assert_eq!(index.get("d/a").unwrap().as_deref(), Some("1"));
}

#[test]
fn a_panic_in_sled_is_an_error() {
    let outcome: Result<(), _> = guarded(|| panic!("bad page {}", 7));
    assert_eq!(outcome, Err(IndexError::damaged("sled panicked: bad page 7")));
}
