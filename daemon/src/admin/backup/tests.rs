//! A plan to restore holds for what it was made of.

use std::path::PathBuf;

use anchord_memory::Timestamp;
use serde_json::json;

use super::*;
use crate::store::{BackupHeader, BackupWriter};
use crate::testing::World;

/// Writes a backup of the world's project, up to an entry.
async fn back_up(world: &World, project: &str, until: u64) -> PathBuf {
    let query = BackupQuery { project: project.to_owned(), from: 1, until };
    let lines = backup_lines(&world.daemon.sessions, &query).await.unwrap();
    let header = BackupHeader::new::<Memory>("p".to_owned(), "/p".to_owned(), Timestamp(1));
    let mut writer = BackupWriter::new(Vec::new(), &header).unwrap();
    for line in lines.lines() {
        writer.line(line.as_bytes()).unwrap();
    }
    let path = Path::new(project).join(format!("backup-{until}"));
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

#[tokio::test]
async fn a_plan_is_refused_once_memory_has_changed() {
    let world = World::new().await;
    let project = world.hello().cwd.unwrap();
    let mut shim = world.shim_with("all").await;
    for content in ["one", "two", "three"] {
        shim.call("memory_note", json!({ "content": content })).await;
    }
    let (_, open) = opened(&world.daemon.sessions, &project).await.unwrap();
    let entries = open.memory().seq().0;
    drop(open);
    let early = back_up(&world, &project, entries - 1).await;
    let query = BackupQuery { project: project.clone(), from: entries, until: entries };
    let page = backup_lines(&world.daemon.sessions, &query).await.unwrap();
    assert_eq!(page.lines().count(), 1);

    let file = early.to_string_lossy().into_owned();
    let restore = |plan| {
        let params = RestoreParams { project: project.clone(), file: file.clone(), plan };
        restore_backup(&world.daemon.admin, params)
    };
    let planned = restore(None).await.unwrap();
    assert!(!planned.applied);
    assert!(matches!(planned.plan.here, MemoryHere::Later { .. }), "{planned:?}");
    let error = restore(Some(planned.plan.clone())).await.unwrap_err();
    assert!(error.error.contains("set it back to that revision"), "{error:?}");
    shim.call("memory_note", json!({ "content": "four" })).await;
    let error = restore(Some(planned.plan)).await.unwrap_err();
    assert!(error.error.contains("has changed since the plan was made"), "{error:?}");
    assert_eq!(error.code, ErrorCode::Refused);
}

#[tokio::test]
async fn what_a_session_writes_after_the_plan_is_not_replaced() {
    let world = World::new().await;
    let project = world.hello().cwd.unwrap();
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", json!({ "content": "one" })).await;
    let (_, open) = opened(&world.daemon.sessions, &project).await.unwrap();
    let (id, planned_on) = (open.id, open.memory().seq());
    drop(open);
    let backup = back_up(&world, &project, planned_on.0).await;
    shim.call("memory_note", json!({ "content": "two" })).await;
    let error = replace(&world.daemon.sessions, id, backup, planned_on).await.unwrap_err();
    assert!(error.error.contains("has changed since the plan was made"), "{error:?}");
    let found = shim.call("memory_search", json!({ "query": "two" })).await;
    assert!(found.contains("two"), "{found}");
}
