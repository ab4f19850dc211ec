//! The store on a real disk with sled, whose files are deleted, cut and overwritten with noise.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::tally::{Sum, Tally, Writer, add};
use crate::clock;
use crate::store::limits::INDEX_BYTES_LEAST;
use crate::store::{
    Entry, IndexPlace, JournalStore, Options, PendingFlush, Random, SledPlace, Store,
};

fn open(dir: &Path) -> Writer<JournalStore<Tally>> {
    let options = Options { segment_bytes_max: 4000, ..Options::real(dir) };
    Writer::new(JournalStore::open(dir, options).unwrap())
}

fn filled(dir: &Path) -> Vec<Entry<Sum>> {
    let mut writer = open(dir);
    let mut entries: Vec<_> =
        (1..=15).flat_map(|by| [writer.add("x", by), writer.add("_y", by)]).collect();
    let long = Sum::Add { key: "long".into(), by: 1, note: "ä".repeat(40_000) };
    let batch = writer.entries(&[vec![long], vec![add("x", 31)]]);
    writer.write(&batch).unwrap();
    entries.extend(batch);
    writer.store.close();
    entries
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn a_sled_index_survives_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let entries = filled(dir.path());
    let mut again = open(dir.path());
    assert_eq!((again.report.rebuilt.clone(), again.report.replayed), (None, 0));
    again.expect(&entries, "reopened");
    assert!(again.store.sizes().index_bytes > 0);
}

#[test]
fn a_sled_index_killed_before_its_flush_catches_up() {
    let (dir, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // A store keeps its name.
    let (store, killed) = (dir.path().join("store"), copied.path().join("store"));
    let entries = filled(&store);
    // A copy taken while the store is open equals the files that a kill leaves.
    let mut writer = open(&store);
    let more = writer.add("x", 32);
    copy(&store, &killed);
    let mut expected = entries;
    expected.push(more);
    let mut again = open(&killed);
    assert_eq!(again.report.entries, expected.len() as u64);
    again.expect(&expected, "after a kill");
}

/// The rest of the journal is still this store's, so the store is not taken for another one.
#[test]
fn one_segment_from_another_store_makes_a_store_read_only() {
    for place in [1, 2] {
        let dir = tempfile::tempdir().unwrap();
        let (ours, other) = (dir.path().join("ours"), dir.path().join("other"));
        let entries = filled(&ours);
        filled(&other);
        let segment = |store: &Path| store.join(format!("journal/{place:06}.jsonl"));
        fs::copy(segment(&other), segment(&ours)).unwrap();
        let again = open(&ours);
        assert!(again.report.read_only.is_some(), "segment {place}");
        assert_eq!(again.report.entries, entries.len() as u64, "segment {place}");
    }
}

#[test]
fn a_deleted_sled_index_is_rebuilt_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let entries = filled(dir.path());
    SledPlace::new(dir.path().join("sled")).discard().unwrap();
    assert!(!dir.path().join("sled").exists());
    let mut again = open(dir.path());
    assert_eq!(again.report.rebuilt.as_deref(), Some("it is empty"));
    again.expect(&entries, "deleted");
    again.store.close();
    assert_eq!(open(dir.path()).report.rebuilt, None);
}

#[test]
fn a_truncated_or_corrupted_sled_index_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let entries = filled(&store);
    let mut rebuilt = 0;
    let mut damaged = 0;
    for file in files(&store.join("sled")) {
        let name = file.strip_prefix(&store).unwrap().to_owned();
        let bytes = fs::read(&file).unwrap();
        let mut random = Random(bytes.len() as u64);
        let mut noise = bytes.clone();
        random.fill(&mut noise);
        let mut half = bytes.clone();
        let middle = half.len() / 2;
        random.fill(&mut half[middle..]);
        for (what, content) in [
            ("empty", Vec::new()),
            ("truncated", bytes[..middle].to_vec()),
            ("noise", noise),
            ("half noise", half),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let copied = dir.path().join("store");
            copy(&store, &copied);
            fs::write(copied.join(&name), content).unwrap();
            let mut again = open(&copied);
            let what = format!("{} {what}", name.display());
            rebuilt += usize::from(again.report.rebuilt.is_some());
            damaged += 1;
            again.expect(&entries, &what);
            again.store.close();
            let mut once_more = open(&copied);
            assert_eq!(once_more.report.rebuilt, None, "{what}, opened once more");
            once_more.expect(&entries, &what);
        }
    }
    assert!(rebuilt >= 4, "{rebuilt} of {damaged} were rebuilt");
}

#[test]
fn a_file_in_place_of_the_index_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let entries = filled(dir.path());
    SledPlace::new(dir.path().join("sled")).discard().unwrap();
    fs::write(dir.path().join("sled"), "a file where a directory belongs").unwrap();
    let mut again = open(dir.path());
    assert!(again.store.health().index.is_none() && again.report.rebuilt.is_some());
    again.expect(&entries, "rebuilt");
    assert!(dir.path().join("sled.aside").is_file());
    let more = again.add("x", 99);
    assert_eq!(again.store.history("x@99").unwrap(), Some(more));
    drop(again);
    SledPlace::new(dir.path().join("sled")).discard().unwrap();
    assert!(!dir.path().join("sled.aside").exists(), "a purge leaves nothing");
}

/// sled alone would take up several times as much, and would never shrink.
#[test]
fn an_index_is_at_most_twice_its_state_once_it_has_caught_up() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let mut random = Random(1);
    let (mut entries, mut outgrown) = (Vec::new(), 0);
    for round in 0..80 {
        let changes = (0..100).map(|n| {
            let words = (0..120).map(|_| format!("word{} ", random.below(5000)));
            let key = format!("key-{}", (round * 100 + n) % 1000);
            vec![Sum::Add { key, by: round * 100 + n, note: words.collect() }]
        });
        let batch = writer.entries(&changes.collect::<Vec<_>>());
        writer.write(&batch).unwrap();
        entries.extend(batch);
        let begun = clock::start();
        while writer.store.flush() != PendingFlush::Nothing {
            outgrown += 1;
            assert!(begun.elapsed() < Duration::from_mins(1), "the upkeep does not end");
            std::thread::yield_now();
        }
        let sizes = writer.store.sizes();
        let bytes: u64 = files(&dir.path().join("sled"))
            .iter()
            .map(|file| fs::metadata(file).unwrap().len())
            .sum();
        let bytes_max = INDEX_BYTES_LEAST.max(2 * sizes.state_bytes);
        assert!(bytes <= bytes_max + 1024, "round {round}: {bytes} bytes on disk, {sizes:?}");
    }
    assert!(outgrown > 0, "it never outgrew its state");
    assert!(writer.store.sizes().state_bytes > 900_000);
    writer.store.close();
    let mut again = open(dir.path());
    assert_eq!((again.report.rebuilt.clone(), again.report.replayed), (None, 0));
    assert_eq!(again.journal(), entries);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
