//! Forgotten records: a row with the head, and the text in the journal.

use super::*;
use crate::store::{IndexPlace, SledPlace};

/// Returns the history of a long note: archived, forgotten, restored, archived and forgotten again.
fn forgotten_twice() -> Vec<Vec<Change>> {
    let states = [
        RecordState::Active,
        RecordState::Archived,
        RecordState::Forgotten,
        RecordState::Active,
        RecordState::Archived,
        RecordState::Forgotten,
    ];
    let mut entries: Vec<Vec<Change>> = Vec::new();
    let mut said = None;
    for (version, state) in (1..).zip(states) {
        let Change::Put(record) = record(Kind::Note, 1, version, Body::Note(long_note())) else {
            unreachable!("it is a record")
        };
        let mut record = Record::clone(&record);
        // As in a draft: an archived version has the content of the version before it.
        let own =
            ContentVersion { version: Version(version), revision: Revision(u64::from(version)) };
        record.content_version = (state == RecordState::Archived).then(|| said.unwrap_or(own));
        said = Some(record.content_version.unwrap_or(own));
        record.revision = own.revision;
        record.state = state;
        entries.push(vec![Change::Put(Arc::new(record))]);
    }
    entries
}

fn long_note() -> Note {
    Note {
        content: format!("The first line.\n{}", "A long line of text. ".repeat(40)),
        summary: String::new(),
        key: Some("build".to_owned()),
        importance: 5,
        content_type: ContentType::Decision,
        tokens: 200,
        summary_tokens: 0,
        scope: Scope::Project,
        expires: None,
        repeats: 0,
        condensed: false,
        file_digest: None,
    }
}

fn content(record: &Record) -> &str {
    &record.note().unwrap().content
}

#[test]
fn a_forgotten_record_has_one_row_with_its_head() {
    let entries = forgotten_twice();
    for (entry, state) in (1..).zip(["n/", "n/", "f/", "n/", "n/", "f/"]) {
        let memory = memory_after(&entries[..entry]);
        let rows: Vec<Row> = memory.rows().collect();
        let of_note = rows.iter().filter(|row| row.key.ends_with("/n1"));
        let of_note: Vec<_> = of_note.map(|row| (&row.key[..2], row.value.as_ref())).collect();
        assert_eq!(of_note.len(), 1, "after {entry} entries: {of_note:?}");
        assert_eq!(of_note[0].0, state, "after {entry} entries");
        let is_whole = of_note[0].1.unwrap().contains("A long line of text. ");
        assert_eq!(is_whole, state == "n/", "after {entry} entries: {of_note:?}");
        assert_eq!(restored(rows.into_iter()).unwrap(), memory);
        for from in 0..entry {
            let before = memory_after(&entries[..from]);
            let mut rows: std::collections::BTreeMap<_, _> =
                before.rows().map(|row| (row.key, row.value)).collect();
            for changes in &entries[from..entry] {
                rows.extend(
                    memory.touched_rows(changes).into_iter().map(|row| (row.key, row.value)),
                );
            }
            rows.retain(|_, value| value.is_some());
            let expected = memory.rows().map(|row| (row.key, row.value)).collect();
            assert_eq!(rows, expected, "from entry {from} to {entry}");
        }
    }
}

/// Earlier builds wrote whole forgotten records, under the same key prefix as every other record.
#[test]
fn an_earlier_builds_row_of_a_forgotten_record_becomes_its_head() {
    let entries = forgotten_twice();
    let memory = memory_after(&entries[..3]);
    let [Change::Put(whole)] = &entries[2][..] else { unreachable!("it is a record") };
    let text = serde_json::to_string(&**whole).unwrap();
    let rows = memory.rows().map(|row| match row.key.strip_prefix(HEAD) {
        Some(id) => Row::of(&format!("{RECORD}{id}"), &text),
        None => row,
    });
    let rows: Vec<Row> = rows.collect();
    assert!(rows.iter().any(|row| row.key == "n/n1"));
    assert_eq!(restored(rows.into_iter()).unwrap(), memory);
    let gone = memory_after(&entries[..4]).touched_rows(&entries[3]);
    assert!(gone.iter().any(|row| row.key == "f/n1" && row.value.is_none()), "{gone:?}");
    let gone = memory_after(&entries[..6]).touched_rows(&entries[5]);
    assert!(gone.iter().any(|row| row.key == "n/n1" && row.value.is_none()), "{gone:?}");
}

#[test]
fn a_forgotten_text_stays_only_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let upkept = || {
        let options = Options { segment_bytes_max: 2000, ..Options::real(dir.path()) };
        JournalStore::<Memory>::open(dir.path(), Options { upkeep: Upkeep::Inline, ..options })
    };
    let Opened { mut store, mut state, mut replies, .. } = upkept().unwrap();
    let later = (11..30).map(|number| {
        let body = Body::Note(Note { key: Some(number.to_string()), ..long_note() });
        vec![record(Kind::Note, number, 1, body)]
    });
    for (seq, changes) in (1..).zip(forgotten_twice().into_iter().chain(later)) {
        let entry = Entry {
            seq: Seq(seq),
            revision: Some(Revision(seq)),
            time: Timestamp(1_763_760_000_000),
            session: None,
            call: None,
            operation: Cow::Borrowed("test"),
            changes,
            reply: None,
        };
        store.append(state.seq(), std::slice::from_ref(&entry)).unwrap();
        StateMachine::apply(&mut state, entry.seq, &entry.changes);
        store.advance_index(&state, &mut replies).unwrap();
    }
    while store.flush() != PendingFlush::Nothing {}
    assert!(dir.path().join("journal/000001.jsonl.gz").exists(), "it is archived");
    let check = |store: &mut JournalStore<Memory>, state: &Memory, what: &str| {
        let head = state.record(RecordId::new(Kind::Note, 1)).unwrap();
        assert!(head.is_head, "{what}: {head:?}");
        assert_eq!(content(head), "The first line.\n…", "{what}");
        let entry = store.history("n1@6").unwrap().unwrap();
        let [Change::Put(whole)] = &entry.changes[..] else { panic!("{entry:?}") };
        assert_eq!(content(whole), long_note().content, "{what}");
        assert_eq!((whole.version, whole.is_head), (head.version, false), "{what}");
    };
    check(&mut store, &state, "as written");
    Box::new(store).close();
    let opened = upkept().unwrap();
    let (mut store, from_index) = (opened.store, opened.state);
    assert_eq!((opened.report.rebuilt, &from_index), (None, &state));
    check(&mut store, &from_index, "from the index");
    Box::new(store).close();
    SledPlace::new(dir.path().join("sled")).discard().unwrap();
    let opened = upkept().unwrap();
    let (mut store, from_snapshot) = (opened.store, opened.state);
    assert!(opened.report.replayed < 20, "the snapshot was not used");
    assert_eq!(from_snapshot, state);
    check(&mut store, &from_snapshot, "from a snapshot");
    Box::new(store).close();
}
