//! Disks and indexes that fail, at every possible point.

use std::collections::BTreeMap;
use std::path::Path;

use super::tally::{DIR, Machinery, Sum, Writer, add};
use crate::store::fakes::{SimIndex, head_before};
use crate::store::{Disk, Entry, Fault, JournalStore, Random, Store, StoreError};

type TallyWriter = Writer<JournalStore<super::Tally>>;

/// The outcome of each batch.
#[derive(Debug, Default)]
struct TaskOutcome {
    acknowledged: Vec<Entry<Sum>>,
    /// Batches of unknown outcome, after which the store was read-only.
    uncertain: Vec<Entry<Sum>>,
    errors: Vec<String>,
}

/// Writes batches of growing size, and continues after errors as a project's writer does.
fn work(writer: &mut TallyWriter, mut random: Random, outcome: &mut TaskOutcome) {
    for round in 0..12 {
        let batch: Vec<_> = (0..=random.below(3))
            .map(|part| {
                let by = 1 + i64::try_from(random.below(1 << 40)).unwrap();
                vec![add(["x", "_private", "y"][usize::try_from(part).unwrap() % 3], by)]
            })
            .collect();
        let entries = writer.entries(&batch);
        match writer.write(&entries) {
            Ok(()) => outcome.acknowledged.extend(entries),
            Err(error) => {
                if matches!(error, StoreError::Uncertain { .. }) {
                    outcome.uncertain.clone_from(&entries);
                }
                outcome.errors.push(error.to_string());
            }
        }
        if round % 4 == 3 {
            writer.store.flush();
        }
    }
}

/// Opens the store, writes, and closes it properly, under the current fault.
fn run(machinery: &Machinery, outcome: &mut TaskOutcome) {
    match machinery.open() {
        Ok(mut writer) => {
            work(&mut writer, Random(1), outcome);
            writer.store.close();
        }
        Err(error) => outcome.errors.push(error.to_string()),
    }
}

/// Checks that all acknowledged entries exist, and none that was reported as failed.
fn check(machinery: &Machinery, outcome: &TaskOutcome, what: &str) {
    let mut writer = match machinery.open() {
        Ok(writer) => writer,
        Err(error) => panic!("{what}: {error}"),
    };
    assert_eq!(writer.report.read_only, None, "{what}");
    let mut found = writer.journal();
    if found.len() > outcome.acknowledged.len() {
        let more = found.len() - outcome.acknowledged.len();
        let known = outcome.uncertain.get(..more);
        assert_eq!(Some(&found[outcome.acknowledged.len()..]), known, "{what}");
    }
    writer.expect(&found, what);
    found.truncate(outcome.acknowledged.len());
    assert_eq!(found, outcome.acknowledged, "{what}");
}

#[test]
fn a_failed_disk_operation_loses_no_acknowledged_and_keeps_no_failed_write() {
    let mut refused = 0;
    for n in 1.. {
        let machinery = Machinery::default();
        machinery.disk.fail(Some(Fault::Once(n)));
        let mut outcome = TaskOutcome::default();
        run(&machinery, &mut outcome);
        if machinery.disk.operations() < n {
            assert!(n > 100, "only {n} operations were tried");
            break;
        }
        let what = format!("operation {n} failed");
        machinery.disk.fail(None);
        assert!(outcome.uncertain.is_empty(), "{what}: one fault can be taken back");
        refused += outcome.errors.len();
        let power = machinery.duplicate();
        check(&machinery, &outcome, &what);
        power.disk.power_loss(n);
        power.index.power_loss(n);
        check(&power, &outcome, &format!("{what}, then the power"));
    }
    assert!(refused > 20, "only {refused} calls were refused");
}

#[test]
fn a_permanent_disk_failure_makes_the_outcome_unknown_and_keeps_the_rest() {
    let mut uncertain = 0;
    for n in 1.. {
        let machinery = Machinery::default();
        machinery.disk.fail(Some(Fault::From(n)));
        let mut outcome = TaskOutcome::default();
        run(&machinery, &mut outcome);
        if machinery.disk.operations() < n {
            break;
        }
        uncertain += usize::from(!outcome.uncertain.is_empty());
        machinery.disk.fail(None);
        check(&machinery, &outcome, &format!("operations from {n} on failed"));
    }
    assert!(uncertain > 10, "only {uncertain} runs ended in the middle of a write");
}

#[test]
fn any_failed_disk_operation_on_an_older_format_loses_nothing() {
    let old = Machinery::default();
    let mut writer = old.open().unwrap();
    let before: Vec<_> = (1..=2).map(|by| writer.add("x", by)).collect();
    drop(writer);
    old.age();
    for n in 1.. {
        let machinery = old.duplicate();
        let mut outcome = TaskOutcome { acknowledged: before.clone(), ..TaskOutcome::default() };
        machinery.disk.fail(Some(Fault::Once(n)));
        run(&machinery, &mut outcome);
        if machinery.disk.operations() < n {
            assert!(n > 50, "only {n} operations were tried");
            break;
        }
        machinery.disk.fail(None);
        let power = machinery.duplicate();
        check(&machinery, &outcome, &format!("operation {n} failed"));
        power.disk.power_loss(n);
        power.index.power_loss(n);
        check(&power, &outcome, &format!("operation {n} failed, then the power"));
    }
}

#[test]
fn repeated_power_loss_loses_nothing_acknowledged() {
    for seed in 0..120 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let machinery = Machinery::default();
        let mut outcome = TaskOutcome::default();
        for boot in 0..4 {
            // The power may also fail while a store is opened.
            machinery.disk.fail(Some(Fault::From(1 + random.below(60))));
            std::mem::forget(machinery.open());
            lose_power(&machinery, &mut random);
            check(&machinery.duplicate(), &outcome, &format!("seed {seed}, opening for {boot}"));

            let mut writer = machinery.open().unwrap();
            // An entry of an unanswered batch that survived is answered when asked for again, so it
            // must stay.
            outcome.acknowledged = writer.journal();
            outcome.uncertain.clear();
            machinery.disk.fail(Some(Fault::From(1 + random.below(100))));
            work(&mut writer, Random(random.below(u64::MAX)), &mut outcome);
            // The process dies with the machine: nothing is closed properly.
            std::mem::forget(writer);
            lose_power(&machinery, &mut random);
            check(&machinery.duplicate(), &outcome, &format!("seed {seed}, boot {boot}"));
        }
    }
}

#[test]
fn unsynced_lines_of_a_killed_daemon_are_synced_before_they_count() {
    let machinery = Machinery::default();
    drop(machinery.open().unwrap());
    let path = Path::new(DIR).join("journal/000001.jsonl");
    let before = machinery.disk.bytes(&path).unwrap().len();
    let ahead = machinery.duplicate();
    let entry = ahead.open().unwrap().add("x", 1);
    let after = ahead.disk.bytes(&path).unwrap();
    // Killed between write and sync.
    machinery.disk.open_append(&path).unwrap().write_all(&after[before..]).unwrap();

    let mut writer = machinery.open().unwrap();
    writer.expect(std::slice::from_ref(&entry), "after the kill");
    std::mem::forget(writer);
    for seed in 0..20 {
        let dark = machinery.duplicate();
        dark.disk.power_loss(seed);
        dark.open().unwrap().expect(std::slice::from_ref(&entry), "after the power loss");
    }
}

fn lose_power(machinery: &Machinery, random: &mut Random) {
    machinery.disk.fail(None);
    machinery.disk.power_loss(random.below(u64::MAX));
    machinery.index.power_loss(random.below(u64::MAX));
}

#[test]
fn a_full_disk_refuses_writes_and_loses_nothing() {
    for told in [true, false] {
        let machinery = Machinery::default();
        let mut outcome = TaskOutcome::default();
        machinery.disk.set_capacity(Some(4_000), told);
        run(&machinery, &mut outcome);
        assert!(!outcome.acknowledged.is_empty() && !outcome.errors.is_empty(), "{outcome:?}");
        let error = outcome.errors.first().unwrap();
        if told {
            let named = error.starts_with("not saved: the disk is full: /store/journal has ");
            assert!(named && error.ends_with(" are needed"), "{error}");
        } else {
            assert!(error.starts_with("not saved, nothing of it was kept"), "{error}");
        }
        // The disk is still full, but the entries can be read.
        let mut writer = machinery.duplicate().open().unwrap();
        assert_eq!(writer.journal(), outcome.acknowledged);
        machinery.disk.set_capacity(None, told);
        check(&machinery, &outcome, "with room again");
    }
}

#[test]
fn the_reserve_is_left_free() {
    let machinery = Machinery::default();
    machinery.disk.set_capacity(Some(10_000), true);
    let mut options = machinery.options();
    options.reserve_bytes = 20_000;
    let opened = JournalStore::open(Path::new(DIR), options).unwrap();
    let mut writer: TallyWriter = Writer::new(opened);
    let entries = writer.entries(&[vec![add("x", 1)]]);
    let error = writer.write(&entries).unwrap_err();
    let StoreError::NoSpace { needed_bytes, free_bytes, .. } = error else { panic!("{error}") };
    assert!((20_001..21_000).contains(&needed_bytes), "{needed_bytes}");
    assert!(free_bytes < 10_000);
}

/// An unreadable directory cannot even be asked for its free space.
#[test]
fn a_write_without_an_answer_about_space_says_that_nothing_is_saved() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let entries = writer.entries(&[vec![add("x", 1)]]);
    machinery.disk.fail(Some(Fault::Once(1)));
    let error = writer.write(&entries).unwrap_err().to_string();
    assert_eq!(
        error,
        "not saved, nothing of it was kept: cannot write /store/journal: simulated fault"
    );
}

#[test]
fn any_failed_index_call_loses_nothing() {
    let mut dropped = 0;
    for n in 1.. {
        let machinery = Machinery::default();
        drop(machinery.open().unwrap());
        machinery.index.fail(Some(n));
        let mut outcome = TaskOutcome::default();
        let mut writer = machinery.open().unwrap();
        work(&mut writer, Random(1), &mut outcome);
        assert_eq!(outcome.errors, Vec::<String>::new(), "index call {n}");
        let acknowledged = outcome.acknowledged.clone();
        writer.expect(&acknowledged, &format!("index call {n} failed, before reopening"));
        dropped += usize::from(machinery.index.row_aside("meta").is_some());
        let failed = machinery.index.fail(None) >= n;
        drop(writer);
        check(&machinery, &outcome, &format!("index call {n} failed"));
        if !failed {
            break;
        }
    }
    assert!(dropped > 10, "the index was dropped in {dropped} runs only");
}

/// Removes the last entry of the journal, and a segment that has none.
fn cut(machinery: &Machinery) {
    let names = machinery.disk.list(&Path::new(DIR).join("journal")).unwrap();
    let segments = names.iter().filter(|name| name.starts_with("0000"));
    let path = Path::new(DIR).join("journal").join(segments.max().unwrap());
    let bytes = machinery.disk.bytes(&path).unwrap();
    if let Some(end) = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n') {
        machinery.disk.put(&path, bytes[..=end].to_vec());
    } else {
        machinery.disk.remove(&path).unwrap();
        cut(machinery);
    }
}

#[test]
fn an_index_that_failed_proves_after_a_good_end_what_was_written() {
    for n in 1.. {
        let machinery = Machinery::default();
        drop(machinery.open().unwrap());
        machinery.index.fail(Some(n));
        let mut writer = machinery.open().unwrap();
        work(&mut writer, Random(1), &mut TaskOutcome::default());
        // A batch of one entry, so that nothing in the journal tells of the cut.
        writer.add("x", 1);
        writer.store.close();
        let failed = machinery.index.fail(None) >= n;
        cut(&machinery);
        let report = machinery.open().unwrap().report;
        assert!(report.read_only.is_some(), "index call {n}: {report:?}");
        if !failed {
            break;
        }
    }
}

#[test]
fn an_index_that_failed_for_a_while_is_used_again() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    writer.add("x", 1);
    writer.store.mark("seen", Some("before"));
    writer.store.mark("gone", Some("before"));
    writer.store.flush();
    machinery.index.refuse(true);
    machinery.index.fail(Some(1));
    for by in 2..40 {
        writer.add("x", by);
        assert!(writer.store.health().index.is_some(), "write {by}");
    }
    writer.store.mark("seen", Some("meanwhile"));
    writer.store.mark("gone", None);
    writer.store.flush();
    machinery.index.refuse(false);
    let tries = (40..200).find(|by| {
        writer.add("x", *by);
        writer.store.health().index.is_none()
    });
    assert!(tries.is_some_and(|by| by < 40 + 64), "{tries:?}");
    writer.store.flush();
    drop(writer);
    let writer = machinery.open().unwrap();
    let marks = [("seen".to_owned(), "meanwhile".to_owned())];
    assert_eq!(*writer.store.marks(), BTreeMap::from(marks));
    drop(writer);
    cut(&machinery);
    assert!(machinery.open().unwrap().report.read_only.is_some());
}

#[test]
fn any_failed_index_call_during_a_copy_loses_nothing() {
    let (mut copied, mut failed) = (0, 0);
    for n in 1.. {
        let machinery = Machinery::default();
        let mut outcome = TaskOutcome::default();
        let mut writer = machinery.open_upkept().unwrap();
        work(&mut writer, Random(1), &mut outcome);
        writer.store.flush();
        machinery.index.outgrow(2 << 20);
        machinery.index.fail(Some(n));
        writer.store.flush();
        // One write while the index is copied, and one while the copy is synced.
        for by in [77, 78] {
            outcome.acknowledged.push(writer.add("x", by));
            writer.store.flush();
        }
        let is_over = machinery.index.fail(None) < n;
        copied += usize::from(writer.store.sizes().index_bytes < 2 << 20);
        failed += usize::from(writer.store.health().index.is_some());
        let acknowledged = outcome.acknowledged.clone();
        writer.expect(&acknowledged, &format!("index call {n}, before reopening"));
        let power = machinery.duplicate();
        power.index.power_loss(n);
        power.disk.power_loss(n);
        writer.store.close();
        check(&machinery, &outcome, &format!("index call {n} failed"));
        check(&power, &outcome, &format!("index call {n} failed, then the power"));
        if is_over {
            break;
        }
    }
    assert!(copied > 3 && failed > 3, "{copied} were copied, {failed} were dropped");
}

#[test]
fn a_failed_line_may_be_written_again() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let entries = writer.entries(&[vec![add("x", 1)]]);
    machinery.disk.fail(Some(Fault::Once(3)));
    let error = writer.write(&entries).unwrap_err();
    assert!(matches!(error, StoreError::NotSaved { .. }), "{error}");
    writer.write(&entries).unwrap();
    assert_eq!(writer.state.sums, BTreeMap::from([("x".into(), (1, "x by 1".into()))]));
    drop(writer);
    machinery.open().unwrap().expect(&entries, "written again");
}

/// The file may end in entries of unknown outcome. Entries appended after them could be lost with
/// them.
#[test]
fn after_an_unknown_outcome_nothing_more_is_written() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    writer.add("x", 1);
    let next = writer.entries(&[vec![add("x", 2)]]);
    // The sync fails, and so does cutting the line off.
    machinery.disk.fail(Some(Fault::From(3)));
    let error = writer.store.append(head_before(&next), &next).unwrap_err();
    assert!(matches!(error, StoreError::Uncertain { .. }), "{error}");
    machinery.disk.fail(None);
    let path = Path::new(DIR).join("journal/000001.jsonl");
    let before = machinery.disk.bytes(&path).unwrap();
    let again = writer.store.append(head_before(&next), &next).unwrap_err();
    assert!(matches!(again, StoreError::ReadOnly { .. }), "{again}");
    assert_eq!(machinery.disk.bytes(&path).unwrap(), before);
    let health = writer.store.health();
    assert!(health.read_only.is_some() && health.passes, "{health:?}");
}

#[test]
fn a_snapshot_survives_a_power_loss() {
    for seed in 0..20 {
        let (machinery, mut writer) = with_room(1 << 20, true);
        for n in 1.. {
            writer.add(&format!("last-{n}"), n);
            if writer.store.sizes().segments == 2 {
                break;
            }
        }
        let entries = writer.journal();
        std::mem::forget(writer);
        machinery.disk.power_loss(seed);
        machinery.index.power_loss(seed);
        let machinery = Machinery { index: SimIndex::default(), ..machinery };
        let mut again = machinery.open().unwrap();
        again.expect(&entries, "after the power loss");
        let replayed = again.report.replayed;
        assert!(replayed <= 1, "the snapshot is of use: {replayed} of {} replayed", entries.len());
    }
}

/// Returns a store with short segments, on a disk with `room` bytes left.
fn with_room(room: u64, is_told: bool) -> (Machinery, TallyWriter) {
    let machinery = Machinery::default();
    let mut options = machinery.options();
    options.segment_bytes_max = 20_000;
    let mut writer = Writer::new(JournalStore::open(Path::new(DIR), options).unwrap());
    let first = Path::new(DIR).join("journal/000001.jsonl");
    for n in 1.. {
        writer.add(&format!("key-{n}"), n);
        if machinery.disk.bytes(&first).unwrap().len() > 19_500 {
            break;
        }
    }
    let bytes = |path| machinery.disk.bytes(path).unwrap().len() as u64;
    let used: u64 = machinery.disk.paths().iter().map(|path| bytes(path)).sum();
    machinery.disk.set_capacity(Some(used + room), is_told);
    (machinery, writer)
}

#[test]
fn an_oversized_snapshot_takes_no_room_from_the_journal() {
    for is_told in [true, false] {
        let (machinery, mut writer) = with_room(3_600, is_told);
        for n in 0..12 {
            let entries = writer.entries(&[vec![add(&format!("more-{n}"), 1)]]);
            writer.write(&entries).unwrap_or_else(|error| panic!("{n}: {error}"));
        }
        assert_eq!(writer.store.sizes().segments, 2);
        let is_snapshot = |path: &std::path::PathBuf| path.starts_with("/store/snapshot");
        assert_eq!(machinery.disk.paths().into_iter().find(is_snapshot), None);
        let before = writer.journal();
        drop(writer);
        machinery.open().unwrap().expect(&before, "from the journal alone");
    }
}
