//! Tests of what is purged, what stays, and what must not come back.

use serde_json::{Value, json};

use std::sync::Arc;

mod fixes;
mod held;
mod spellings;

use super::*;
use crate::import::NamedText;
use crate::lifecycle::{CommandRun, Event, ToolRun};
use crate::testing::{anchor, apply, blueprint, lesson, lessons, origin, save};
use crate::{
    Memory, Reader, Save, Seq, SessionId, TopicPart, find, import, plan_adopt, plan_bind,
    plan_capture, plan_checkpoint, plan_keep, plan_notes, plan_save, plan_update,
};

const VALUE: &str = "the planted value";

/// A journal: the changes of each entry, and the reply to its caller.
type Journal = Vec<(Vec<Change>, Option<Value>)>;

fn replayed(journal: &Journal) -> Memory {
    let mut memory = Memory::default();
    for ((changes, _), seq) in journal.iter().zip(1..) {
        memory.apply(Seq(seq), changes);
    }
    memory
}

fn purged(journal: &Journal, ids: &[&str], query: Option<&str>) -> (Journal, Purge) {
    let ids = ids.iter().map(|id| id.parse().unwrap()).collect();
    let memory = replayed(journal);
    let salt = match memory.tombstones().salt() {
        "" => "salt".to_owned(),
        salt => salt.to_owned(),
    };
    let mut purge = Purge::new(ids, query.map(str::to_owned), salt, Timestamp(99));
    for (changes, _) in journal {
        purge.pick(changes);
    }
    for (changes, _) in journal {
        purge.learn(changes);
    }
    purge.ready().unwrap();
    let mut journal = journal.clone();
    for (changes, reply) in &mut journal {
        purge.edit(changes, reply);
    }
    journal.push((vec![purge.tombstones()], None));
    (journal, purge)
}

/// Each kind with the value, in several versions, staged and saved, and a bystander of each kind.
fn written() -> Journal {
    let by = origin("s", 1);
    let mut journal = Journal::new();
    let mut memory = Memory::default();
    let mut write = |changes: Vec<Change>, reply: &str| {
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, Some(reply.into())));
        memory.clone()
    };
    let mut part = lessons([lesson("about locks", VALUE), lesson("about tides", "they turn")]);
    part.blueprints = vec![blueprint("deploys", VALUE), blueprint("tests", "run all of them")];
    part.anchors = vec![anchor("a.rs", "1-9", VALUE), anchor("b.rs", "1-9", "the loop")];
    part.notes = vec![
        NewNote { content: format!("note with {VALUE}"), ..NewNote::default() },
        NewNote {
            content: "note of the sea".into(),
            key: Some("sea".into()),
            ..NewNote::default()
        },
    ];
    part.summary = Some(format!("half way with {VALUE}"));
    let plan = plan_checkpoint(&Memory::default(), &by, part).unwrap();
    let memory = write(plan.changes, "staged");
    let save = Save {
        started: by.time,
        session_summary: &format!("done with {VALUE}"),
        part: Staged::default(),
        ..Save::default()
    };
    let plan = plan_save(&memory, &by, save).unwrap();
    let memory = write(plan.changes, &format!("kept \"{VALUE}\""));
    let id = memory.records().find_map(|record| record.note().map(|_| record.id)).unwrap();
    let update = crate::Update { content: Some("clean now".into()), ..crate::Update::default() };
    let reader = Reader::anyone();
    let plan = plan_update(&memory, &reader, id, &update, None, &by).unwrap();
    write(plan.changes, "updated");
    journal
}

fn text(journal: &Journal) -> String {
    serde_json::to_string(journal).unwrap()
}

#[test]
fn a_purge_by_query_removes_the_value_and_nothing_else() {
    let before = written();
    let (after, purge) = purged(&before, &[], Some(VALUE));
    assert!(!text(&after).contains(VALUE), "{}", text(&after));
    let gone: Vec<String> = purge.records().map(|record| record.id.to_string()).collect();
    assert_eq!(gone.len(), 5, "one of each kind: {gone:?}");
    assert_eq!(purge.staged(), 1);
    let (was, is) = (replayed(&before), replayed(&after));
    assert_eq!((was.seq().0 + 1, was.revision().0 + 1), (is.seq().0, is.revision().0));
    assert_eq!(was.last_number(), is.last_number());
    assert_eq!(was.session_rows(), is.session_rows());
    for record in was.records() {
        match is.purged(record.id) {
            None => assert_eq!(is.record(record.id), Some(record)),
            Some(mark) => {
                assert_eq!((mark.version, mark.revision), (record.version, record.revision));
                assert_eq!(is.record(record.id), None);
            }
        }
    }
    assert_eq!(is.records().count(), was.records().count() - 5);
    assert_eq!(purged(&after, &[], Some(VALUE)).0[..after.len()], after[..], "again");
}

#[test]
fn a_purge_by_id_removes_all_versions_and_staged_copies() {
    let before = written();
    let note = replayed(&before).records().find(|r| r.note().is_some()).unwrap().id.to_string();
    let (after, purge) = purged(&before, &[&note], None);
    let left = text(&after);
    assert!(!left.contains("note with the planted") && !left.contains("clean now"), "{left}");
    assert!(left.contains("about locks") && left.contains("note of the sea"), "{left}");
    assert_eq!(purge.records().map(|record| record.versions).collect::<Vec<_>>(), [2]);
    let memory = replayed(&after);
    let error = find(&memory, &Reader::anyone(), note.parse().unwrap()).unwrap_err().to_string();
    assert_eq!(error, format!("{note} was purged on 1970-01-01; its content is gone for good"));
}

#[test]
fn other_records_with_the_same_text_are_named_and_kept() {
    let mut memory = Memory::default();
    let mut journal = Journal::new();
    for (day, detail) in [(1, VALUE.to_owned()), (2, format!("see: {VALUE}"))] {
        let part = lessons([lesson(&format!("lesson of day {day}, about {day}"), &detail)]);
        let revision = memory.revision();
        save(&mut memory, &origin("s", day), part);
        let new = memory.written_since(revision).map(|record| Change::Put(Arc::clone(record)));
        journal.push((new.collect(), None));
    }
    let (_, purge) = purged(&journal, &["l1"], None);
    let elsewhere: Vec<String> = purge.elsewhere().map(|id| id.to_string()).collect();
    assert_eq!(elsewhere, ["l3"]);
}

#[test]
fn purged_text_is_not_accepted_again() {
    let (journal, _) = purged(&written(), &[], Some(VALUE));
    let memory = replayed(&journal);
    let by = origin("later", 3);
    let refused = "says what was purged on 1970-01-01 and is not taken in again; leave it out";
    let again = lessons([lesson("new", "and fine"), lesson("about locks", VALUE)]);
    let error = plan_checkpoint(&memory, &by, again.clone()).unwrap_err();
    assert_eq!(error.to_string(), format!("lessons[1] {refused}"));
    let save = Save { started: by.time, session_summary: "s", part: again, ..Save::default() };
    let error = plan_save(&memory, &by, save).unwrap_err();
    assert_eq!(error.to_string(), format!("lessons[1] {refused}"));
    let note = |content: &str| Ok(NewNote { content: content.to_owned(), ..NewNote::default() });
    let items = vec![note(&format!(" note with {VALUE}\n")), note("another")];
    let outcome = plan_notes(&memory, &by, items).unwrap().outcome;
    assert_eq!((outcome.stored.len(), outcome.failed.len()), (1, 1));
    assert_eq!(outcome.failed[0].why.to_string(), format!("content {refused}"));
    let other = memory.records().find(|record| record.note().is_some()).unwrap();
    let content = Some(format!("note with {VALUE}"));
    let update = crate::Update { content, ..crate::Update::default() };
    let error = plan_update(&memory, &Reader::anyone(), other.id, &update, None, &by).unwrap_err();
    assert_eq!(error.to_string(), format!("content {refused}"));
}

/// Neither a summary's text as a content, nor the other way round.
#[test]
fn purged_text_is_not_accepted_as_a_summary() {
    let by = origin("s", 1);
    let short = "the gist of it";
    let note = |content: &str, summary: &str| NewNote {
        content: content.to_owned(),
        summary: summary.to_owned(),
        ..NewNote::default()
    };
    let notes = vec![Ok(note("the whole of it", short)), Ok(note("another", "short"))];
    let plan = plan_notes(&Memory::default(), &by, notes).unwrap();
    let (journal, _) = purged(&vec![(plan.changes, None)], &["n1"], None);
    let memory = replayed(&journal);
    let refused = "says what was purged on 1970-01-01 and is not taken in again; leave it out";
    for said in [short, "the whole of it"] {
        let error = plan_notes(&memory, &by, vec![Ok(note("new", said))]).unwrap_err();
        assert_eq!(error.to_string(), format!("summary {refused}"));
        let error = plan_notes(&memory, &by, vec![Ok(note(said, ""))]).unwrap_err();
        assert_eq!(error.to_string(), format!("content {refused}"));
        let part = Staged { notes: vec![note("new", said)], ..Staged::default() };
        let error = plan_checkpoint(&memory, &by, part).unwrap_err();
        assert_eq!(error.to_string(), format!("notes[0].summary {refused}"));
        let update = crate::Update { summary: Some(said.to_owned()), ..crate::Update::default() };
        let id = "n2".parse().unwrap();
        let error = plan_update(&memory, &Reader::anyone(), id, &update, None, &by).unwrap_err();
        assert_eq!(error.to_string(), format!("summary {refused}"));
    }
}

/// Versions of a lesson hold its parts one after another, so no version has the later one alone.
#[test]
fn no_part_of_a_purged_lesson_is_accepted_again() {
    const LATER: &str = "then d2 broke as well, later";
    let tellings =
        ["it was d1 that broke, at first", "## Root cause\n\nthen d2 broke as well, later\n\n4711"];
    let mut memory = Memory::default();
    let mut journal = Journal::new();
    for (day, detail) in (1..).zip(tellings) {
        let part = lessons([lesson("what breaks", detail)]);
        let plan = plan_save(
            &memory,
            &origin("s", day),
            Save { session_summary: "done", part, ..Save::default() },
        );
        let changes = plan.unwrap().changes;
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, None));
    }
    let (journal, purge) = purged(&journal, &["l1"], None);
    assert_eq!(purge.records().map(|record| record.versions).collect::<Vec<_>>(), [2]);
    let memory = replayed(&journal);
    let told = |summary: &str, detail: &str| {
        plan_checkpoint(&memory, &origin("later", 9), lessons([lesson(summary, detail)]))
    };
    let refused =
        "lessons[0] says what was purged on 1970-01-01 and is not taken in again; leave it out";
    for detail in [tellings[0], tellings[1], LATER, &format!("new\n\n\n {LATER} \n")] {
        for summary in ["what breaks", "another"] {
            assert_eq!(told(summary, detail).unwrap_err().to_string(), refused, "{detail}");
        }
    }
    // No digest is kept of a text that is short enough to be guessed, or to occur elsewhere.
    for detail in ["4711", "", "## Root cause", "## Root cause\n\nthen d3 broke"] {
        assert!(told("what breaks", detail).is_ok(), "{detail}");
    }
    let Change::Tombstones { digests, .. } = purge.tombstones() else { panic!() };
    assert!(!digests.contains(&digest("salt", "4711")));
}

#[test]
fn an_import_leaves_out_purged_text_and_says_so() {
    let state = format!(
        r#"{{"lessons":[{{"summary":"about locks","detail":"{VALUE}"}},{{"summary":"about stars"}}]}}"#
    );
    let source = import::parse(&[NamedText::new("state.json", state)]).unwrap();
    let (journal, _) = purged(&written(), &[], Some(VALUE));
    let mut memory = replayed(&journal);
    let plan = import::plan_import_zipmem(&memory, &source, "digest", &origin("import", 4));
    let outcome = apply(&mut memory, plan);
    assert_eq!(outcome.added.lessons, 1);
    let said = "a lesson was purged on 1970-01-01 and is not taken in again";
    assert!(outcome.notes.iter().any(|note| note == said), "{:?}", outcome.notes);
}

#[test]
fn an_import_of_notes_leaves_out_purged_text() {
    let state = format!(
        r#"{{"version":1,"items":[{{"content":"note with {VALUE}"}},{{"content":"note of the stars"}}]}}"#
    );
    let source = import::parse_compactor(&[NamedText::new("state.json", state)]).unwrap();
    let (journal, _) = purged(&written(), &[], Some(VALUE));
    let mut memory = replayed(&journal);
    let plan = import::plan_import_compactor(&memory, &source, "digest", &origin("import", 4));
    let outcome = apply(&mut memory, plan);
    assert_eq!(outcome.added.notes, 1);
    assert_eq!(outcome.notes, ["a note was purged on 1970-01-01 and is not taken in again"]);
}

#[test]
fn an_earlier_export_does_not_bring_back_purged_text() {
    let before = replayed(&written());
    let records: Vec<_> = before.records().map(AsRef::as_ref).collect();
    let document = serde_json::json!({"format": 1, "revision": 1, "records": records});
    assert!(document.to_string().contains(VALUE));
    let source =
        import::parse_export(&[NamedText::new("export.json", document.to_string())]).unwrap();
    let (journal, _) = purged(&written(), &[], Some(VALUE));
    let mut memory = replayed(&journal);
    let plan = import::plan_import_export(&memory, &source, "digest", &origin("import", 4));
    let outcome = apply(&mut memory, plan);
    let kept: Vec<_> = memory.records().map(AsRef::as_ref).collect();
    assert!(!serde_json::to_string(&kept).unwrap().contains(VALUE));
    assert!(outcome.notes.iter().any(|note| note.contains("was purged")), "{:?}", outcome.notes);
}

/// A topic is purged with its staged parts and its bindings, and its content does not come back.
#[test]
fn a_topic_is_purged_with_its_staged_parts_and_bindings() {
    let part = |name: &str, status: &str| Staged {
        topics: vec![TopicPart {
            name: Some(name.to_owned()),
            status: Some(status.to_owned()),
            ..TopicPart::default()
        }],
        ..Staged::default()
    };
    let status = "what nobody may ever read again";
    let mut memory = Memory::default();
    let mut journal = Journal::new();
    let mut write = |memory: &mut Memory, changes: Vec<Change>| {
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, None));
    };
    let by = origin("one", 1);
    let save = |part| Save { session_summary: "worked", part, ..Save::default() };
    let plan = plan_save(&memory, &by, save(part("Secret", status))).unwrap();
    write(&mut memory, plan.changes);
    let plan = plan_save(&memory, &by, save(part("main", "in progress"))).unwrap();
    write(&mut memory, plan.changes);
    for (key, name) in [("k1", "secret"), ("k2", "main")] {
        let changes = plan_bind(&memory, key, Some(name)).unwrap().changes;
        write(&mut memory, changes);
    }
    let two = origin("two", 2);
    let staged = Staged {
        topics: [part("SECRET", "more of it"), part("main", "going on")]
            .map(|it| it.topics)
            .concat(),
        ..Staged::default()
    };
    let plan = plan_checkpoint(&memory, &two, staged).unwrap();
    write(&mut memory, plan.changes);

    let (after, purge) = purged(&journal, &["t1"], None);
    assert_eq!(purge.staged(), 1);
    let text = serde_json::to_string(&after.iter().map(|(changes, _)| changes).collect::<Vec<_>>());
    let text = text.unwrap().to_lowercase();
    assert!(!text.contains("secret") && !text.contains(status) && text.contains("in progress"));
    let memory = replayed(&after);
    assert_eq!((memory.bound("k1"), memory.bound("k2")), (None, Some("main")));
    assert_eq!(memory.topic("secret"), None);
    let refused = |status| plan_checkpoint(&memory, &by, part("new", status)).is_err();
    assert!(refused(status) && !refused("in progress"), "few words are anyone's");
}

#[test]
fn a_missing_id_is_reported() {
    let (_, purge) = purged(&written(), &["n77"], None);
    assert_eq!(purge.missing().map(|id| id.to_string()).collect::<Vec<_>>(), ["n77"]);
}

#[test]
fn another_sessions_staged_fact_with_the_same_key_is_kept() {
    let fact = |content: &str| NewNote {
        key: Some("port".to_owned()),
        content: content.to_owned(),
        ..NewNote::default()
    };
    let mut memory = Memory::default();
    let mut journal = Journal::new();
    let mut write = |memory: &mut Memory, changes: Vec<Change>| {
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, None));
    };
    let plan = plan_notes(&memory, &origin("one", 1), vec![Ok(fact("the secret port"))]).unwrap();
    write(&mut memory, plan.changes);
    for (session, content) in [("two", "another port"), ("three", "it is the secret port")] {
        let part = Staged { notes: vec![fact(content)], ..Staged::default() };
        let plan = plan_checkpoint(&memory, &origin(session, 2), part).unwrap();
        write(&mut memory, plan.changes);
    }
    let (after, purge) = purged(&journal, &["n1"], None);
    assert_eq!(purge.staged(), 1);
    let memory = replayed(&after);
    let staged = |session: &str| memory.staged_by(&SessionId::new(session)).unwrap().notes.len();
    assert_eq!((staged("two"), staged("three")), (1, 0));
}

#[test]
fn session_activity_is_purged_with_its_row() {
    let events = [
        Event::PromptSubmitted { prompt: format!("what of {VALUE}") },
        Event::TurnEnded { last_message: Some(format!("it is {VALUE}")) },
    ];
    let (mut memory, mut journal) = (Memory::default(), Journal::new());
    let mut write = |changes: Vec<Change>, memory: &mut Memory| {
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, None));
    };
    for session in ["gone", "live"] {
        for event in &events {
            let mut recorded = SessionActivity::of("codex:1");
            recorded.saw(event, Timestamp(5));
            let plan = plan_capture(&memory, &origin(session, 1), recorded).unwrap();
            write(plan.changes, &mut memory);
        }
    }
    let by = origin("gone", 2);
    let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    write(plan.changes, &mut memory);
    assert!(memory.records().next().unwrap().is_captured());

    let (after, purge) = purged(&journal, &["s1"], None);
    let text = serde_json::to_string(&after).unwrap();
    assert!(!text.contains(VALUE) && !text.contains("captured"), "{text}");
    assert_eq!(purge.staged(), 4, "also where another session noted the same");
    // The conversation's transcript does not bring it back.
    let mut captured = SessionActivity::of("codex:1");
    for event in &events {
        captured.saw(event, Timestamp(5));
    }
    let past = import::PastSession { client: "codex".to_owned(), captured };
    let plan = import::plan_import_sessions(&replayed(&after), &[past], Timestamp(9));
    assert_eq!((plan.outcome.added, plan.outcome.known), (0, 1));
}

/// The row has only the last message and the last summary; earlier staged work has more.
#[test]
fn earlier_staged_work_of_a_session_is_purged_with_its_row() {
    let ran = |command: &str, passed| {
        Event::ToolRan(ToolRun {
            tool: "Bash".to_owned(),
            edited: vec![format!("{command}.rs")],
            command: Some(CommandRun::judge(command.to_owned(), Some(passed), "")),
            ..ToolRun::default()
        })
    };
    let said = |text: &str| Event::TurnEnded { last_message: Some(text.to_owned()) };
    let asked = Event::PromptSubmitted { prompt: "set it up".to_owned() };
    let first = vec![asked, ran("open sesame", false), said("prod login is hunter two")];
    let (mut memory, mut journal) = (Memory::default(), Journal::new());
    let mut write = |changes: Vec<Change>, memory: &mut Memory| {
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, Some("staged".into())));
    };
    let turn = |session: &str, key: &str, events: &[Event], memory: &Memory| {
        let mut recorded = SessionActivity::of(key);
        for event in events {
            recorded.saw(event, Timestamp(5));
        }
        plan_capture(memory, &origin(session, 1), recorded).unwrap().changes
    };
    // The session took over its predecessor's staged work. The same conversation also has a session
    // that left no row.
    for (session, key, events) in [
        ("before", "codex:1", first.as_slice()),
        ("bare", "codex:1", &[said("the login, again, is hunter two")]),
        ("other", "codex:2", &[said("a login of its own")]),
    ] {
        let changes = turn(session, key, events, &memory);
        write(changes, &mut memory);
    }
    let by = origin("gone", 2);
    for summary in ["half way: hunter two", "finished"] {
        let part = Staged { summary: Some(summary.to_owned()), ..Staged::default() };
        let plan = plan_checkpoint(&memory, &origin("before", 1), part).unwrap();
        write(plan.changes, &mut memory);
    }
    let plan = plan_adopt(&memory, &SessionId::new("before"), &by.session, &by).unwrap();
    write(plan.changes, &mut memory);
    let changes = turn("gone", "codex:1", &[ran("open sesame", true), said("Done")], &memory);
    write(changes, &mut memory);
    let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    write(plan.changes, &mut memory);

    let (after, purge) = purged(&journal, &["s1"], None);
    let text = serde_json::to_string(&after).unwrap();
    assert!(!text.contains("hunter two") && !text.contains("sesame"), "{text}");
    assert!(text.contains("a login of its own"), "{text}");
    assert_eq!(purge.staged(), 5);
    assert_eq!(purged(&after, &[], Some("hunter two")).1.staged(), 0);
    // The conversation's transcript, which has all of it, does not bring it back either.
    let mut captured = SessionActivity::of("codex:1");
    for event in &first {
        captured.saw(event, Timestamp(5));
    }
    let past = import::PastSession { client: "codex".to_owned(), captured };
    let plan = import::plan_import_sessions(&replayed(&after), &[past], Timestamp(9));
    assert_eq!((plan.outcome.added, plan.outcome.known), (0, 1));
}

/// A text too short to be searched for is recognised by its note. So are the session's earlier
/// versions.
#[test]
fn staged_versions_of_a_short_fact_are_purged_with_it() {
    let fact = |key: Option<&str>, content: &str, private| NewNote {
        key: key.map(str::to_owned),
        content: content.to_owned(),
        private,
        ..NewNote::default()
    };
    let (mut memory, mut journal) = (Memory::default(), Journal::new());
    let mut write = |memory: &mut Memory, changes: Vec<Change>| {
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, None));
    };
    let staged = [
        ("one", fact(Some("door"), "1234", false)),
        ("one", fact(Some("door"), "4711", false)),
        ("one", fact(None, "0815", true)),
        ("one", fact(Some("gate"), "open", false)),
        ("two", fact(None, "4711", false)),
        ("two", fact(Some("door"), "ajar", false)),
    ];
    for (session, note) in staged {
        let part = Staged { notes: vec![note], ..Staged::default() };
        let plan = plan_checkpoint(&memory, &origin(session, 1), part).unwrap();
        write(&mut memory, plan.changes);
    }
    let save = Save { session_summary: "worked", ..Save::default() };
    let plan = plan_save(&memory, &origin("one", 2), save).unwrap();
    write(&mut memory, plan.changes);
    let ids: Vec<String> = memory
        .records()
        .filter(|it| it.note().is_some_and(|note| note.key.as_deref() != Some("gate")))
        .map(|it| it.id.to_string())
        .collect();
    assert_eq!(ids.len(), 2);

    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (after, purge) = purged(&journal, &ids, None);
    let text = serde_json::to_string(&after).unwrap();
    assert!(
        ["1234", "4711", "0815"].iter().all(|gone| !text.contains(&format!("\"{gone}\""))),
        "{text}"
    );
    assert!(text.contains("open") && text.contains("ajar"), "{text}");
    assert_eq!(purge.staged(), 4);
}

/// A compaction quotes notes that it does not change, on one line and cut.
#[test]
fn a_reply_that_quotes_or_names_purged_text_is_emptied() {
    let by = origin("s", 1);
    let contents =
        ["  two\n\tlines  of a planted text", "code 4711", "a note of the sea, in peace"];
    let notes =
        contents.map(|content| Ok(NewNote { content: content.to_owned(), ..NewNote::default() }));
    let plan = plan_notes(&Memory::default(), &by, notes.into()).unwrap();
    let mut journal = vec![(plan.changes, None)];
    let ids = ItemIds::unsalted();
    let other = ids.show("n3".parse().unwrap());
    let named = ids.show("n2".parse().unwrap());
    for reply in [
        "Compacted; \"two lines of a planted te\u{2026}\"".to_owned(),
        format!("- [{named}] 2 tokens: \"co...\"\n"),
        "n2 (2 tokens)".to_owned(),
        format!("kept n21, an2 and n3, [{other}]: a note of the sea"),
    ] {
        journal.push((Vec::new(), Some(reply.into())));
    }
    for outcome in [
        json!({ "id": "n1", "title": "n1 [note]" }),
        json!({ "failed": [{ "at": 3, "why": "says code 4711 again" }] }),
        json!({ "stored": [{ "id": "n3", "tokens": 4 }], "shared": [3, 12] }),
    ] {
        journal.push((Vec::new(), Some(outcome)));
    }
    let (after, _) = purged(&journal, &["n1", "n2"], None);
    let is_gone = |reply: &Option<Value>| *reply == Some(GONE.into());
    let gone: Vec<bool> = after[1..8].iter().map(|(_, reply)| is_gone(reply)).collect();
    assert_eq!(gone, [true, true, true, false, true, true, false], "{after:?}");
}

/// With the digest and the salt, all texts of four digits can be tried at once.
#[test]
fn no_digest_is_kept_of_a_guessably_short_text() {
    let note = |content: &str| NewNote { content: content.to_owned(), ..NewNote::default() };
    let mut part = lessons([lesson("PIN", "47")]);
    part.blueprints = vec![blueprint("the door's code", "4711")];
    part.anchors = vec![anchor("src/door.rs", "1-9", "4711")];
    part.notes = vec![note(" 4711\n"), note("long enough")];
    let save = Save { session_summary: "done", part, ..Save::default() };
    let plan = plan_save(&Memory::default(), &origin("s", 1), save).unwrap();
    let journal = vec![(plan.changes, None)];
    let ids: Vec<String> = replayed(&journal).records().map(|it| it.id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (after, purge) = purged(&journal, &ids, None);
    assert_eq!(purge.records().count(), 6);
    let Change::Tombstones { digests, .. } = purge.tombstones() else { panic!() };
    assert_eq!(digests, [digest("salt", "long enough")]);
    let again = |content| plan_notes(&replayed(&after), &origin("s", 2), vec![Ok(note(content))]);
    assert!(again("4711").is_ok() && again("long enough").is_err());
}
