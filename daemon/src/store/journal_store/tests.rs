//! The store as its caller sees it, on the simulated disk unless a test is about sled.

mod archives;
mod damage;
mod fakes;
mod faults;
mod repair;
mod restore;
mod rewrite;
mod sled;
mod tally;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anchord_memory::{Revision, Seq, Timestamp};

use self::tally::{DIR, Machinery, Tally, Writer, add, call};
use crate::store::fakes::head_before;
use crate::store::limits::{INDEX_BATCH_ROWS_MAX, MARKS_BATCH_ROWS_MAX};
use crate::store::upkeep::Tasks;
use crate::store::{
    JournalStore, LineState, PendingFlush, StateMachine, Store, StoreError, Upkeep,
};

#[test]
fn written_entries_survive_reopening() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    assert!(writer.report.created);
    let mut entries = Vec::new();
    for by in 1..=10 {
        entries.push(writer.add("x", by));
        entries.push(writer.add("_private", by));
    }
    writer.store.flush();
    assert!(writer.store.sizes().segments > 2, "the test must span segments");
    assert_eq!(writer.store.sizes().entries, 20);
    writer.store.close();

    let mut again = machinery.open().unwrap();
    assert_eq!(again.report.rebuilt, None);
    assert_eq!((again.report.created, again.report.replayed, again.report.entries), (false, 0, 20));
    again.expect(&entries, "reopened");
}

#[test]
fn a_batch_needs_one_sync() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let batch: Vec<_> = (0..5).map(|by| vec![add("x", by)]).collect();
    let entries = writer.entries(&batch);
    machinery.disk.fail(None);
    writer.store.append(head_before(&entries), &entries).unwrap();
    let operations = machinery.disk.operations();
    assert_eq!(operations, 4, "free space, write, sync, name");
}

#[test]
fn entries_must_be_consecutive() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let first = writer.add("x", 1);
    let early = writer.store.append(Seq(0), std::slice::from_ref(&first));
    assert!(matches!(early, Err(StoreError::HeadMoved { expected: Seq(0), last: Seq(1) })));
    let again = writer.store.append(Seq(1), std::slice::from_ref(&first));
    assert!(matches!(again, Err(StoreError::OutOfOrder { last: Seq(1), given: Seq(1) })));
    writer.expect(&[first], "after a refused append");
}

#[test]
fn replies_survive_reopening_and_rebuilding() {
    for rebuild in [false, true] {
        let machinery = Machinery::default();
        let mut writer = machinery.open().unwrap();
        let mut entries = Vec::new();
        for by in 1..=9 {
            entries.push(writer.add("x", by));
        }
        drop(writer);
        if rebuild {
            machinery.index.tamper("meta", None).unwrap();
        }
        let again = machinery.open().unwrap();
        assert_eq!(again.report.rebuilt.is_some(), rebuild);
        for entry in &entries {
            let call = entry.call.as_ref().unwrap();
            let expected = match call.number {
                1..=6 => LineState::Stale,
                _ => LineState::Answered(entry.reply.clone().unwrap().into()),
            };
            assert_eq!(again.replies.lookup(call), expected, "line {}", call.number);
        }
        assert_eq!(again.replies.lookup(&call("a", 10, 0)), LineState::Fresh);
    }
}

#[test]
fn rebuilding_reads_the_snapshot_and_later_entries() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let mut entries = Vec::new();
    for by in 1..=30 {
        entries.push(writer.add("x", by));
    }
    drop(writer);
    machinery.index.tamper("meta", None).unwrap();
    let mut again = machinery.open().unwrap();
    assert_eq!(again.report.rebuilt.as_deref(), Some("it is empty"));
    assert!(again.report.replayed < 10, "{} entries were replayed", again.report.replayed);
    again.expect(&entries, "rebuilt");

    drop(again);
    assert_eq!(machinery.open().unwrap().report.rebuilt, None, "rebuilt once is enough");
}

#[test]
fn a_bad_snapshot_only_costs_time() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let mut entries = Vec::new();
    for by in 1..=30 {
        entries.push(writer.add("x", by));
    }
    drop(writer);
    let snapshots: Vec<_> = machinery
        .disk
        .paths()
        .into_iter()
        .filter(|path| path.parent() == Some(&Path::new(DIR).join("snapshot")))
        .collect();
    assert_eq!(snapshots.len(), 2, "two are kept");
    let newest = machinery.disk.bytes(&snapshots[1]).unwrap();
    for at in 0..newest.len() {
        let damaged = machinery.duplicate();
        let mut bytes = newest.clone();
        bytes[at] ^= 1;
        damaged.disk.put(&snapshots[1], bytes);
        damaged.index.tamper("meta", None).unwrap();
        damaged.open().unwrap().expect(&entries, &format!("byte {at} of the snapshot"));
    }
    for path in &snapshots {
        machinery.disk.put(path, b"no snapshot at all".to_vec());
    }
    machinery.index.tamper("meta", None).unwrap();
    let mut again = machinery.open().unwrap();
    assert_eq!(again.report.replayed, 30);
    again.expect(&entries, "without a snapshot of use");
}

#[test]
fn earlier_versions_are_read_from_the_journal_not_the_index() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let first = writer.add("x", 1000);
    for by in 1..=30 {
        writer.add("x", by);
    }
    let rows = |machinery: &Machinery| {
        let mut keys = Vec::new();
        let index = machinery.options().index.open().unwrap();
        index.scan("", &mut |key, _| keys.push(key.to_owned())).unwrap();
        keys
    };
    assert_eq!(rows(&machinery), ["d/counts", "d/x", "meta", "r/a"]);
    let newest = writer.add("y", 1);
    assert_eq!(writer.store.history("y@1").unwrap(), Some(newest));
    let after = writer.add("y", 2);
    assert_eq!(writer.store.history("y@2").unwrap(), Some(after), "written after a look-up");
    let read = machinery.disk.bytes_read();
    let last = writer.add("y", 3);
    assert_eq!(writer.store.history("y@3").unwrap().as_ref(), Some(&last));
    let line_bytes = crate::store::format::entry_bytes(&last) as u64 + 1;
    let read = machinery.disk.bytes_read() - read;
    assert!(read <= 2 * line_bytes, "{read} bytes for a line of {line_bytes}");
    // Look-ups of different moments run on other threads while the store is written.
    let look_ups: Vec<_> = (1..=20)
        .map(|by| {
            let entry = writer.add("z", by);
            (format!("z@{by}"), entry, writer.store.look_up())
        })
        .collect();
    std::thread::scope(|scope| {
        for (key, entry, look_up) in look_ups {
            scope.spawn(move || assert_eq!(look_up(&key).unwrap(), Some(entry), "{key}"));
        }
    });
    drop(writer);
    let again = machinery.open().unwrap();
    assert_eq!(again.store.history("x@1000").unwrap(), Some(first));
    assert_eq!(again.store.history("x@999").unwrap(), None);
}

/// An unreadable segment may hold the requested version, but the others are still read.
#[test]
fn a_version_possibly_in_a_damaged_segment_is_not_reported_missing() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let entries: Vec<_> = (1..=12).map(|by| writer.add("x", by)).collect();
    drop(writer);
    let path = Path::new(DIR).join("journal/000002.jsonl");
    let mut bytes = machinery.disk.bytes(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    machinery.disk.put(&path, bytes);
    let again = machinery.open().unwrap();
    assert_eq!(again.store.history("x@1").unwrap().as_ref(), Some(&entries[0]));
    let error = again.store.history("x@99").unwrap_err().to_string();
    assert!(error.starts_with("damaged at journal/000002.jsonl:"), "{error}");
}

#[test]
fn an_oversized_index_is_copied_while_the_writer_continues() {
    let machinery = Machinery::default();
    let mut writer = machinery.open_upkept().unwrap();
    let mut entries: Vec<_> = (1..=5).map(|by| writer.add("x", by)).collect();
    writer.keep_up();
    writer.store.mark("seen/s1", Some("1"));
    machinery.index.outgrow(2 << 20);
    assert_eq!(writer.store.flush(), PendingFlush::Upkeep, "it has outgrown its state");
    entries.push(writer.add("x", 6));
    entries.push(writer.add("y", 7));
    writer.store.mark("seen/s1", None);
    writer.store.mark("seen/s2", Some("2"));
    assert_eq!(writer.store.flush(), PendingFlush::Upkeep, "the copy is synced");
    entries.push(writer.add("z", 1));
    entries.push(writer.add("y", 9));
    writer.store.mark("seen/s2", None);
    writer.store.mark("seen/s3", Some("3"));
    writer.keep_up();
    let sizes = writer.store.sizes();
    assert!(sizes.index_bytes < 2 * sizes.state_bytes, "{sizes:?}");
    entries.push(writer.add("x", 8));
    writer.expect(&entries, "after the copy");
    writer.store.close();
    let mut again = machinery.open().unwrap();
    assert_eq!((again.report.rebuilt.clone(), again.report.replayed), (None, 0));
    let seen = again.store.marks().keys().filter(|key| key.starts_with("seen/"));
    assert_eq!(seen.collect::<Vec<_>>(), ["seen/s3"]);
    again.expect(&entries, "reopened");
}

/// A sync may take as long as the disk likes.
#[test]
fn a_copy_of_the_index_is_never_synced_by_the_writer() {
    let machinery = Machinery::default();
    let mut writer = machinery.open_with(Upkeep::Thread).unwrap();
    let entries: Vec<_> = (1..=5).map(|by| writer.add("x", by)).collect();
    machinery.index.outgrow(2 << 20);
    until_kept_up(&mut writer);
    let synced_by = machinery.index.synced_by();
    assert!(synced_by.is_some_and(|thread| thread != std::thread::current().id()));
    writer.expect(&entries, "after the copy");
}

#[test]
fn only_one_store_does_upkeep_at_a_time() {
    let machinery = Machinery::default();
    let mut writer = machinery.open_with(Upkeep::Thread).unwrap();
    let entries: Vec<_> = (1..=14).map(|by| writer.add("x", by)).collect();
    let held = Tasks::hold_all();
    for _ in 0..3 {
        assert_eq!(writer.store.flush(), PendingFlush::Upkeep, "it is left for later");
        assert!(!writer.store.tasks.is_busy());
    }
    drop(held);
    until_kept_up(&mut writer);
    let archived = writer.store.journal.segments.iter().filter(|it| it.archive_bytes.is_some());
    assert_eq!(archived.count(), 3);
    writer.expect(&entries, "archived");
}

fn until_kept_up(writer: &mut Writer<JournalStore<Tally>>) {
    let begun = crate::clock::start();
    while writer.store.flush() != PendingFlush::Nothing {
        assert!(begun.elapsed() < Duration::from_mins(1), "the upkeep does not end");
        std::thread::yield_now();
    }
}

#[test]
fn marks_are_kept_and_are_not_entries() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    writer.add("x", 1);
    writer.store.mark("seen/s1", Some("1"));
    writer.store.mark("seen/s2", Some("1"));
    writer.store.mark("seen/s2", None);
    writer.store.flush();
    drop(writer);
    let again = machinery.open().unwrap();
    let marks: Vec<_> = again.store.marks().iter().collect();
    assert_eq!(marks, [(&"seen/s1".to_owned(), &"1".to_owned())]);
    assert_eq!(again.report.entries, 1);
}

#[test]
fn old_shims_are_forgotten_when_a_segment_ends() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let mut old = writer.entries(&[vec![add("x", 1)]]);
    old[0].call = Some(call("gone", 1, 0));
    old[0].time = Timestamp(0);
    writer.write(&old).unwrap();
    assert!(machinery.index.row("r/gone").is_some());
    let mut write_on = |days: i64| {
        let mut later = writer.entries(&[vec![add("x", 1)]]);
        later[0].call = Some(call("stays", u64::try_from(days).unwrap(), 0));
        later[0].time = Timestamp(days * Timestamp::DAY_MILLIS);
        writer.write(&later).unwrap();
        writer.store.sizes().segments
    };
    // A clock that jumps turns many days into one.
    while write_on(4_000) == 1 {}
    assert!(machinery.index.row("r/gone").is_some());
    for days in 4_001..4_031 {
        write_on(days);
    }
    let segments = write_on(4_031);
    while write_on(4_031) == segments {}
    assert_eq!(machinery.index.row("r/gone"), None);
    assert_eq!(writer.replies.lookup(&call("gone", 1, 0)), LineState::Fresh);
    drop(writer);
    assert_eq!(machinery.open().unwrap().report.rebuilt, None);
}

#[test]
fn an_index_that_is_behind_catches_up() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let mut entries: Vec<_> = (1..=5).map(|by| writer.add("x", by)).collect();
    let behind = machinery.index.duplicate();
    entries.extend((6..=15).map(|by| writer.add("x", by)));
    drop(writer);
    let late = Machinery { disk: machinery.disk.duplicate(), index: behind };
    let mut again = late.open().unwrap();
    assert_eq!((again.report.rebuilt.clone(), again.report.replayed), (None, 10));
    again.expect(&entries, "caught up");
    drop(again);
    assert_eq!(late.open().unwrap().report.replayed, 0, "the index followed");
}

/// A machine that joins a team writes its copy first, and the index follows at the end.
#[test]
fn segments_end_while_the_index_is_far_behind_and_it_follows_in_parts() {
    let machinery = Machinery::default();
    let files = |folder: &str| {
        let of = |path: &PathBuf| path.parent() == Some(&Path::new(DIR).join(folder));
        machinery.disk.paths().into_iter().filter(of).count()
    };
    let mut writer = machinery.open().unwrap();
    let mut entries = vec![writer.add("x", 1)];
    for first in (0..INDEX_BATCH_ROWS_MAX * 2).step_by(512) {
        let sums = (first..first + 512).map(|key| add(&format!("k{key}"), 1));
        let appended = writer.entries(&[sums.collect(), vec![add(&format!("x{first}"), 2)]]);
        writer.append(&appended).unwrap();
        entries.extend(appended);
    }
    assert_eq!((files("journal"), files("snapshot")), (8, 0), "a segment for each two appends");
    let killed = machinery.duplicate();
    let mut killed = killed.open().unwrap();
    assert_eq!(killed.report.rebuilt, None);
    killed.expect(&entries, "killed before the index followed");

    writer.store.advance_index(&writer.state, &mut writer.replies).unwrap();
    assert_eq!((files("journal"), files("snapshot")), (9, 1), "the snapshot that was left out");
    writer.expect(&entries, "after the index followed");
    writer.store.close();
    let again = machinery.open().unwrap();
    assert_eq!((again.report.rebuilt, again.report.replayed), (None, 0));
    machinery.index.tamper("meta", None).unwrap();
    let mut again = machinery.open().unwrap();
    assert_eq!(again.report.replayed, 0, "the snapshot has everything");
    again.expect(&entries, "rebuilt");
}

/// Nothing in anchord causes this: somebody replaced the journal.
#[test]
fn an_index_of_another_journal_makes_the_store_read_only_and_both_are_kept() {
    let ours = Machinery::default();
    let mut writer = ours.open().unwrap();
    let entries: Vec<_> = (1..=3).map(|by| writer.add("x", by)).collect();
    drop(writer);

    let other = Machinery::default();
    let mut writer = other.open().unwrap();
    let others: Vec<_> = (1..=5).map(|by| writer.add("y", by)).collect();
    drop(writer);

    // The other store's snapshot shows that its journal is not alone there.
    for (mixed, served) in [
        (Machinery { disk: ours.disk.duplicate(), index: other.index.duplicate() }, &others),
        (Machinery { disk: other.disk.duplicate(), index: ours.index.duplicate() }, &others),
    ] {
        let before = (mixed.disk.duplicate(), mixed.index.row("meta"));
        let mut again = mixed.open().unwrap();
        let why = again.report.read_only.clone().unwrap();
        assert!(why.starts_with("/store/journal is not the journal that the index"), "{why}");
        assert_eq!(
            again.report.entries,
            served.len() as u64,
            "the index, unless snapshots confirm the journal"
        );
        assert_eq!(again.state.sums.get("y").map(|sum| sum.0), Some(15));
        let next = again.entries(&[vec![add("x", 1)]]);
        assert!(matches!(
            again.store.append(head_before(&next), &next),
            Err(StoreError::ReadOnly { .. })
        ));
        again.store.close();
        assert_eq!(mixed.index.row("meta"), before.1);
        for path in before.0.paths() {
            assert_eq!(mixed.disk.bytes(&path), before.0.bytes(&path), "{}", path.display());
        }
    }
    drop(entries);
}

/// Somebody restored an older copy, or cut off the end.
#[test]
fn a_journal_shorter_than_its_index_is_served_read_only_from_the_index() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    (1..=2).for_each(|by| drop(writer.add("x", by)));
    let older = machinery.disk.duplicate();
    (3..=4).for_each(|by| drop(writer.add("x", by)));
    drop(writer);
    let restored = Machinery { disk: older, index: machinery.index.duplicate() };
    for _ in 0..2 {
        let mut again = restored.open().unwrap();
        assert_eq!(
            again.report.read_only.as_deref(),
            Some(
                "journal/000001.jsonl ends at entry 2, but the index has 4; the memory is shown from \
                 the better of the two, and a repair first shows what it can restore"
            )
        );
        assert_eq!((again.report.entries, again.report.rebuilt.clone()), (4, None));
        assert_eq!(again.state.sums.get("x").map(|sum| sum.0), Some(10));
        assert_eq!(again.store.history("x@1").unwrap().map(|entry| entry.seq), Some(Seq(1)));
        again.store.flush();
        again.store.close();
    }
}

/// The index may know what was in the journal, but no descriptor is free to read it.
#[test]
fn an_unreadable_index_is_kept_and_no_journal_starts_without_it() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let entries: Vec<_> = (1..=3).map(|by| writer.add("x", by)).collect();
    drop(writer);
    let meta = machinery.index.row("meta");

    machinery.index.refuse(true);
    let mut again = machinery.open().unwrap();
    assert!(again.store.health().index.is_some() && again.report.rebuilt.is_none());
    again.expect(&entries, "without the index");
    drop(again);
    let path = Path::new(DIR).join("journal/000001.jsonl");
    let journal = machinery.disk.bytes(&path).unwrap();
    for bytes in [None, Some(Vec::new())] {
        match bytes {
            Some(bytes) => machinery.disk.put(&path, bytes),
            None => crate::store::Disk::remove(&machinery.disk, &path).unwrap(),
        }
        let error = machinery.open().err().unwrap().to_string();
        assert!(error.starts_with("cannot open the index, which may know what was in"), "{error}");
    }
    machinery.disk.put(&path, journal);
    machinery.index.refuse(false);
    assert_eq!(machinery.index.row("meta"), meta);
    machinery.open().unwrap().expect(&entries, "as before");
}

#[test]
fn a_journal_of_another_kind_is_refused() {
    let machinery = Machinery::default();
    drop(machinery.open().unwrap());
    let opened = JournalStore::<anchord_memory::Memory>::open(Path::new(DIR), machinery.options());
    let error = opened.err().unwrap();
    assert_eq!(
        error.to_string(),
        "/store/journal/000001.jsonl is a journal of kind `tally`, not `project`"
    );
}

#[test]
fn the_index_contains_exactly_the_state() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let batch = [vec![add("x", 1), add("_y", 2)], vec![tally::Sum::Forget { key: "x".into() }]];
    let entries = writer.entries(&batch);
    writer.write(&entries).unwrap();
    assert_eq!(entries[1].revision, Some(Revision(2)));
    assert_eq!(machinery.index.row("d/x"), None);
    for row in Tally::rows(&writer.state) {
        assert_eq!(machinery.index.row(&format!("d/{}", row.key)), row.value);
    }
}

/// Another thread reads the entries while the store continues.
#[test]
fn a_reading_covers_only_entries_written_before_it() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let before: Vec<_> = (1..=5).map(|by| writer.add("x", by)).collect();
    let reading = writer.store.reading();
    for by in 6..=30 {
        writer.add("x", by);
    }
    let read = std::thread::spawn(move || {
        let mut read = Vec::new();
        reading(Seq(1), &mut |entry| {
            read.push(entry.clone());
            true
        })
        .map(|()| read)
    });
    assert_eq!(read.join().unwrap().unwrap(), before);
}

#[test]
fn many_marks_are_written_a_few_at_a_time_and_all_of_them_at_the_end() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let keys: Vec<String> =
        (0..3 * MARKS_BATCH_ROWS_MAX).map(|mark| format!("read/n{mark}")).collect();
    for key in &keys {
        writer.store.mark(key, Some("1"));
    }
    let left: Vec<PendingFlush> = (0..3).map(|_| writer.store.flush()).collect();
    assert_eq!(left, [PendingFlush::Marks, PendingFlush::Marks, PendingFlush::Nothing]);
    for key in &keys {
        writer.store.mark(key, Some("2"));
    }
    writer.store.close();
    let again = machinery.open().unwrap();
    assert_eq!(again.store.marks().len(), keys.len());
    assert!(again.store.marks().values().all(|value| value == "2"));
}
