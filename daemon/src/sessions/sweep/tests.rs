//! Tests of which sessions are gone, and of what becomes of their staged work.

use std::time::Duration;

use anchord_memory::{Memory, Notice, SessionId};
use serde_json::json;

use super::*;
use crate::project::{Transition, WriteCommand, WriteError};
use crate::projects::{Registry, RegistryChange};
use crate::testing::{World, dead, hello_from, poll};

fn notices(memory: &Memory) -> Vec<Notice> {
    memory.notices().map(|notice| notice.as_ref().clone()).collect()
}

async fn checkpointed(world: &World, hello: Hello) -> (crate::testing::Shim, SessionId) {
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    let staged = shim.call("memory_checkpoint", json!({ "summary": "half way" })).await;
    assert!(staged.starts_with("Staged."), "{staged}");
    let id = SessionId::new(shim.welcome.session.clone().unwrap());
    (shim, id)
}

async fn until_away(world: &World, id: &SessionId) {
    poll(|| (!world.daemon.sessions.table.is_connected(id)).then_some(())).await;
}

fn memory(world: &World) -> Arc<Memory> {
    let open = world.daemon.projects.open.all();
    assert_eq!(open.len(), 1, "one project is open");
    open[0].memory()
}

#[tokio::test]
async fn only_staged_work_of_ended_sessions_is_folded() {
    let world = World::new().await;
    // Its process counts as gone, but its open connection decides.
    let (live, live_id) = checkpointed(&world, dead(world.hello())).await;
    let (waiting, waiting_id) = checkpointed(&world, world.hello()).await;
    drop(waiting);
    until_away(&world, &waiting_id).await;
    sweep(&world.daemon.sessions).await;
    assert!(memory(&world).staged_by(&live_id).is_some());
    assert!(
        memory(&world).staged_by(&waiting_id).is_some(),
        "its process is there: it may be back"
    );
    assert_eq!(notices(&memory(&world)), []);

    drop(live);
    until_away(&world, &live_id).await;
    sweep(&world.daemon.sessions).await;
    let memory = memory(&world);
    assert!(memory.staged_by(&live_id).is_none());
    let told = notices(&memory);
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0].session, &told[0].cause), (&live_id, &NoticeCause::Ended));
    let registry = world.daemon.projects.registry.snapshot();
    assert!(registry.session(&live_id).is_none() && registry.session(&waiting_id).is_some());
    assert_eq!(world.daemon.sessions.table.all().len(), 1);
}

#[tokio::test]
async fn a_session_without_writes_leaves_no_trace() {
    let world = World::new().await;
    let mut shim = world.connect(dead(world.hello())).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_load", json!({})).await;
    let id = SessionId::new(shim.welcome.session.clone().unwrap());
    drop(shim);
    until_away(&world, &id).await;
    sweep(&world.daemon.sessions).await;
    assert_eq!(world.daemon.sessions.table.all().len(), 0);
    assert_eq!(world.daemon.projects.open.all().len(), 0);
    assert!(!world.directory("demo/.anchord").exists(), "a read creates nothing");
}

#[tokio::test]
async fn work_of_dead_sessions_is_folded_and_reported_as_a_crash() {
    let world = World::new().await;
    let (gone, gone_id) = checkpointed(&world, dead(world.hello())).await;
    let (alive, alive_id) = checkpointed(&world, world.hello()).await;
    drop(gone);
    let world = world.restart(true).await;
    sweep(&world.daemon.sessions).await;
    let kept = memory(&world);
    assert!(kept.staged_by(&gone_id).is_none() && kept.staged_by(&alive_id).is_some());
    let causes: Vec<NoticeCause> = notices(&kept).into_iter().map(|notice| notice.cause).collect();
    assert_eq!(causes, [NoticeCause::Crashed { files: Vec::new(), more: 0 }]);

    let mut back = alive.reconnect(&world).await;
    assert_eq!(back.welcome.session.as_deref(), Some(alive_id.0.as_ref()));
    back.initialize("2025-06-18").await;
    let saved = back.call("memory_save", json!({ "session_summary": "done" })).await;
    assert!(saved.starts_with("Saved"), "{saved}");
    assert!(memory(&world).staged_by(&alive_id).is_none());
}

#[tokio::test]
async fn a_daemon_stopped_before_a_reboot_reports_no_crash() {
    let world = World::new().await;
    let (gone, id) = checkpointed(&world, world.hello()).await;
    drop(gone);
    let known = world.daemon.projects.registry.snapshot().session(&id).cloned().unwrap();
    let boot = Some("an earlier boot".to_owned());
    let record = SessionRecord { boot, ..known.as_ref().clone() };
    let decide: WriteCommand<Registry> = Arc::new(move |_, _| {
        let changes = vec![RegistryChange::SessionBound(record.clone())];
        Ok(Transition::silent(changes))
    });
    world.daemon.projects.registry.write(None, None, "bind", decide).await.unwrap();
    let world = world.restart(false).await;
    sweep(&world.daemon.sessions).await;
    let kept = memory(&world);
    assert!(kept.staged_by(&id).is_none());
    let causes: Vec<NoticeCause> = notices(&kept).into_iter().map(|notice| notice.cause).collect();
    assert_eq!(causes, [NoticeCause::Ended]);
}

#[tokio::test]
async fn a_file_changed_after_the_last_checkpoint_is_named() {
    let world = World::new().await;
    let (gone, id) = checkpointed(&world, dead(world.hello())).await;
    let file = std::fs::File::create(world.directory("demo").join("late.rs")).unwrap();
    let later = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    file.set_modified(later).unwrap();
    drop(gone);
    until_away(&world, &id).await;
    sweep(&world.daemon.sessions).await;
    let causes: Vec<NoticeCause> =
        notices(&memory(&world)).into_iter().map(|notice| notice.cause).collect();
    assert_eq!(causes, [NoticeCause::Crashed { files: vec!["late.rs".to_owned()], more: 0 }]);
}

#[tokio::test]
async fn a_notice_says_if_not_all_files_could_be_read() {
    for (changed, said) in [
        (false, "which ended without saving: its summary. Not all files could be looked at:"),
        (true, ": its summary. Changed since its last checkpoint, so look again (not all files"),
    ] {
        let world = World::new().await;
        let deep = "d/".repeat(limits::CHANGED_DEPTH_MAX + 2);
        std::fs::create_dir_all(world.directory("demo").join(deep)).unwrap();
        let (gone, id) = checkpointed(&world, dead(world.hello())).await;
        if changed {
            let file = std::fs::File::create(world.directory("demo/late.rs")).unwrap();
            let later = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
            file.set_modified(later).unwrap();
        }
        drop(gone);
        until_away(&world, &id).await;
        sweep(&world.daemon.sessions).await;
        let load = world.shim().await.call("memory_load", json!({})).await;
        assert!(load.contains(said), "{load}");
        assert_eq!(load.contains("- late.rs"), changed, "{load}");
    }
}

#[tokio::test]
async fn ending_a_session_is_retried_at_growing_intervals() {
    let world = World::new().await;
    let (shim, id) = checkpointed(&world, dead(world.hello())).await;
    drop(shim);
    until_away(&world, &id).await;
    let project = world.daemon.projects.open.all()[0].id;
    let journal = world.daemon.projects.open.directory(project).join("journal/000001.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    world.daemon.projects.open.close_and(project, |_| ()).await;
    std::fs::write(&journal, [whole.as_slice(), b"no entry\n", &whole].concat()).unwrap();
    let sessions = &world.daemon.sessions.table;
    for tries in 1..4 {
        sessions.wait_no_longer();
        sweep(&world.daemon.sessions).await;
        sweep(&world.daemon.sessions).await;
        assert_eq!(sessions.tries(&id), tries, "the second sweep is too early");
        assert_eq!(sessions.all().len(), 1);
    }

    world.daemon.projects.open.close_and(project, |_| ()).await;
    std::fs::write(&journal, whole).unwrap();
    sweep(&world.daemon.sessions).await;
    assert!(world.daemon.projects.open.all().is_empty(), "nothing opens it before the next try");
    sessions.wait_no_longer();
    sweep(&world.daemon.sessions).await;
    assert!(memory(&world).staged_by(&id).is_none());
    assert_eq!((sessions.tries(&id), sessions.all().len()), (0, 0));
}

#[tokio::test]
async fn a_read_only_project_is_not_scanned_for_changes() {
    let world = World::new().await;
    let (shim, id) = checkpointed(&world, dead(world.hello())).await;
    drop(shim);
    until_away(&world, &id).await;
    let record = world.daemon.projects.registry.snapshot().session(&id).cloned().unwrap();
    let leaving = EndingSession::from(record.as_ref());
    assert!(staged_in(&world.daemon.sessions, &leaving).await.unwrap().is_some());
    let journal = world.daemon.projects.open.directory(record.project).join("journal/000001.jsonl");
    world.daemon.projects.open.close_and(record.project, |_| ()).await;
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, [whole.as_slice(), b"no entry\n", &whole].concat()).unwrap();
    let refused = staged_in(&world.daemon.sessions, &leaving).await;
    assert!(matches!(refused, Err(BindError::Write(WriteError::NotSaved(_)))), "{refused:?}");
}

#[tokio::test]
async fn a_hanging_disk_delays_only_its_own_projects_sessions() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (shim, id) = checkpointed(&world, dead(world.hello())).await;
        drop(shim);
        until_away(&world, &id).await;
        ids.push(id);
    }
    let held = world.daemon.projects.open.all()[0].owner.clone();
    let (hold, held_by) = std::sync::mpsc::channel::<()>();
    let holding = tokio::spawn(async move { held.ask(move |_, _| held_by.recv().is_err()).await });
    std::fs::create_dir(world.directory("other")).unwrap();
    let (shim, free) = checkpointed(&world, dead(hello_from(&world.directory("other")))).await;
    drop(shim);
    until_away(&world, &free).await;

    let registered =
        |id: &SessionId| world.daemon.projects.registry.snapshot().session(id).is_some();
    tokio::select! {
        () = sweep(&world.daemon.sessions) => panic!("the others are still held"),
        () = poll(|| (!registered(&free)).then_some(())) => {}
    }
    assert!(ids.iter().all(registered));
    drop(hold);
    assert!(holding.await.unwrap().unwrap());
    sweep(&world.daemon.sessions).await;
    assert!(!ids.iter().any(registered), "what was cut short is ended");
}

#[tokio::test]
async fn a_hook_session_keeps_its_project_after_a_restart() {
    let world = World::new().await;
    std::fs::create_dir(world.directory("other")).unwrap();
    let named = Hello {
        agent_session: Some("a".to_owned()),
        project: world.hello().cwd,
        ..hello_from(&world.directory("other"))
    };
    let hook = Hello { client: Some("claude-code".to_owned()), ..named.clone() };
    let event = |name: &str, field: &str| json!({ "hook_event_name": name, "session_id": "a", field: "resume" });
    world.hook_by(hook.clone(), &event("SessionStart", "source")).await;
    let (shim, _) = checkpointed(&world, named).await;
    let of_hooks = |world: &World| {
        let all = world.daemon.sessions.table.all();
        let own = all.iter().find(|status| status.session.id.0.starts_with("claude-code:"));
        (all.len(), own.unwrap().session.known_root().map(PathBuf::from))
    };
    assert_eq!(of_hooks(&world), (1, Some(world.directory("demo"))));

    let world = world.restart(true).await;
    world.hook_by(hook, &event("UserPromptSubmit", "prompt")).await;
    assert_eq!(of_hooks(&world).1, Some(world.directory("demo")));
    let mut back = shim.reconnect(&world).await;
    back.initialize("2025-06-18").await;
    let load = back.call("memory_load", json!({})).await;
    assert!(load.contains("Staged by you and not saved yet: a summary"), "{load}");
    assert_eq!(of_hooks(&world), (1, Some(world.directory("demo"))), "the calls are the hooks'");
}
