//! Calls of that system as its users make them, and their replies.

use anchord_memory::SessionId;
use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use crate::sessions::sweep;
use crate::testing::{World, dead, poll};

fn part(world: &World) -> Value {
    json!({
        "project_dir": world.directory("demo"),
        "summary": "half way",
        "blueprints": [{ "category": "decision", "title": "Cache", "content": "It is warm." }],
        "anchors": [{ "file_path": "src/cache.rs", "line_range": "2-3", "concept": "warms it" }],
        "lessons": [{ "summary": "a cold cache times out", "related_files": ["src/cache.rs"] }],
        "token_budget": 7,
    })
}

#[tokio::test]
async fn the_three_tools_work_on_the_same_memory() {
    let world = World::new().await;
    let mut shim = world.shim_with("zipmem").await;
    insta::assert_snapshot!(shim.call("zipmem_load_memory", json!({})).await, @r"
    # ZipMem: Project Memory Loaded
    ## Project: demo | Sessions: 0 | Updated: DAY
    Nothing is recorded yet. Call zipmem_checkpoint as you work and zipmem_save_and_compact before you end.
    ");
    insta::assert_snapshot!(shim.call("zipmem_checkpoint", part(&world)).await, @"Checkpoint staged. Pending — blueprints: 1, anchors: 1, lessons: 1. This is crash-safe; finalize with zipmem_save_and_compact before exit.");
    let save = json!({ "project_dir": world.directory("demo"), "session_summary": "done" });
    insta::assert_snapshot!(shim.call("zipmem_save_and_compact", save).await, @"Memory compacted. Blueprints: 1 (+1), Anchors: 1 (+1), Lessons: 1 (+1), Sessions: 1. State size: 0.1KB.");
    let loaded = shim.call("zipmem_load_memory", json!({ "sections": ["all"] })).await;
    for word in ["Cache", "warms it", "a cold cache times out", "done"] {
        assert!(loaded.contains(word), "{word} is not in {loaded}");
    }
    let lessons = shim.call("zipmem_load_memory", json!({ "sections": ["lessons"] })).await;
    assert!(lessons.contains("a cold cache") && !lessons.contains("warms it"), "{lessons}");

    let mut other = world.shim().await;
    let load = other.call("memory_load", json!({})).await;
    assert!(load.contains("a cold cache times out"), "{load}");
}

#[tokio::test]
async fn a_directory_other_than_the_sessions_is_refused() {
    let world = World::new().await;
    std::fs::create_dir_all(world.directory("demo/part")).unwrap();
    std::fs::create_dir(world.directory("other")).unwrap();
    std::os::unix::fs::symlink(world.directory("other"), world.directory("demo/link")).unwrap();
    let mut shim = world.shim_with("zipmem").await;
    let other = json!({ "project_dir": world.directory("other") });
    let refused = shim
        .call("zipmem_load_memory", other)
        .await
        .replace(world.directory("other").to_str().unwrap(), "/other");
    insta::assert_snapshot!(refused, @"ERROR zipmem_load_memory failed: project_dir /other is not this session's project (/demo); leave it out, or start the agent there");
    for elsewhere in ["demo/link", "demo/missing", "demo/.."] {
        let elsewhere = world.directory("").join(elsewhere);
        for (tool, mut arguments) in [
            ("zipmem_load_memory", json!({})),
            ("zipmem_checkpoint", part(&world)),
            ("zipmem_save_and_compact", json!({ "session_summary": "done" })),
        ] {
            arguments["project_dir"] = elsewhere.to_str().into();
            let said = shim.call(tool, arguments).await;
            assert!(said.contains("is not this session's project"), "{tool}: {said}");
        }
    }
    let within = json!({ "project_dir": world.directory("demo/part") });
    assert!(!shim.call("zipmem_load_memory", within).await.starts_with("ERROR"));
}

#[tokio::test]
async fn errors_are_worded_like_the_originals() {
    let world = World::new().await;
    let mut shim = world.shim_with("zipmem").await;
    let category = json!({ "blueprints": [{ "category": "law", "title": "t", "content": "c" }] });
    insta::assert_snapshot!(shim.call("zipmem_checkpoint", category).await, @"ERROR zipmem_checkpoint failed: blueprints[0].category is not one of the categories architecture, schema, decision, convention, dependency: `law`");
    insta::assert_snapshot!(shim.call("zipmem_save_and_compact", json!({})).await, @"ERROR zipmem_save_and_compact failed: missing field `session_summary`");
}

/// The original refuses none of this.
#[tokio::test]
async fn empty_long_and_many_items_are_accepted_as_in_the_original() {
    let world = World::new().await;
    let mut shim = world.shim_with("zipmem").await;
    let nothing = "Checkpoint staged. Pending — blueprints: 0, anchors: 0, lessons: 0.";
    for directory in [json!(""), json!("."), json!(null)] {
        let said = shim.call("zipmem_checkpoint", json!({ "project_dir": directory })).await;
        assert!(said.starts_with(nothing), "{directory}: {said}");
    }
    assert!(!world.directory("demo/.anchord").exists(), "nothing was written");
    let anchor =
        |n: usize| json!({ "file_path": format!("{n}.rs"), "line_range": "1", "concept": "c" });
    let files: Vec<String> = (0..120).map(|n| format!("src/{n}.rs")).collect();
    let save = json!({
        "session_summary": "done",
        "blueprints": [
            { "category": "decision", "title": "later", "content": "" },
            { "category": "decision", "title": "t".repeat(1_500), "content": "x".repeat(300 * 1024) },
        ],
        "anchors": (0..1_100).map(anchor).collect::<Vec<_>>(),
        "lessons": [{ "summary": "files", "related_files": files }],
    });
    let said = shim.call("zipmem_save_and_compact", save).await;
    let saved = "Memory compacted. Blueprints: 2 (+2), Anchors: 1100 (+1100), Lessons: 1 (+1)";
    assert!(said.starts_with(saved), "{said}");
    let loaded = shim.call("zipmem_load_memory", json!({ "sections": ["archived_lessons"] })).await;
    assert!(loaded.contains("### Archived Lessons (0)"), "{loaded}");
}

#[tokio::test]
async fn descriptions_name_the_categories_and_say_what_supersedes() {
    let specs = super::specs();
    let schema = serde_json::to_string(&specs[1].definition).unwrap();
    assert!(
        schema.contains("architecture, schema, decision, convention or dependency"),
        "{schema}"
    );
    assert!(schema.contains("false supersedes the stored one"), "{schema}");
}

#[tokio::test]
async fn titles_in_two_spellings_are_two_blueprints() {
    let world = World::new().await;
    let mut shim = world.shim_with("zipmem").await;
    let blueprint = |title: &str, content: &str| -> Value {
        json!({ "category": "decision", "title": title, "content": content })
    };
    let staged = json!({ "blueprints": [blueprint("Case", "one"), blueprint("case", "two")] });
    let text = shim.call("zipmem_checkpoint", staged).await;
    assert!(text.contains("blueprints: 2,"), "{text}");
    let saved = json!({ "session_summary": "done", "blueprints": [blueprint("CASE", "three")] });
    let text = shim.call("zipmem_save_and_compact", saved).await;
    assert!(text.contains("Blueprints: 3 (+3)"), "{text}");
}

/// Returns the mirror's files, if they exist.
fn mirrored(world: &World) -> [Option<Value>; 2] {
    ["state.json", "session.json"].map(|name| {
        let path = world.directory("demo/.zipmem").join(name);
        Some(serde_json::from_slice(&std::fs::read(path).ok()?).unwrap())
    })
}

#[tokio::test]
async fn the_mirror_has_zipmems_files_if_it_is_wanted() {
    let world = World::new().await;
    let mut shim = world.shim_with("zipmem").await;
    shim.call("zipmem_checkpoint", part(&world)).await;
    assert_eq!(mirrored(&world), [None, None], "it is off by default");

    let world = World::configured("[zipmem]\nmirror = true\n").await;
    let mut shim = world.shim_with("zipmem").await;
    shim.call("zipmem_load_memory", json!({})).await;
    let session = mirrored(&world)[1].clone().unwrap();
    let nothing = json!([]);
    assert_eq!((&session["status"], &session["pending"]["lessons"]), (&json!("active"), &nothing));
    shim.call("zipmem_checkpoint", part(&world)).await;
    let session = mirrored(&world)[1].clone().unwrap();
    assert_eq!(session["pending"]["lessons"][0]["summary"], "a cold cache times out");
    shim.call("zipmem_save_and_compact", json!({ "session_summary": "done" })).await;
    let [state, session] = mirrored(&world).map(Option::unwrap);
    assert_eq!(state["blueprints"][0]["title"], "Cache");
    assert_eq!((&session["status"], &session["pending"]["lessons"]), (&json!("closed"), &nothing));
}

#[tokio::test]
async fn the_mirror_is_never_read_back_and_spares_zipmems_own_files() {
    let world = World::configured("[zipmem]\nmirror = true\n").await;
    let mut shim = world.shim_with("zipmem").await;
    shim.call("zipmem_save_and_compact", json!({ "session_summary": "done" })).await;
    let path = world.directory("demo/.zipmem/state.json");
    let [mut edited, _] = mirrored(&world).map(Option::unwrap);
    edited["lessons"] = json!([{ "summary": "slipped in" }]);
    std::fs::write(&path, edited.to_string()).unwrap();
    let loaded = shim.call("zipmem_load_memory", json!({})).await;
    assert!(!loaded.contains("slipped in"), "{loaded}");
    assert!(!mirrored(&world)[0].clone().unwrap().to_string().contains("slipped in"));
    let own = json!({ "version": 1, "lessons": [{ "summary": "of zipmem itself" }] }).to_string();
    std::fs::write(&path, &own).unwrap();
    shim.call("zipmem_checkpoint", part(&world)).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), own, "a memory of zipmem stays");
}

#[tokio::test]
async fn the_mirror_shows_a_session_that_ended_without_a_save_as_interrupted() {
    let world = World::configured("[zipmem]\nmirror = true\n").await;
    let hello = Hello { tools: Some("zipmem".to_owned()), ..dead(world.hello()) };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim.call("zipmem_checkpoint", part(&world)).await;
    let id = SessionId::new(shim.welcome.session.clone().unwrap());
    let table = &world.daemon.sessions.table;
    let update = async || {
        sweep(&world.daemon.sessions).await;
        world.daemon.jobs.zipmem.update().await;
        mirrored(&world).map(Option::unwrap)
    };
    let [_, session] = update().await;
    assert_eq!(session["status"], "active", "it is connected");

    drop(shim);
    poll(|| (!table.is_connected(&id)).then_some(())).await;
    let [state, session] = update().await;
    assert_eq!(session["status"], "interrupted");
    assert_eq!(session["reason"], "ended without a save");
    assert_eq!(session["pending"]["lessons"], json!([]), "it is folded");
    assert_eq!(state["lessons"][0]["summary"], "a cold cache times out");
    let before = session.clone();
    assert_eq!(update().await[1], before, "it is written once");
}

#[tokio::test]
async fn the_mirror_leaves_a_session_that_saved_closed() {
    let world = World::configured("[zipmem]\nmirror = true\n").await;
    let hello = Hello { tools: Some("zipmem".to_owned()), ..dead(world.hello()) };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim.call("zipmem_checkpoint", part(&world)).await;
    shim.call("zipmem_save_and_compact", json!({ "session_summary": "done" })).await;
    let id = SessionId::new(shim.welcome.session.clone().unwrap());
    drop(shim);
    poll(|| (!world.daemon.sessions.table.is_connected(&id)).then_some(())).await;
    sweep(&world.daemon.sessions).await;
    assert!(world.daemon.sessions.table.is_over(&id));
    world.daemon.jobs.zipmem.update().await;
    assert_eq!(mirrored(&world)[1].clone().unwrap()["status"], "closed");
}
