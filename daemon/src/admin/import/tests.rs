//! Imports into a fresh project and into one that has content.

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use super::*;
use crate::admin::{export_document, opened};
use crate::api::ExportFormat;
use crate::testing::{World, hello_from};

fn params(project: &str, state: &str) -> ImportParams {
    ImportParams {
        project: project.to_owned(),
        part: false,
        source: "anchord".to_owned(),
        path: "/export.json".to_owned(),
        texts: vec![NamedText::new("export.json", state)],
        dry_run: false,
    }
}

#[tokio::test]
async fn an_imported_conversation_keeps_its_topic() {
    let world = World::new().await;
    let named = |hello: Hello| Hello {
        agent_session: Some("5f1c".to_owned()),
        tools: Some("all".to_owned()),
        ..hello
    };
    let mut shim = world.connect(named(world.hello())).await;
    shim.initialize("2025-06-18").await;
    let save = json!({
        "session_summary": "Half of it.",
        "lessons": [{"summary": "Sync the folder too"}],
        "topic": {"name": "cache", "status": "half way"},
    });
    let said = shim.call("memory_save", save).await;
    assert!(said.starts_with("Saved"), "{said}");
    let lines = shim.call("memory_export", json!({"format": "json"})).await;
    let bound: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(bound, json!({"conversation": "test:5f1c", "topic": "cache"}));
    let demo = world.hello().cwd.unwrap();
    let export = export_document(&world.daemon.sessions, &demo, ExportFormat::Json).await.unwrap();

    let other = world.directory("other");
    std::fs::create_dir(&other).unwrap();
    let asked = params(other.to_str().unwrap(), &export);
    let done = import_memory(&world.daemon.sessions, asked.clone()).await.unwrap();
    assert!(done.applied && !done.already, "{done:?}");
    assert_eq!((done.counts.0.lessons.new, done.counts.0.rows.new), (1, 1));
    drop(shim);
    let mut shim = world.connect(named(hello_from(&other))).await;
    shim.initialize("2025-06-18").await;
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("cache: half way") && load.contains("Sync the folder too"), "{load}");
    let topics = shim.call("memory_topic", json!({})).await;
    assert!(topics.contains("here now: test-agent (you)"), "{topics}");
    assert!(import_memory(&world.daemon.sessions, asked).await.unwrap().already);
}

#[tokio::test]
async fn binding_an_archived_topic_reactivates_it() {
    let world = World::new().await;
    let mut record = {
        let mut shim = world.shim().await;
        let save = json!({"session_summary": "x", "topic": {"name": "cache", "status": "old"}});
        shim.call("memory_save", save).await;
        let demo = world.hello().cwd.unwrap();
        let export =
            export_document(&world.daemon.sessions, &demo, ExportFormat::Json).await.unwrap();
        serde_json::from_str::<Value>(&export).unwrap()
    };
    let records = record["records"].as_array_mut().unwrap();
    let topic = records.iter_mut().find(|record| record["id"] == "t1").unwrap();
    topic["standing"] = json!("archived");
    let other = world.directory("other");
    std::fs::create_dir(&other).unwrap();
    let asked = params(other.to_str().unwrap(), &record.to_string());
    import_memory(&world.daemon.sessions, asked).await.unwrap();
    let hello = Hello { tools: Some("all".to_owned()), ..hello_from(&other) };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    let listed = shim.call("memory_topic", json!({})).await;
    assert!(listed.contains("cache: old [archived]"), "{listed}");
    shim.call("memory_topic", json!({"action": "bind", "name": "cache"})).await;
    let listed = shim.call("memory_topic", json!({})).await;
    assert!(listed.contains("cache: old") && !listed.contains("[archived]"), "{listed}");
}

#[tokio::test]
async fn a_corrected_note_does_not_get_its_old_text_beside_it() {
    let world = World::new().await;
    let demo = world.hello().cwd.unwrap();
    let mut shim = world.shim_with("all").await;
    shim.call("memory_save", json!({"session_summary": "x"})).await;
    let asked = |contents: &[&str]| {
        let items: Vec<Value> = contents.iter().map(|it| json!({ "content": it })).collect();
        let state = json!({ "version": 1, "items": items }).to_string();
        ImportParams {
            source: "compactor".to_owned(),
            texts: vec![NamedText::new("state.json", state)],
            ..params(&demo, "")
        }
    };
    let done = import_memory(&world.daemon.sessions, asked(&["port 4000"])).await.unwrap();
    assert_eq!(done.counts.0.notes.new, 1);
    let said = shim.call("memory_update", json!({"id": "n2", "content": "port 5000"})).await;
    assert!(said.starts_with("Updated"), "{said}");
    let grown = asked(&["port 4000", "more"]);
    let done = import_memory(&world.daemon.sessions, grown).await.unwrap();
    assert_eq!((done.counts.0.notes.new, done.merged), (1, 1), "{done:?}");
    let (_, open) = opened(&world.daemon.sessions, &demo).await.unwrap();
    let memory = open.memory();
    let notes = memory.active_of(Kind::Note).filter_map(|record| record.note());
    let notes: Vec<&str> = notes.map(|note| note.content.as_str()).collect();
    assert_eq!(notes, ["port 5000", "more"]);
}

#[tokio::test]
async fn an_import_keeps_to_the_budget() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let text = |n: usize| (0..35).map(|word| format!("w{n}x{word} ")).collect::<String>();
    let notes: Vec<Value> = (0..20).map(|n| json!({ "content": text(n) })).collect();
    shim.call("memory_note", json!({ "items": notes })).await;
    let demo = world.hello().cwd.unwrap();
    let export = export_document(&world.daemon.sessions, &demo, ExportFormat::Json).await.unwrap();

    let other = world.directory("other");
    std::fs::create_dir(&other).unwrap();
    let hello = Hello { tools: Some("all".to_owned()), ..hello_from(&other) };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    let (_, open) = opened(&world.daemon.sessions, other.to_str().unwrap()).await.unwrap();
    let before = open.memory().revision().0;
    let done =
        import_memory(&world.daemon.sessions, params(other.to_str().unwrap(), &export)).await;
    let done = done.unwrap();
    assert_eq!(done.counts.0.notes.new, 20);
    assert!(done.remarks.iter().any(|said| said.starts_with("Compacted from ")), "{done:?}");
    assert_eq!(done.revision, Some(before + 1), "the import's own commit");
    assert!(open.memory().revision().0 > before + 1, "the compaction made one more");
    let totals = open.memory().totals();
    assert_eq!(totals.kept.notes.records, 20);
    assert!((1..=800).contains(&totals.note_tokens), "{} tokens", totals.note_tokens);
}

#[tokio::test]
async fn an_import_with_nothing_valid_makes_no_commit_and_no_project() {
    let world = World::new().await;
    let other = world.directory("other");
    std::fs::create_dir(&other).unwrap();
    let state = json!({"format": 1, "revision": 3, "records": [{"id": "b9"}]}).to_string();
    let asked = params(other.to_str().unwrap(), &state);
    let done = import_memory(&world.daemon.sessions, asked.clone()).await.unwrap();
    assert!(done.nothing && !done.applied && !done.already, "{done:?}");
    assert_eq!((done.project, done.revision), (None, None), "nothing is created for it");
    assert!(done.remarks[0].starts_with("records[0]: "), "{:?}", done.remarks);
    let again = import_memory(&world.daemon.sessions, asked).await.unwrap();
    assert!(again.nothing && !again.already, "{again:?}");

    // The second import goes into a project that has records. Earlier imports are still recognised.
    let mut shim = world.shim().await;
    shim.call("memory_save", json!({"session_summary": "x"})).await;
    let demo = world.hello().cwd.unwrap();
    let before = export_document(&world.daemon.sessions, &demo, ExportFormat::Json).await.unwrap();
    let done = import_memory(&world.daemon.sessions, params(&demo, &before)).await.unwrap();
    assert!(done.nothing && !done.applied, "all of it is here: {done:?}");
    let after = export_document(&world.daemon.sessions, &demo, ExportFormat::Json).await.unwrap();
    assert_eq!(after, before, "not even the revision");
    let other = other.to_str().unwrap();
    assert!(import_memory(&world.daemon.sessions, params(other, &before)).await.unwrap().applied);
    let again = import_memory(&world.daemon.sessions, params(other, &before)).await.unwrap();
    assert!(again.already && again.nothing, "{again:?}");
}

#[tokio::test]
async fn a_blueprint_that_stays_is_said_to_be_newer_or_immutable() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let theirs = |title: &str, immutable: bool| {
        json!({
            "category": "decision", "title": title, "content": "theirs", "immutable": immutable,
            "timestamp": "2020-01-01T12:00:00Z",
        })
    };
    let ours = |title: &str, immutable: bool| {
        json!({
            "category": "decision", "title": title, "content": "ours", "immutable": immutable,
        })
    };
    let save = json!({
        "session_summary": "x", "blueprints": [ours("Mutable", false), ours("Settled", true)],
    });
    let said = shim.call("memory_save", save).await;
    assert!(said.starts_with("Saved"), "{said}");
    let state = json!({
        "version": 1,
        "blueprints": [theirs("Mutable", false), theirs("Settled", true)],
    });
    let asked = ImportParams {
        source: "zipmem".to_owned(),
        texts: vec![NamedText::new("state.json", state.to_string())],
        ..params(&world.hello().cwd.unwrap(), "")
    };
    let done = import_memory(&world.daemon.sessions, asked).await.unwrap();
    assert_eq!(
        done.remarks,
        [
            "blueprint \"Mutable\" is newer here and stays as it is",
            "blueprint \"Settled\" is immutable here and stays as it is",
        ]
    );
}

/// Each entry of a history is a version that a rollback reaches, and what is exported is a state
/// again.
#[tokio::test]
async fn a_history_of_infinite_context_can_be_rolled_back() {
    let world = World::new().await;
    let state = |version: u32, task: &str| {
        json!({
            "meta": {
                "version": version,
                "last_checkpoint": format!("2025-11-0{version}T09:00:00Z"),
                "session_id": "5f1c",
            },
            "project_context": {
                "overview": "A cache.", "architecture": "One writer.",
                "recent_changes": [{
                    "timestamp": "2025-11-01T08:00:00Z", "summary": "wrote it",
                    "files": [world.directory("demo/src/a.rs")],
                }],
            },
            "active_context": {
                "current_task": task, "active_files": ["src/a.rs"], "active_decisions": [],
            },
        })
    };
    let entry = |version: u32, task: &str| {
        let time = format!("2025-11-0{version}T09:00:00Z");
        json!({ "version": version, "timestamp": time, "state": state(version, task) })
    };
    let history = format!("{}\n{}\n", entry(2, "two"), entry(1, "one"));
    let demo = world.hello().cwd.unwrap();
    let asked = ImportParams {
        source: "infinite-context".to_owned(),
        texts: vec![
            NamedText::new("state.json", state(3, "three").to_string()),
            NamedText::new("history.jsonl", history),
        ],
        ..params(&demo, "")
    };
    let done = import_memory(&world.daemon.sessions, asked.clone()).await.unwrap();
    assert_eq!((done.applied, done.revision, done.counts.0.topics.new), (true, Some(3), 1));
    assert_eq!(done.revisions, [1, 2, 3], "each version is a commit");
    assert!(import_memory(&world.daemon.sessions, asked).await.unwrap().already);
    let mut shim = world.shim_with("infinite-context").await;
    let text = shim.call("resume", json!({})).await;
    assert!(text.contains("wrote it (src/a.rs)"), "{text}");
    let reply = shim.call("rollback", json!({ "steps": 2 })).await;
    assert!(reply.starts_with("Rolled back to version 1 (2025-11-01 09:00:00 UTC)"), "{reply}");
    assert!(shim.call("resume", json!({})).await.contains("## Current Task\none\n"));
    let export = export_document(&world.daemon.sessions, &demo, ExportFormat::InfiniteContext);
    let export: Value = serde_json::from_str(&export.await.unwrap()).unwrap();
    assert_eq!(
        export["project_context"],
        state(1, "one")["project_context"]
            .as_object()
            .map(|context| {
                let mut context = context.clone();
                context["recent_changes"][0]["files"] = json!(["src/a.rs"]);
                context["recent_changes"][0]["timestamp"] = json!("2025-11-01T08:00:00.000Z");
                Value::Object(context)
            })
            .unwrap()
    );
    assert_eq!(export["active_context"]["current_task"], "one");
    assert_eq!(export["meta"]["token_budget_used"], 0);
}
