//! What an agent does with notes, over the protocol.

use serde_json::json;

use crate::testing::World;

#[tokio::test]
async fn a_note_is_stored_found_updated_and_forgotten() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    insta::assert_snapshot!(
        shim.call("memory_note", json!({ "content": "We decided to rotate OAuth tokens hourly" }))
            .await
    );
    insta::assert_snapshot!(shim.call("memory_search", json!({ "query": "token rotation" })).await);
    insta::assert_snapshot!(
        shim.call("memory_update", json!({ "id": "n1", "pinned": true, "importance": 8 })).await
    );
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "n1" })).await);
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "n1" })).await);
    insta::assert_snapshot!(shim.call("memory_search", json!({ "query": "token" })).await);
}

#[tokio::test]
async fn a_fact_is_found_by_its_key_and_tells_which_version_is_current() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for content in ["make all", "cargo build"] {
        shim.call("memory_note", json!({ "key": "build.command", "content": content })).await;
    }
    insta::assert_snapshot!(shim.call("memory_get", json!({ "key": "build.command" })).await);
    insta::assert_snapshot!(
        shim.call("memory_get", json!({ "key": "build.command", "version": 1 })).await
    );
    insta::assert_snapshot!(
        shim.call("memory_get", json!({ "key": "build.command", "version": 2 })).await
    );
    insta::assert_snapshot!(shim.call("memory_get", json!({ "key": "build command" })).await);
    insta::assert_snapshot!(shim.call("memory_search", json!({ "key": "build" })).await);
}

#[tokio::test]
async fn items_are_stored_one_by_one() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items = json!([
        { "content": "one" },
        { "content": "two", "importance": "high" },
        { "contents": "three" },
        { "content": "four", "expires": "soon" },
        "five",
        { "content": "six", "scope": "session" },
    ]);
    insta::assert_snapshot!(shim.call("memory_note", json!({ "items": items })).await);
    insta::assert_snapshot!(shim.call("memory_note", json!({})).await);
    insta::assert_snapshot!(shim.call("memory_note", json!({ "content": " " })).await);
}

#[tokio::test]
async fn a_sessions_own_note_is_seen_by_others_once_it_is_shared() {
    let world = World::new().await;
    let (mut one, mut two) = (world.shim().await, world.shim_with("all").await);
    let note = json!({ "content": "a draft of the plan", "scope": "session" });
    insta::assert_snapshot!(one.call("memory_note", note).await);
    let query = || json!({ "query": "draft" });
    assert!(two.call("memory_search", query()).await.starts_with("Nothing matches"));
    insta::assert_snapshot!(two.call("memory_get", json!({ "id": "n1" })).await);
    assert!(two.call("memory_list", json!({})).await.starts_with("Nothing matches"));
    assert!(!two.call("memory_export", json!({ "format": "json" })).await.contains("draft"));
    insta::assert_snapshot!(
        one.call("memory_update", json!({ "id": "n1", "scope": "project" })).await
    );
    assert!(two.call("memory_search", query()).await.starts_with("n1: a draft"));
}

#[tokio::test]
async fn what_is_configured_lasts_and_says_where_it_comes_from() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    insta::assert_snapshot!(shim.call("memory_note", json!({ "content": "x" })).await);
    drop(shim);
    let mut all = world.shim_with("all").await;
    insta::assert_snapshot!(all.call("memory_configure", json!({})).await);
    insta::assert_snapshot!(all.call("memory_configure", json!({ "budget_tokens": 50_000 })).await);
    let own = json!({ "scope": "session", "budget_tokens": 9_000 });
    all.call("memory_configure", own).await;
    insta::assert_snapshot!(all.call("memory_configure", json!({ "budget_tokens": 9 })).await);
    drop(all);
    let world = world.restart(false).await;
    let mut all = world.shim_with("all").await;
    insta::assert_snapshot!(all.call("memory_configure", json!({})).await);
}

#[tokio::test]
async fn a_mistake_is_answered_with_what_to_do() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", json!({ "content": "x" })).await;
    for (tool, arguments) in [
        ("memory_get", json!({})),
        ("memory_update", json!({ "id": "n1" })),
        ("memory_update", json!({ "id": "n7", "pinned": true })),
        ("memory_update", json!({ "id": "n1", "scope": "session" })),
        ("memory_search", json!({ "query": "x", "since": "yesterday" })),
        ("memory_search", json!({ "query": "x", "cursor": "next" })),
        ("memory_search", json!({ "queries": "x" })),
        ("memory_list", json!({ "kinds": ["rule"] })),
        ("memory_list", json!({ "cursor": "x" })),
        ("memory_export", json!({ "cursor": 99_999 })),
        ("memory_configure", json!({ "checkpoint_mode": "eager" })),
    ] {
        let answer = shim.call(tool, arguments).await;
        assert!(answer.starts_with("ERROR "), "{answer}");
        insta::assert_snapshot!(answer);
    }
}
