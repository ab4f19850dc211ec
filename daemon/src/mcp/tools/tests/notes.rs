//! An agent's work with notes, over the protocol.

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
async fn no_version_of_a_forgotten_note_is_current() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let fact = |content: &str| json!({ "key": "kw", "content": content, "tags": ["t"] });
    for (content, id) in [("w", "n1"), ("one", "n2")] {
        shim.call("memory_note", fact(content)).await;
        if id == "n2" {
            shim.call("memory_update", json!({ "id": id, "content": "two" })).await;
        }
        shim.call("memory_forget", json!({ "id": id })).await;
    }
    let mut said = Vec::new();
    for (id, version) in [("n1", 1), ("n1", 2), ("n2", 1), ("n2", 2), ("n2", 3)] {
        let got = shim.call("memory_get", json!({ "id": id, "version": version })).await;
        assert!(!got.contains("is current"), "{got}");
        said.push(format!("{id}@{version} {}", got.lines().last().unwrap()));
    }
    let got = shim.call("memory_get", json!({ "id": "n2" })).await;
    assert!(got.contains("NOT CURRENT: forgotten on "), "{got}");
    shim.call("memory_note", fact("three")).await;
    let got = shim.call("memory_get", json!({ "id": "n1", "version": 1 })).await;
    said.push(got.lines().last().unwrap().to_owned());
    let day = crate::clock::now().date();
    insta::assert_snapshot!(said.join("\n").replace(&day, "DAY"), @r"
    n1@1 NOT CURRENT: forgotten on DAY
    n1@2 NOT CURRENT: forgotten on DAY
    n2@1 NOT CURRENT: forgotten on DAY; it said last: n2 kw (#t): two
    n2@2 NOT CURRENT: forgotten on DAY
    n2@3 NOT CURRENT: forgotten on DAY
    NOT CURRENT: forgotten on DAY; `kw` is n3 now
    ");
}

#[tokio::test]
async fn an_archived_replacement_of_a_version_is_marked() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let text = |word: &str| json!({ "key": "log", "content": word.repeat(2_500) });
    shim.call("memory_note", text("old ")).await;
    shim.call("memory_note", text("new ")).await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    shim.call("memory_note", json!({ "content": "one more" })).await;
    let got = shim.call("memory_get", json!({ "id": "n1", "version": 1 })).await;
    let last = got.lines().last().unwrap();
    assert!(last.starts_with("NOT CURRENT: replaced ") && last.ends_with(" [archived]"), "{got}");
}

#[tokio::test]
async fn items_are_stored_one_by_one() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items = json!([
        { "content": "one" },
        { "content": "two", "importance": "high" },
        { "cntent": "three" },
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
    assert!(two.call("memory_list", json!({})).await.starts_with("Nothing is recorded"));
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
        ("memory_search", json!({ "query": "x", "since": "someday" })),
        ("memory_search", json!({ "query": "x", "cursor": "next" })),
        ("memory_search", json!({ "query": ["x", "y"] })),
        ("memory_list", json!({ "kinds": ["law"] })),
        ("memory_list", json!({ "cursor": "x" })),
        ("memory_export", json!({ "cursor": 99_999 })),
        ("memory_configure", json!({ "checkpoint_mode": "eager" })),
    ] {
        let answer = shim.call(tool, arguments).await;
        assert!(answer.starts_with("ERROR "), "{answer}");
        insta::assert_snapshot!(answer);
    }
}

/// Returns notes of about 60 tokens each, no two alike.
pub(super) fn long(numbers: std::ops::Range<u32>) -> serde_json::Value {
    let text = |n: u32| {
        let words: Vec<String> = (0..20).map(|word| format!("w{}x{}", n * 31 + word, n)).collect();
        json!({ "content": format!("finding {n}: {}", words.join(" ")) })
    };
    json!({ "items": numbers.map(text).collect::<Vec<_>>() })
}

#[tokio::test]
async fn a_write_above_the_budget_archives_notes_and_loses_nothing() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_configure", json!({ "budget_tokens": 5_000 })).await;
    shim.call("memory_note", json!({ "content": "keep me in view", "pinned": true })).await;
    let stored = shim.call("memory_note", long(0..60)).await;
    assert!(stored.contains("Compacted from "), "{stored}");
    let status = shim.call("memory_status", json!({})).await;
    let line = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("kept: ").starts_with("kept: 61 of 100000 notes"), "{status}");
    let tokens: u32 = line("budget: ")
        .split(", ")
        .find_map(|part| part.strip_suffix(" tokens")?.parse().ok())
        .unwrap();
    assert!(tokens <= 4_000, "{status}");

    // An archived note is still found, and is active again once it is used.
    let list = shim.call("memory_list", json!({ "limit": 100 })).await;
    let line = list.lines().find(|line| line.ends_with("[archived]")).unwrap();
    let (id, rest) = line.split_once(": finding ").unwrap();
    let query = json!({ "query": format!("\"finding {}\"", rest.split(':').next().unwrap()) });
    let found = shim.call("memory_search", query.clone()).await;
    assert!(found.starts_with(id) && found.contains("[archived]"), "{found}");
    let got = shim.call("memory_get", json!({ "id": id })).await;
    assert!(got.contains("was archived"), "{got}");
    let found = shim.call("memory_search", query).await;
    assert!(found.starts_with(id) && !found.contains("[archived]"), "{found}");
    let pinned = shim.call("memory_search", json!({ "query": "keep view" })).await;
    assert!(!pinned.contains("[archived]"), "{pinned}");
}

#[tokio::test]
async fn compacting_shows_its_plan_and_then_does_it() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    shim.call("memory_note", long(0..6)).await;
    let nothing = shim.call("memory_compact", json!({ "target_usage": 1, "dry_run": true })).await;
    assert!(nothing.starts_with("Nothing to compact"), "{nothing}");
    let plan = json!({ "target_usage": 0.2, "dry_run": true });
    let planned = shim.call("memory_compact", plan.clone()).await;
    assert!(planned.contains("nothing is changed yet"), "{planned}");
    assert_eq!(shim.call("memory_compact", plan).await, planned);
    let done = shim.call("memory_compact", json!({ "target_usage": 0.2 })).await;
    assert!(done.starts_with("Compacted from "), "{done}");
    insta::assert_snapshot!(shim.call("memory_compact", json!({ "target_usage": 7 })).await);
}
