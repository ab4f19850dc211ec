//! Work that an ending session leaves for the next one.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Memory, SessionId};

use super::{context, ended, prompt, started, told, work};
use crate::hooks::stage_silent;
use crate::project::{Transition, WriteCommand};
use crate::testing::{World, poll};

#[tokio::test]
async fn a_session_starting_while_another_ends_sees_its_work() {
    let world = World::new().await;
    told(&world, &work("a")).await;
    // This prompt is pending but not staged, so the end waits first for it to be staged.
    told(&world, &[prompt("a", "and spaces")]).await;
    let project = Arc::clone(&world.daemon.projects.open.all()[0]);
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = parking_lot::Mutex::new(released);
    let decide: WriteCommand<Memory> = Arc::new(move |_, _| {
        released.lock().recv().ok();
        Ok(Transition::silent(Vec::new()))
    });
    let busy = tokio::spawn(async move { project.owner.write(None, None, "busy", decide).await });
    let end = ended("a");
    let ending = world.hook("claude-code", &end);
    let next = async {
        let id = SessionId::new("claude-code:a");
        poll(|| world.daemon.sessions.table.is_ending(&id).then_some(())).await;
        let printed = world.hook("claude-code", &started("b", "startup")).await;
        drop(release);
        context(&printed)
    };
    let (_, load) = tokio::join!(ending, next);
    busy.await.unwrap().unwrap();
    assert!(load.contains("Kept from a session that ended without saving"), "{load}");
    assert!(load.contains("Said last: Tabs are accepted now."), "{load}");
}

/// The disk may be back later.
#[tokio::test]
async fn activity_that_cannot_be_staged_at_the_end_is_staged_later() {
    let world = World::new().await;
    told(&world, &work("a")).await;
    told(&world, &[prompt("a", "and count the spaces")]).await;
    let open = &world.daemon.projects.open;
    let id = open.all()[0].id;
    let (place, away) = (open.directory(id), open.directory(id).with_extension("away"));
    let (from, to) = (place.clone(), away.clone());
    open.close_and(id, move |_| std::fs::rename(from, to)).await.unwrap();
    told(&world, &[ended("a")]).await;
    std::fs::rename(away, place).unwrap();
    stage_silent(&world.daemon.hooks, Duration::ZERO).await;
    let memory = open.all()[0].memory();
    let staged = memory.staged_by(&SessionId::new("claude-code:a")).unwrap();
    let row = staged.captured.as_ref().unwrap().row_summary();
    assert!(row.contains("(2 prompts)"), "{row}");
}
