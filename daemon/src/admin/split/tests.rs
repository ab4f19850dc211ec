//! Splits a memory that an earlier build mixed, by the directories of its sessions.

use std::fs;

use anchord_proto::hello::Hello;
use serde_json::json;

use super::*;
use crate::admin;
use crate::project::Transition;
use crate::projects::RegistryChange;
use crate::testing::{Shim, World, hello_from};

fn repository(world: &World, name: &str) -> PathBuf {
    let root = world.directory(name);
    for part in ["objects", "refs"] {
        fs::create_dir_all(root.join(".git").join(part)).unwrap();
    }
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    root
}

/// Connects a session in one directory that works in the project of another, as before the git root
/// counted.
async fn mixed(world: &World, directory: &Path, named: &Path) -> Shim {
    let project = named.to_str().map(str::to_owned);
    let mut shim = world.connect(Hello { project, ..hello_from(directory) }).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_checkpoint", json!({ "summary": "begun" })).await;
    let session = shim.welcome.session.clone().unwrap();
    let known = world.daemon.projects.registry.snapshot();
    let known = known.session(&SessionId::new(session)).unwrap().as_ref().clone();
    let earlier = SessionRecord { is_bound_by_git_root: false, ..known };
    let decide: WriteCommand<crate::projects::Registry> = Arc::new(move |_, _| {
        let changes = vec![RegistryChange::SessionBound(earlier.clone())];
        Ok(Transition::silent(changes))
    });
    world.daemon.projects.registry.write(None, None, "bind", decide).await.unwrap();
    shim
}

async fn save(shim: &mut Shim, name: &str) {
    let anchors = json!([{ "file": format!("{name}/src/a.rs"), "lines": "1-3", "concept": name }]);
    let lessons = json!([{ "summary": format!("{name} must be warm") }]);
    let work = json!({ "session_summary": format!("worked on {name}"), "anchors": anchors, "lessons": lessons });
    let saved = shim.call("memory_save", work).await;
    assert!(saved.starts_with("Saved"), "{saved}");
}

async fn split(world: &World, dry_run: bool, undo: bool) -> SplitReply {
    let project = world.directory("work").to_str().unwrap().to_owned();
    split_project(&world.daemon.sessions, SplitParams { project, dry_run, undo }).await.unwrap()
}

/// Returns what an agent in a directory loads.
async fn loads(world: &World, directory: &Path) -> String {
    let mut shim = world.connect(hello_from(directory)).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_load", json!({})).await
}

#[tokio::test]
async fn records_move_to_the_memories_of_their_repositories_and_back() {
    let world = World::new().await;
    let (above, api) = (world.directory("work"), repository(&world, "work/api"));
    let web = repository(&world, "work/web");
    fs::create_dir(above.join(".anchord")).unwrap();
    let gone = world.directory("gone");
    fs::create_dir_all(&gone).unwrap();
    for (directory, name) in [(&api, "api"), (&web, "web"), (&above, "all"), (&gone, "gone")] {
        save(&mut mixed(&world, directory, &above).await, name).await;
    }
    // This session names its project, since the search ends at a git root.
    let named = Hello { project: above.to_str().map(str::to_owned), ..hello_from(&api) };
    let mut named = world.connect(named).await;
    named.initialize("2025-06-18").await;
    named.call("memory_note", json!({ "content": "meant for all" })).await;
    fs::remove_dir_all(&gone).unwrap();
    let hint = loads(&world, &api).await;
    let command = format!("anchord project split --project {}", above.display());
    assert!(hint.contains(&command), "{hint}");

    let plan = split(&world, true, false).await;
    let roots: Vec<_> =
        plan.parts.iter().map(|part| (Path::new(&part.root), part.records)).collect();
    assert_eq!(roots, [(api.as_path(), 3), (web.as_path(), 3)]);
    assert_eq!((plan.unknown, plan.applied), (3, false), "{plan:?}");
    assert!(plan.parts[0].titles.iter().any(|title| title.contains("api must be warm")));
    assert!(!loads(&world, &api).await.contains("api must be warm"), "nothing is written so far");

    let done = split(&world, false, false).await;
    assert!(done.applied && done.parts.iter().all(|part| (part.records, part.left) == (3, 0)));
    let (in_api, in_web) = (loads(&world, &api).await, loads(&world, &web).await);
    assert!(in_api.contains("api must be warm") && in_api.contains("worked on api"), "{in_api}");
    assert!(in_api.contains("src/a.rs") && !in_api.contains("api/src/a.rs"), "{in_api}");
    assert!(in_web.contains("web must be warm") && !in_web.contains("api"), "{in_web}");
    let left = loads(&world, &above).await;
    for (text, stays) in [
        ("api must", false),
        ("web must", false),
        ("all must", true),
        ("gone must", true),
        ("meant for", true),
    ] {
        assert_eq!(left.contains(text), stays, "{text}: {left}");
    }
    assert_eq!(split(&world, false, false).await.parts, [], "there is nothing more");

    let back = split(&world, false, true).await;
    assert_eq!((back.applied, back.restored, back.parts.len()), (true, 6, 2), "{back:?}");
    let left = loads(&world, &above).await;
    assert!(left.contains("api must be warm") && left.contains("web must be warm"), "{left}");
    assert!(!loads(&world, &api).await.contains("api must be warm"));
    let params =
        SplitParams { project: above.to_str().unwrap().to_owned(), dry_run: false, undo: true };
    let error = split_project(&world.daemon.sessions, params).await.unwrap_err();
    assert!(error.error.contains("no split of work is left"), "{}", error.error);
}

#[tokio::test]
async fn records_that_conflict_with_the_other_memory_stay() {
    let world = World::new().await;
    let (above, api) = (world.directory("work"), repository(&world, "work/api"));
    let title = |content: &str| json!({ "session_summary": "s", "blueprints": [{ "category": "decision", "title": "Port", "content": content }] });
    mixed(&world, &api, &above).await.call("memory_save", title("8080")).await;
    let mut own = world.connect(hello_from(&api)).await;
    own.initialize("2025-06-18").await;
    own.call("memory_save", title("9090")).await;

    let done = split(&world, false, false).await;
    assert_eq!((done.parts[0].records, done.parts[0].left), (1, 1), "the row went: {done:?}");
    assert!(loads(&world, &above).await.contains("8080"));
    let there = loads(&world, &api).await;
    assert!(there.contains("9090") && !there.contains("8080"), "{there}");
    let projects = admin::projects(&world.daemon.sessions).await.unwrap();
    assert_eq!(projects.projects.len(), 2);
}
