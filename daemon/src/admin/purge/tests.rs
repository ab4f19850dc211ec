//! Plants a value in every kind of record, purges it, and looks for it in every file of the
//! instance.

use std::path::PathBuf;
use std::sync::Arc;

use anchord_memory::import::NamedText;
use serde_json::{Value, json};

use super::*;
use crate::admin::call_tool;
use crate::api::{ImportParams, ToolParams};
use crate::retrieval_log;
use crate::testing::{World, holding};

const PLANTED: &str = "the planted value";

async fn plant(world: &World) -> crate::testing::Shim {
    let mut shim = world.shim().await;
    let blueprint = |title: &str, content: &str| json!({ "category": "decision", "title": title, "content": content, "immutable": false });
    shim.call(
        "memory_checkpoint",
        json!({
            "summary": format!("half way with {PLANTED}"),
            "blueprints": [blueprint("deploys", PLANTED), blueprint("tests", "run all of them")],
            "anchors": [{ "file": "a.rs", "lines": "1-2", "concept": PLANTED }],
            "lessons": [{ "summary": "about locks", "detail": PLANTED }, { "summary": "about tides" }],
        }),
    )
    .await;
    shim.call("memory_save", json!({ "session_summary": format!("done with {PLANTED}") })).await;
    let note = json!({ "items": [
        { "content": format!("a note with {PLANTED}"), "key": "planted" },
        { "content": "a note of the sea", "key": "sea" },
    ] });
    let said = shim.call("memory_note", note).await;
    assert!(!said.starts_with("ERROR"), "{said}");
    let again = json!({ "content": "a note without it", "key": "planted" });
    shim.call("memory_note", again).await;
    // Staged and not saved.
    let staged = json!({ "lessons": [{ "summary": format!("staged: {PLANTED}") }] });
    shim.call("memory_checkpoint", staged).await;
    shim
}

fn params(world: &World, ids: &[&str], query: Option<&str>, dry_run: bool) -> PurgeParams {
    PurgeParams {
        project: world.hello().cwd.unwrap(),
        ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        query: query.map(str::to_owned),
        dry_run,
        typed: Vec::new(),
    }
}

fn planted_in(world: &World) -> Vec<PathBuf> {
    holding(&world.directory("instance"), PLANTED)
}

#[tokio::test]
async fn a_purged_text_is_in_no_file_and_other_records_stay() {
    let world = World::new().await;
    let mut shim = plant(&world).await;
    let log = world.daemon.admin.instance.logs().join("anchord.2026-01-01.log");
    std::fs::create_dir_all(world.daemon.admin.instance.logs()).unwrap();
    std::fs::write(&log, format!("cannot store {PLANTED}\n")).unwrap();
    assert!(!planted_in(&world).is_empty());

    let plan = purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), true)).await.unwrap();
    let ids: Vec<&str> = plan.records.iter().map(|record| record.id.as_str()).collect();
    assert_eq!((plan.applied, ids.len(), plan.checkpoints), (false, 5, 2), "{plan:?}");
    assert!(!planted_in(&world).is_empty(), "a plan changes nothing");

    let done = purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), false)).await.unwrap();
    assert!(done.applied);
    assert_eq!((&done.records, done.files), (&plan.records, 1));
    assert_eq!(planted_in(&world), Vec::<PathBuf>::new(), "while the daemon runs");

    // The live session continues.
    let note = ids.iter().find(|id| id.starts_with('n')).unwrap();
    let said = shim.call("memory_get", json!({ "id": note })).await;
    let day = clock::now().date();
    let gone =
        format!("ERROR failed to get: {note} was purged on {day}; its content is gone for good");
    assert_eq!(said.replace("DAY", &day), gone);
    let said =
        shim.call("memory_note", json!({ "content": format!("a note with {PLANTED}") })).await;
    assert!(said.starts_with("ERROR") && said.contains("is not taken in again"), "{said}");
    let loaded = shim.call("memory_load", json!({})).await;
    assert!(loaded.contains("about tides") && !loaded.contains("about locks"), "{loaded}");
    let sea = shim.call("memory_get", json!({ "key": "sea" })).await;
    assert!(sea.contains("a note of the sea"), "{sea}");
    shim.call("memory_save", json!({ "session_summary": "after the purge" })).await;

    let verified =
        super::super::verify(&world.daemon.sessions, &world.hello().cwd.unwrap()).await.unwrap();
    assert!(verified.is_sound(), "{verified:?}");
    let again =
        purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), false)).await.unwrap();
    assert!(again.is_empty() && !again.applied, "{again:?}");
    world.daemon.projects.open.close_all().await;
    assert_eq!(planted_in(&world), Vec::<PathBuf>::new(), "after it");
    let world = world.restart(false).await;
    let mut shim = world.shim().await;
    let loaded = shim.call("memory_load", json!({})).await;
    assert!(loaded.contains("about tides"), "{loaded}");
    assert_eq!(planted_in(&world), Vec::<PathBuf>::new(), "and after the next start");
}

#[tokio::test]
async fn a_record_is_purged_with_all_its_versions_and_others_stay() {
    let world = World::new().await;
    let mut shim = plant(&world).await;
    let found = shim.call("memory_get", json!({ "key": "planted" })).await;
    let id = found
        .split_whitespace()
        .find(|word| word.starts_with('n') && word[1..].parse::<u64>().is_ok());
    let id = id.unwrap_or_else(|| panic!("no id in {found}"));
    let done = purge(&world.daemon.admin, params(&world, &[id], None, false)).await.unwrap();
    assert_eq!((done.records.len(), done.records[0].versions), (1, 2), "{done:?}");
    let instance = world.directory("instance");
    assert_eq!(holding(&instance, "a note with the planted"), Vec::<PathBuf>::new());
    assert_eq!(holding(&instance, "a note without it"), Vec::<PathBuf>::new());
    assert!(!holding(&instance, "about locks").is_empty(), "another record");
    let again = purge(&world.daemon.admin, params(&world, &[id], None, false)).await.unwrap();
    assert_eq!((again.already, again.applied), (vec![id.to_owned()], false));
}

#[tokio::test]
async fn a_forgotten_fact_is_purged_by_its_key_too() {
    let world = World::new().await;
    let mut shim = plant(&world).await;
    shim.call("memory_note", json!({ "content": "tides", "key": "moon" })).await;
    let moon = shim.call("memory_get", json!({ "key": "moon" })).await;
    let moon = moon.split_whitespace().next().unwrap();
    shim.call("memory_forget", json!({ "id": moon })).await;
    let both = params(&world, &["planted", "moon"], None, false);
    let done = purge(&world.daemon.admin, both).await.unwrap();
    let gone: Vec<&str> = done.records.iter().map(|record| record.id.as_str()).collect();
    assert!(done.applied && gone.len() == 2 && gone.contains(&moon), "{done:?}");
    assert_eq!(holding(&world.directory("instance"), "a note without it"), Vec::<PathBuf>::new());
    assert!(shim.call("memory_get", json!({ "key": "sea" })).await.contains("a note of the sea"));
}

#[tokio::test]
async fn purged_text_is_not_imported_again() {
    let world = World::new().await;
    plant(&world).await;
    purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), false)).await.unwrap();
    let state = json!({ "lessons": [
        { "summary": "about locks", "detail": PLANTED }, { "summary": "about stars" },
    ] });
    let import = ImportParams {
        project: world.hello().cwd.unwrap(),
        part: false,
        source: "zipmem".to_owned(),
        path: String::new(),
        texts: vec![NamedText::new("state.json", state.to_string())],
        dry_run: false,
    };
    let reply = crate::admin::import_memory(&world.daemon.sessions, import).await.unwrap();
    assert_eq!(reply.counts.0.lessons.new, 1);
    assert!(reply.remarks.iter().any(|it| it.contains("is not taken in again")), "{reply:?}");
    assert_eq!(planted_in(&world), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn an_invalid_purge_is_refused_with_a_reason() {
    let world = World::new().await;
    plant(&world).await;
    let mut said = Vec::new();
    for (ids, query) in
        [(&[][..], None), (&[][..], Some("abc")), (&["12"][..], None), (&["n99"][..], None)]
    {
        let error =
            purge(&world.daemon.admin, params(&world, ids, query, false)).await.unwrap_err();
        said.push(error.error);
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    nothing to purge: name records, or a text that they contain
    the text to purge by has less than 4 bytes
    `12` is not an id (as n9 or b12), and no fact has that key
    there is no record n99
    ");
    let nothing =
        purge(&world.daemon.admin, params(&world, &[], Some("nowhere"), false)).await.unwrap();
    assert!(nothing.is_empty() && !nothing.applied);
}

/// Covers content that was stored before there was a filter, or that got past it.
#[tokio::test]
async fn a_scan_names_records_and_kinds_and_never_the_value() {
    let world = World::new().await;
    let mut shim = plant(&world).await;
    let clean = scan_secrets(&world.daemon.sessions, &world.hello().cwd.unwrap()).await.unwrap();
    assert!(clean.is_clean() && clean.entries > 3, "{clean:?}");
    let token = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"].concat();
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let open = world.daemon.projects.open.open(id).await.unwrap();
    let planted = token.clone();
    let decide: crate::project::WriteCommand<Memory> = Arc::new(move |memory, _| {
        let lesson = memory.active_of(anchord_memory::Kind::Lesson).next().unwrap();
        let mut record = lesson.as_ref().clone();
        record.version = record.version.next();
        record.revision = Revision(memory.revision().0 + 1);
        if let anchord_memory::Body::Lesson(lesson) = &mut record.body {
            lesson.detail.clone_from(&planted);
        }
        let changes = vec![Change::Put(Arc::new(record))];
        Ok(crate::project::Transition::silent(changes))
    });
    open.owner.write(None, None, "test", decide).await.unwrap();
    let found = scan_secrets(&world.daemon.sessions, &world.hello().cwd.unwrap()).await.unwrap();
    assert_eq!(found.records.len(), 1, "{found:?}");
    assert_eq!(
        (&found.records[0].versions, &found.records[0].kinds),
        (&vec![2], &vec!["GitHub token".to_owned()])
    );
    assert!(!serde_json::to_string(&found).unwrap().contains(&token));
    let id = found.records[0].id.clone();
    purge(&world.daemon.admin, params(&world, &[&id], None, false)).await.unwrap();
    assert_eq!(holding(&world.directory("instance"), &token), Vec::<PathBuf>::new());
    let said: Value = json!(shim.call("memory_get", json!({ "id": id })).await);
    assert!(said.as_str().unwrap().contains("was purged on"), "{said}");
}

/// A purge that ends half-way can be repeated. Until then the records must remain, since they say
/// what to purge.
#[tokio::test]
async fn an_interrupted_purge_can_be_repeated() {
    let world = World::new().await;
    let mut shim = plant(&world).await;
    let found = shim.call("memory_search", json!({ "query": PLANTED, "kinds": ["lesson"] })).await;
    let id = found.split_whitespace().find(|word| word.starts_with('l')).unwrap().to_owned();
    let log = world.daemon.admin.instance.logs().join("anchord.2026-01-01.log");
    std::fs::create_dir_all(world.daemon.admin.instance.logs()).unwrap();
    std::fs::write(&log, format!("cannot store {PLANTED}\n")).unwrap();
    let project = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let journal = world.daemon.projects.open.directory(project).join("journal");
    // Blocks the file that commits the rewrite.
    let obstacle = journal.join("rewritten.tmp");
    std::fs::create_dir(&obstacle).unwrap();
    purge(&world.daemon.admin, params(&world, &[&id], None, false)).await.unwrap_err();
    assert_eq!(
        holding(world.daemon.admin.instance.logs(), PLANTED),
        Vec::<PathBuf>::new(),
        "logs first"
    );
    std::fs::remove_dir(&obstacle).unwrap();
    let done = purge(&world.daemon.admin, params(&world, &[&id], None, false)).await.unwrap();
    assert_eq!((done.records.len(), done.failed), (1, Vec::new()));

    // A text is purged from files even when no record holds it.
    purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), false)).await.unwrap();
    std::fs::write(&log, format!("again {PLANTED}\n")).unwrap();
    let plan = purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), true)).await.unwrap();
    assert_eq!((plan.records.len(), plan.files, plan.is_empty()), (0, 1, false));
    let done = purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), false)).await.unwrap();
    assert_eq!((done.applied, done.revision, done.files), (true, None, 1));
    assert_eq!(planted_in(&world), Vec::<PathBuf>::new());
}

/// A kill between the two memories that a purge takes from leaves one of them done.
#[tokio::test]
async fn a_purge_that_was_cut_off_is_repeated_as_it_was_asked() {
    let world = World::new().await;
    let mut shim = plant(&world).await;
    let note = json!({ "items": [{ "content": "one" }, { "content": "two" }] });
    let said = shim.call("memory_note", note).await;
    let ids: Vec<&str> = said.split_whitespace().filter(is_note).collect();
    let [first, second] = ids[..] else { panic!("{said}") };
    let asked = |ids: &[&str], dry_run| params(&world, ids, None, dry_run);
    purge(&world.daemon.admin, asked(&[first], false)).await.unwrap();
    let plan = purge(&world.daemon.admin, asked(&ids, true)).await.unwrap();
    let done = purge(&world.daemon.admin, asked(&ids, false)).await.unwrap();
    assert_eq!(
        (&plan.already[..], &done.already[..]),
        (&[first.to_owned()][..], &plan.already[..])
    );
    assert_eq!((done.records.len(), done.records[0].id.as_str()), (1, second));
    let again = purge(&world.daemon.admin, asked(&ids, false)).await.unwrap();
    assert!(again.is_empty() && !again.applied, "{again:?}");
    assert_eq!(again.already, ids, "all of it was done");
    let refused = purge(&world.daemon.admin, asked(&["n99", second], false)).await.unwrap_err();
    assert_eq!(refused.error, "there is no record n99");
}

fn is_note(word: &&str) -> bool {
    word.strip_prefix('n').is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Copies of rules are written anew after the purge. If that fails, or the daemon dies before it,
/// the next daemon does it.
#[tokio::test]
async fn the_next_daemon_forgets_what_a_purge_left() {
    let world = World::new().await;
    plant(&world).await;
    let rule = json!({
        "title": PLANTED, "reason": "no", "effect": "deny", "commands": ["git push"],
        "fail_closed": true,
    });
    let Value::Object(arguments) = rule else { unreachable!() };
    let (project, tool) = (world.hello().cwd.unwrap(), "memory_rule_set".to_owned());
    let typed = vec!["anchord".to_owned()];
    let set = ToolParams { project, tool, arguments, typed, at: None };
    let said = call_tool(&world.daemon.admin.tools, set).await.unwrap().text;
    let (rule, _) = said.split_once(' ').unwrap();
    let copies = world.daemon.sessions.rules.copies();
    let copy = holding(&copies, PLANTED).pop().expect("hooks have a copy");
    let before = std::fs::read(&copy).unwrap();
    // A copy that cannot be read cannot be written anew.
    std::fs::write(&copy, "{").unwrap();
    let done = purge(&world.daemon.admin, params(&world, &[rule], None, false)).await.unwrap();
    assert_eq!(done.failed, [copy.to_str().unwrap()]);
    std::fs::write(&copy, before).unwrap();

    let world = world.restart(true).await;
    assert_eq!(holding(&copies, PLANTED).len(), 1);
    world.daemon.hooks.forget_unfinished().await;
    assert_eq!(holding(&copies, PLANTED), Vec::<PathBuf>::new());
    let project = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let note = world.daemon.projects.open.directory(project).join("purged.json");
    assert!(!note.exists(), "nothing is left to be done");
}

#[tokio::test]
async fn a_purge_by_id_empties_logged_queries_about_the_record() {
    let world = World::new().await;
    let mut shim = plant(&world).await;
    // The query has words of the record, but no copy of any of its texts.
    shim.call("memory_search", json!({ "query": "value planted note" })).await;
    shim.call("memory_search", json!({ "query": "sea of notes", "tags": ["none"] })).await;
    let found = shim.call("memory_get", json!({ "key": "planted" })).await;
    let id = found.split_whitespace().find(|word| word.starts_with('n')).unwrap().to_owned();
    world.daemon.projects.open.retrievals().flush().await;
    let instance = world.directory("instance");
    assert!(!holding(&instance, "value planted note").is_empty());
    purge(&world.daemon.admin, params(&world, &[&id], None, false)).await.unwrap();
    assert_eq!(holding(&instance, "value planted note"), Vec::<PathBuf>::new());
    assert_eq!(holding(&instance, "sea of notes").len(), 1, "what named another stays");
    let open = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let directory = world.daemon.projects.open.directory(open);
    let log = world.daemon.projects.open.retrievals();
    let lines = log.read(directory, retrieval_log::Start::Last, 10).await;
    let emptied: Vec<_> = lines.iter().filter(|line| line.asked == "[purged]").collect();
    assert_eq!((lines.len(), emptied.len()), (3, 2), "{lines:?}");
    assert!(emptied.iter().all(|line| line.ids.contains(&id)), "numbers stay");
}

/// Returns an event of a conversation in the project.
fn event(world: &World, name: &str, more: &Value) -> Value {
    let mut event = json!({
        "hook_event_name": name, "session_id": "talk-1", "cwd": world.directory("demo"),
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

#[tokio::test]
async fn a_rebuilt_system_prompt_has_no_purged_text() {
    let world = World::new().await;
    let _shim = plant(&world).await;
    let build = event(&world, "system.transform", &json!({}));
    assert!(world.hook("opencode", &build).await.contains(PLANTED));
    let purged =
        purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), false)).await.unwrap();
    assert!(purged.applied);
    let again = world.hook("opencode", &build).await;
    assert!(!again.contains(PLANTED) && again.contains("about tides"), "{again}");
}

#[tokio::test]
async fn pending_activity_is_purged_too() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_save", json!({ "session_summary": "it has a project" })).await;
    // The first would leave a session row; the second would not yet.
    let prompt = json!({ "prompt": format!("use {PLANTED}") });
    world.hook("claude-code", &event(&world, "UserPromptSubmit", &prompt)).await;
    let command = format!("echo {PLANTED}");
    let failed = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "session_id": "talk-2" });
    world.hook("claude-code", &event(&world, "PostToolUseFailure", &failed)).await;
    let purged =
        purge(&world.daemon.admin, params(&world, &[], Some(PLANTED), false)).await.unwrap();
    assert_eq!((purged.applied, purged.checkpoints), (true, 2));
    for session in ["talk-1", "talk-2"] {
        let wrote = json!({
            "tool_name": "Write", "tool_input": { "file_path": "a.rs" }, "session_id": session,
        });
        world.hook("claude-code", &event(&world, "PostToolUse", &wrote)).await;
        world.hook("claude-code", &event(&world, "Stop", &json!({ "session_id": session }))).await;
        let end = event(&world, "SessionEnd", &json!({ "session_id": session }));
        world.hook("claude-code", &end).await;
    }
    assert_eq!(planted_in(&world), Vec::<PathBuf>::new());
}
