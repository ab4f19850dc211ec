//! A memory as rows, and files of every format, which must open forever.

mod forgotten;
mod format_10;
mod format_8;
mod format_9;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use anchord_memory::{
    Anchor, Blueprint, Body, Category, ContentType, ContentVersion, Counts, HistoryLine, Kind,
    Lesson, NewNote, Note, Notice, NoticeCause, NoticeId, Provenance, Record, RecordState, Scope,
    SessionActivity, SessionRow, Staged, Timestamp, Topic, TopicDecision, TopicPart, Version,
};
use serde_json::{Value, json};

use format_8::changes_8;
use format_9::changes_9;
use format_10::changes_10;

use super::*;
use crate::store::fakes::head_before;
use crate::store::format::FORMAT;
use crate::store::{
    Call, Entry, JournalStore, LineState, Opened, Options, PendingFlush, Replies, Store, Upkeep,
};

fn record(kind: Kind, number: u64, version: u32, body: Body) -> Change {
    let wrote = Provenance::new(
        SessionId::new("s-1"),
        Arc::from("claude-code"),
        Timestamp(1_763_760_000_000),
    );
    Change::Put(Arc::new(Record {
        id: RecordId::new(kind, number),
        version: Version(version),
        revision: Revision(1),
        content_version: None,
        created: wrote.clone(),
        updated: wrote,
        state: if version > 1 { RecordState::Archived } else { RecordState::Active },
        tags: Vec::new(),
        pinned: false,
        share_id: None,
        is_head: false,
        private: false,
        body,
    }))
}

/// Returns every kind of change in format 1.
fn changes() -> Vec<Vec<Change>> {
    let session = SessionId::new("s/1 ü");
    let blueprint = |content: &str| {
        let title = "One writer".to_owned();
        Body::Blueprint(Blueprint::new(Category::Decision, title, content.to_owned()))
    };
    let anchor = Anchor::new(
        "src/db.rs".to_owned(),
        "42-67".to_owned().into(),
        "the \"writer\"\nloop".to_owned(),
    );
    let lesson = Lesson { summary: "sync before reply".to_owned(), ..Lesson::default() };
    let part = |summary: &str| {
        Box::new(Staged {
            summary: Some(summary.to_owned()),
            anchors: vec![anchor.clone()],
            first: Timestamp(5),
            last: Timestamp(6),
            ..Staged::default()
        })
    };
    let notice = Notice {
        id: NoticeId(1),
        time: Timestamp(9),
        session: session.clone(),
        row: RecordId::new(Kind::SessionRow, 4),
        cause: NoticeCause::Crashed { files: vec!["a.rs".to_owned()], more: 2 },
        kept: Counts { anchors: 1, ..Counts::default() },
        files_unseen: false,
        private: false,
    };
    vec![
        vec![Change::Stage { session: session.clone(), part: part("half way") }],
        vec![
            record(Kind::Blueprint, 1, 1, blueprint("All writes pass one thread.")),
            record(Kind::Anchor, 2, 1, Body::Anchor(anchor.clone())),
            record(Kind::Lesson, 10, 1, Body::Lesson(lesson)),
        ],
        vec![record(Kind::Blueprint, 1, 2, blueprint(&"verbatim, and long. ".repeat(300)))],
        vec![Change::Adopt { from: session.clone(), to: SessionId::new("s-2") }],
        vec![Change::Stage { session: session.clone(), part: part("again") }],
        vec![Change::Unstage { session }, Change::Notify(Box::new(notice))],
        vec![Change::Imported {
            source: "zipmem".into(),
            digest: "ab/12".into(),
            records: 3,
            undone: false,
        }],
    ]
}

/// Returns every kind of change that format 2 added.
fn changes_2() -> Vec<Vec<Change>> {
    let note = |content: &str, scope: Scope| {
        Body::Note(Note {
            content: content.to_owned(),
            summary: "in short".to_owned(),
            key: Some("deploy/host".to_owned()),
            importance: 7,
            content_type: ContentType::Decision,
            tokens: 12,
            summary_tokens: 2,
            scope,
            expires: Some(Timestamp(1_800_000_000_000)),
            repeats: 2,
            condensed: true,
            file_digest: None,
        })
    };
    let purged = |kind: Kind, number: u64, version: u32, private: bool| {
        Change::Purged(Box::new(Purged {
            id: RecordId::new(kind, number),
            version: Version(version),
            revision: Revision(6),
            time: Timestamp(1_763_760_000_500),
            private,
            row: (kind == Kind::SessionRow).then_some(9),
        }))
    };
    let tagged = match record(Kind::Note, 11, 1, note("all of it", Scope::Project)) {
        Change::Put(record) => Change::Put(Arc::new(Record {
            tags: vec!["decision".to_owned(), "rust".to_owned()],
            pinned: true,
            ..Record::clone(&record)
        })),
        other => other,
    };
    let private = note("mine alone", Scope::Session(SessionId::new("s-1")));
    let staged = NewNote {
        content: "to be kept".to_owned(),
        summary: "kept".to_owned(),
        key: Some("k".to_owned()),
        tags: vec!["t".to_owned()],
        importance: Some(3),
        expires: Some(Timestamp(7)),
        pinned: true,
        private: true,
        personal: false,
        repeats: 1,
        ..NewNote::default()
    };
    let part = Staged { notes: vec![staged], ..Staged::default() };
    let settings = Settings { budget_tokens: Some(50_000), ..Settings::default() };
    let mut changes = changes();
    changes.extend([
        vec![tagged],
        vec![record(Kind::Note, 12, 1, private)],
        vec![Change::Stage { session: SessionId::new("s-3"), part: Box::new(part) }],
        vec![Change::Configure { client: Some("cursor".to_owned()), settings, shared: false }],
        vec![purged(Kind::SessionRow, 13, 1, false), purged(Kind::Note, 14, 2, false)],
        vec![purged(Kind::Note, 15, 1, true)],
        vec![Change::Tombstones {
            salt: "a5".to_owned(),
            digests: vec!["00ff".to_owned()],
            time: Timestamp(1_763_760_000_500),
        }],
    ]);
    changes
}

/// Returns every kind of change that format 3 added.
fn changes_3() -> Vec<Vec<Change>> {
    let decided = |question: &str, decided: Option<&str>, time: i64| TopicDecision {
        question: question.to_owned(),
        decided: decided.map(str::to_owned),
        time: Timestamp(time),
    };
    let told = |text: &str, time: i64| HistoryLine {
        time: Timestamp(time),
        client: Arc::from("codex"),
        ..HistoryLine::written(text.to_owned())
    };
    let topic = Topic {
        name: "Cache warm-up".to_owned(),
        status: "half way\nthen the eviction".to_owned(),
        overview: String::new(),
        architecture: String::new(),
        decisions: vec![decided("LRU?", Some("yes"), 8), decided("Which size?", None, 9)],
        history: vec![told("begun", 8), told("half way", 9)],
        files: vec!["src/cache.rs".to_owned()],
    };
    let part = TopicPart {
        name: Some("main".to_owned()),
        status: Some("open".to_owned()),
        overview: None,
        architecture: None,
        decisions: vec![decided("Now?", None, 10)],
        history: vec![told("open", 10)],
        files: vec!["a.rs".to_owned()],
        ..TopicPart::default()
    };
    let bind = |key: &str, topic: Option<&str>| Change::Bind {
        key: key.to_owned(),
        topic: topic.map(str::to_owned),
    };
    let mut captured = SessionActivity::of("codex:0199-b");
    let prompt = Event::PromptSubmitted { prompt: "make it green".to_owned() };
    captured.saw(&prompt, Timestamp(11));
    let ran = |passed| {
        Event::ToolRan(ToolRun {
            tool: "shell".to_owned(),
            edited: vec!["a.rs".to_owned()],
            command: Some(CommandRun::judge("cargo test".to_owned(), Some(passed), "")),
            ..ToolRun::default()
        })
    };
    captured.saw(&ran(false), Timestamp(12));
    captured.saw(&ran(true), Timestamp(13));
    let ended = Event::TurnEnded { last_message: Some("green".to_owned()) };
    captured.saw(&ended, Timestamp(14));
    // The builds that wrote the files did not know these fields yet.
    let mut written = serde_json::to_value(&captured).unwrap();
    let fields = written.as_object_mut().unwrap();
    for field in ["acted", "trace"] {
        fields.remove(field).unwrap();
    }
    let captured: SessionActivity = serde_json::from_value(written).unwrap();
    let noted = Staged { captured: Some(Box::new(captured.clone())), ..Staged::default() };
    let row = SessionRow {
        number: 10,
        session: SessionId::new("s-6"),
        started: Timestamp(11),
        ended: Timestamp(14),
        summary: "make it green".to_owned(),
        on_behalf: true,
        earlier: Vec::new(),
        captured: Some(Box::new(captured)),
        blueprints_added: 0,
        anchors_added: 0,
        lessons_added: 0,
        folded: 0,
    };
    let part = Staged { topics: vec![part], ..Staged::default() };
    let mut changes = changes_2();
    changes.extend([
        vec![
            Change::Stage { session: SessionId::new("s-4"), part: Box::new(part) },
            bind("codex:0199-a", Some("Cache warm-up")),
        ],
        vec![record(Kind::Topic, 16, 1, Body::Topic(topic))],
        vec![bind("claude:77", Some("main")), bind("codex:0199-a", None)],
        vec![Change::Stage { session: SessionId::new("s-5"), part: Box::new(noted) }],
        vec![record(Kind::SessionRow, 17, 1, Body::SessionRow(row))],
    ]);
    changes
}

/// Returns the changes of the formats before, and those with the fields that format 7 added.
fn changes_7() -> Vec<Vec<Change>> {
    let line = HistoryLine {
        time: Timestamp(20),
        client: Arc::from("codex"),
        files: vec!["src/cache.rs".to_owned()],
        ..HistoryLine::written("Chose LRU.".to_owned())
    };
    let by_rule = HistoryLine { time: Timestamp(21), ..HistoryLine::new("half way") };
    let statement = TopicDecision { time: Timestamp(20), ..TopicDecision::statement("LRU it is.") };
    let part = TopicPart {
        overview: Some("a cache".to_owned()),
        architecture: Some("one writer\nmany readers".to_owned()),
        decisions: vec![statement.clone()],
        history: vec![line.clone(), by_rule.clone()],
        ..TopicPart::default()
    };
    let topic = Topic {
        name: "main".to_owned(),
        overview: "a cache".to_owned(),
        architecture: "one writer\nmany readers".to_owned(),
        decisions: vec![statement],
        history: vec![line, by_rule],
        ..Topic::default()
    };
    let staged = Staged { topics: vec![part], ..Staged::default() };
    let mut changes = changes_3();
    changes.extend([
        vec![Change::Stage { session: SessionId::new("s-4"), part: Box::new(staged) }],
        vec![record(Kind::Topic, 18, 1, Body::Topic(topic))],
    ]);
    changes
}

fn memory_after(entries: &[Vec<Change>]) -> Memory {
    let mut memory = Memory::default();
    for (changes, seq) in entries.iter().zip(1..) {
        StateMachine::apply(&mut memory, Seq(seq), changes);
    }
    memory
}

fn restored(rows: impl Iterator<Item = Row>) -> Result<Memory, String> {
    let part = |row: Row| Memory::part(&row.key, &row.value.unwrap());
    let parts = rows.map(part).collect::<Result<Vec<_>, _>>()?;
    Memory::restore(&mut parts.into_iter())
}

#[test]
fn rows_restore_to_the_same_memory_after_every_entry() {
    let entries = changes_8();
    for count in 0..=entries.len() {
        let memory = memory_after(&entries[..count]);
        let restored = restored(memory.rows()).unwrap();
        assert_eq!(restored, memory, "after {count} entries");
    }
}

#[test]
fn touched_rows_bring_older_rows_up_to_date() {
    let entries = changes_7();
    for from in 0..entries.len() {
        for to in from + 1..=entries.len() {
            let mut rows: std::collections::BTreeMap<_, _> =
                memory_after(&entries[..from]).rows().map(|row| (row.key, row.value)).collect();
            let memory = memory_after(&entries[..to]);
            for changes in &entries[from..to] {
                for row in memory.touched_rows(changes) {
                    rows.insert(row.key, row.value);
                }
            }
            rows.retain(|_, value| value.is_some());
            let expected = memory.rows().map(|row| (row.key, row.value)).collect();
            assert_eq!(rows, expected, "from entry {from} to {to}");
        }
    }
}

#[test]
fn rows_of_dropped_notices_are_removed() {
    let most = u64::try_from(NOTICES_MAX).unwrap();
    let notified = |number: u64| {
        let mut notice = changes_3().into_iter().flatten().find_map(|change| match change {
            Change::Notify(notice) => Some(notice),
            _ => None,
        });
        notice.as_mut().unwrap().id = NoticeId(number);
        Change::Notify(notice.unwrap())
    };
    let entries: Vec<Vec<Change>> =
        (1..=most + 6).step_by(2).map(|at| vec![notified(at), notified(at + 1)]).collect();
    let mut memory = Memory::default();
    let mut rows = std::collections::BTreeMap::new();
    for (changes, seq) in entries.iter().zip(1..) {
        StateMachine::apply(&mut memory, Seq(seq), changes);
        rows.extend(memory.touched_rows(changes).into_iter().map(|row| (row.key, row.value)));
    }
    rows.retain(|_, value| value.is_some());
    assert_eq!(rows.len(), 1 + usize::try_from(most).unwrap(), "and the counters");
    assert_eq!(rows, memory.rows().map(|row| (row.key, row.value)).collect());
    // Rows written late: those of all entries, taken after the last one.
    let late = entries.iter().flat_map(|changes| memory.touched_rows(changes));
    let mut late: std::collections::BTreeMap<_, _> = late.map(|row| (row.key, row.value)).collect();
    late.retain(|_, value| value.is_some());
    assert_eq!(late, rows);
}

#[test]
fn an_unknown_row_is_an_error() {
    let row = |key: &str, value: &str| Row { key: key.into(), value: Some(value.into()) };
    let refused = |rows: Vec<Row>| restored(rows.into_iter()).unwrap_err();
    assert_eq!(refused(vec![]), "the row m/counters is missing");
    assert_eq!(
        refused(vec![row("z/1", "{}")]),
        "the row z/1 is of no kind that this anchord knows"
    );
    assert!(refused(vec![row("n/b1", "{}")]).starts_with("the row n/b1 cannot be read: "));
}

#[test]
fn a_version_is_found_by_id_and_number() {
    let keys: Vec<String> = changes_2().iter().flatten().flat_map(Memory::history_keys).collect();
    let written = ["b1@1", "a2@1", "l10@1", "b1@2", "n11@1", "n12@1", "s13@1", "n14@2", "n15@1"];
    assert_eq!(keys, written);
}

/// Returns a directory with the files of a format.
fn copied_fixture(format: u32) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for part in ["journal", "snapshot"] {
        fs::create_dir(dir.path().join(part)).unwrap();
        for file in fs::read_dir(fixture(format).join(part)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), dir.path().join(part).join(file.file_name())).unwrap();
        }
    }
    dir
}

fn fixture(format: u32) -> PathBuf {
    let name = format!("src/store/fixtures/format-{format}");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the entries in a format's fixture.
fn in_format(format: u32) -> Vec<Vec<Change>> {
    match format {
        1 => changes(),
        2 => changes_2(),
        3..=6 => changes_3(),
        7 => changes_7(),
        8 => changes_8(),
        9 => changes_9(),
        _ => changes_10(),
    }
}

fn open(dir: &Path) -> Opened<Memory, JournalStore<Memory>> {
    let options = Options { segment_bytes_max: 2000, ..Options::real(dir) };
    JournalStore::open(dir, options).unwrap()
}

/// Replies are texts up to format 5, and data from then on.
fn fixture_reply(format: u32, seq: u64) -> Value {
    if format < 6 { format!("done {seq}").into() } else { json!({ "done": seq }) }
}

fn fixture_entries(format: u32) -> Vec<Entry<Change>> {
    let mut revision = 0;
    in_format(format)
        .into_iter()
        .zip(1..)
        .map(|(changes, seq)| {
            let commit = Memory::is_commit(&changes);
            revision += u64::from(commit);
            Entry {
                seq: Seq(seq),
                revision: commit.then_some(Revision(revision)),
                time: Timestamp(1_763_760_000_000 + i64::try_from(seq).unwrap()),
                session: Some(SessionId::new("s-1")),
                call: Some(Call {
                    instance: Arc::from("5e2c"),
                    number: seq,
                    acknowledged: seq.saturating_sub(2),
                }),
                operation: Cow::Borrowed("checkpoint"),
                changes,
                reply: Some(fixture_reply(format, seq)),
            }
        })
        .collect()
}

#[test]
fn files_of_every_format_open() {
    for format in 1..=FORMAT {
        let dir = copied_fixture(format);
        let expected = fixture_entries(format);
        let mut opened = open(dir.path());
        assert_eq!(opened.report.read_only, None);
        assert_eq!(opened.report.rebuilt.as_deref(), Some("it is empty"));
        let count = expected.len() as u64;
        assert!(opened.report.replayed < count, "the snapshot was not used");
        assert_eq!(opened.state, memory_after(&in_format(format)));
        let mut entries = Vec::new();
        let mut collect = |entry: &Entry<Change>| {
            entries.push(entry.clone());
            true
        };
        opened.store.entries(Seq(1), &mut collect).unwrap();
        assert_eq!(entries, expected);
        assert_eq!(opened.store.history("b1@1").unwrap().as_ref(), Some(&expected[1]));
        let last = expected.last().unwrap().call.as_ref().unwrap();
        let reply = fixture_reply(format, count);
        assert_eq!(opened.replies.lookup(last), LineState::Answered(reply.into()));
    }
}

/// An older anchord must learn from a header that it is too old. Everything before that header must
/// be as the older anchord left it.
#[test]
fn entries_after_format_1_go_into_a_new_segment() {
    let dir = copied_fixture(1);
    let path = |number: u32| dir.path().join(format!("journal/{number:06}.jsonl"));
    let before = [1, 2].map(|number| fs::read(path(number)).unwrap());
    Box::new(open(dir.path()).store).close();
    assert!(!path(3).exists(), "opening is no reason");
    let Opened { mut store, .. } = open(dir.path());
    let next = |seq: u64| Entry {
        seq: Seq(seq),
        call: None,
        reply: None,
        revision: None,
        ..fixture_entries(1).swap_remove(0)
    };
    store.append(Seq(7), &[next(8)]).unwrap();
    store.append(Seq(8), &[next(9)]).unwrap();
    Box::new(store).close();
    assert_eq!([1, 2].map(|number| fs::read(path(number)).unwrap()), before);
    let text = fs::read_to_string(path(3)).unwrap();
    assert!(text.starts_with(&format!("{{\"format\":{FORMAT},")), "{text}");
    assert_eq!(text.lines().count(), 3, "a header and both entries");
    let opened = open(dir.path());
    assert_eq!((opened.report.read_only, opened.report.entries), (None, 9));
    assert_eq!(opened.store.history("b1@1").unwrap().as_ref(), Some(&fixture_entries(1)[1]));
}

/// An older build of the same format must read what this build writes. Entries from an older format
/// must have the same lines in the newest one. Headers and trailers are excluded, because they hold
/// ids and checksums of ids.
#[test]
fn this_build_writes_the_lines_of_every_format() {
    for format in 1..=FORMAT {
        let dir = tempfile::tempdir().unwrap();
        let Opened { mut store, mut state, mut replies, .. } = open(dir.path());
        // Batches of several entries are marked since format 4.
        let batch = if format < 4 { 1 } else { 2 };
        for entries in fixture_entries(format).chunks(batch) {
            store.append(head_before(entries), entries).unwrap();
            for entry in entries {
                StateMachine::apply(&mut state, entry.seq, &entry.changes);
                follow(&mut replies, entry);
            }
            store.advance_index(&state, &mut replies).unwrap();
        }
        Box::new(store).close();
        if format == FORMAT && std::env::var_os(UPDATE).is_some() {
            keep_fixture(dir.path(), format);
        }
        for (part, trailers) in [("journal", 0), ("snapshot", 1)] {
            for file in fs::read_dir(fixture(format).join(part)).unwrap() {
                let file = Path::new(part).join(file.unwrap().file_name());
                let lines = |dir: &Path| -> Vec<String> {
                    let text = fs::read_to_string(dir.join(&file)).unwrap();
                    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
                    lines[1..lines.len() - trailers].to_vec()
                };
                assert_eq!(lines(dir.path()), lines(&fixture(format)), "{}", file.display());
            }
        }
    }
}

/// Archives have a form of their own, which must also stay readable forever.
#[test]
fn an_archived_segment_of_a_format_opens() {
    let dir = copied_fixture(5);
    let journal = dir.path().join("journal");
    let plain = fs::read(journal.join("000001.jsonl")).unwrap();
    if std::env::var_os(UPDATE).is_some() {
        let options = Options { upkeep: Upkeep::Inline, ..Options::real(dir.path()) };
        let mut opened = JournalStore::<Memory>::open(dir.path(), options).unwrap();
        let is_over = (0..100).any(|_| opened.store.flush() == PendingFlush::Nothing);
        assert!(is_over, "upkeep comes to an end");
        fs::create_dir_all(fixture(5).join("archive")).unwrap();
        let archive = journal.join("000001.jsonl.gz");
        fs::copy(archive, fixture(5).join("archive/000001.jsonl.gz")).unwrap();
    }
    let archive = fixture(5).join("archive/000001.jsonl.gz");
    let mut text = Vec::new();
    let file = fs::File::open(&archive).unwrap();
    let mut gunzip = flate2::read::MultiGzDecoder::new(file);
    std::io::Read::read_to_end(&mut gunzip, &mut text).unwrap();
    assert_eq!(text, plain, "any gunzip gives back the segment");
    fs::copy(archive, journal.join("000001.jsonl.gz")).unwrap();
    fs::remove_file(journal.join("000001.jsonl")).unwrap_or_default();
    let mut opened = open(dir.path());
    assert_eq!(opened.report.read_only, None);
    let mut entries = Vec::new();
    let mut collect = |entry: &Entry<Change>| {
        entries.push(entry.clone());
        true
    };
    opened.store.entries(Seq(1), &mut collect).unwrap();
    assert_eq!(entries, fixture_entries(5));
    assert_eq!(opened.store.history("b1@1").unwrap().as_ref(), Some(&entries[1]));
}

/// Environment variable that makes the tests rewrite the newest format's files. Use it only while
/// no anchord that writes that format is in use.
const UPDATE: &str = "UPDATE_FIXTURES";

fn keep_fixture(written: &Path, format: u32) {
    for part in ["journal", "snapshot"] {
        let kept = fixture(format).join(part);
        fs::remove_dir_all(&kept).unwrap();
        fs::create_dir_all(&kept).unwrap();
        for file in fs::read_dir(written.join(part)).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), kept.join(file.file_name())).unwrap();
        }
    }
}

fn follow(replies: &mut Replies, entry: &Entry<Change>) {
    let (call, reply) = (entry.call.as_ref().unwrap(), entry.reply.clone().unwrap());
    replies.record(call, entry.time, reply);
}
