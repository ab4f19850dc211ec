//! Backups are checked to the byte, and a journal of any format can be restored from one.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anchord_memory::{Change, Memory, NewNote, Provenance, Revision, SessionId, plan_notes};

use super::*;
use crate::store::restore::restore;
use crate::store::{Call, Disk as _, JournalStore, Opened, Options, RealDisk, Replies, Store};

type Writer = Opened<Memory, JournalStore<Memory>>;

fn open(dir: &Path) -> Writer {
    let options = Options { segment_bytes_max: 3000, ..Options::real(dir) };
    JournalStore::open(dir, options).unwrap()
}

fn note(writer: &mut Writer, content: &str) -> Entry<Change> {
    let session = SessionId::new("s-1");
    let seq = Seq(writer.state.seq().0 + 1);
    let time = Timestamp(seq.0.cast_signed());
    let by = Provenance::new(session.clone(), Arc::from("codex"), time);
    let note = NewNote { content: content.to_owned(), ..NewNote::default() };
    let changes = plan_notes(&writer.state, &by, vec![Ok(note)]).unwrap().changes;
    let entry = Entry {
        seq,
        revision: Some(Revision(writer.state.revision().0 + 1)),
        time,
        session: Some(session),
        call: Some(Call { instance: Arc::from("i"), number: seq.0, acknowledged: 0 }),
        operation: Cow::Borrowed("note"),
        changes,
        reply: Some(serde_json::json!({ "stored": seq.0 })),
    };
    writer.store.append(writer.state.seq(), std::slice::from_ref(&entry)).unwrap();
    writer.state.apply(seq, &entry.changes);
    let call = entry.call.as_ref().unwrap();
    writer.replies.record(call, time, entry.reply.clone().unwrap());
    writer.store.advance_index(&writer.state, &mut writer.replies).unwrap();
    entry
}

fn header() -> BackupHeader {
    BackupHeader::new::<Memory>("p".to_owned(), "/src/p".to_owned(), Timestamp(7))
}

fn back_up(entries: &[Entry<Change>]) -> Vec<u8> {
    let mut writer = BackupWriter::new(Vec::new(), &header()).unwrap();
    for entry in entries {
        let mut line = Vec::new();
        backup_line(entry, &mut line);
        writer.line(line.trim_ascii_end()).unwrap();
    }
    writer.finish().unwrap()
}

fn read(backup: &[u8]) -> Result<Vec<Entry<Change>>, BackupError> {
    let mut entries = Vec::new();
    let read = read_backup::<Memory>(backup, &mut |entry, _| {
        entries.push(entry);
        Ok(())
    });
    read.map(|_| entries)
}

fn notes(dir: &Path, number: u64) -> (Writer, Vec<Entry<Change>>) {
    let mut writer = open(dir);
    let first = writer.state.seq().0;
    let entries = (0..number).map(|at| note(&mut writer, &format!("note {}", first + at)));
    let entries = entries.collect();
    (writer, entries)
}

#[test]
fn a_backup_that_lost_or_changed_a_byte_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let (_, entries) = notes(home.path(), 4);
    let backup = back_up(&entries);
    assert_eq!(read(&backup).unwrap(), entries);
    for cut in 0..backup.len() {
        read(&backup[..cut]).expect_err(&format!("cut at byte {cut}"));
    }
    let mut harmless = 0;
    for at in 0..backup.len() {
        for bit in [1, 0x80] {
            let mut changed = backup.clone();
            changed[at] ^= bit;
            // A few bits of gzip's header, and those that pad its last byte, mean nothing.
            if let Ok(read) = read(&changed) {
                harmless += 1;
                assert_eq!(read, entries, "byte {at}");
            }
        }
    }
    assert!(harmless < 20, "{harmless} changes went unnoticed");
    // Whole members of gzip may follow each other, but not in a backup.
    assert!(read(&[backup.clone(), backup].concat()).is_err());
    for other in [&b""[..], b"{}", b"\x1f\x8b"] {
        assert!(matches!(read(other), Err(BackupError::NotABackup)), "{other:?}");
    }
}

#[test]
fn the_lines_of_a_backup_belong_together() {
    let home = tempfile::tempdir().unwrap();
    let (_, entries) = notes(home.path(), 3);
    let mut text = String::new();
    MultiGzDecoder::new(&*back_up(&entries)).read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let packed = |lines: &[&str]| {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
        read(&out.finish().unwrap())
    };
    assert_eq!(packed(&lines).unwrap(), entries);
    let mut other = Vec::new();
    format::write_line(&BackupHeader { root: "/src/q".to_owned(), ..header() }, &mut other);
    let other = String::from_utf8(other).unwrap();
    let [head, first, second, third, end] = lines[..] else { panic!("{lines:?}") };
    for wrong in [
        &[head, first, second, end][..],
        &[head, first, second, third],
        &[head, second, first, third, end],
        &[other.trim_end(), first, second, third, end],
        &[head, first, second, third, end, end],
    ] {
        assert!(matches!(packed(wrong), Err(BackupError::Damaged { .. })), "{wrong:?}");
    }
}

#[test]
fn entries_of_a_backup_follow_each_other() {
    let home = tempfile::tempdir().unwrap();
    let (_, entries) = notes(home.path(), 3);
    let mut line = Vec::new();
    backup_line(&entries[1], &mut line);
    let mut writer = BackupWriter::new(Vec::new(), &header()).unwrap();
    let error = writer.line(line.trim_ascii_end()).unwrap_err().to_string();
    assert_eq!(error, "line 2: entry 2 stands where entry 1 belongs");
}

#[test]
fn a_backup_of_a_newer_anchord_or_another_kind_is_refused() {
    let begun = |header: &BackupHeader| {
        let backup = BackupWriter::new(Vec::new(), header).unwrap().finish().unwrap();
        read(&backup).unwrap_err().to_string()
    };
    let newer = BackupHeader { format: FORMAT + 1, build: "9.1".to_owned(), ..header() };
    assert_eq!(begun(&newer), "a newer anchord (9.1) made it; update this one to read it");
    let registry = BackupHeader { machine: "registry".to_owned(), ..header() };
    assert_eq!(begun(&registry), "line 1: it is of the kind `registry`, not `project`");
}

#[test]
fn a_restored_store_is_the_one_that_was_backed_up_and_keeps_the_old_files() {
    let home = tempfile::tempdir().unwrap();
    let (from, to, file) =
        (home.path().join("from"), home.path().join("to"), home.path().join("backup"));
    let (original, entries) = notes(&from, 30);
    assert!(original.store.sizes().segments > 2);
    fs::write(&file, back_up(&entries)).unwrap();

    for (round, first) in [(1, 0), (2, 5), (3, 5)] {
        if first > 0 {
            // What is there by now is another memory.
            let (writer, _) = notes(&to, first);
            Box::new(writer.store).close();
        }
        let options = Options { segment_bytes_max: 3000, ..Options::real(&to) };
        restore::<Memory>(&to, &options, &file).unwrap();
        let mut restored = open(&to);
        assert_eq!(restored.state, original.state, "round {round}");
        assert_eq!(restored.report.read_only, None);
        let call = entries[2].call.as_ref().unwrap();
        let reply = |replies: &Replies| format!("{:?}", replies.lookup(call));
        assert_eq!(reply(&restored.replies), reply(&original.replies));
        let mut found = Vec::new();
        let mut collect = |entry: &Entry<Change>| {
            found.push(entry.clone());
            true
        };
        restored.store.entries(Seq(1), &mut collect).unwrap();
        assert_eq!(found, entries);
        let names = RealDisk.list(&to.join("journal")).unwrap();
        let kept = names.iter().filter(|name| name.contains(".kept-")).count();
        assert_eq!(kept == 0, round == 1, "{names:?}");
        Box::new(restored.store).close();
    }
}

#[test]
fn a_damaged_backup_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (dir, file) = (home.path().join("store"), home.path().join("backup"));
    let (writer, entries) = notes(&dir, 6);
    let state = writer.state.clone();
    Box::new(writer.store).close();
    let backup = back_up(&entries);
    fs::write(&file, &backup[..backup.len() - 20]).unwrap();
    let error = restore::<Memory>(&dir, &Options::real(&dir), &file).unwrap_err();
    assert!(error.is_damage(), "{error}");
    assert_eq!(open(&dir).state, state);
}

#[test]
fn the_first_write_in_a_new_format_is_preceded_by_a_backup_that_a_purge_removes() {
    let home = tempfile::tempdir().unwrap();
    let (writer, entries) = notes(home.path(), 5);
    let state = writer.state.clone();
    Box::new(writer.store).close();
    age(home.path());

    let mut writer = open(home.path());
    let backup = home.path().join(format!("before-format-{FORMAT}.jsonl.gz"));
    assert!(!backup.exists());
    note(&mut writer, "the first in the new format");
    assert_eq!(read(&fs::read(&backup).unwrap()).unwrap(), entries);
    let before = fs::read(&backup).unwrap();
    note(&mut writer, "the second");
    assert_eq!(fs::read(&backup).unwrap(), before);

    let elsewhere = home.path().join("elsewhere");
    restore::<Memory>(&elsewhere, &Options::real(&elsewhere), &backup).unwrap();
    assert_eq!(open(&elsewhere).state, state);

    let last = Entry { seq: Seq(8), revision: None, call: None, reply: None, ..entries[0].clone() };
    let last = Entry { changes: Vec::new(), ..last };
    Box::new(writer.store).rewrite(&mut |_| false, &last).unwrap();
    assert!(!backup.exists());
}

#[test]
fn a_write_fails_if_the_backup_before_it_cannot_be_written() {
    let home = tempfile::tempdir().unwrap();
    let (writer, entries) = notes(home.path(), 2);
    Box::new(writer.store).close();
    age(home.path());
    // A directory is in the way of the backup.
    let backup = home.path().join(format!("before-format-{FORMAT}.jsonl.gz"));
    fs::create_dir_all(backup.join("in the way")).unwrap();
    let mut writer = open(home.path());
    let next = Entry {
        seq: Seq(3),
        revision: Some(Revision(3)),
        call: None,
        reply: None,
        ..entries[1].clone()
    };
    let failed = writer.store.append(Seq(2), std::slice::from_ref(&next)).unwrap_err();
    assert!(failed.to_string().contains("before-format-"), "{failed}");
    fs::remove_dir_all(&backup).unwrap();
    writer.store.append(Seq(2), &[next]).unwrap();
}

/// Makes the segment one of the format before.
fn age(dir: &Path) {
    for number in 1.. {
        let path = dir.join("journal").join(segment::file_name(number));
        let Ok(bytes) = fs::read(&path) else { break };
        let end = memchr::memchr(b'\n', &bytes).unwrap();
        let mut header: serde_json::Value = serde_json::from_slice(&bytes[..end]).unwrap();
        header["format"] = (FORMAT - 1).into();
        // As long as before, since the index knows entries by their place.
        let shorter = FORMAT.to_string().len() - (FORMAT - 1).to_string().len();
        let build = header["build"].as_str().unwrap();
        header["build"] = format!("{build}{}", " ".repeat(shorter)).into();
        header.as_object_mut().unwrap().remove("crc");
        let mut aged = Vec::new();
        format::write_line(&header, &mut aged);
        aged.extend_from_slice(&bytes[end + 1..]);
        fs::write(&path, aged).unwrap();
    }
}
