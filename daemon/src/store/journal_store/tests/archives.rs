//! Archived old segments, and archiving that is interrupted.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anchord_memory::{Revision, Seq};

use super::tally::{DIR, Machinery, Sum, Tally, add};
use crate::store::fakes::{SimIndex, head_before};
use crate::store::limits::BACKWARD_BLOCK_BYTES;
use crate::store::repair::{plan_repair, repair};
use crate::store::segment::{archive_name, file_name};
use crate::store::{Disk, Entry, Fault, Store};

fn segment(number: u32) -> PathBuf {
    Path::new(DIR).join("journal").join(file_name(number))
}

fn archive(number: u32) -> PathBuf {
    Path::new(DIR).join("journal").join(archive_name(number))
}

/// Returns a closed store of four segments with 14 entries.
fn filled() -> (Machinery, Vec<Entry<Sum>>) {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let entries = (1..=14).map(|by| writer.add("x", by)).collect();
    assert_eq!(writer.store.sizes().segments, 4);
    writer.store.close();
    (machinery, entries)
}

/// Returns the store of [`filled`] with three of its segments archived.
fn archived() -> (Machinery, Vec<Entry<Sum>>) {
    let (machinery, entries) = filled();
    let mut writer = machinery.open_upkept().unwrap();
    writer.keep_up();
    writer.store.close();
    assert_eq!(forms(&machinery), [(false, true), (false, true), (false, true), (true, false)]);
    (machinery, entries)
}

/// Returns whether each segment exists as lines, and as an archive.
fn forms(machinery: &Machinery) -> Vec<(bool, bool)> {
    let is_there = |path: PathBuf| machinery.disk.bytes(&path).is_some();
    (1..=4).map(|number| (is_there(segment(number)), is_there(archive(number)))).collect()
}

#[test]
fn all_but_the_last_segment_are_archived_and_stay_readable() {
    let (machinery, mut entries) = filled();
    let plain: Vec<_> = (1..=3).map(|n| machinery.disk.bytes(&segment(n)).unwrap()).collect();
    let mut writer = machinery.open_upkept().unwrap();
    let reading = writer.store.reading();
    assert_eq!(writer.store.history("x@2").unwrap().as_ref(), Some(&entries[1]));
    writer.keep_up();
    assert_eq!(forms(&machinery), [(false, true), (false, true), (false, true), (true, false)]);
    for (number, plain) in (1..).zip(plain) {
        let archive = machinery.disk.bytes(&archive(number)).unwrap();
        let mut text = Vec::new();
        flate2::read::MultiGzDecoder::new(archive.as_slice()).read_to_end(&mut text).unwrap();
        assert_eq!(text, plain, "segment {number}");
    }
    let mut read = Vec::new();
    reading(Seq(1), &mut |entry| {
        read.push(entry.clone());
        true
    })
    .unwrap();
    assert_eq!(read, entries, "a reader from before");
    writer.expect(&entries, "archived");
    entries.push(writer.add("y", 1));
    writer.store.close();
    for index in [machinery.index.duplicate(), SimIndex::default()] {
        let again = Machinery { disk: machinery.disk.duplicate(), index };
        let mut writer = again.open_upkept().unwrap();
        assert_eq!(writer.report.read_only, None);
        writer.expect(&entries, "reopened");
        writer.keep_up();
        assert_eq!(writer.store.health().read_only, None);
        assert_eq!(writer.store.history("x@99").unwrap(), None);
    }
}

/// The look-up begins while the segments are plain, and continues after they are archived.
#[test]
fn no_history_is_cached_of_a_segment_archived_while_it_was_read() {
    let (machinery, entries) = filled();
    let mut writer = machinery.open_upkept().unwrap();
    let begun = writer.store.journal.written();
    assert_eq!(writer.store.history("x@2").unwrap().as_ref(), Some(&entries[1]));
    assert_eq!(writer.store.history.known(), [1, 2, 3, 4]);
    writer.keep_up();
    assert_eq!(writer.store.history.known(), [4]);
    for (by, entry) in (1..).zip(&entries) {
        let found = writer.store.history.find_in::<Tally>(&begun, &format!("x@{by}"));
        assert_eq!(found.unwrap().as_ref(), Some(entry), "{by}");
    }
    assert_eq!(writer.store.history.known(), [4]);
}

#[test]
fn archives_appear_only_once_older_builds_refuse_the_journal() {
    let (machinery, _) = filled();
    machinery.age();
    let mut writer = machinery.open_upkept().unwrap();
    writer.keep_up();
    assert!(forms(&machinery).iter().all(|form| *form == (true, false)));
    writer.add("x", 15);
    writer.keep_up();
    assert_eq!(forms(&machinery)[0], (false, true), "once the last segment says so");
}

/// Checks that nothing is lost, and that a writable store archives its segments in the end.
fn check(machinery: &Machinery, entries: &[Entry<Sum>], what: &str) {
    let mut writer = machinery.open_upkept().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(writer.report.read_only, None, "{what}");
    writer.expect(entries, what);
    writer.keep_up();
    assert_eq!(writer.store.health().read_only, None, "{what}");
    writer.expect(entries, what);
    assert_eq!(forms(machinery)[..3], [(false, true); 3], "{what}");
    writer.add("x", 15);
}

#[test]
fn archiving_survives_any_failed_disk_operation() {
    let (filled, entries) = filled();
    let (mut before, mut between, mut after) = (0, 0, 0);
    for fault in [Fault::Once as fn(u64) -> Fault, Fault::From] {
        for n in 1.. {
            let machinery = filled.duplicate();
            let mut writer = machinery.open_upkept().unwrap();
            machinery.disk.fail(Some(fault(n)));
            writer.keep_up();
            let is_over = machinery.disk.operations() < n;
            machinery.disk.fail(None);
            // Killed, or out of power: nothing is closed properly.
            std::mem::forget(writer);
            match forms(&machinery)[0] {
                (true, false) => before += 1,
                (true, true) => between += 1,
                _ => after += 1,
            }
            for seed in 0..6 {
                let dark = machinery.duplicate();
                dark.disk.power_loss(seed);
                dark.index.power_loss(seed);
                check(&dark, &entries, &format!("{:?}, then power loss {seed}", fault(n)));
            }
            check(&machinery, &entries, &format!("{:?}", fault(n)));
            if is_over {
                break;
            }
        }
    }
    assert!(before > 5 && between > 1 && after > 5, "{before}, {between}, {after}");
}

#[test]
fn a_full_disk_leaves_the_segments_unchanged() {
    let (machinery, entries) = filled();
    machinery.disk.set_capacity(Some(1000), true);
    let mut writer = machinery.open_upkept().unwrap();
    writer.keep_up();
    assert!(forms(&machinery).iter().all(|form| *form == (true, false)));
    assert_eq!(writer.store.health().read_only, None);
    writer.expect(&entries, "full");
}

#[test]
fn a_damaged_segment_is_reported_and_not_archived() {
    let (machinery, _) = filled();
    let mut bytes = machinery.disk.bytes(&segment(2)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    machinery.disk.put(&segment(2), bytes.clone());
    let mut writer = machinery.open_upkept().unwrap();
    writer.keep_up();
    let why = writer.store.health().read_only.unwrap();
    assert!(why.starts_with("damaged at journal/000002.jsonl:"), "{why}");
    assert_eq!(machinery.disk.bytes(&segment(2)).unwrap(), bytes);
    assert_eq!(machinery.disk.bytes(&archive(2)), None);
}

/// Its checksum is right, so it is not damaged: another build may read it.
#[test]
fn an_unreadable_entry_is_neither_archived_nor_reported_missing() {
    let (machinery, _) = filled();
    let text = String::from_utf8(machinery.disk.bytes(&segment(2)).unwrap()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let body = lines[2].split(",\"crc\"").next().unwrap().replace("Add", "Adds");
    lines[2] = format!("{body},\"crc\":\"{:08x}\"}}", crc32fast::hash(body.as_bytes()));
    machinery.disk.put(&segment(2), (lines.join("\n") + "\n").into_bytes());
    let mut writer = machinery.open_upkept().unwrap();
    writer.keep_up();
    let (plain, archived) = ((true, false), (false, true));
    assert_eq!(forms(&machinery)[..3], [archived, plain, archived], "the one after it is");
    assert!(writer.store.history("x@99").is_err());
}

/// A project that an earlier build opened and never wrote to has such a segment.
#[test]
fn an_empty_segment_does_not_keep_others_from_being_archived() {
    let machinery = Machinery::default();
    machinery.open().unwrap().store.close();
    machinery.age();
    let mut writer = machinery.open_upkept().unwrap();
    let entries: Vec<_> = (1..=14).map(|by| writer.add("x", by)).collect();
    writer.keep_up();
    assert_eq!(forms(&machinery)[..3], [(true, false), (false, true), (false, true)]);
    writer.expect(&entries, "archived");
    writer.store.close();
    let mut again = machinery.open_upkept().unwrap();
    assert_eq!(again.report.read_only, None);
    again.expect(&entries, "reopened");
}

/// This happens when no descriptor is free, for example.
#[test]
fn a_check_that_cannot_read_a_segment_leaves_the_store_writable() {
    let (machinery, entries) = archived();
    let mut failed = 0;
    for n in 1..40 {
        // A new index does not know when a segment was checked.
        let (disk, index) = (machinery.disk.duplicate(), SimIndex::default());
        let machinery = Machinery { disk, index };
        let mut writer = machinery.open_upkept().unwrap();
        writer.expect(&entries, "opened");
        machinery.disk.fail(Some(Fault::Once(n)));
        writer.keep_up();
        failed += usize::from(machinery.disk.operations() >= n);
        machinery.disk.fail(None);
        assert_eq!(writer.store.health().read_only, None, "operation {n}");
        writer.add("x", 15);
    }
    assert!(failed > 0);
}

/// A crash or a restored backup leaves both forms.
#[test]
fn if_both_forms_exist_the_complete_one_is_read() {
    let (machinery, entries) = archived();
    for number in 1..=3 {
        let whole = crate::store::archive::decode(&machinery.disk.bytes(&archive(number)).unwrap());
        let broken = machinery.disk.bytes(&archive(number)).unwrap()[..200].to_vec();
        for (what, text) in [("empty", &b""[..]), ("cut", &whole[..whole.len() / 2])] {
            let both = machinery.duplicate();
            both.disk.put(&segment(number), text.to_vec());
            let mut writer = both.open_upkept().unwrap();
            assert_eq!(writer.report.read_only, None, "{what} segment");
            writer.expect(&entries, what);
            writer.keep_up();
            assert_eq!(both.disk.bytes(&segment(number)).unwrap(), text, "it is kept");
        }
        let both = machinery.duplicate();
        both.disk.put(&segment(number), whole.clone());
        both.disk.put(&archive(number), broken);
        check(&both, &entries, "a broken archive");
        let both = machinery.duplicate();
        both.disk.put(&segment(number), whole);
        check(&both, &entries, "both whole");
    }
}

#[test]
fn a_missing_or_changed_archive_is_reported() {
    let (machinery, entries) = archived();
    let lacking = machinery.duplicate();
    Disk::remove(&lacking.disk, &archive(2)).unwrap();
    let why = lacking.open().unwrap().report.read_only.unwrap();
    assert!(why.starts_with("journal/000002.jsonl is missing; put it back"), "{why}");

    let bytes = machinery.disk.bytes(&archive(2)).unwrap();
    let mut unused = 0;
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let damaged = Machinery { disk: machinery.disk.duplicate(), index: SimIndex::default() };
        damaged.disk.put(&archive(2), flipped.clone());
        let mut writer = damaged.open_upkept().unwrap();
        writer.keep_up();
        let Some(why) = writer.store.health().read_only else {
            // Deflate leaves some bits of its last byte unused.
            unused += 1;
            writer.expect(&entries, "an unused bit");
            continue;
        };
        assert!(why.starts_with("damaged at journal/000002.jsonl.gz:"), "byte {at}: {why}");
        let next = writer.entries(&[vec![add("x", 99)]]);
        assert!(writer.store.append(head_before(&next), &next).is_err());
        writer.store.close();
        assert_eq!(damaged.disk.bytes(&archive(2)).unwrap(), flipped);
    }
    assert!(unused <= 3, "{unused} flipped bits went unnoticed");
    for cut in 0..bytes.len() {
        let damaged = machinery.duplicate();
        damaged.disk.put(&archive(2), bytes[..cut].to_vec());
        let why = damaged.open().unwrap().report.read_only.unwrap();
        assert!(why.starts_with("damaged at journal/000002.jsonl.gz:"), "cut at {cut}: {why}");
    }
}

/// Entries 1 to 14 have the sum 105.
#[test]
fn a_damaged_archive_is_repaired_from_the_index_and_kept() {
    let (machinery, _) = archived();
    let mut bytes = machinery.disk.bytes(&archive(2)).unwrap();
    let at = bytes.len() * 2 / 3;
    bytes[at] ^= 1;
    machinery.disk.put(&archive(2), bytes.clone());
    let dir = Path::new(DIR);
    let plan = plan_repair::<Tally>(dir, &machinery.options()).unwrap();
    assert!(plan.is_needed() && plan.lost.is_empty(), "{plan:?}");
    assert_eq!(plan.kept, 10, "all but those of one block");
    repair::<Tally>(dir, &machinery.options(), &plan, anchord_memory::Timestamp(1)).unwrap();
    let kept = Path::new(DIR).join("journal/000002.jsonl.gz.kept-2");
    assert_eq!(machinery.disk.bytes(&kept), Some(bytes));
    let mut again = machinery.open_upkept().unwrap();
    assert_eq!(again.report.read_only, None);
    assert_eq!(again.state.sums["x"].0, 105);
    again.keep_up();
    again.add("x", 1000);
    again.store.close();
    assert!(!plan_repair::<Tally>(dir, &machinery.options()).unwrap().is_needed());
}

#[test]
fn commits_are_read_newest_first_from_every_form_and_across_blocks() {
    let (machinery, mut entries) = archived();
    let mut writer = machinery.open().unwrap();
    // Private entries are not commits, and a line may be longer than a block.
    let long = Sum::Add { key: "y".into(), by: 1, note: "long, ".repeat(BACKWARD_BLOCK_BYTES) };
    for changes in [vec![add("_own", 1)], vec![long], vec![add("z", 2)], vec![add("z", 3)]] {
        let new = writer.entries(&[changes]);
        writer.write(&new).unwrap();
        entries.extend(new);
    }
    entries.retain(|entry| entry.revision.is_some());
    entries.reverse();
    assert_eq!(writer.back(None, Revision(0)).unwrap(), entries);
    let revisions = |newest, after| -> Vec<u64> {
        let back = writer.back(Some(Revision(newest)), Revision(after)).unwrap();
        back.iter().filter_map(|entry| entry.revision).map(|it| it.0).collect()
    };
    assert_eq!(revisions(3, 0), [3, 2, 1]);
    assert_eq!(revisions(16, 13), [16, 15, 14]);
    assert_eq!(revisions(9, 7), [9, 8]);
    // Later segments are not read at all.
    let before = machinery.disk.bytes_read();
    assert_eq!(revisions(1, 0), [1]);
    let read = machinery.disk.bytes_read() - before;
    assert!(read < 2 * BACKWARD_BLOCK_BYTES as u64, "{read} bytes");
}

#[test]
fn a_damaged_block_is_reported_and_not_passed_over() {
    let (machinery, _) = archived();
    let writer = machinery.open().unwrap();
    let mut bytes = machinery.disk.bytes(&archive(2)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    machinery.disk.put(&archive(2), bytes);
    let error = writer.back(None, Revision(0)).unwrap_err();
    assert!(error.to_string().contains("000002.jsonl.gz"), "{error}");
}
