//! infinite-context's state and history in a fresh project, and in one that has a brief.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::brief::Brief;
use crate::import::NamedText;
use crate::testing::{apply, day, origin};
use crate::{RecordId, Timestamp, plan_topic};

fn state(version: u32, on: i64, task: &str, changes: &[(&str, &[&str])]) -> Value {
    let changes: Vec<Value> = changes
        .iter()
        .zip(1..)
        .map(|((summary, files), at)| {
            json!({ "timestamp": day(at).iso(), "summary": summary, "files": files })
        })
        .collect();
    json!({
        "meta": {
            "version": version,
            "last_checkpoint": day(on).iso(),
            "last_access": day(on).iso(),
            "session_id": "5f1c0000-0000-4000-8000-000000000001",
            "token_budget_used": 7,
        },
        "project_context": {
            "overview": "A cache.", "architecture": "One writer.", "recent_changes": changes,
        },
        "active_context": {
            "current_task": task,
            "active_files": ["/demo/src/a.rs", "src/b.rs", "/etc/hosts"],
            "active_decisions": [
                { "question": "LRU or LFU?", "status": "decided", "decision": "LRU" },
                { "question": "Sockets, not ports.", "status": "decided" },
                { "question": "Which port?", "status": "pending" },
            ],
        },
    })
}

fn entry(version: u32, on: i64, task: &str) -> Value {
    let changes: &[(&str, &[&str])] = &[("wrote the queue", &["src/a.rs"])];
    json!({
        "version": version, "timestamp": day(on).iso(), "merge_duration_ms": 900,
        "token_count": 10, "context_ratio": 0.1, "state": state(version, on, task, changes),
    })
}

fn newest() -> String {
    let changes: &[(&str, &[&str])] =
        &[("wrote the queue", &["src/a.rs"]), ("wrote the eviction", &["/demo/src/b.rs"])];
    state(3, 5, "measure it", changes).to_string()
}

/// A history as it is piped, newest first.
fn history() -> String {
    format!("{}\n{}\n", entry(2, 4, "evict"), entry(1, 3, "queue"))
}

fn named(texts: &[&str]) -> Vec<NamedText> {
    texts.iter().map(|text| NamedText::new("state.json", *text)).collect()
}

fn parsed(texts: &[&str]) -> InfiniteContext {
    parse_infinite_context(&named(texts)).unwrap()
}

/// Imports, and returns the outcome with the tasks of all versions.
fn import(memory: &mut Memory, texts: &[&str]) -> (ImportOutcome, Vec<String>) {
    let mut steps = (SOURCE.read)(&named(texts)).unwrap();
    let (mut tasks, mut outcome) = (Vec::new(), None::<ImportOutcome>);
    for step in &mut steps {
        step.set_root("/demo");
        let before = memory.revision();
        let plan = step.plan(memory, "", &origin("import", 20));
        let changes = plan.changes.len();
        let of_step = apply(memory, plan);
        outcome = Some(match outcome {
            Some(outcome) => outcome.and(of_step),
            None => of_step,
        });
        if changes > 0 {
            assert_eq!(memory.revision().0, before.0 + 1, "a commit each");
            tasks.push(topic(memory).status);
        }
    }
    (outcome.unwrap(), tasks)
}

fn topic(memory: &Memory) -> Topic {
    memory.topic(MAIN).unwrap().topic().unwrap().clone()
}

#[test]
fn each_entry_of_the_history_becomes_a_version() {
    let mut memory = Memory::default();
    let (newest, history) = (newest(), history());
    let source = [newest.as_str(), &history, "5f1c0000-0000-4000-8000-000000000002"];
    let (outcome, tasks) = import(&mut memory, &source);
    assert_eq!(tasks, ["queue", "evict", "measure it"]);
    insta::assert_snapshot!(outcome.notes.join("\n"), @"
    3 versions of the topic main; `anchord history` lists each, `anchord restore --to` and the tool `rollback` bring it back
    version numbers, last access, token counts and times of merging are not kept
    the state is of session 5f1c0000-0000-4000-8000-000000000001, the file names 5f1c0000-0000-4000-8000-000000000002
    files outside of the project are left out: /etc/hosts
    ");
    let record = memory.topic(MAIN).unwrap();
    assert_eq!((record.version.0, record.updated.time), (3, day(5)));
    assert_eq!(
        record.updated.session.0.as_ref(),
        "infinite-context:5f1c0000-0000-4000-8000-000000000001"
    );
    let topic = topic(&memory);
    assert_eq!(topic.files, ["src/a.rs", "src/b.rs"]);
    assert!(topic.decisions[1].is_statement() && topic.pending().count() == 1);
    assert!(topic.decisions.iter().all(|decision| decision.time == day(3)), "{topic:?}");
    let brief = Brief::of("p", Some(record), BTreeSet::new());
    let told: Vec<String> =
        brief.changes().iter().map(|it| format!("{} {:?}", it.text, it.files)).collect();
    assert_eq!(told, ["wrote the queue [\"src/a.rs\"]", "wrote the eviction [\"src/b.rs\"]"]);
    // The same again changes nothing, and one more entry is one more version.
    let (outcome, tasks) = import(&mut memory, &source);
    assert_eq!((outcome.before, tasks.len()), (Some(3), 0));
    let grown = state(4, 6, "ship it", &[]).to_string();
    let (_, tasks) = import(&mut memory, &[&grown, &history]);
    assert_eq!(tasks, ["ship it"]);
}

#[test]
fn all_forms_of_redis_cli_are_read() {
    let whole = parsed(&[&newest(), &history()]);
    let listed = json!([entry(2, 4, "evict"), entry(1, 3, "queue")]).to_string();
    let terminal = [entry(2, 4, "evict"), entry(1, 3, "queue")]
        .iter()
        .zip(1..)
        .map(|(entry, at)| format!("{at}) {}", json!(entry.to_string())))
        .collect::<Vec<_>>()
        .join("\n");
    for history in [listed, terminal] {
        assert_eq!(parsed(&[&format!("[{}]", newest()), &history]), whole, "{history}");
    }
    let escaped = r#"1) "{\"state\":{\"active_context\":{\"current_task\":\"caf\xc3\xa9\\n2\"}}}""#;
    let source = parsed(&[escaped]);
    assert_eq!(source.entries[0].state.active_context.current_task, "café\n2");
    assert!(parse_infinite_context(&named(&["{}", "no"])).is_err());
    let others = [r#"{"version":1,"items":[]}"#, r#"{"version":1,"blueprints":[]}"#];
    assert!(others.iter().all(|text| parse_infinite_context(&named(&[text])).is_err()));
}

#[test]
fn a_newer_brief_here_stays_and_takes_what_is_missing() {
    let mut memory = Memory::default();
    let mut write = |on: i64, part: TopicPart| {
        let part = Staged { topics: vec![part], ..Staged::default() };
        let plan = plan_topic(&memory, &origin("one", on), part, None).unwrap();
        apply(&mut memory, plan);
    };
    write(10, TopicPart { status: Some("ours".to_owned()), ..TopicPart::default() });
    let (_, tasks) = import(&mut memory, &[&newest(), &history()]);
    assert_eq!(tasks, ["queue", "evict", "ours"]);
    let topic = topic(&memory);
    assert_eq!((topic.overview.as_str(), topic.decisions.len()), ("A cache.", 3));
    let told: Vec<&str> = topic.history.iter().map(|line| line.text.as_str()).collect();
    for line in ["ours", "wrote the eviction", "Imported version 3 of infinite-context's state."] {
        assert!(told.contains(&line), "{told:?}");
    }
    // It is as new as before, so a later state that is older does not replace it either.
    assert_eq!(memory.topic(MAIN).unwrap().updated.time, day(10));
}

#[test]
fn a_history_that_comes_after_its_state_leaves_the_brief_as_it_is() {
    let mut memory = Memory::default();
    import(&mut memory, &[&newest()]);
    let mut untouched = memory.clone();
    let (_, tasks) = import(&mut untouched, &[&newest(), &history()]);
    assert_eq!(tasks, ["queue", "evict", "measure it"]);

    let part = TopicPart {
        status: Some("ours".to_owned()),
        overview: Some("Our cache.".to_owned()),
        decisions: vec![TopicDecision::statement("LRU it is.")],
        ..TopicPart::default()
    };
    let part = Staged { topics: vec![part], ..Staged::default() };
    let plan = plan_topic(&memory, &origin("one", 10), part, None).unwrap();
    apply(&mut memory, plan);
    let before = topic(&memory);
    let (_, tasks) = import(&mut memory, &[&newest(), &history()]);
    assert_eq!(tasks, ["queue", "evict", "ours"]);
    let after = topic(&memory);
    assert_eq!((&after.overview, &after.decisions), (&before.overview, &before.decisions));
    let told = |text: &str| after.history.iter().any(|line| line.text == text);
    assert!(before.history.iter().all(|line| told(&line.text)), "{after:?}");
    assert_eq!(memory.topic(MAIN).unwrap().updated.time, day(10));
    let (_, tasks) = import(&mut memory, &[&newest(), &history()]);
    assert_eq!(tasks, [""; 0]);
}

#[test]
fn an_export_of_the_brief_that_is_here_changes_nothing() {
    let mut memory = Memory::default();
    let part = TopicPart {
        status: Some("ours".to_owned()),
        decisions: vec![TopicDecision::statement("LRU it is.")],
        history: vec![HistoryLine::written("wrote the queue".to_owned())],
        files: vec!["src/a.rs".to_owned()],
        ..TopicPart::default()
    };
    let part = Staged { topics: vec![part], ..Staged::default() };
    let plan = plan_topic(&memory, &origin("one", 4), part, None).unwrap();
    apply(&mut memory, plan);
    let before = memory.topic(MAIN).unwrap().clone();
    let exported = Brief::of("p", Some(&before), BTreeSet::new()).state();
    let (outcome, tasks) = import(&mut memory, &[&exported.to_string()]);
    assert_eq!((outcome.before, outcome.merged, tasks.len()), (None, 1, 0));
    assert_eq!(memory.topic(MAIN).unwrap(), &before);
}

/// An undo dates the brief that it brings back. So does a rollback, but that keeps the import.
#[test]
fn a_version_whose_import_was_undone_comes_again_and_one_that_was_rolled_back_stays_so() {
    let (newest, history) = (newest(), history());
    for is_undone in [true, false] {
        let mut memory = Memory::default();
        import(&mut memory, &[&history]);
        let before = topic(&memory);
        import(&mut memory, &[&newest, &history]);
        let mut draft = Draft::new(&memory);
        put(&mut draft, Body::Topic(before), &origin("undo", 15));
        let mut changes = draft.finish().changes;
        let (source, digest) =
            (INFINITE_CONTEXT.to_owned(), parsed(&[&newest]).entries[0].digest());
        let undone = Change::Imported { source, digest, records: 1, undone: true };
        changes.extend(is_undone.then_some(undone));
        memory.apply(crate::Seq(memory.seq().0 + 1), &changes);
        let (_, tasks) = import(&mut memory, &[&newest, &history]);
        assert_eq!(tasks.last().map(String::as_str), is_undone.then_some("measure it"));
        // A version that was made there before the rollback here is not newer either.
        let state_then: Value = serde_json::from_str(&newest).unwrap();
        let then = json!({ "version": 3, "timestamp": day(5).iso(), "state": state_then });
        let grown = state(4, 6, "ship it", &[]).to_string();
        import(&mut memory, &[&grown, &format!("{then}\n{history}")]);
        assert_eq!(topic(&memory).status, if is_undone { "ship it" } else { "evict" });
    }
}

/// The line on an import has the time of the import, if the state has none.
#[test]
fn a_state_without_a_time_is_dated_by_its_import() {
    let mut memory = Memory::default();
    import(&mut memory, &[&newest()]);
    let timeless = state(4, 6, "ship it", &[]).to_string().replace("last_checkpoint", "later");
    import(&mut memory, &[&timeless]);
    let topic = topic(&memory);
    let line = topic.history.iter().find(|line| line.text.starts_with("Imported version 4"));
    assert_eq!(line.map(|line| line.time), Some(day(20)));
}

#[test]
fn a_brief_that_was_forgotten_comes_back_with_a_newer_state_alone() {
    let mut memory = Memory::default();
    let history = history();
    import(&mut memory, &[&history]);
    let id = memory.topic(MAIN).unwrap().id;
    let by = origin("one", 8);
    let plan = crate::plan_forget(&memory, &crate::Reader::anyone(), id, None, &by).unwrap();
    apply(&mut memory, plan);
    let (outcome, tasks) = import(&mut memory, &[&newest(), &history]);
    assert_eq!((tasks.len(), memory.topic(MAIN)), (0, None));
    let stays = "the topic main was forgotten here and stays so".to_owned();
    assert!(outcome.notes.contains(&stays), "{:?}", outcome.notes);
    let later = state(4, 9, "ship it", &[]).to_string();
    let (outcome, tasks) = import(&mut memory, &[&later, &history]);
    assert_eq!((tasks, outcome.added.topics), (vec!["ship it".to_owned()], 1));
}

#[test]
fn texts_that_are_too_long_are_whole_in_a_note() {
    let mut memory = Memory::default();
    let long = "word ".repeat(1_000);
    let (outcome, _) = import(&mut memory, &[&state(1, 2, &long, &[]).to_string()]);
    assert_eq!((outcome.added.notes, outcome.added.topics, outcome.merged), (1, 1, 0));
    assert_eq!(topic(&memory).status.chars().count(), TOPIC_STATUS_CHARS_MAX);
    let note = memory.record("n2".parse::<RecordId>().unwrap()).unwrap().note().unwrap();
    assert_eq!(note.content, long.trim());
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-zà-ü\"\\\\]{1,9}( [a-z]{1,5}){0,3}"]
}

fn any_state() -> impl Strategy<Value = Value> {
    let line = "[a-z]{1,6}( [a-z]{1,6}){0,2}";
    let files = || prop::collection::btree_set("[a-z]{1,5}/[a-z]{1,5}\\.rs", 0..4);
    let change = (line, files(), 0_i64..1_000_000);
    let decision = ("[a-z]{1,6}\\?", prop::option::of(line));
    (
        (any_text(), any_text(), any_text()),
        prop::collection::vec(change, 0..10),
        files(),
        prop::collection::btree_map(decision.0, decision.1, 0..6),
        prop::collection::btree_set("[a-z]{1,6}\\.", 0..3),
    )
        .prop_map(|((overview, architecture, task), changes, files, decisions, statements)| {
            let mut changes: Vec<(i64, String, Vec<String>)> = changes
                .into_iter()
                .map(|(summary, files, time)| (time + 1, summary, files.into_iter().collect()))
                .collect();
            changes.sort();
            changes.dedup_by(|one, other| (one.0, &one.1) == (other.0, &other.1));
            let changes: Vec<Value> = changes
                .into_iter()
                .map(|(time, summary, files)| {
                    json!({ "timestamp": Timestamp(time).iso(), "summary": summary, "files": files })
                })
                .collect();
            let mut listed: Vec<Value> = decisions
                .into_iter()
                .map(|(question, answer)| match answer {
                    Some(answer) => {
                        json!({ "question": question, "status": "decided", "decision": answer })
                    }
                    None => json!({ "question": question, "status": "pending" }),
                })
                .collect();
            let statement = |text| json!({ "question": text, "status": "decided" });
            listed.extend(statements.into_iter().map(statement));
            json!({
                "meta": { "version": 1, "last_checkpoint": day(9).iso(), "session_id": "p" },
                "project_context": {
                    "overview": overview, "architecture": architecture, "recent_changes": changes,
                },
                "active_context": {
                    "current_task": task, "active_files": files, "active_decisions": listed,
                },
            })
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// An export of one project reaches another without a loss.
    #[test]
    fn an_export_imports_unchanged(state in any_state()) {
        let mut memory = Memory::default();
        import(&mut memory, &[&state.to_string()]);
        let brief = |memory: &Memory| {
            let record = memory.topic(MAIN).map(|record| &**record);
            Brief::of("p", record, BTreeSet::new()).state()
        };
        let exported = brief(&memory);
        prop_assert_eq!(&exported, &state);
        let mut other = Memory::default();
        import(&mut other, &[&exported.to_string()]);
        prop_assert_eq!(brief(&other), exported);
    }
}
