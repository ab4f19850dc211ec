//! Connections and sessions in the status.

use anchord_proto::hello::Hello;

use super::*;
use crate::testing::World;

#[tokio::test]
async fn a_shim_is_listed_before_its_first_call_with_build_and_pid_namespace() {
    let world = World::new().await;
    assert_eq!(status(&world.daemon.admin).await.unwrap().connections, []);
    let own = host::pid_namespace();
    let hello = world.hello();
    let contained = own.map(|own| own + 1);
    let away = Hello { build: "0.0.9".into(), pid: 7, pidns: contained, ..world.hello() };
    let _here = world.connect(hello.clone()).await;
    let _away = world.connect(away).await;
    let told = status(&world.daemon.admin).await.unwrap();
    assert_eq!((told.pid_namespace, told.sessions.len()), (own, 0));
    let listed: Vec<(u32, &str, bool)> =
        told.connections.iter().map(|c| (c.pid, c.build.as_str(), c.elsewhere)).collect();
    let expected = [(7, "0.0.9", contained.is_some()), (hello.pid, hello.build.as_str(), false)];
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn listing_projects_opens_no_memory() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", serde_json::json!({ "content": "in German", "scope": "user" })).await;
    shim.call("memory_note", serde_json::json!({ "content": "the port is 7717" })).await;
    drop(shim);
    let world = world.restart(false).await;
    let listed = projects(&world.daemon.sessions).await.unwrap().projects;
    assert_eq!(listed.iter().map(|project| project.name.as_str()).collect::<Vec<_>>(), ["demo"]);
    assert!(world.daemon.projects.open.all().is_empty());
    assert_eq!(status(&world.daemon.admin).await.unwrap().projects, listed);
}

#[tokio::test]
async fn what_is_staged_is_not_denied_after_a_restart() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_checkpoint", serde_json::json!({ "summary": "half done" })).await;
    let world = world.restart(true).await;
    let mut shim = shim.reconnect(&world).await;
    shim.initialize("2025-06-18").await;
    let listed = || sessions(&world.daemon.sessions);
    let known = |one: &SessionSummary| one.staged.summary || one.staged_unknown;
    let first = listed();
    assert!(first.len() == 1 && first.iter().all(known), "{first:?}");
    shim.call("memory_status", serde_json::json!({})).await;
    let [one]: [SessionSummary; 1] = listed().try_into().unwrap();
    assert!(one.staged.summary && !one.staged_unknown, "{one:?}");
    let root = first[0].project.as_ref().map(|project| project.root.as_str());
    assert!(root.is_some_and(|root| root.ends_with("demo")), "{first:?}");
    let id = |one: &SessionSummary| one.project.as_ref().map(|project| project.id.clone());
    assert_eq!(id(&first[0]), id(&one), "its project is known before its next call");
}

#[tokio::test]
async fn a_memory_that_cannot_be_read_is_marked_and_its_sessions_name_it() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_note", serde_json::json!({ "content": "the port is 7717" })).await;
    drop(shim);
    let listed = projects(&world.daemon.sessions).await.unwrap().projects;
    let [project]: [ProjectStatus; 1] = listed.try_into().unwrap();
    assert!(!project.unread && project.bytes > 0, "{project:?}");
    let directory = world.daemon.projects.open.directory(ProjectId(project.id.parse().unwrap()));
    let world = world.restart(false).await;
    std::fs::rename(&directory, directory.with_extension("away")).unwrap();
    std::fs::write(&directory, "not a directory, which root could read at any mode").unwrap();

    let mut shim = world.shim().await;
    let refused = shim.call("memory_load", serde_json::json!({})).await;
    assert!(refused.starts_with("ERROR "), "{refused}");
    let told = status(&world.daemon.admin).await.unwrap();
    let [unread]: [ProjectStatus; 1] = told.projects.try_into().unwrap();
    assert!(unread.unread && unread.last_used.is_none(), "{unread:?}");
    let why = unread.read_only.unwrap();
    assert!(why.starts_with(&format!("cannot read {}", directory.display())), "{why}");
    let session = told.sessions.into_iter().find(|session| session.connected).unwrap();
    assert_eq!(session.project.map(|it| it.id), Some(project.id));
    assert!(session.staged_unknown, "what it staged is there and cannot be seen");
}
