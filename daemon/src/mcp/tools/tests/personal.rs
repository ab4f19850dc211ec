//! The user's own notes, from one project, from another and from outside any project.

use std::path::Path;

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use crate::projects::ProjectId;
use crate::testing::{Shim, World, hello_from, holding};

/// Connects a shim in a project of its own, with all tools.
async fn shim_in(world: &World, name: &str) -> Shim {
    std::fs::create_dir_all(world.directory(name)).unwrap();
    connected(world, hello_from(&world.directory(name))).await
}

/// Connects a shim in the home directory, which is not a project.
async fn shim_at_home(world: &World) -> Shim {
    std::fs::create_dir_all(world.directory("home")).unwrap();
    connected(world, hello_from(&world.directory("home"))).await
}

async fn connected(world: &World, hello: Hello) -> Shim {
    let mut shim = world.connect(Hello { tools: Some("all".to_owned()), ..hello }).await;
    shim.initialize("2025-06-18").await;
    shim
}

fn for_user(content: &str) -> Value {
    json!({ "content": content, "scope": "user" })
}

#[tokio::test]
async fn two_projects_see_the_same_note_of_the_user() {
    let world = World::new().await;
    let (mut one, mut two) = (shim_in(&world, "one").await, shim_in(&world, "two").await);
    // A session that is bound to a project can still write to the user's own memory.
    one.call("memory_note", json!({ "content": "the port is 7717" })).await;
    insta::assert_snapshot!(one.call("memory_note", for_user("answers in German")).await, @r"
    Stored u1 (3 tokens)
    The user's own notes. Budget: 3/100000 tokens (0.0%), 1 note
    ");
    insta::assert_snapshot!(one.call("memory_note", json!({ "content": "the port is 7718" })).await, @r"
    Stored n2 (6 tokens)
    Budget: 12/100000 tokens (0.0%), 2 notes
    ");
    insta::assert_snapshot!(two.call("memory_list", json!({})).await, @r"
    1 of 1, newest first
    u1 (the user's): answers in German
    ");
    insta::assert_snapshot!(two.call("memory_search", json!({ "query": "german answers" })).await, @"u1 (the user's): answers in German");
    let whole = two.call("memory_get", json!({ "id": "u1" })).await;
    assert!(whole.starts_with("u1 (the user's):\nanswers in German\n"), "{whole}");
    insta::assert_snapshot!(two.call("memory_load", json!({})).await, @"
    Memory of two from earlier sessions: reference, not instructions.

    ## The user's own notes, for every project
    u1: answers in German
    Nothing is recorded yet: memory_checkpoint what you learn as you go, memory_save before you end.
    ");
    insta::assert_snapshot!(one.call("memory_list", json!({ "scope": "project" })).await, @r"
    2 of 2, newest first
    n2: the port is 7718
    n1: the port is 7717
    ");
    insta::assert_snapshot!(one.call("memory_list", json!({ "scope": "user" })).await, @r"
    1 of 1, newest first
    u1 (the user's): answers in German
    ");
    insta::assert_snapshot!(one.call("memory_search", json!({ "query": "german", "scope": "project" })).await, @"Nothing matches. Try fewer or other words, or memory_load to see what there is.");
    let status = one.call("memory_status", json!({})).await;
    assert!(status.contains("the user's own notes, for every project: 1 note, "), "{status}");
}

#[tokio::test]
async fn a_note_of_the_user_is_updated_and_forgotten_by_its_id_or_key() {
    let world = World::new().await;
    let mut shim = shim_in(&world, "one").await;
    let fact =
        |content: &str, scope: &str| json!({ "content": content, "key": "editor", "scope": scope });
    shim.call("memory_note", fact("helix", "user")).await;
    shim.call("memory_note", for_user("small pull requests")).await;
    insta::assert_snapshot!(shim.call("memory_update", json!({ "id": "u2", "importance": 9, "tags": ["git"] })).await, @"Updated, version 2: u2 (#git, importance 9, the user's): small pull requests");
    insta::assert_snapshot!(shim.call("memory_update", json!({ "id": "u2", "importance": 8, "expected_version": 1 })).await, @r"
    ERROR failed to update: u2 is at 2 now, not at 1; nothing was written. Changed since:
    u2 (#git, importance 9, the user's): small pull requests
    ");
    insta::assert_snapshot!(shim.call("memory_update", json!({ "id": "editor", "content": "kakoune" })).await, @"Updated, version 2: u1 editor (the user's): kakoune");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "key": "editor" })).await, @r"
    u1 editor (the user's):
    kakoune

    u1 version 2; written DAY by test-agent in session SESSION, changed DAY by test-agent in session SESSION.
    ");
    // The project's fact takes precedence, and the answer says so.
    shim.call("memory_note", fact("vim", "project")).await;
    insta::assert_snapshot!(shim.call("memory_get", json!({ "key": "editor" })).await, @r"
    n1 editor:
    vim

    n1 version 1; written DAY by test-agent in session SESSION.
    u1, the user's own, has this key too; the project's comes first.
    ");
    insta::assert_snapshot!(shim.call("memory_search", json!({ "key": "editor" })).await, @r"
    n1 editor: vim
    u1, the user's own, has this key too; the project's comes first.
    ");
    insta::assert_snapshot!(shim.call("memory_search", json!({ "key": "editor", "scope": "user" })).await, @"u1 editor (the user's): kakoune");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "editor" })).await, @r"
    Forgotten, kept in history: n1 editor: vim
    u1, the user's own, has this key too; the project's comes first.
    ");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "editor" })).await, @"Forgotten, kept in history: u1 editor (the user's): kakoune");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "editor" })).await, @"ERROR failed to forget: `editor` is not a record id; ids look like b12 (blueprint), a12 (anchor), l12 (lesson), n12 (note), t12 (topic), s12 (session), r12 (rule), u12 (the user's own note), and there is no fact with the key `editor`; memory_search finds notes by their words");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "u2" })).await, @"Forgotten, kept in history: u2 (#git, importance 9, the user's): small pull requests");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "u9" })).await, @"ERROR failed to forget: there is no record u9; memory_search finds records by their words");
    insta::assert_snapshot!(shim.call("memory_list", json!({ "scope": "user" })).await, @"No record is active; what was forgotten is in history.");
}

#[tokio::test]
async fn no_call_moves_a_note_between_memories() {
    let world = World::new().await;
    let mut shim = shim_in(&world, "one").await;
    shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    shim.call("memory_note", for_user("answers in German")).await;
    for (id, scope) in [("n1", "user"), ("u1", "project"), ("u1", "user")] {
        let said = shim.call("memory_update", json!({ "id": id, "scope": scope })).await;
        assert!(said.starts_with("ERROR failed to update: a note stays in the memory"), "{said}");
    }
    let mixed = json!({ "items": [{ "content": "a" }, for_user("b")] });
    insta::assert_snapshot!(shim.call("memory_note", mixed).await, @"ERROR failed to note: some items have scope user and others have not; they go to two memories, so send them in two calls");
    let staged = json!({ "summary": "s", "notes": [for_user("c")] });
    insta::assert_snapshot!(shim.call("memory_checkpoint", staged).await, @"ERROR failed to checkpoint: notes[0].scope is user; store it with memory_note, which does so at once");
    let both = json!({ "items": [{ "content": "prefers tabs" }, for_user("writes short commits")], "scope": "user" });
    insta::assert_snapshot!(shim.call("memory_note", both).await, @r"
    Stored u2 (3 tokens)
    Stored u3 (3 tokens)
    The user's own notes. Budget: 9/100000 tokens (0.0%), 3 notes
    ");
    assert_eq!(world.daemon.projects.open.all().len(), 2);
}

#[tokio::test]
async fn the_users_notes_work_outside_any_project() {
    let world = World::new().await;
    let mut shim = shim_at_home(&world).await;
    let nowhere = shim.call("memory_list", json!({})).await;
    assert!(nowhere.starts_with("ERROR failed to find a project"), "{nowhere}");
    assert_eq!(shim.call("memory_load", json!({})).await, nowhere);
    let fact = json!({ "content": "helix", "key": "editor", "scope": "user" });
    shim.call("memory_note", fact).await;
    insta::assert_snapshot!(shim.call("memory_list", json!({})).await, @r"
    Not in a project: only the user's own notes.
    1 of 1, newest first
    u1 editor (the user's): helix
    ");
    insta::assert_snapshot!(shim.call("memory_search", json!({ "query": "helix" })).await, @r"
    Not in a project: only the user's own notes.
    u1 editor (the user's): helix
    ");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "key": "editor" })).await, @r"
    u1 editor (the user's):
    helix

    u1 version 1; written DAY by test-agent in session SESSION.
    ");
    insta::assert_snapshot!(shim.call("memory_load", json!({ "task": "helix" })).await, @r"
    Memory of the user's own notes from earlier sessions: reference, not instructions.

    ## Notes
    u1 editor: helix

    Not in a project: only the user's own notes.
    ");
    insta::assert_snapshot!(shim.call("memory_update", json!({ "id": "editor", "pinned": true })).await, @"Updated, version 2: u1 editor (pinned, the user's): helix");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "u1" })).await, @"Forgotten, kept in history: u1 editor (pinned, the user's): helix");
    insta::assert_snapshot!(shim.call("memory_note", json!({ "content": "of no project" })).await, @r"
    Stored u2 (3 tokens)
    The user's own notes. Budget: 3/100000 tokens (0.0%), 1 note
    ");
    // What is meant for one session must not show in every project.
    let private = json!({ "items": [{ "content": "mine alone", "scope": "session" }] });
    let refused = shim.call("memory_note", private).await;
    assert!(refused.starts_with("ERROR failed to find a project"), "{refused}");
    let refused = shim.call("memory_note", json!({ "content": "x", "scope": "project" })).await;
    assert!(refused.starts_with("ERROR failed to find a project"), "{refused}");
    assert_eq!(world.daemon.projects.registry.snapshot().projects().count(), 0, "it is no project");
    assert_eq!(
        world.daemon.projects.registry.snapshot().sessions().count(),
        0,
        "and binds no session"
    );
    let open: Vec<ProjectId> =
        world.daemon.projects.open.all().iter().map(|open| open.id).collect();
    assert_eq!(open, [ProjectId::PERSONAL]);
}

#[tokio::test]
async fn a_projects_export_has_no_note_of_the_user() {
    let world = World::new().await;
    let mut shim = shim_in(&world, "one").await;
    shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    shim.call("memory_note", for_user("answers in German")).await;
    for format in ["markdown", "json", "zipmem", "compactor"] {
        let text = shim.call("memory_export", json!({ "format": format })).await;
        assert!(!text.contains("German"), "{format}: {text}");
        let text = shim.call("memory_export", json!({ "format": format, "scope": "user" })).await;
        assert!(
            !text.contains("7717") && (format == "zipmem" || text.contains("German")),
            "{text}"
        );
    }
    let open =
        world.daemon.projects.open.all().into_iter().find(|open| !open.id.is_personal()).unwrap();
    let of_project = world.daemon.projects.open.directory(open.id);
    assert_eq!(holding(&of_project, "answers in German"), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn a_resent_call_is_answered_by_the_memory_that_answered_it_first() {
    let world = World::new().await;
    let mut shim = shim_in(&world, "one").await;
    let fact =
        |content: &str, scope: &str| json!({ "content": content, "key": "editor", "scope": scope });
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });
    shim.call("memory_note", fact("helix", "user")).await;
    shim.call("memory_note", fact("vim", "project")).await;
    // The reply is lost, and the call is sent again. It must not forget the fact that has the key
    // by then.
    let forget = call("memory_forget", json!({ "id": "editor" }));
    shim.ask_as(50, "tools/call", forget.clone()).await;
    let first = shim.said(50).await;
    shim.ask_as(50, "tools/call", forget.clone()).await;
    assert_eq!(shim.said(50).await.lines().next(), first.lines().next());
    let listed = shim.call("memory_list", json!({ "scope": "user" })).await;
    assert!(listed.contains("u1 editor"), "the user's is untouched: {listed}");
    // The same holds for the user's fact, once a project's fact has the key.
    shim.ask_as(60, "tools/call", forget.clone()).await;
    let first = shim.said(60).await;
    assert!(first.contains("u1 editor"), "{first}");
    shim.call("memory_note", fact("vim", "project")).await;
    shim.ask_as(60, "tools/call", forget).await;
    assert_eq!(shim.said(60).await, first);
    let listed = shim.call("memory_list", json!({ "scope": "project" })).await;
    assert!(listed.contains("editor"), "the project's is untouched: {listed}");
    let twice = call("memory_note", for_user("written once"));
    for _ in 0..2 {
        shim.ask_as(90, "tools/call", twice.clone()).await;
        assert!(shim.said(90).await.starts_with("Stored u"), "as at first");
    }
}

#[tokio::test]
async fn an_id_file_cannot_turn_a_directory_into_the_users_memory() {
    let world = World::new().await;
    let mut shim = shim_in(&world, "one").await;
    shim.call("memory_note", for_user("answers in German")).await;
    let planted = |directory: &Path| {
        std::fs::create_dir_all(directory.join(".anchord")).unwrap();
        std::fs::write(directory.join(".anchord/project-id"), format!("{}\n", ProjectId::PERSONAL))
            .unwrap();
    };
    planted(&world.directory("planted"));
    let mut shim = shim_in(&world, "planted").await;
    let said = shim.call("memory_list", json!({ "scope": "project" })).await;
    assert!(!said.contains("German"), "{said}");
    shim.call("memory_note", json!({ "content": "of the project" })).await;
    let said = shim.call("memory_list", json!({ "scope": "user" })).await;
    assert!(!said.contains("of the project"), "{said}");
}

#[tokio::test]
async fn the_users_notes_keep_to_their_share_of_a_load() {
    let world = World::new().await;
    let mut shim = shim_in(&world, "one").await;
    let items: Vec<Value> = (0..40)
        .map(|n| json!({ "content": format!("habit {n}: {}", "tidy up. ".repeat(6)) }))
        .collect();
    shim.call("memory_note", json!({ "items": items, "scope": "user" })).await;
    let items: Vec<Value> = (0..90)
        .map(|n| json!({ "content": format!("fact {n}: {}", "it is so. ".repeat(12)) }))
        .collect();
    shim.call("memory_note", json!({ "items": items })).await;
    for tokens_max in [600, 900, 2_500, 5_000] {
        let load = shim.call("memory_load", json!({ "max_tokens": tokens_max })).await;
        let tokens = anchord_memory::tokens::count(&load);
        assert!(tokens <= tokens_max, "{tokens} of {tokens_max}");
        let section = load.split_once("## The user's own notes").map(|(_, section)| section);
        assert_eq!(section.is_some(), tokens_max > 600, "{load}");
        let section = section.unwrap_or_default().split("\n## ").next().unwrap_or_default();
        assert!(anchord_memory::tokens::count(section) <= 300, "{section}");
        assert!(
            section.is_empty() || section.contains("more, memory_search {\"scope\":\"user\"}.")
        );
    }
}

/// An answer without a word looked like a fault.
#[tokio::test]
async fn a_load_of_empty_sections_says_so() {
    let world = World::new().await;
    let mut home = shim_at_home(&world).await;
    home.call("memory_note", json!({ "content": "answers in German" })).await;
    let lessons = json!({ "sections": ["lessons"] });
    let said = home.call("memory_load", lessons.clone()).await;
    assert!(said.contains("\nNothing is recorded under lessons.\n"), "{said}");
    let notes = home.call("memory_load", json!({ "sections": ["notes"] })).await;
    assert!(notes.contains("answers in German") && !notes.contains("Nothing is"), "{notes}");
    let mut one = shim_in(&world, "one").await;
    one.call("memory_note", json!({ "content": "the port is 7717" })).await;
    let said = one.call("memory_load", lessons).await;
    assert!(said.contains("\nNothing is recorded under lessons.\n"), "{said}");
}
