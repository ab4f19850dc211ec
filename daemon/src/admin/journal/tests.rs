//! The files that a rebuild removes, and those that it keeps.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::testing::World;

/// A disk that fails for a moment must not cost a snapshot: it may be all that is left.
#[tokio::test]
async fn an_unreadable_snapshot_is_not_removed() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_note", json!({ "content": "tide tables are in UTC" })).await;
    let demo = world.directory("demo");
    let project = demo.to_str().unwrap();
    let snapshots = world
        .daemon
        .projects
        .open
        .directory(world.daemon.projects.open.all()[0].id)
        .join("snapshot");
    fs::create_dir_all(&snapshots).unwrap();
    let (snapshot, kept) = (snapshots.join("000001.jsonl"), snapshots.join("kept"));
    fs::write(&kept, "not what was written\n").unwrap();
    // No read of it succeeds, for root either.
    symlink(&snapshot, &snapshot).unwrap();
    let verified = verify(&world.daemon.sessions, project).await.unwrap();
    assert!(verified.problems.iter().all(|problem| problem.is_unread), "{verified:?}");
    assert_eq!(verified.problems.len(), 1);
    let refused = rebuild(&world.daemon.sessions, project).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Busy, "{refused:?}");
    assert!(fs::symlink_metadata(&snapshot).is_ok(), "it is still there");

    fs::rename(&kept, &snapshot).unwrap();
    rebuild(&world.daemon.sessions, project).await.unwrap();
    assert!(!snapshot.exists(), "now it is known to be damaged");
    assert!(verify(&world.daemon.sessions, project).await.unwrap().is_sound());
}
