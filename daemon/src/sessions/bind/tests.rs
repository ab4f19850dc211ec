//! Tests of which project a session gets, and which staged work.

use anchord_proto::hello::{Hello, Resume};
use serde_json::json;

use crate::admin;
use crate::sessions::{Session, sweep};
use crate::testing::{Shim, World, dead, hello_from, poll};

async fn says(world: &World, hello: Hello) -> String {
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_checkpoint", json!({ "summary": "here" })).await
}

async fn agent(world: &World, hello: Hello, agent_session: &str) -> Shim {
    let hello = Hello { agent_session: Some(agent_session.to_owned()), ..hello };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim
}

async fn hung_up(world: &World, shim: Shim) {
    let id = anchord_memory::SessionId::new(shim.welcome.session.clone().unwrap());
    drop(shim);
    poll(|| (!world.daemon.sessions.table.is_connected(&id)).then_some(())).await;
}

const LESSON: &str = "the cache must be warm";

fn lesson() -> serde_json::Value {
    json!({ "lessons": [{ "summary": LESSON }] })
}

#[tokio::test]
async fn a_foreign_agent_must_name_its_project_by_id() {
    let world = World::new().await;
    assert!(says(&world, world.hello()).await.starts_with("Staged."));
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let foreign = Hello { pidns: Some(1), ..world.hello() };

    insta::assert_snapshot!(says(&world, foreign.clone()).await, @"ERROR this agent runs in another container or on another machine than anchord: name the project with `--project ID`; `anchord project list` shows the ids");
    let unmatched = Hello { cwd_dev: Some(1), cwd_ino: Some(1), ..world.hello() };
    assert_eq!(says(&world, unmatched).await, says(&world, foreign.clone()).await);

    let named = Hello { project: Some(id.to_string()), ..foreign };
    let mut shim = world.connect(named).await;
    shim.initialize("2025-06-18").await;
    assert!(shim.call("memory_checkpoint", lesson()).await.starts_with("Staged."));
    let anchors = json!({ "session_summary": "s", "anchors": [{ "file": "a", "lines": "1", "concept": "c" }] });
    shim.call("memory_save", anchors).await;
    // The files that it means are not those seen from here.
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "a1", "expand": true })).await, @"ERROR failed to expand: the project's files cannot be seen from here; read the file");
}

#[tokio::test]
async fn an_unknown_id_creates_no_project() {
    let world = World::new().await;
    let id = "00000000-0000-4000-8000-000000000001".to_owned();
    let said = says(&world, Hello { project: Some(id), ..world.hello() }).await;
    insta::assert_snapshot!(said, @"ERROR no project has the id 00000000-0000-4000-8000-000000000001; `anchord project list` shows the projects there are");
    assert_eq!(world.daemon.projects.open.all().len(), 0);
}

#[tokio::test]
async fn a_foreign_agents_deleted_project_is_not_written_to() {
    let world = World::new().await;
    let mut here = agent(&world, dead(world.hello()), "talk-1").await;
    here.call("memory_save", json!({ "session_summary": "s" })).await;
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id.to_string();
    let foreign = Hello { project: Some(id.clone()), pidns: Some(1), ..world.hello() };
    let mut away = agent(&world, foreign, "talk-2").await;
    assert!(away.call("memory_load", json!({})).await.contains('s'));
    let (hello, welcome) = (away.hello.clone(), away.welcome.clone());
    hung_up(&world, away).await;
    hung_up(&world, here).await;
    sweep(&world.daemon.sessions).await;
    admin::delete_project(&world.daemon.sessions, &id, &id).await.unwrap();

    let resume = Some(Resume { token: welcome.resume.unwrap(), revision: None });
    let mut back = world.connect(Hello { resume, ..hello }).await;
    back.initialize("2025-06-18").await;
    for (tool, arguments) in [("memory_checkpoint", lesson()), ("memory_load", json!({}))] {
        let said = back.call(tool, arguments).await;
        assert!(said.starts_with(&format!("ERROR no project has the id {id}")), "{said}");
    }
    assert!(!world.daemon.admin.instance.data().join("projects").join(&id).exists());
}

#[tokio::test]
async fn outside_a_project_the_error_says_how_to_name_one() {
    let world = World::new().await;
    std::fs::create_dir(world.directory("home")).unwrap();
    let mut shim = world.connect(hello_from(&world.directory("home"))).await;
    shim.initialize("2025-06-18").await;
    for (tool, arguments) in [("memory_load", json!({})), ("memory_checkpoint", lesson())] {
        let said = shim.call(tool, arguments).await;
        assert!(said.starts_with("ERROR failed to find a project: "), "{said}");
        assert!(said.contains("--project DIR"), "{said}");
    }
}

#[tokio::test]
async fn a_named_project_is_kept_by_the_next_daemon() {
    let world = World::new().await;
    std::fs::create_dir(world.directory("named")).unwrap();
    let named = world.directory("named").to_str().map(str::to_owned);
    let hello = Hello { project: named, ..world.hello() };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_checkpoint", lesson()).await;

    let world = world.restart(false).await;
    let mut shim = shim.reconnect(&world).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_save", json!({ "session_summary": "done" })).await;
    let status = shim.call("memory_status", json!({})).await;
    assert!(status.starts_with("project: named\nrevision: 1\n"), "{status}");
    assert_eq!(world.daemon.projects.registry.snapshot().projects().count(), 1);
}

#[tokio::test]
async fn a_session_takes_over_its_dead_predecessors_staged_work() {
    let world = World::new().await;
    let mut first = agent(&world, dead(world.hello()), "talk-1").await;
    first.call("memory_checkpoint", lesson()).await;
    hung_up(&world, first).await;

    let mut second = agent(&world, world.hello(), "talk-1").await;
    let status = second.call("memory_status", json!({})).await;
    assert!(status.contains("staged by this session: 1 lesson"), "it will take it over: {status}");
    let staged = second.call("memory_checkpoint", json!({ "summary": "going on" })).await;
    insta::assert_snapshot!(staged, @"Staged. Pending until memory_save: 1 lesson.");
    let saved = second.call("memory_save", json!({ "session_summary": "done" })).await;
    insta::assert_snapshot!(saved, @"Saved as s2, revision 1: 1 lesson (+1), 1 session; 26 B.");
    assert_eq!(world.daemon.projects.registry.snapshot().sessions().count(), 1);
}

#[tokio::test]
async fn live_foreign_and_other_conversations_are_not_taken_over() {
    let world = World::new().await;
    let living = world.hello();
    let connected = dead(world.hello());
    let foreign = Hello { pidns: Some(1), ..dead(world.hello()) };
    let mut first = agent(&world, living, "talk-1").await;
    first.call("memory_checkpoint", lesson()).await;
    hung_up(&world, first).await;
    let mut open = agent(&world, connected, "talk-1").await;
    open.call("memory_checkpoint", lesson()).await;
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id.to_string();
    let mut away = agent(&world, Hello { project: Some(id), ..foreign }, "talk-1").await;
    assert!(away.call("memory_checkpoint", lesson()).await.starts_with("Staged."));
    hung_up(&world, away).await;
    let mut other = agent(&world, dead(world.hello()), "talk-2").await;
    other.call("memory_checkpoint", lesson()).await;
    hung_up(&world, other).await;

    let mut second = agent(&world, world.hello(), "talk-1").await;
    let staged = second.call("memory_checkpoint", json!({ "summary": "going on" })).await;
    assert_eq!(staged, "Staged. Pending until memory_save: a summary.\n");
    assert_eq!(world.daemon.projects.registry.snapshot().sessions().count(), 5);
}

#[tokio::test]
async fn a_project_deleted_meanwhile_is_created_again() {
    let world = World::new().await;
    let mut shim = agent(&world, dead(world.hello()), "talk-1").await;
    shim.call("memory_checkpoint", lesson()).await;
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id.to_string();
    let (hello, welcome) = (shim.hello.clone(), shim.welcome.clone());
    hung_up(&world, shim).await;
    let refused = admin::delete_project(&world.daemon.sessions, &id, &id).await.unwrap_err();
    assert_eq!(
        refused.error, "1 live session(s) work in this project",
        "its work is not folded yet"
    );
    sweep(&world.daemon.sessions).await;
    admin::delete_project(&world.daemon.sessions, &id, &id).await.unwrap();
    assert_eq!(world.daemon.projects.registry.snapshot().projects().count(), 0);

    let resume = Some(Resume { token: welcome.resume.unwrap(), revision: None });
    let mut shim = world.connect(Hello { resume, ..hello }).await;
    shim.initialize("2025-06-18").await;
    assert!(shim.call("memory_checkpoint", lesson()).await.starts_with("Staged."));
    assert_eq!(
        world.daemon.projects.registry.snapshot().projects().count(),
        1,
        "it is listed again"
    );
    assert_eq!(
        world.daemon.projects.registry.snapshot().sessions().count(),
        1,
        "and so is its session"
    );
}

#[tokio::test]
async fn sessions_do_not_keep_a_closed_project_in_memory() {
    let world = World::new().await;
    let mut shim = agent(&world, world.hello(), "talk-1").await;
    let mut closed = Vec::new();
    for round in 0..3 {
        let said = shim.call("memory_checkpoint", json!({ "summary": format!("{round}") })).await;
        assert!(said.starts_with("Staged."), "{said}");
        let project = world.daemon.projects.open.all().pop().unwrap();
        let id = project.id;
        closed.push(std::sync::Arc::downgrade(&project));
        drop(project);
        world.daemon.projects.open.close_and(id, |_| ()).await;
    }
    // The session continues, and its project is closed. An answered call may end a little later.
    poll(|| closed.iter().all(|project| project.strong_count() == 0).then_some(())).await;
    let session = world.daemon.sessions.table.all().pop().unwrap().session;
    assert!(session.project_id().is_some() && session.project().is_none());
    assert!(shim.call("memory_status", json!({})).await.contains("staged by this session"));
}

#[tokio::test]
async fn home_is_a_project_only_if_the_user_names_it() {
    let world = World::new().await;
    let home = world.directory("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("letter"), "private").unwrap();
    let named = Hello { project: home.to_str().map(str::to_owned), ..hello_from(&home) };
    let by_agent = Hello { by_agent: true, ..named.clone() };
    let said = says(&world, by_agent.clone()).await;
    assert!(said.contains("is your home directory, not a project"), "{said}");
    let hook = Hello { client: Some("claude-code".to_owned()), ..by_agent };
    let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "a", "prompt": "hi",
        "cwd": home });
    assert_eq!(world.hook_by(hook, &event).await, "");
    assert!(world.daemon.admin.metrics.hooks().last_failure.is_none(), "nothing is wrong");
    assert!(world.daemon.projects.open.all().is_empty(), "nothing was made");

    // In a project, the named directory is where the search begins, even if the working directory
    // has changed.
    let demo = Hello { project: world.hello().cwd, by_agent: true, ..hello_from(&home) };
    assert!(says(&world, demo).await.starts_with("Staged."));
    assert!(says(&world, named).await.starts_with("Staged."));
}

/// A container's project path may belong to another project here.
#[tokio::test]
async fn a_foreign_agents_own_path_does_not_name_a_project() {
    let world = World::new().await;
    assert!(says(&world, world.hello()).await.starts_with("Staged."));
    let foreign = Hello { pidns: Some(1), project: world.hello().cwd, ..world.hello() };
    assert!(says(&world, foreign.clone()).await.starts_with("Staged."), "the user means this one");
    let said = says(&world, Hello { by_agent: true, ..foreign }).await;
    assert!(said.contains("name the project with `--project ID`"), "{said}");
}

#[tokio::test]
async fn a_project_named_by_id_is_independent_of_its_directory() {
    let put = |world: &World, file: &str, text: &str| {
        let file = world.directory("demo").join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    for case in ["replaced by another clone", "replaced by another project", "moved away"] {
        let world = World::new().await;
        assert!(says(&world, world.hello()).await.starts_with("Staged."));
        let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
        std::fs::rename(world.directory("demo"), world.directory("aside")).unwrap();
        match case {
            "replaced by another clone" => {
                std::fs::create_dir_all(world.directory("demo/.git/objects")).unwrap();
                std::fs::create_dir_all(world.directory("demo/.git/refs")).unwrap();
                put(&world, ".git/HEAD", "ref: refs/heads/main\n");
            }
            "replaced by another project" => {
                put(&world, ".anchord/project-id", "00000000-0000-4000-8000-000000000001\n");
            }
            _ => {}
        }
        std::fs::create_dir_all(world.directory("other")).unwrap();
        let project = Some(id.to_string());
        let hello = Hello { project, ..hello_from(&world.directory("other")) };
        let mut shim = agent(&world, hello, "talk").await;
        let said = shim.call("memory_checkpoint", lesson()).await;
        assert!(said.starts_with("Staged."), "{case}: {said}");
        let all: Vec<_> =
            world.daemon.projects.open.all().iter().map(|project| project.id).collect();
        assert_eq!(all, [id], "{case}");
        let of_talk = |session: &Session| session.agent_session.as_deref() == Some("talk");
        let mut sessions = world.daemon.sessions.table.all().into_iter().map(|one| one.session);
        let session = sessions.find(|session| of_talk(session)).unwrap();
        assert_eq!(session.known_root(), None, "{case}: no file there is the project's");
    }
}

/// Until a move is recorded, a new project at the old path passes for the one that moved.
#[tokio::test]
async fn a_read_records_a_move() {
    for by_command_line in [false, true] {
        let world = World::new().await;
        assert!(says(&world, world.hello()).await.starts_with("Staged."));
        let (old, new) = (world.directory("demo"), world.directory("moved"));
        std::fs::rename(&old, &new).unwrap();
        if by_command_line {
            let status = admin::project(&world.daemon.sessions, new.to_str().unwrap()).await;
            assert_eq!(status.unwrap().root, new.to_str().unwrap());
        } else {
            let mut shim = agent(&world, hello_from(&new), "talk-2").await;
            let loaded = shim.call("memory_load", json!({})).await;
            assert!(loaded.contains("its memory came along"), "{loaded}");
        }
        let registry = world.daemon.projects.registry.snapshot();
        let known = registry.projects().next().unwrap();
        assert_eq!((&known.root, known.name.as_str()), (&new, "moved"));
        assert!(known.place.is_there().unwrap() && known.carries_id);

        std::fs::create_dir(&old).unwrap();
        let mut shim = agent(&world, world.hello(), "talk-3").await;
        let loaded = shim.call("memory_load", json!({})).await;
        assert!(!loaded.contains("project link"), "{loaded}");
    }
}

#[tokio::test]
async fn a_move_that_cannot_be_recorded_is_read_all_the_same() {
    let world = World::new().await;
    assert!(says(&world, world.hello()).await.starts_with("Staged."));
    let new = world.directory("moved");
    std::fs::rename(world.directory("demo"), &new).unwrap();
    world.daemon.projects.registry.close().await;
    let status = admin::project(&world.daemon.sessions, new.to_str().unwrap()).await.unwrap();
    assert_eq!(status.root, world.directory("demo").to_str().unwrap());
}
