//! Ends during running calls, ends while the same session returns, and ends that are cut short.

use std::path::PathBuf;

use anchord_memory::{Body, Staged, Timestamp, plan_checkpoint};
use anchord_proto::hello::Hello;
use serde_json::json;
use uuid::Uuid;

use super::super::table::SessionStatus;
use super::*;
use crate::sessions::sweep;
use crate::testing::{Shim, World, hello_from, poll};

fn status(world: &World, id: &SessionId) -> Option<SessionStatus> {
    world.daemon.sessions.table.all().into_iter().find(|status| status.session.id == *id)
}

fn memory(world: &World) -> Arc<Memory> {
    let open = world.daemon.projects.open.all();
    assert_eq!(open.len(), 1, "one project is open");
    open[0].memory()
}

fn registered(world: &World, id: &SessionId) -> bool {
    world.daemon.projects.registry.snapshot().session(id).is_some()
}

/// Creates a session that has staged something.
async fn checkpointed(world: &World) -> (Shim, Arc<Session>) {
    let mut shim = world.shim().await;
    let staged = shim.call("memory_checkpoint", json!({ "summary": "half way" })).await;
    assert!(staged.starts_with("Staged."), "{staged}");
    let id = SessionId::new(shim.welcome.session.clone().unwrap());
    let session = status(world, &id).unwrap().session;
    (shim, session)
}

fn kept<'a>(memory: &'a Memory) -> Vec<&'a str> {
    let lesson = |body: &'a Body| match body {
        Body::Lesson(lesson) => Some(lesson.summary.as_str()),
        _ => None,
    };
    memory.records().filter_map(|record| lesson(&record.body)).collect()
}

/// Creates a session of a project whose journal cannot be read, open in the registry.
async fn in_a_broken_project(world: &World, id: &SessionId) -> PathBuf {
    let project = ProjectId(Uuid::from_u128(7));
    let known = world.daemon.projects.registry.snapshot().sessions().next().cloned().unwrap();
    let record = SessionRecord { session: id.clone(), project, ..known.as_ref().clone() };
    let decide: WriteCommand<Registry> = Arc::new(move |_, _| {
        Ok(Transition::silent(vec![RegistryChange::SessionBound(record.clone())]))
    });
    world.daemon.projects.registry.write(None, None, "bind", decide).await.unwrap();
    let directory = world.daemon.projects.open.directory(project);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("journal"), "no directory").unwrap();
    directory
}

#[tokio::test]
async fn a_session_that_cannot_be_ended_does_not_block_others() {
    let world = World::new().await;
    let (_shim, conversation) = checkpointed(&world).await;
    let id = conversation.id.clone();
    // By id, the broken one comes before the other. The table has no order.
    let (broken, other) = (id.subagent("a"), id.subagent("b"));
    for subagent in [&broken, &other] {
        let hello = Arc::clone(&conversation.hello);
        let session = Session::new(subagent.clone(), hello, None, Timestamp(1));
        world.daemon.sessions.table.restore(session);
    }
    let directory = in_a_broken_project(&world, &broken).await;
    assert!(keep_and_end(&world.daemon.sessions, &conversation).await.is_err());
    assert!(status(&world, &id).is_none() && status(&world, &other).is_none());
    assert!(memory(&world).staged_by(&id).is_none(), "what the conversation staged is kept");
    assert!(status(&world, &broken).is_some_and(|it| it.orphan), "as it stood");

    std::fs::remove_dir_all(&directory).unwrap();
    keep_and_end(&world.daemon.sessions, &conversation).await.unwrap();
    assert!(status(&world, &broken).is_none());
    assert_eq!(world.daemon.projects.registry.snapshot().sessions().count(), 0);
}

#[tokio::test]
async fn a_session_whose_work_cannot_be_kept_is_not_ended() {
    let world = World::new().await;
    let (_shim, from) = checkpointed(&world).await;
    let id = from.id.clone();
    let nowhere = Hello { cwd: Some("/nonexistent".to_owned()), ..hello_from("/".as_ref()) };
    let to = Session::new(SessionId::new("x:a"), Arc::new(nowhere), None, Timestamp(1));
    assert!(hand_over(&world.daemon.sessions, &from, &to).await.is_err());
    assert!(status(&world, &id).is_some());
    assert!(memory(&world).staged_by(&id).is_some());
}

#[tokio::test]
async fn a_call_that_outlives_its_session_leaves_nothing_staged() {
    let world = World::new().await;
    let (_shim, session) = checkpointed(&world).await;
    keep_and_end(&world.daemon.sessions, &session).await.unwrap();
    let arguments = json!({ "lessons": [{ "summary": "a late lesson" }] });
    let arguments = arguments.as_object().unwrap().clone();
    let call = crate::mcp::call_by_name(
        &world.daemon.admin.tools,
        Arc::clone(&session),
        "memory_checkpoint",
        arguments,
        anchord_memory::Audience::Agent,
    );
    call.await.unwrap();
    assert!(memory(&world).staged_by(&session.id).is_none(), "nobody else would look for it");
    assert_eq!(kept(&memory(&world)), ["a late lesson"]);
    assert!(!registered(&world, &session.id));
}

#[tokio::test]
async fn a_write_in_flight_when_its_session_ends_is_folded() {
    let world = World::new().await;
    let (_shim, session) = checkpointed(&world).await;
    let (by, table) = (Arc::clone(&session), Arc::clone(&world.daemon.sessions.table));
    let command: WriteCommand<Memory> = Arc::new(move |memory, now| {
        // The end's own fold comes before this in the queue.
        drop(table.end(&by.id));
        let part = Staged { summary: Some("late".to_owned()), ..Staged::default() };
        let plan = plan_checkpoint(memory, &by.provenance(now), part).unwrap();
        Ok(Transition::silent(plan.changes))
    });
    session.write(&world.daemon.sessions, None, "checkpoint", command).await.unwrap();
    assert!(memory(&world).staged_by(&session.id).is_none());
    assert!(!registered(&world, &session.id));
}

#[tokio::test]
async fn an_end_does_not_affect_the_session_if_it_returned_meanwhile() {
    let world = World::new().await;
    let (mut shim, session) = checkpointed(&world).await;
    let record = world.daemon.projects.registry.snapshot().session(&session.id).cloned().unwrap();
    let ending = world.daemon.sessions.table.end(&session.id);
    shim.call("memory_checkpoint", json!({ "summary": "and on" })).await;
    finish(&world.daemon.sessions, &EndingSession::from(record.as_ref()), NoticeCause::Ended)
        .await
        .unwrap();
    drop(ending);
    assert!(memory(&world).staged_by(&session.id).is_some(), "it is live");
    assert!(registered(&world, &session.id));
    assert!(!Arc::ptr_eq(&status(&world, &session.id).unwrap().session, &session));
}

#[tokio::test]
async fn an_interrupted_end_is_finished_by_the_sweep() {
    let world = World::new().await;
    let (_shim, session) = checkpointed(&world).await;
    let ending = world.daemon.sessions.table.end(&session.id);
    sweep(&world.daemon.sessions).await;
    assert!(memory(&world).staged_by(&session.id).is_some(), "somebody is about to end it");
    drop(ending);
    sweep(&world.daemon.sessions).await;
    assert!(memory(&world).staged_by(&session.id).is_none());
    assert!(!registered(&world, &session.id));
}

#[tokio::test]
async fn unregistered_work_is_folded_when_its_project_is_open() {
    let world = World::new().await;
    let (shim, session) = checkpointed(&world).await;
    let id = session.id.clone();
    // The state that an earlier build left: the registry has the session as ended, and its work is
    // there.
    let ended = id.clone();
    let decide: WriteCommand<Registry> = Arc::new(move |_, time| {
        let changes =
            vec![RegistryChange::SessionEnded { session: ended.clone(), time, saved: false }];
        Ok(Transition::silent(changes))
    });
    world.daemon.projects.registry.write(None, None, "end", decide).await.unwrap();
    drop((shim, session));
    poll(|| (world.daemon.sessions.table.connections() == 0).then_some(())).await;
    let world = world.restart(false).await;
    sweep(&world.daemon.sessions).await;
    assert_eq!(world.daemon.projects.open.all().len(), 0, "no project is opened to look for it");
    let mut other = world.shim().await;
    other.call("memory_status", json!({})).await;
    assert!(memory(&world).staged_by(&id).is_some());
    sweep(&world.daemon.sessions).await;
    assert!(memory(&world).staged_by(&id).is_none());
    assert_eq!(memory(&world).notices().count(), 1, "the next load says so");
}

#[tokio::test]
async fn a_session_missing_from_the_registry_returns_with_its_next_write() {
    let world = World::new().await;
    let (mut shim, session) = checkpointed(&world).await;
    let ended = session.id.clone();
    let decide: WriteCommand<Registry> = Arc::new(move |_, time| {
        let changes =
            vec![RegistryChange::SessionEnded { session: ended.clone(), time, saved: false }];
        Ok(Transition::silent(changes))
    });
    world.daemon.projects.registry.write(None, None, "end", decide).await.unwrap();
    sweep(&world.daemon.sessions).await;
    assert!(memory(&world).staged_by(&session.id).is_some(), "live work is never folded");
    shim.call("memory_checkpoint", json!({ "summary": "and on" })).await;
    assert!(registered(&world, &session.id));
}
