//! Stores that lost entries, repaired from the remains.

use std::path::{Path, PathBuf};

use super::tally::{DIR, Machinery, Sum, Tally, add};
use anchord_memory::Timestamp;

use crate::store::fakes::SimIndex;
use crate::store::repair::{plan_repair, repair};
use crate::store::{Disk, Fault, RepairPlan, RepairRange, Store};

const NOW: Timestamp = Timestamp(1_764_000_000_000);

fn segment(number: u32) -> PathBuf {
    Path::new(DIR).join(format!("journal/{number:06}.jsonl"))
}

/// Returns a closed store of four segments with 14 entries, all of them commits.
fn filled() -> Machinery {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    (1..=14).for_each(|by| drop(writer.add("x", by)));
    assert_eq!(writer.store.sizes().segments, 4);
    writer.store.close();
    machinery
}

fn plan(machinery: &Machinery) -> RepairPlan {
    plan_repair::<Tally>(Path::new(DIR), &machinery.options()).unwrap()
}

fn without_index(machinery: &Machinery) -> Machinery {
    Machinery { disk: machinery.disk.duplicate(), index: SimIndex::default() }
}

fn ranges(ranges: &[RepairRange]) -> Vec<(u64, u64)> {
    ranges.iter().map(|range| (range.first, range.last)).collect()
}

/// Repairs the store and returns the sum that is left. Checks that every old file is kept.
fn repaired(machinery: &Machinery, plan: &RepairPlan) -> i64 {
    // Files left by an earlier attempt do not belong to the store.
    let is_kept = |path: &PathBuf| !path.extension().is_some_and(|it| it == "new" || it == "tmp");
    let files = || {
        let paths = machinery.disk.paths().into_iter();
        paths.map(|path| (path.clone(), machinery.disk.bytes(&path).unwrap())).collect::<Vec<_>>()
    };
    let before = files();
    repair::<Tally>(Path::new(DIR), &machinery.options(), plan, NOW).unwrap();
    let after = files();
    for (path, bytes) in before.iter().filter(|(path, _)| is_kept(path)) {
        let is_there = after.iter().any(|(_, kept)| kept == bytes);
        assert!(is_there, "{} is still there under some name", path.display());
    }
    let mut sums = Vec::new();
    for _ in 0..2 {
        let mut writer = machinery.open().unwrap();
        assert_eq!(writer.report.read_only, None);
        assert_eq!(writer.report.entries, plan.entries);
        let journal = writer.journal();
        let mut replayed = Tally::default();
        for (at, entry) in (1..).zip(&journal) {
            assert_eq!(entry.seq.0, at);
            crate::store::StateMachine::apply(&mut replayed, entry.seq, &entry.changes);
            if let Some(revision) = entry.revision {
                assert_eq!(revision, crate::store::StateMachine::revision(&replayed), "entry {at}");
            }
        }
        assert_eq!(replayed, writer.state);
        sums.push(writer.state.sums.get("x").map_or(0, |sum| sum.0));
        writer.store.close();
    }
    assert_eq!(sums[0], sums[1]);
    assert!(!self::plan(machinery).is_needed(), "nothing is left to repair");
    let mut writer = machinery.open().unwrap();
    writer.add("x", 1000);
    assert_eq!(writer.state.sums["x"].0, sums[0] + 1000);
    writer.store.close();
    sums[0]
}

#[test]
fn a_sound_store_needs_no_repair() {
    let machinery = filled();
    let plan = plan(&machinery);
    assert!(!plan.is_needed());
    assert_eq!((plan.kept, plan.entries), (14, 14));
    assert!(!self::plan(&without_index(&machinery)).is_needed());
    assert!(!self::plan(&Machinery::default()).is_needed(), "nor one that is not there");
}

#[test]
fn entries_known_to_the_index_are_restored() {
    // Entries 1 to 14 have the sum 105.
    for what in ["emptied", "removed", "cut", "damaged", "all removed", "one in the middle removed"]
    {
        let machinery = filled();
        let last = machinery.disk.bytes(&segment(4)).unwrap();
        let (kept, restored) = match what {
            "emptied" => {
                machinery.disk.put(&segment(4), Vec::new());
                (12, vec![(13, 14)])
            }
            "removed" => {
                Disk::remove(&machinery.disk, &segment(4)).unwrap();
                (12, vec![(13, 14)])
            }
            "cut" => {
                machinery.disk.put(&segment(4), last[..last.len() - 40].to_vec());
                (13, vec![(14, 14)])
            }
            "damaged" => {
                let mut damaged = last.clone();
                let at = damaged.len() - 40;
                damaged[at] ^= 1;
                machinery.disk.put(&segment(4), damaged);
                (13, vec![(14, 14)])
            }
            "all removed" => {
                (1..=4).for_each(|number| Disk::remove(&machinery.disk, &segment(number)).unwrap());
                (0, vec![(1, 14)])
            }
            _ => {
                Disk::remove(&machinery.disk, &segment(2)).unwrap();
                (10, vec![(5, 8)])
            }
        };
        assert!(machinery.duplicate().open().unwrap().report.read_only.is_some(), "{what}");
        let plan = plan(&machinery);
        assert_eq!((plan.kept, ranges(&plan.restored)), (kept, restored), "{what}");
        assert!(plan.lost.is_empty() && plan.is_supplemented, "{what}: {plan:?}");
        assert_eq!(repaired(&machinery, &plan), 105, "{what}");
    }
}

#[test]
fn without_an_index_lost_entries_are_reported_and_the_rest_kept() {
    let machinery = without_index(&filled());
    let mut bytes = machinery.disk.bytes(&segment(4)).unwrap();
    let at = bytes.len() - 40;
    bytes[at] ^= 1;
    machinery.disk.put(&segment(4), bytes.clone());
    let plan = plan(&machinery);
    // After a bad last line no other line shows that its number is missing.
    assert_eq!((plan.kept, plan.bad, ranges(&plan.lost)), (13, 1, vec![]));
    assert_eq!(repaired(&machinery, &plan), 105 - 14);

    // Everything in a header can be derived from its entries.
    let machinery = without_index(&filled());
    let mut bytes = machinery.disk.bytes(&segment(2)).unwrap();
    bytes[20] ^= 1;
    machinery.disk.put(&segment(2), bytes);
    let plan = self::plan(&machinery);
    assert_eq!((plan.kept, plan.bad, plan.entries), (14, 1, 14));
    assert_eq!(repaired(&machinery, &plan), 105);

    let machinery = without_index(&filled());
    let mut bytes = machinery.disk.bytes(&segment(4)).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    bytes[header + 30] ^= 1;
    machinery.disk.put(&segment(4), bytes);
    let plan = self::plan(&machinery);
    assert_eq!((plan.kept, ranges(&plan.lost)), (13, vec![(13, 13)]));
    assert_eq!(repaired(&machinery, &plan), 105 - 13);
}

/// Damages the entry in a segment's line, counted from the header.
fn damage_entry(machinery: &Machinery, number: u32, line: usize) {
    let text = String::from_utf8(machinery.disk.bytes(&segment(number)).unwrap()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[line] = lines[line].replacen("\"seq\"", "\"sEq\"", 1);
    machinery.disk.put(&segment(number), (lines.join("\n") + "\n").into_bytes());
}

#[test]
fn the_placeholder_of_a_lost_entry_changes_nothing() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    writer.add("x", 1);
    writer.add("x", 2);
    writer.add("y", 3);
    writer.add("y", 4);
    writer.store.close();
    let machinery = without_index(&machinery);
    let is_snapshot = |path: &PathBuf| path.starts_with(Path::new(DIR).join("snapshot"));
    for path in machinery.disk.paths().into_iter().filter(is_snapshot) {
        Disk::remove(&machinery.disk, &path).unwrap();
    }
    damage_entry(&machinery, 1, 3);
    let plan = plan(&machinery);
    assert_eq!((plan.kept, ranges(&plan.lost)), (3, vec![(3, 3)]));
    repair::<Tally>(Path::new(DIR), &machinery.options(), &plan, NOW).unwrap();
    let sums = machinery.open().unwrap().state.sums;
    assert_eq!(sums["x"], (3, "x by 2".to_owned()), "not as it was before its last change");
    assert_eq!(sums["y"], (4, "y by 4".to_owned()));
}

#[test]
fn a_damaged_index_does_not_make_a_sound_journal_need_repair() {
    let machinery = filled();
    machinery.index.tamper("d/x", Some(r#"[1,"x by 1"]"#)).unwrap();
    assert!(!plan(&machinery).is_needed(), "the journal is whole");
}

#[test]
fn a_foreign_or_purged_segment_is_not_accepted() {
    // A segment of another store, or one that a purge has replaced.
    for what in ["journal", "epoch"] {
        let machinery = filled();
        let bytes = String::from_utf8(machinery.disk.bytes(&segment(2)).unwrap()).unwrap();
        let (header, entries) = bytes.split_once('\n').unwrap();
        let body = header.split(",\"crc\"").next().unwrap();
        let body = if what == "epoch" {
            body.replacen("\"epoch\":1", "\"epoch\":0", 1)
        } else {
            let (start, rest) = body.split_once("\"journal\":\"").unwrap();
            format!("{start}\"journal\":\"{}\"{}", uuid::Uuid::from_u128(7), &rest[37..])
        };
        let header = format!("{body},\"crc\":\"{:08x}\"}}", crc32fast::hash(body.as_bytes()));
        machinery.disk.put(&segment(2), format!("{header}\n{entries}").into_bytes());
        for machinery in [without_index(&machinery), machinery] {
            let plan = plan(&machinery);
            let missing = [ranges(&plan.restored), ranges(&plan.lost)].concat();
            assert_eq!((plan.kept, missing), (10, vec![(5, 8)]), "{what}: {plan:?}");
        }
    }
}

#[test]
fn unreadable_files_are_not_planned_as_lost() {
    let machinery = filled();
    (1..=4).for_each(|number| Disk::remove(&machinery.disk, &segment(number)).unwrap());
    let machinery = without_index(&machinery);
    let whole = plan(&machinery);
    assert_eq!(ranges(&whole.restored), [(1, 12)], "a snapshot has them");
    let mut refused = 0;
    for n in 1.. {
        machinery.disk.fail(Some(Fault::Once(n)));
        let planned = plan_repair::<Tally>(Path::new(DIR), &machinery.options());
        let done = machinery.disk.operations() < n;
        machinery.disk.fail(None);
        match planned {
            Ok(planned) => assert_eq!(planned, whole, "operation {n}"),
            Err(_) => refused += 1,
        }
        if done {
            break;
        }
    }
    assert!(refused > 2, "{refused} operations refused");
}

#[test]
fn an_outdated_plan_is_not_carried_out() {
    let machinery = filled();
    machinery.disk.put(&segment(4), Vec::new());
    let plan = plan(&machinery);
    Disk::remove(&machinery.disk, &segment(2)).unwrap();
    let error = repair::<Tally>(Path::new(DIR), &machinery.options(), &plan, NOW).unwrap_err();
    assert!(error.to_string().contains("the files have changed"), "{error}");
}

#[test]
fn a_repair_that_fails_at_any_point_loses_nothing_and_is_repeatable() {
    let damaged = filled();
    damaged.disk.put(&segment(4), Vec::new());
    let plan = plan(&damaged);
    let mut failed = 0;
    for n in 1.. {
        let machinery = damaged.duplicate();
        machinery.disk.fail(Some(Fault::From(n)));
        let outcome = repair::<Tally>(Path::new(DIR), &machinery.options(), &plan, NOW);
        let done = machinery.disk.operations() < n;
        machinery.disk.fail(None);
        failed += usize::from(outcome.is_err());
        machinery.disk.power_loss(n);
        let mut writer = machinery.open().unwrap_or_else(|error| panic!("operation {n}: {error}"));
        let sum = writer.state.sums.get("x").map(|sum| sum.0);
        assert_eq!(sum, Some(105), "operation {n}");
        if writer.report.read_only.is_some() {
            writer.store.close();
            let again = self::plan(&machinery);
            assert_eq!(again, plan, "operation {n}");
            assert_eq!(repaired(&machinery, &again), 105, "operation {n}");
        } else {
            assert_eq!(writer.journal().len() as u64, plan.entries, "operation {n}");
            writer.store.close();
        }
        let index = &machinery.index;
        let evidence = index.row_aside("meta").or_else(|| index.row("meta")).unwrap();
        assert!(evidence.contains("\"seq\":14"), "operation {n}: {evidence}");
        if done {
            assert!(outcome.is_ok());
            break;
        }
    }
    assert!(failed > 15, "{failed} operations failed");
}

/// Somebody puts the file back that a repair had replaced.
#[test]
fn a_journal_from_before_a_repair_is_repaired_again() {
    for what in ["the damaged one", "a whole one", "after more writes"] {
        let machinery = filled();
        let whole = machinery.disk.bytes(&segment(4)).unwrap();
        machinery.disk.put(&segment(4), Vec::new());
        let old: Vec<_> =
            (1..=4).map(|number| machinery.disk.bytes(&segment(number)).unwrap()).collect();
        let first = plan(&machinery);
        repair::<Tally>(Path::new(DIR), &machinery.options(), &first, NOW).unwrap();
        let mut writer = machinery.open().unwrap();
        let mut sum = 105;
        if what == "after more writes" {
            writer.add("x", 20);
            sum += 20;
        }
        let entries = writer.report.entries + u64::from(what == "after more writes");
        writer.store.close();

        for (number, bytes) in (1..).zip(old) {
            machinery.disk.put(&segment(number), bytes);
        }
        if what == "a whole one" {
            machinery.disk.put(&segment(4), whole);
        }
        let writer = machinery.open().unwrap();
        assert!(writer.report.read_only.is_some(), "{what}");
        assert_eq!(writer.state.sums["x"].0, sum, "{what}");
        writer.store.close();
        let plan = plan(&machinery);
        assert!(plan.is_needed() && plan.is_older, "{what}: {plan:?}");
        assert_eq!(plan.kept, if what == "a whole one" { 14 } else { 12 }, "{what}");
        assert!(plan.entries >= entries, "{what}: {plan:?}");
        assert_eq!(repaired(&machinery, &plan), sum, "{what}");
    }
}

/// Content that was purged meanwhile does not come back with an old journal.
#[test]
fn a_journal_from_before_a_purge_gives_no_lines_to_a_repair() {
    let machinery = filled();
    let old: Vec<_> =
        (1..=4).map(|number| machinery.disk.bytes(&segment(number)).unwrap()).collect();
    let writer = machinery.open().unwrap();
    let next = writer.entries(&[vec![add("_purged", 1)]]);
    let mut nothing = |_: &mut crate::store::Entry<Sum>| false;
    writer.store.rewrite(&mut nothing, &next[0]).unwrap();
    machinery.open().unwrap().store.close();
    for (number, bytes) in (1..).zip(old) {
        machinery.disk.put(&segment(number), bytes);
    }
    let plan = plan(&machinery);
    assert_eq!((plan.kept, plan.bad, ranges(&plan.restored)), (0, 4, vec![(1, 15)]), "{plan:?}");
}

/// Somebody exchanges the files of two projects.
#[test]
fn a_journal_of_another_memory_is_not_shown_and_gives_nothing_to_a_repair() {
    for (entries, has_index) in [(2, true), (14, true), (30, true), (2, false), (30, false)] {
        let ours = filled();
        let other = Machinery::default();
        let mut writer = other.open().unwrap();
        (1..=entries).for_each(|by| drop(writer.add("y", by)));
        writer.store.close();
        let is_segment = |path: &PathBuf| path.starts_with(Path::new(DIR).join("journal"));
        for path in ours.disk.paths().into_iter().filter(is_segment) {
            Disk::remove(&ours.disk, &path).unwrap();
        }
        for path in other.disk.paths().into_iter().filter(is_segment) {
            ours.disk.put(&path, other.disk.bytes(&path).unwrap());
        }
        let ours = if has_index { ours } else { without_index(&ours) };
        // A snapshot has the first 12 entries.
        let sum = if has_index { 105 } else { 78 };
        let writer = ours.open().unwrap();
        let why = writer.report.read_only.clone().unwrap_or_default();
        assert!(why.contains("another memory's"), "{entries} entries: {why}");
        assert!(!writer.state.sums.contains_key("y"), "{entries} entries");
        assert_eq!(writer.state.sums["x"].0, sum, "{entries} entries");
        assert!(writer.store.history("y@1").unwrap().is_none());
        writer.store.close();
        let plan = plan(&ours);
        assert!(plan.is_needed() && plan.foreign > 0 && plan.kept == 0, "{plan:?}");
        assert_eq!(repaired(&ours, &plan), sum, "{entries} entries");
    }
}

/// Two copies of a store were written to, and the journal of one is put beside the other's index.
#[test]
fn a_plan_for_copies_that_went_different_ways_names_what_is_lost() {
    let mut mixed = Machinery::default();
    let mut first = mixed.open().unwrap();
    (1..=2).for_each(|by| drop(first.add("x", by)));
    first.store.close();
    let copy = mixed.duplicate();
    let mut one = mixed.open().unwrap();
    one.add("here", 1);
    one.store.close();
    let mut other = copy.open().unwrap();
    other.add("there", 1);
    other.store.close();
    mixed.disk = copy.disk.duplicate();
    let plan = plan(&mixed);
    assert_eq!((plan.kept, plan.diverged), (3, Some(3)));
    let lost: Vec<_> = plan.replaced.iter().map(|it| (it.entry, it.content.as_str())).collect();
    assert_eq!(lost, [(3, "there@1")]);
    repair::<Tally>(Path::new(DIR), &mixed.options(), &plan, NOW).unwrap();
    let mut again = mixed.open().unwrap();
    assert_eq!(again.report.read_only, None);
    assert_eq!(again.state.sums["here"].0, 1);
    let last = again.journal().pop().unwrap();
    assert_eq!((last.operation.as_ref(), last.time), ("repair", NOW));
    again.store.close();
    assert!(!self::plan(&mixed).is_needed());
}

#[test]
fn the_entries_of_a_repair_have_a_date() {
    let machinery = filled();
    (1..=4).for_each(|number| Disk::remove(&machinery.disk, &segment(number)).unwrap());
    let plan = plan(&machinery);
    repair::<Tally>(Path::new(DIR), &machinery.options(), &plan, NOW).unwrap();
    let mut writer = machinery.open().unwrap();
    let journal = writer.journal();
    assert_eq!(journal.len(), 15);
    assert!(journal.iter().all(|entry| entry.time == NOW), "{journal:?}");
    writer.store.close();
}
