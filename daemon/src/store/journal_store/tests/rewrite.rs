//! Entries changed in place: the rewrite happens completely or not at all, and leaves no trace of
//! removed data.

use std::path::Path;

use super::tally::{DIR, Machinery, Sum, add};
use crate::store::fakes::{SimIndex, head_before};
use crate::store::format::FORMAT;
use crate::store::{Entry, Fault, Store, StoreError, archive};

const PLANTED: &str = "secret by 7";

/// Returns a store of several segments, with a snapshot and a cut line, that holds data to remove.
fn filled() -> (Machinery, Vec<Entry<Sum>>) {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let mut entries = Vec::new();
    for round in 0..9 {
        entries.push(writer.add("x", round));
        entries.push(writer.add("secret", 70 + round));
    }
    drop(writer);
    machinery.disk.put(
        &Path::new(DIR).join("journal/cut-000001-1.partial"),
        format!("half a line with {PLANTED}").into_bytes(),
    );
    assert!(holding(&machinery).len() > 3, "in segments, snapshots and a cut line");
    (machinery, entries)
}

/// Returns the store of [`filled`] with every segment archived that can be.
fn archived() -> (Machinery, Vec<Entry<Sum>>) {
    let (machinery, entries) = filled();
    machinery.open_upkept().unwrap().keep_up();
    let is_archive = |path: &&std::path::PathBuf| path.extension().is_some_and(|it| it == "gz");
    assert!(machinery.disk.paths().iter().filter(is_archive).count() > 3);
    (machinery, entries)
}

fn holding(machinery: &Machinery) -> Vec<String> {
    let holds = |path: &std::path::PathBuf| {
        let mut bytes = machinery.disk.bytes(path).unwrap();
        if path.to_string_lossy().contains(".gz") {
            bytes = archive::decode(&bytes);
        }
        bytes.windows(PLANTED.len()).any(|part| part == PLANTED.as_bytes())
    };
    machinery.disk.paths().into_iter().filter(holds).map(|p| p.display().to_string()).collect()
}

fn edit(entry: &mut Entry<Sum>) -> bool {
    let mut edited = false;
    for change in &mut entry.changes {
        if let Sum::Add { note, .. } = change
            && note.starts_with(PLANTED)
        {
            "gone".clone_into(note);
            edited = true;
        }
    }
    if edited {
        entry.reply = Some("gone".into());
    }
    edited
}

fn rewritten(entries: &[Entry<Sum>], last: &Entry<Sum>) -> Vec<Entry<Sum>> {
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        edit(entry);
    }
    entries.push(last.clone());
    entries
}

fn rewrite(machinery: &Machinery) -> Result<Entry<Sum>, StoreError> {
    let writer = machinery.open()?;
    let last = writer.entries(&[vec![add("last", 1)]]).remove(0);
    writer.store.rewrite_all(&mut edit, &last)?;
    Ok(last)
}

#[test]
fn a_rewrite_removes_text_from_every_file_and_changes_nothing_else() {
    for filled in [filled, archived] {
        check_rewritten(filled());
    }
}

fn check_rewritten((machinery, entries): (Machinery, Vec<Entry<Sum>>)) {
    let last = rewrite(&machinery).unwrap();
    assert_eq!(holding(&machinery), [""; 0]);
    assert_eq!(machinery.index.row("meta"), None, "the index went as well");
    let mut expected = rewritten(&entries, &last);
    let mut again = machinery.open().unwrap();
    assert_eq!(again.report.read_only, None);
    again.expect(&expected, "rewritten");
    expected.push(again.add("x", 99));
    drop(again);
    machinery.open().unwrap().expect(&expected, "and went on");
    rewrite(&machinery).unwrap();
    let epoch = |machinery: &Machinery| {
        let bytes = machinery.disk.bytes(&Path::new(DIR).join("journal/000001.jsonl")).unwrap();
        String::from_utf8(bytes).unwrap().contains("\"epoch\":3,")
    };
    assert!(epoch(&machinery), "each time the next one");
}

#[test]
fn an_index_of_the_old_epoch_is_rebuilt() {
    let (machinery, entries) = filled();
    let old = machinery.index.duplicate();
    let last = rewrite(&machinery).unwrap();
    let mixed = Machinery { disk: machinery.disk.duplicate(), index: old };
    let mut again = mixed.open().unwrap();
    assert_eq!(again.report.rebuilt.as_deref(), Some("it is of epoch 1, the journal's is 2"));
    again.expect(&rewritten(&entries, &last), "with the old index");
}

/// Checks that the journal is either the old or the new one, complete. The new one has no trace of
/// the removed data or of unfinished files.
fn check(machinery: &Machinery, entries: &[Entry<Sum>], done: bool, what: &str) {
    let mut writer = match machinery.open() {
        Ok(writer) => writer,
        Err(error) => panic!("{what}: {error}"),
    };
    assert_eq!(writer.report.read_only, None, "{what}");
    let found = writer.journal();
    if found.len() == entries.len() {
        assert!(!done, "{what}: it was said to be done");
        writer.expect(entries, what);
    } else {
        let last = found.last().unwrap().clone();
        writer.expect(&rewritten(entries, &last), what);
        assert_eq!(holding(machinery), [""; 0], "{what}");
    }
    let unfinished = |path: &std::path::PathBuf| {
        path.ends_with("rewritten.json") || path.extension().is_some_and(|end| end == "new")
    };
    assert_eq!(machinery.disk.paths().into_iter().find(unfinished), None, "{what}");
    writer.add("more", 1);
}

#[test]
fn an_interrupted_rewrite_is_finished_or_undone() {
    for (fault, (filled, entries)) in [
        (Fault::Once as fn(u64) -> Fault, filled()),
        (Fault::From, filled()),
        (Fault::From, archived()),
    ] {
        let (mut before, mut after) = (0, 0);
        for n in 1.. {
            let machinery = filled.duplicate();
            machinery.disk.fail(Some(fault(n)));
            let outcome = rewrite(&machinery);
            let over = machinery.disk.operations() < n;
            machinery.disk.fail(None);
            if outcome.is_err() {
                let begun = machinery.disk.paths().iter().any(|p| p.ends_with("rewritten.json"));
                *(if begun { &mut after } else { &mut before }) += 1;
            }
            for seed in 0..4 {
                let dark = machinery.duplicate();
                dark.disk.power_loss(seed);
                dark.index.power_loss(seed);
                let what = format!("{:?}, then power loss {seed}", fault(n));
                check(&dark, &entries, outcome.is_ok(), &what);
            }
            check(&machinery, &entries, outcome.is_ok(), &format!("{:?}", fault(n)));
            if over {
                break;
            }
        }
        assert!(before > 10 && after > 10, "{before} failed before the commit, {after} after");
    }
}

/// The process is killed, so it sees no error and cleans nothing up.
#[test]
fn power_lost_during_a_rewrite_and_its_completion_loses_nothing() {
    let (filled, entries) = archived();
    for n in 1.. {
        let machinery = filled.duplicate();
        machinery.disk.fail(Some(Fault::From(n)));
        let done = rewrite(&machinery).is_ok();
        let over = machinery.disk.operations() < n;
        machinery.disk.fail(None);
        machinery.disk.power_loss(n);
        machinery.index.power_loss(n);
        for k in (1..40).step_by(3) {
            let again = machinery.duplicate();
            again.disk.fail(Some(Fault::From(k)));
            std::mem::forget(again.open());
            again.disk.fail(None);
            again.disk.power_loss(k);
            again.index.power_loss(k);
            check(&again, &entries, done, &format!("step {n}, then step {k} of opening"));
        }
        if over {
            break;
        }
    }
}

#[test]
fn an_index_that_cannot_be_removed_is_removed_at_the_next_open() {
    let (filled, entries) = filled();
    for n in 1..12 {
        let machinery = filled.duplicate();
        let writer = machinery.open().unwrap();
        let last = writer.entries(&[vec![add("last", 1)]]).remove(0);
        machinery.index.fail(Some(n));
        let done = writer.store.rewrite_all(&mut edit, &last).is_ok();
        machinery.index.fail(None);
        check(&machinery, &entries, done, &format!("index call {n}"));
    }
}

#[test]
fn a_damaged_journal_is_not_rewritten() {
    let (machinery, _) = filled();
    let path = Path::new(DIR).join("journal/000001.jsonl");
    let mut bytes = machinery.disk.bytes(&path).unwrap();
    let at = bytes.len() - 30;
    bytes[at] ^= 1;
    machinery.disk.put(&path, bytes.clone());
    for index in [machinery.index.duplicate(), SimIndex::default()] {
        let damaged = Machinery { disk: machinery.disk.duplicate(), index };
        let before = damaged.disk.paths();
        assert!(matches!(rewrite(&damaged), Err(StoreError::Damaged { .. })));
        assert_eq!(damaged.disk.bytes(&path).unwrap(), bytes);
        assert_eq!(damaged.disk.paths(), before);
    }
}

#[test]
fn a_rewrite_begun_by_a_newer_build_is_left_alone() {
    let (filled, _) = filled();
    let committed = (1..).find_map(|n| {
        let machinery = filled.duplicate();
        machinery.disk.fail(Some(Fault::From(n)));
        // It fails, and leaves the same files as a crash.
        let _ = rewrite(&machinery);
        machinery.disk.fail(None);
        let named = |path: &std::path::PathBuf| path.ends_with("rewritten.json");
        machinery.disk.paths().iter().any(named).then_some(machinery)
    });
    let machinery = committed.unwrap();
    let path = Path::new(DIR).join("journal/rewritten.json");
    let ours = String::from_utf8(machinery.disk.bytes(&path).unwrap()).unwrap();
    let body = ours.split(",\"crc\"").next().unwrap();
    let newer =
        body.replace(&format!("\"format\":{FORMAT}"), &format!("\"format\":{}", FORMAT + 1));
    assert_ne!(body, newer);
    let crc = crc32fast::hash(newer.as_bytes());
    machinery.disk.put(&path, format!("{newer},\"crc\":\"{crc:08x}\"}}\n").into_bytes());
    let contents = || -> Vec<_> {
        let paths = machinery.disk.paths().into_iter();
        paths.map(|path| (machinery.disk.bytes(&path).unwrap(), path)).collect()
    };
    let before = contents();

    let mut writer = machinery.open().unwrap();
    let why = writer.report.read_only.clone().unwrap();
    let begins = format!("a newer anchord (format {}) has begun to rewrite journal/", FORMAT + 1);
    assert!(why.starts_with(&begins), "{why}");
    let next = writer.entries(&[vec![add("x", 1)]]);
    assert!(matches!(
        writer.store.append(head_before(&next), &next),
        Err(StoreError::ReadOnly { .. })
    ));
    writer.store.close();
    assert_eq!(contents(), before);
}
