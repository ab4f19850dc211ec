//! Files that are not as they were written.

use std::path::{Path, PathBuf};

use anchord_memory::Timestamp;

use super::tally::{DIR, Machinery, Sum, Tally, Writer, add};
use crate::store::fakes::{SimIndex, head_before};
use crate::store::format::FORMAT;
use crate::store::limits::HEADER_BYTES_MAX;
use crate::store::{Entry, JournalStore, Options, Store, StoreError};

const RESTORE: &str =
    "put it back, restore a backup, or see what a repair of the journal can restore";

fn segment(number: u32) -> PathBuf {
    Path::new(DIR).join(format!("journal/{number:06}.jsonl"))
}

/// Returns a closed store of several segments. The last one holds several entries.
fn filled() -> (Machinery, Vec<Entry<Sum>>, u32) {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let entries = (1..=14).map(|by| writer.add("x", by)).collect();
    let segments = writer.store.sizes().segments;
    assert_eq!(segments, 4);
    writer.store.flush();
    (machinery, entries, segments)
}

fn lines_before(bytes: &[u8], cut: usize) -> usize {
    bytes[..cut].split(|byte| *byte == b'\n').count() - 1
}

fn lines_in(segment: &[u8]) -> usize {
    lines_before(segment, segment.len()) - 1
}

#[test]
fn a_journal_cut_at_any_byte_opens_with_every_entry_before_the_cut() {
    let (machinery, entries, last) = filled();
    let bytes = machinery.disk.bytes(&segment(last)).unwrap();
    let in_last = lines_in(&bytes);
    assert!(in_last >= 2);
    let before = entries.len() - in_last;
    // A snapshot proves that this segment was begun.
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in 0..=bytes.len() {
        for is_indexed in [true, false] {
            let index = if is_indexed { machinery.index.duplicate() } else { SimIndex::default() };
            let cut_off = Machinery { disk: machinery.disk.duplicate(), index };
            cut_off.disk.put(&segment(last), bytes[..cut].to_vec());
            let what = format!("cut at byte {cut}");
            let mut writer = cut_off.open().unwrap();
            let kept = before + lines_before(&bytes, cut).saturating_sub(1);
            let is_proven = is_indexed && kept < entries.len() || cut < header;
            assert_eq!(writer.report.read_only.is_some(), is_proven, "{what}");
            if is_proven {
                let served = if is_indexed { entries.len() } else { kept };
                assert_eq!(
                    writer.state.sums.get("x").map(|sum| sum.0),
                    Some(sum_to(served)),
                    "{what}"
                );
                writer.store.close();
                assert_eq!(cut_off.disk.bytes(&segment(last)).unwrap(), &bytes[..cut], "{what}");
                continue;
            }
            writer.expect(&entries[..kept], &what);

            let boundary = cut > 0 && bytes[cut - 1] == b'\n';
            let aside = writer.report.tail_removed.clone();
            assert_eq!(aside.is_none(), boundary, "{what}");
            if let Some(aside) = aside {
                let start =
                    bytes[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                assert_eq!(cut_off.disk.bytes(&aside).unwrap(), &bytes[start..cut], "{what}");
            }

            let more = writer.add("y", 1);
            drop(writer);
            let mut expected = entries[..kept].to_vec();
            expected.push(more);
            let mut again = cut_off.open().unwrap();
            assert_eq!(again.report.tail_removed, None, "{what}");
            assert_eq!(again.report.rebuilt, None, "{what}");
            again.expect(&expected, &what);
        }
    }
}

fn sum_to(entries: usize) -> i64 {
    (1..=i64::try_from(entries).unwrap()).sum()
}

#[test]
fn a_first_segment_cut_in_its_header_starts_afresh() {
    let machinery = Machinery::default();
    drop(machinery.open().unwrap());
    let bytes = machinery.disk.bytes(&segment(1)).unwrap();
    machinery.disk.put(&segment(1), bytes[..20].to_vec());
    let mut writer = machinery.open().unwrap();
    assert!(writer.report.tail_removed.is_some());
    let entry = writer.add("x", 1);
    drop(writer);
    machinery.open().unwrap().expect(&[entry], "begun anew");
}

#[test]
fn a_flipped_bit_makes_the_store_read_only_and_is_named() {
    let (machinery, entries, last) = filled();
    for number in 1..=last {
        let bytes = machinery.disk.bytes(&segment(number)).unwrap();
        // If the last newline of the last segment is flipped, its line is incomplete.
        let end = bytes.len() - usize::from(number == last);
        for at in 0..end {
            let index = if at % 2 == 0 { machinery.index.duplicate() } else { SimIndex::default() };
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            let damaged = Machinery { disk: machinery.disk.duplicate(), index };
            damaged.disk.put(&segment(number), flipped.clone());
            let what = format!("byte {at} of segment {number}");
            let mut writer = damaged.open_upkept().unwrap();
            let line = lines_before(&bytes, at) + 1;
            // The last line, or a line that became the last by losing its end. Without an index,
            // nothing proves that it was ever synced.
            let is_end =
                line == lines_in(&bytes) + 1 || bytes[at] == b'\n' && line == lines_in(&bytes);
            if number == last && is_end && at % 2 == 1 {
                assert_eq!(writer.report.read_only, None, "{what}");
                let aside = damaged.disk.bytes(writer.report.tail_removed.as_ref().unwrap());
                let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
                assert_eq!(aside.unwrap(), flipped[start..], "{what}");
                let kept = entries.len() - lines_in(&bytes) + line - 2;
                writer.expect(&entries[..kept], &what);
                continue;
            }
            writer.keep_up();
            let why = writer.store.health().read_only.unwrap_or_default();
            let named = format!("damaged at journal/{number:06}.jsonl:{line}:");
            assert!(why.starts_with(&named), "{what}: {why}");

            let seen = usize::try_from(writer.report.entries).unwrap();
            let sum: i64 =
                entries[..seen].iter().map(|entry| i64::try_from(entry.seq.0).unwrap()).sum();
            assert_eq!(writer.state.sums.get("x").map_or(0, |sum| sum.0), sum, "{what}");
            // Without an index the state ends before the bad line; with one it need not.
            let lost = match (number == last, line) {
                (false, _) => 0,
                (true, 1) => lines_in(&bytes),
                (true, line) => lines_in(&bytes) + 2 - line,
            };
            let expected = entries.len() - lost;
            assert!(seen >= expected, "{what}: {seen} entries, not {expected}");

            let next = writer.entries(&[vec![add("x", 99)]]);
            let refused = writer.store.append(head_before(&next), &next);
            assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{what}");
            drop(writer);
            assert_eq!(damaged.disk.bytes(&segment(number)).unwrap(), flipped, "{what}");
        }
    }
}

/// The disk kept some sectors of the batch and lost others.
#[test]
fn a_torn_unsynced_batch_is_set_aside_wherever_the_hole_is() {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let mut kept = vec![writer.add("x", 1)];
    let synced = machinery.disk.bytes(&segment(1)).unwrap().len();
    let batch = writer.entries(&[vec![add("x", 2)], vec![add("x", 3)], vec![add("x", 4)]]);
    let index = machinery.index.duplicate();
    writer.store.append(head_before(&batch), &batch).unwrap();
    std::mem::forget(writer);
    let written = machinery.disk.bytes(&segment(1)).unwrap();
    for from in (synced..written.len()).step_by(7) {
        let mut torn = written.clone();
        let to = (from + 40).min(torn.len());
        torn[from..to].fill(0);
        let torn_off = Machinery { disk: machinery.disk.duplicate(), index: index.duplicate() };
        torn_off.disk.put(&segment(1), torn.clone());
        let mut writer = torn_off.open().unwrap();
        let what = format!("a hole at byte {from}");
        assert_eq!(writer.report.read_only, None, "{what}");
        let whole = lines_before(&torn, from) - 2;
        kept.truncate(1);
        kept.extend(batch[..whole].iter().cloned());
        writer.expect(&kept, &what);
        let start = torn[..from].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        let aside = torn_off.disk.bytes(writer.report.tail_removed.as_ref().unwrap());
        assert_eq!(aside.unwrap(), torn[start..], "{what}");
        let more = writer.add("y", 1);
        drop(writer);
        kept.push(more);
        torn_off.open().unwrap().expect(&kept, &what);
    }
    // A later batch proves that this one was synced.
    let mut writer = machinery.open().unwrap();
    writer.add("x", 5);
    std::mem::forget(writer);
    let mut damaged = machinery.disk.bytes(&segment(1)).unwrap();
    damaged[synced + 20..synced + 40].fill(0);
    let later = Machinery { disk: machinery.disk.duplicate(), index };
    later.disk.put(&segment(1), damaged);
    let why = later.open().unwrap().report.read_only.unwrap();
    assert!(why.starts_with("damaged at journal/000001.jsonl:3:"), "{why}");
}

#[test]
fn damage_older_than_the_index_and_snapshot_hides_nothing_new() {
    let (machinery, entries, _) = filled();
    let mut bytes = machinery.disk.bytes(&segment(1)).unwrap();
    let at = bytes.len() - 30;
    bytes[at] ^= 1;
    machinery.disk.put(&segment(1), bytes);
    for index in [machinery.index.duplicate(), SimIndex::default()] {
        let damaged = Machinery { disk: machinery.disk.duplicate(), index };
        let mut writer = damaged.open_upkept().unwrap();
        assert_eq!(writer.report.entries, entries.len() as u64);
        writer.keep_up();
        let why = writer.store.health().read_only.unwrap();
        assert!(why.starts_with("damaged at journal/000001.jsonl:5:"), "{why}");
        writer.store.close();
        // No mark says that the segment was checked.
        let mut again = damaged.open_upkept().unwrap();
        again.keep_up();
        assert_eq!(again.store.health().read_only, Some(why));
    }
}

#[test]
fn an_old_segment_is_checked_again_after_a_month_and_not_before() {
    let (machinery, ..) = filled();
    let checked = |machinery: &Machinery| {
        let mut writer = machinery.open_upkept().unwrap();
        let tasks = writer.keep_up();
        writer.store.close();
        tasks
    };
    assert_eq!(checked(&machinery), 3);
    assert_eq!(checked(&machinery), 0);
    let mut writer = machinery.open().unwrap();
    let mut later = writer.entries(&[vec![add("x", 15)]]);
    later[0].time = Timestamp(31 * Timestamp::DAY_MILLIS);
    writer.write(&later).unwrap();
    writer.store.close();
    assert_eq!(checked(&machinery), 3);
}

/// The segment was cut, emptied or replaced by another one. Its end shows that, without reading its
/// lines.
#[test]
fn a_changed_old_segment_is_reported_when_the_store_is_opened() {
    let (machinery, ..) = filled();
    let bytes = machinery.disk.bytes(&segment(2)).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut longer = bytes.clone();
    longer.extend_from_slice(b"more");
    for other in [&bytes[..0], &bytes[..10], &bytes[..header], &bytes[..bytes.len() - 1], &longer] {
        let replaced = machinery.duplicate();
        replaced.disk.put(&segment(2), other.to_vec());
        let why = replaced.open().unwrap().report.read_only.unwrap();
        assert!(why.starts_with("damaged at journal/000002.jsonl:"), "{why}");
    }
}

#[test]
fn opening_reads_the_last_segment_and_little_of_the_others() {
    let machinery = Machinery::default();
    let options = || Options { segment_bytes_max: 40_000, ..machinery.options() };
    let open = || Writer::new(JournalStore::<Tally>::open(Path::new(DIR), options()).unwrap());
    let mut writer = open();
    for by in 0..1000 {
        writer.add(&format!("key-{}", by % 20), by);
    }
    let sizes = writer.store.sizes();
    assert!(sizes.segments > 5, "{sizes:?}");
    writer.store.close();
    let last = machinery.disk.bytes(&segment(sizes.segments)).unwrap().len() as u64;
    let before = machinery.disk.bytes_read();
    let mut again = open();
    let read = machinery.disk.bytes_read() - before;
    let others = u64::from(sizes.segments - 1);
    let most = last + 8_000 + others * (HEADER_BYTES_MAX as u64 + 50);
    assert!(read < most, "{read} bytes were read, {} are there", sizes.journal_bytes);
    assert_eq!(again.report.read_only, None);
    assert_eq!(again.journal().len(), 1000);
}

#[test]
fn a_missing_segment_is_reported() {
    let (machinery, ..) = filled();
    for (number, named) in [(1, "journal/000001.jsonl"), (2, "journal/000002.jsonl")] {
        let lacking = machinery.duplicate();
        crate::store::Disk::remove(&lacking.disk, &segment(number)).unwrap();
        let why = lacking.open().unwrap().report.read_only.unwrap();
        assert_eq!(why, format!("{named} is missing; {RESTORE}"));
    }
}

#[test]
fn a_missing_last_segment_is_reported() {
    let (machinery, _, last) = filled();
    for index in [machinery.index.duplicate(), SimIndex::default()] {
        let lacking = Machinery { disk: machinery.disk.duplicate(), index };
        crate::store::Disk::remove(&lacking.disk, &segment(last)).unwrap();
        let mut writer = lacking.open().unwrap();
        assert_eq!(
            writer.report.read_only.as_deref(),
            Some(&*format!(
                "journal/000004.jsonl is missing, though there is a snapshot of it; {RESTORE}"
            ))
        );
        let next = writer.entries(&[vec![add("x", 1)]]);
        assert!(matches!(
            writer.store.append(head_before(&next), &next),
            Err(StoreError::ReadOnly { .. })
        ));
    }
}

/// Returns the names and bytes of all files.
fn files(machinery: &Machinery) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = machinery.disk.paths().into_iter();
    paths.map(|path| (path.clone(), machinery.disk.bytes(&path).unwrap())).collect()
}

#[test]
fn an_emptied_last_segment_is_reported_and_nothing_is_deleted() {
    let (machinery, entries, last) = filled();
    for bytes in [&b""[..], b"{\"format\":"] {
        machinery.disk.put(&segment(last), bytes.to_vec());
        let before = files(&machinery);
        for index in [machinery.index.duplicate(), SimIndex::default()] {
            let is_indexed = index.row("meta").is_some();
            let emptied = Machinery { disk: machinery.disk.duplicate(), index };
            for _ in 0..2 {
                let writer = emptied.open().unwrap();
                let why = format!(
                    "journal/000004.jsonl is empty, though there is a snapshot of it; {RESTORE}"
                );
                assert_eq!(writer.report.read_only, Some(why));
                let served = writer.state.sums.get("x").map(|sum| sum.0);
                assert!(!is_indexed || served == Some(sum_to(entries.len())), "{served:?}");
                writer.store.close();
            }
            assert_eq!(files(&emptied), before);
        }
    }
}

/// There is one segment, so that only the index knows of its entries.
#[test]
fn a_missing_or_empty_journal_is_not_restarted_over_its_index() {
    for bytes in [None, Some(&b""[..]), Some(b"{\"format\":")] {
        let machinery = Machinery::default();
        let mut writer = machinery.open().unwrap();
        (1..=2).for_each(|by| drop(writer.add("x", by)));
        writer.store.close();
        match bytes {
            Some(bytes) => machinery.disk.put(&segment(1), bytes.to_vec()),
            None => crate::store::Disk::remove(&machinery.disk, &segment(1)).unwrap(),
        }
        let before = files(&machinery);
        for _ in 0..2 {
            let mut writer = machinery.open().unwrap();
            let is = if bytes.is_some() { "empty" } else { "missing" };
            let why = format!(
                "journal/000001.jsonl is {is}, though the index has entries to 2; {RESTORE}"
            );
            assert_eq!(writer.report.read_only, Some(why));
            assert!(!writer.report.created);
            assert_eq!(writer.state.sums.get("x").map(|sum| sum.0), Some(3));
            let next = writer.entries(&[vec![add("x", 1)]]);
            assert!(matches!(
                writer.store.append(head_before(&next), &next),
                Err(StoreError::ReadOnly { .. })
            ));
            writer.store.flush();
            writer.store.close();
        }
        assert_eq!(files(&machinery), before);
    }
}

#[test]
fn a_missing_journal_is_not_restarted_over_its_snapshots() {
    let (machinery, entries, last) = filled();
    for number in 1..=last {
        crate::store::Disk::remove(&machinery.disk, &segment(number)).unwrap();
    }
    let before = files(&machinery);
    for (index, served) in [(machinery.index.duplicate(), entries.len()), (SimIndex::default(), 12)]
    {
        let missing = Machinery { disk: machinery.disk.duplicate(), index };
        let writer = missing.open().unwrap();
        let why = writer.report.read_only.clone().unwrap();
        assert!(why.starts_with("journal/000001.jsonl is missing, "), "{why}");
        let sum = writer.state.sums.get("x").map(|sum| sum.0);
        assert_eq!(sum, Some(sum_to(served)), "the newest snapshot is of entry 12");
        writer.store.close();
        assert_eq!(files(&missing), before);
    }
}

/// The index applied the last entry before its line was damaged.
#[test]
fn an_entry_with_a_damaged_line_is_still_served_from_the_index() {
    let (machinery, entries, last) = filled();
    let bytes = machinery.disk.bytes(&segment(last)).unwrap();
    let mut damaged = bytes.clone();
    let at = damaged.len() - 20;
    damaged[at] ^= 1;
    machinery.disk.put(&segment(last), damaged);
    let meta = machinery.index.row("meta");
    let writer = machinery.open().unwrap();
    let why = writer.report.read_only.clone().unwrap();
    assert!(why.starts_with("damaged at journal/000004.jsonl:"), "{why}");
    assert_eq!(writer.state.sums.get("x").map(|sum| sum.0), Some(sum_to(entries.len())));
    writer.store.close();
    assert_eq!(machinery.index.row("meta"), meta, "kept as it is");
}

#[test]
fn a_newer_format_opens_read_only_and_untouched() {
    let (machinery, _, last) = filled();
    let text = String::from_utf8(machinery.disk.bytes(&segment(last)).unwrap()).unwrap();
    let (header, entries) = text.split_once('\n').unwrap();
    let body = header.split(",\"crc\"").next().unwrap();
    let body = body
        .replace(&format!("\"format\":{FORMAT}"), &format!("\"format\":{}", FORMAT + 1))
        .replace(env!("CARGO_PKG_VERSION"), "9.8.7")
        .replace("\"segment\"", "\"part\"");
    let crc = crc32fast::hash(body.as_bytes());
    let newer = format!("{body},\"crc\":\"{crc:08x}\"}}\n{entries}{{\"a\":");
    machinery.disk.put(&segment(last), newer.clone().into_bytes());
    machinery.index.fail(Some(1));

    let mut writer = machinery.open().unwrap();
    let why = writer.report.read_only.clone().unwrap();
    let format = FORMAT + 1;
    assert_eq!(
        why,
        format!(
            "journal/000004.jsonl was written by a newer anchord (9.8.7, format {format}); \
             update this one to write"
        )
    );
    assert_eq!(writer.report.tail_removed, None);
    assert!(writer.report.entries > 0, "what is of a known format is there");
    let next = writer.entries(&[vec![add("x", 1)]]);
    assert!(matches!(
        writer.store.append(head_before(&next), &next),
        Err(StoreError::ReadOnly { .. })
    ));
    writer.store.close();
    assert_eq!(machinery.disk.bytes(&segment(last)).unwrap(), newer.into_bytes());
}

#[test]
fn a_journal_on_a_read_only_disk_is_readable() {
    let (machinery, entries, _) = filled();
    machinery.disk.set_read_only(true);
    let mut writer = machinery.open().unwrap();
    let why = writer.report.read_only.clone().unwrap();
    assert!(why.starts_with("cannot write /store/journal/000004.jsonl:"), "{why}");
    writer.expect(&entries, "read-only");
    let next = writer.entries(&[vec![add("x", 1)]]);
    assert!(matches!(
        writer.store.append(head_before(&next), &next),
        Err(StoreError::ReadOnly { .. })
    ));
}

/// A sync tool, a restore or a cleaning script can do this.
#[test]
fn a_segment_removed_while_in_use_takes_no_more_writes() {
    for what in ["removed", "replaced", "its directory moved"] {
        let machinery = Machinery::default();
        let mut writer = machinery.open().unwrap();
        let before = machinery.disk.bytes(&segment(1)).unwrap();
        (1..=3).for_each(|by| drop(writer.add("x", by)));
        match what {
            "removed" => crate::store::Disk::remove(&machinery.disk, &segment(1)).unwrap(),
            "replaced" => machinery.disk.put(&segment(1), before),
            _ => crate::store::Disk::rename(&machinery.disk, &segment(1), Path::new("/moved"))
                .unwrap(),
        }
        let next = writer.entries(&[vec![add("x", 4)]]);
        let refused = writer.store.append(head_before(&next), &next).unwrap_err();
        let why = refused.to_string();
        assert!(matches!(refused, StoreError::ReadOnly { .. }), "{what}: {why}");
        assert!(why.contains("was removed or replaced while the daemon ran"), "{what}: {why}");
        let again = writer.store.append(head_before(&next), &next).unwrap_err();
        assert!(matches!(again, StoreError::ReadOnly { .. }), "{what}");
        assert!(writer.store.health().read_only.is_some());
        writer.store.flush();
        writer.store.close();
        // The index has the entries acknowledged before, and the next open reports that.
        let again = machinery.open().unwrap();
        assert!(again.report.read_only.is_some(), "{what}");
        assert_eq!(again.state.sums.get("x").map(|sum| sum.0), Some(6), "{what}");
    }
}
