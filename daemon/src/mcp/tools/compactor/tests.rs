//! Calls of that system as its users make them, its replies, and the original's bugs.

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use std::sync::Arc;

use anchord_memory::{ItemIds, Kind, RecordId};

use crate::project::ProjectService;
use crate::testing::{Shim, World, dead};

/// An agent with that tool set. Ids of items depend on their project, so replies and arguments have
/// those of a memory without one here.
struct Items {
    shim: Shim,
    projects: Arc<ProjectService>,
}

impl Items {
    async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let arguments = self.swapped(&arguments.to_string(), false);
        let said = self.shim.call(tool, serde_json::from_str(&arguments).unwrap()).await;
        self.swapped(&said, true)
    }

    /// Replaces the ids of a project's items by the stable ones, or the other way round.
    fn swapped(&self, text: &str, to_stable: bool) -> String {
        let open = self.projects.open.all();
        let Some(open) = open.first() else { return text.to_owned() };
        let (own, stable) = (ItemIds::of(&open.id.to_string()), ItemIds::unsalted());
        (1..100).fold(text.to_owned(), |text, number| {
            let id = RecordId::new(Kind::Note, number);
            let (from, to) = (own.show(id), stable.show(id));
            if to_stable { text.replace(&from, &to) } else { text.replace(&to, &from) }
        })
    }
}

/// Returns a hello with that tool set, for a shim whose process is gone once it hangs up.
fn hello(world: &World) -> Hello {
    Hello { tools: Some("compactor".to_owned()), ..dead(world.hello()) }
}

async fn shim(world: &World) -> Items {
    shim_of(world, hello(world)).await
}

async fn shim_of(world: &World, hello: Hello) -> Items {
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    Items { shim, projects: Arc::clone(&world.daemon.projects) }
}

/// Hangs up and waits until the daemon has noticed.
async fn gone(world: &World, items: Items) {
    let session = items.shim.welcome.session.as_deref().unwrap();
    let session = anchord_memory::SessionId::new(session);
    drop(items);
    crate::testing::poll(|| (!world.daemon.sessions.table.live().contains(&session)).then_some(()))
        .await;
}

fn decision() -> Value {
    json!({ "content": "We decided that the port is 4000.", "tags": "port, Network", "importance": 8 })
}

fn long() -> String {
    "The parser reads one token at a time. ".repeat(12)
}

/// Returns the id in a reply to `store`.
fn id_in(said: &str) -> String {
    said.split(['[', ']']).nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn items_are_stored_recalled_and_listed() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    insta::assert_snapshot!(shim.call("recall", json!({})).await, @r"
    Budget: 0/100000 tokens (0.0%), 0 items stored

    Nothing is stored yet. Use `store` to save what you will want to have again.
    ");
    insta::assert_snapshot!(shim.call("store", decision()).await, @r"
    Stored [5692161d100b05e5] (10 tokens)
    Budget: 10/100000 tokens (0%), 1 items
    ");
    insta::assert_snapshot!(shim.call("store", json!({ "content": long() })).await, @r"
    Stored [dbd238973a2b148a] (109 tokens)
    Budget: 119/100000 tokens (0%), 2 items
    ");
    insta::assert_snapshot!(shim.call("recall", json!({ "limit": 5 })).await, @r"
    Budget: 119/100000 tokens (0.1%), 2 items stored

    Top 2 items by relevance:

    [5692161d100b05e5] importance:8 tokens:10
    Tags: port, network
    ---
    We decided that the port is 4000.

    [dbd238973a2b148a] importance:5 tokens:109
    ---
    The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser...
    ");
    insta::assert_snapshot!(shim.call("list", json!({ "limit": 1 })).await, @r"
    Items 1-1 of 2:

    [dbd238973a2b148a] importance:5 tokens:109
    The parser reads one token at a time. The parser reads one token at a time. The...
    ");
    insta::assert_snapshot!(shim.call("list", json!({ "offset": 7 })).await, @"No items (total: 2).");
    insta::assert_snapshot!(shim.call("status", json!({})).await, @r"
    Budget: 119/100000 tokens (0.1%)
    Items: 2
    Auto-compact: true (threshold: 90%)
    ");
    insta::assert_snapshot!(shim.call("export", json!({ "summaries_only": true })).await, @r"
    Exported 2 items (summaries where available):

    [5692161d100b05e5] importance:8 tokens:10
    Tags: port, network
    ---
    We decided that the port is 4000.

    [dbd238973a2b148a] importance:5 tokens:109
    ---
    The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time. The parser reads one token at a time.
    ");
    let whole = shim.call("export", json!({})).await;
    assert!(
        whole.starts_with("Exported 2 items:\n\n[") && whole.contains(long().trim()),
        "{whole}"
    );
}

#[tokio::test]
async fn one_item_is_changed_by_its_id_in_either_form() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    let id = id_in(&shim.call("store", decision()).await);
    let summary = json!({ "id": id, "summary": "port 4000" });
    insta::assert_snapshot!(shim.call("update", summary).await, @"Updated summary for [5692161d100b05e5]");
    insta::assert_snapshot!(shim.call("pin", json!({ "id": "n1" })).await, @"Pinned [5692161d100b05e5]");
    insta::assert_snapshot!(shim.call("recall", json!({})).await, @r"
    Budget: 10/100000 tokens (0.0%), 1 items stored

    Top 1 items by relevance:

    [5692161d100b05e5] importance:8 tokens:10 PINNED
    Tags: port, network
    ---
    port 4000
    ");
    insta::assert_snapshot!(shim.call("unpin", json!({ "id": id })).await, @"Unpinned [5692161d100b05e5]");
    insta::assert_snapshot!(shim.call("forget", json!({ "id": id })).await, @"Removed [5692161d100b05e5]. Budget: 0 tokens (0%), 0 items");
    assert!(!shim.call("recall", json!({})).await.contains(&id));
}

#[tokio::test]
async fn items_are_stored_in_bulk_and_a_bad_one_fails_alone() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    let items = json!([
        { "content": "first", "tags": "a,b" },
        { "content": "second", "importance": 11 },
        { "summary": "third" },
        { "content": "fourth", "tags": ["c"] },
    ]);
    let text = items.to_string();
    insta::assert_snapshot!(shim.call("bulk_store", json!({ "items": text })).await, @r"
    Stored [5692161d100b05e5] (1 tokens)
    Stored [dbd238973a2b148a] (1 tokens)
    FAILED item 3: cannot be read: missing field `content`
    Stored [1e535eede31428f0] (2 tokens)

    Stored: 3, Failed: 1
    Budget: 4/100000 tokens (0%), 3 items
    ");
    let bad = json!({ "items": "[{\"content\":\" \"},{\"content\":[7]}]" });
    insta::assert_snapshot!(shim.call("bulk_store", bad).await, @r"
    FAILED item 1: content is empty
    FAILED item 2: content cannot be read: invalid type: sequence, expected a string

    Stored: 0, Failed: 2
    Budget: 4/100000 tokens (0%), 3 items
    ");
    let array = json!({ "items": [{ "content": "fifth" }] });
    assert!(shim.call("bulk_store", array).await.contains("Stored: 1, Failed: 0"));
}

#[tokio::test]
async fn items_are_found_by_words_and_tags() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    shim.call("store", decision()).await;
    shim.call("store", json!({ "content": "The cache is warmed.", "tags": "cache" })).await;
    insta::assert_snapshot!(shim.call("query", json!({ "query": "ports" })).await, @r"
    Found 1 items:

    [5692161d100b05e5] importance:8 tokens:10
    Tags: port, network
    ---
    We decided that the port is 4000.
    ");
    let tagged = shim.call("query", json!({ "tags": " Cache," })).await;
    assert!(tagged.starts_with("Found 1 items:") && tagged.contains("warmed"), "{tagged}");
    insta::assert_snapshot!(shim.call("query", json!({ "query": "zebra" })).await, @"No matching items found.");
    let all = shim.call("query", json!({ "query": "the port cache", "limit": 1 })).await;
    assert!(all.starts_with("Found 1 items:"), "{all}");
}

/// Returns texts that have little in common, of about forty tokens each.
fn texts() -> Vec<Value> {
    let text = |n: usize| {
        let words: Vec<String> = (0..20).map(|at| format!("w{}", n * 31 + at * 7)).collect();
        json!({ "content": format!("Item {n}: {}", words.join(" ")), "importance": 1 + n % 9 })
    };
    (0..24).map(text).collect()
}

#[tokio::test]
async fn compacting_reports_its_result_and_items_that_need_a_summary() {
    let world = World::new().await;
    let mut shim = shim_of(&world, Hello { budget: Some(1_000), ..hello(&world) }).await;
    insta::assert_snapshot!(shim.call("compact", json!({})).await, @r"
    Compaction complete:
    - Evicted: 0 items
    - Summary promoted: 0 items
    - Deduplicated: 0 pairs
    - Tokens freed: 0
    - Budget: 0 -> 0 tokens
    ");
    assert!(!world.directory("demo/.anchord").exists(), "nothing to compact writes nothing");
    shim.call("store", json!({ "content": long(), "summary": "how the parser reads" })).await;
    let same = "We decided that the cache is warmed at start since the first request timed out";
    for end in [".", "!"] {
        shim.call("store", json!({ "content": format!("{same}{end}") })).await;
    }
    let list = "alpha, beta, gamma, delta; ".repeat(14);
    let long = id_in(&shim.call("store", json!({ "content": list, "importance": 10 })).await);
    shim.call("pin", json!({ "id": long })).await;
    let first = texts().remove(0);
    shim.call("store", first).await;
    insta::assert_snapshot!(shim.call("status", json!({})).await, @r"
    Budget: 298/1000 tokens (29.8%)
    Items: 5
    Auto-compact: true (threshold: 90%)
    ");
    insta::assert_snapshot!(shim.call("compact", json!({ "target_usage": 0.25 })).await, @r#"
    Compaction complete:
    - Evicted: 0 items
    - Summary promoted: 1 items
    - Deduplicated: 0 pairs
    - Tokens freed: 105
    - Budget: 298 -> 193 tokens

    These items have no summary; give each one with `update`:
    - [b7a4712c74562914] 113 tokens: "alpha, beta, gamma, delta; alpha, beta, gamma, delta; alpha, beta, gamma, delta;..."
    "#);
    insta::assert_snapshot!(shim.call("compact", json!({ "target_usage": 0.1 })).await, @r#"
    Compaction complete:
    - Evicted: 3 items
    - Summary promoted: 0 items
    - Deduplicated: 1 pairs
    - Tokens freed: 80
    - Budget: 193 -> 113 tokens

    These items have no summary; give each one with `update`:
    - [b7a4712c74562914] 113 tokens: "alpha, beta, gamma, delta; alpha, beta, gamma, delta; alpha, beta, gamma, delta;..."
    Evicted: [5692161d100b05e5], [1e535eede31428f0], [b6bf613dbebb45dc], [dbd238973a2b148a]; `query` still finds them
    "#);
    let found = shim.call("query", json!({ "query": "Item 0" })).await;
    assert!(found.contains(" ARCHIVED"), "set aside, not lost: {found}");
    for out_of_bounds in [json!(-1), json!(1.5), json!(2), json!(null), json!("2.5")] {
        let said = shim.call("compact", json!({ "target_usage": out_of_bounds })).await;
        assert!(said.starts_with("Compaction complete:"), "as by default: {said}");
    }
}

#[tokio::test]
async fn storing_compacts_automatically_and_loses_nothing() {
    let world = World::new().await;
    let mut shim = shim_of(&world, Hello { budget: Some(1_000), ..hello(&world) }).await;
    let used = |said: &str| -> u64 {
        let (_, rest) = said.split_once("Budget: ").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    };
    for mut text in texts() {
        let content = text["content"].as_str().unwrap();
        text["content"] = format!("{content}{}", " and so on".repeat(10)).into();
        let said = shim.call("store", text).await;
        assert!(used(&said) <= 900, "above nine tenths it comes down: {said}");
    }
    let status = shim.call("query", json!({ "query": "Item", "limit": 50 })).await;
    assert!(status.contains(" ARCHIVED"), "it came down: {status}");
    for n in 0..24 {
        let found = shim.call("query", json!({ "query": format!("\"Item {n}\"") })).await;
        assert!(found.starts_with("Found 1 items (budget tight"), "{n}: {found}");
    }
    shim.call("configure", json!({ "auto_compact": false })).await;
    let many = Value::from(
        texts()
            .into_iter()
            .map(|text| json!({ "content": format!("again {text}") }))
            .collect::<Vec<_>>(),
    );
    shim.call("bulk_store", json!({ "items": many.to_string() })).await;
    let status = shim.call("status", json!({})).await;
    assert!(used(&status) > 600, "not when it is switched off: {status}");
}

#[tokio::test]
async fn configuring_shows_the_effective_settings() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    let told =
        json!({ "token_budget": 5_000, "auto_compact": false, "auto_compact_threshold": 0.75 });
    insta::assert_snapshot!(shim.call("configure", told).await, @r"
    Configuration updated.
    Budget: 0/5000 tokens (0.0%), 0 items
    Auto-compact: false (threshold: 75%)
    ");
    insta::assert_snapshot!(shim.call("configure", json!({ "auto_compact_threshold": 80 })).await, @r"
    Configuration updated.
    Budget: 0/5000 tokens (0.0%), 0 items
    Auto-compact: false (threshold: 80%)
    ");
}

#[tokio::test]
async fn errors_are_worded_like_the_originals() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    for tool in ["pin", "unpin", "forget"] {
        let said = shim.call(tool, json!({ "id": "0123456789abcdef" })).await;
        assert_eq!(said, "ERROR Item [0123456789abcdef] not found", "{tool}");
    }
    let missing = json!({ "id": "n7", "summary": "s" });
    insta::assert_snapshot!(shim.call("update", missing).await, @"ERROR Item [n7] not found");
    let id = id_in(&shim.call("store", decision()).await);
    shim.call("forget", json!({ "id": id })).await;
    let again = shim.call("forget", json!({ "id": id })).await;
    assert_eq!(again, format!("ERROR Item [{id}] not found"));
    insta::assert_snapshot!(shim.call("store", json!({ "content": "" })).await, @"ERROR content is empty");
    insta::assert_snapshot!(shim.call("store", json!({})).await, @"ERROR missing field `content`");
    insta::assert_snapshot!(shim.call("bulk_store", json!({ "items": "[{" })).await, @"ERROR Invalid JSON: EOF while parsing an object at line 1 column 2");
    insta::assert_snapshot!(shim.call("bulk_store", json!({ "items": "{}" })).await, @"ERROR items is not a JSON array");
    insta::assert_snapshot!(shim.call("bulk_store", json!({ "items": "[]" })).await, @"ERROR No items provided");
    insta::assert_snapshot!(shim.call("configure", json!({ "auto_compact_threshold": 0.01 })).await, @"ERROR auto_compact_threshold is 0.01; give a number from 0.1 to 1");
}

#[tokio::test]
async fn a_client_gets_back_items_of_its_own_ended_sessions_only() {
    let world = World::new().await;
    let mut first = shim(&world).await;
    first.call("store", decision()).await;
    let mut beside = shim(&world).await;
    let recalled = beside.call("recall", json!({})).await;
    assert!(recalled.contains("0 items stored"), "the first is live: {recalled}");
    gone(&world, first).await;
    let recalled = beside.call("recall", json!({})).await;
    assert!(
        recalled.contains("1 items stored") && recalled.contains("the port is 4000"),
        "{recalled}"
    );
    let pinned = beside.call("pin", json!({ "id": "n1" })).await;
    assert!(pinned.starts_with("Pinned"), "what was left can be changed: {pinned}");

    let mut other = world.shim().await;
    let listed = other.call("memory_status", json!({})).await;
    assert!(listed.contains("your own notes: 0 notes"), "{listed}");
}

#[tokio::test]
async fn shared_notes_are_recalled_at_no_cost() {
    let world = World::new().await;
    let mut other = world.shim().await;
    other.call("memory_note", json!({ "content": "The build needs protoc." })).await;
    let mut shim = shim(&world).await;
    insta::assert_snapshot!(shim.call("recall", json!({})).await, @r"
    Budget: 0/100000 tokens (0.0%), 1 items stored

    Top 1 items by relevance:

    [5692161d100b05e5] importance:5 tokens:5
    ---
    The build needs protoc.
    ");
}

/// The original saves nothing if a state directory is given.
#[tokio::test]
async fn a_state_directory_has_its_own_lasting_memory() {
    let world = World::new().await;
    std::fs::create_dir(world.directory("demo/.git")).unwrap();
    let apart = world.directory("demo/.state");
    std::fs::create_dir(&apart).unwrap();
    let named = |world: &World| Hello {
        project: apart.to_str().map(str::to_owned),
        exact: true,
        ..hello(world)
    };
    let mut first = shim_of(&world, named(&world)).await;
    first.call("store", decision()).await;
    gone(&world, first).await;
    let world = world.restart(false).await;
    let mut next = shim_of(&world, named(&world)).await;
    let recalled = next.call("recall", json!({})).await;
    assert!(recalled.contains("the port is 4000"), "{recalled}");
    let mut outside = shim(&world).await;
    let recalled = outside.call("recall", json!({})).await;
    assert!(recalled.contains("0 items stored"), "another memory: {recalled}");
}

/// The original goes back to the default budget after a restart.
#[tokio::test]
async fn a_budget_survives_a_restart_and_the_end_of_its_session() {
    let world = World::new().await;
    let mut first = shim_of(&world, Hello { budget: Some(7_000), ..hello(&world) }).await;
    let status = first.call("status", json!({})).await;
    assert!(status.contains("Budget: 0/7000 tokens"), "the flag is in force: {status}");
    first.call("configure", json!({ "token_budget": 5_000, "auto_compact_threshold": 0.5 })).await;
    gone(&world, first).await;
    let world = world.restart(true).await;
    let mut next = shim(&world).await;
    insta::assert_snapshot!(next.call("status", json!({})).await, @r"
    Budget: 0/5000 tokens (0.0%)
    Items: 0
    Auto-compact: true (threshold: 50%)
    ");
    let mut flagged = shim_of(&world, Hello { budget: Some(7_000), ..hello(&world) }).await;
    let status = flagged.call("status", json!({})).await;
    assert!(status.contains("0/5000"), "what was configured is above the flag: {status}");
}

/// In the original, a restart makes all items equally fresh.
#[tokio::test]
async fn a_restart_does_not_renew_recency() {
    let world = World::new().await;
    let mut first = shim(&world).await;
    for content in ["The first of them.", "The second of them.", "The third of them."] {
        first.call("store", json!({ "content": content })).await;
    }
    let written = |world: &World| -> Vec<_> {
        let memory = world.daemon.projects.open.all()[0].memory();
        memory.records().map(|record| (record.id, record.updated.clone())).collect()
    };
    let order = |said: &str| -> Vec<String> {
        said.lines().filter(|line| line.ends_with("them.")).map(str::to_owned).collect()
    };
    let (before, said) = (written(&world), first.call("recall", json!({})).await);
    gone(&world, first).await;
    let world = world.restart(true).await;
    let mut next = shim(&world).await;
    let recalled = next.call("recall", json!({})).await;
    assert_eq!(written(&world), before);
    assert_eq!(order(&recalled), order(&said));
    assert_eq!(order(&recalled)[0], "The third of them.");
}

#[tokio::test]
async fn numbers_out_of_bounds_are_accepted_as_in_the_original() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    for (importance, kept) in [
        (json!(0), 5),
        (json!(-3), 5),
        (json!(99), 10),
        (json!("7"), 7),
        (json!(6.0), 6),
        (json!(null), 5),
    ] {
        let content = format!("with {importance}");
        shim.call("store", json!({ "content": content, "importance": importance })).await;
        let found = shim.call("query", json!({ "query": format!("\"{content}\"") })).await;
        assert!(found.contains(&format!("importance:{kept} ")), "{importance}: {found}");
    }
    for limit in [json!(0), json!(-5)] {
        let recalled = shim.call("recall", json!({ "limit": limit })).await;
        assert!(recalled.contains("Top 0 items by relevance:"), "{limit}: {recalled}");
    }
    for limit in [json!(0), json!(-5), json!(null), json!("20"), json!(20.0)] {
        let listed = shim.call("list", json!({ "limit": limit, "offset": -2 })).await;
        assert!(listed.starts_with("Items 1-6 of 6:"), "{limit}: {listed}");
        let found = shim.call("query", json!({ "query": "with", "limit": limit })).await;
        assert!(found.starts_with("Found 6 items:"), "{limit}: {found}");
    }
    let small = shim.call("configure", json!({ "token_budget": 10 })).await;
    assert!(small.contains("/10 tokens"), "{small}");
    let same = shim.call("configure", json!({ "token_budget": -1 })).await;
    assert!(same.contains("/10 tokens"), "{same}");
    let mut tiny = shim_of(&world, Hello { budget: Some(40), ..hello(&world) }).await;
    tiny.call("configure", json!({ "token_budget": 40 })).await;
    let stored = tiny.call("store", json!({ "content": "one two three" })).await;
    assert!(stored.contains("/40 tokens"), "{stored}");
}

#[tokio::test]
async fn a_query_with_several_tags_finds_items_with_any_of_them() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    for (content, tags) in [("first", "a"), ("second", "B"), ("third", "c")] {
        shim.call("store", json!({ "content": content, "tags": tags })).await;
    }
    let found = shim.call("query", json!({ "tags": "a, b" })).await;
    assert!(found.starts_with("Found 2 items:") && !found.contains("third"), "{found}");
    let found = shim.call("query", json!({ "tags": "a, b", "query": "second" })).await;
    assert!(found.contains("second") && !found.contains("first"), "{found}");
}

/// In the score of anchord, the error's multiplier would put it first.
#[tokio::test]
async fn a_recall_ranks_by_the_originals_score() {
    let world = World::new().await;
    let mut shim = shim_of(&world, Hello { budget: Some(400), ..hello(&world) }).await;
    let long = format!("error: {}", "the build fails again and again ".repeat(20));
    for (content, importance) in [(long.as_str(), 3), ("The port is 4000 here.", 5)] {
        shim.call("store", json!({ "content": content, "importance": importance })).await;
    }
    let recalled = shim.call("recall", json!({})).await;
    let at = |text: &str| recalled.find(text).unwrap();
    assert!(at("The port is 4000") < at("error: the build"), "{recalled}");
    let id = id_in(&shim.call("store", json!({ "content": "low", "importance": 1 })).await);
    shim.call("pin", json!({ "id": id })).await;
    let recalled = shim.call("recall", json!({ "limit": 1 })).await;
    assert!(recalled.contains("low"), "pinned items come first: {recalled}");
}

#[tokio::test]
async fn ids_differ_between_projects() {
    let world = World::new().await;
    let other = world.directory("other");
    std::fs::create_dir(&other).unwrap();
    let mut ids = Vec::new();
    for hello in [hello(&world), Hello { cwd: other.to_str().map(str::to_owned), ..hello(&world) }]
    {
        let mut items = shim_of(&world, hello).await;
        ids.push(id_in(&items.shim.call("store", decision()).await));
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn one_state_directory_is_one_memory_for_all_clients() {
    let world = World::new().await;
    let apart = world.directory("state");
    std::fs::create_dir(&apart).unwrap();
    let named =
        || Hello { project: apart.to_str().map(str::to_owned), exact: true, ..hello(&world) };
    let mut first = shim_of(&world, named()).await;
    first.call("store", decision()).await;
    first.call("configure", json!({ "token_budget": 7_000 })).await;
    let mut second = world.connect(named()).await;
    second.initialize_as("another-client", "2025-06-18").await;
    let mut second = Items { shim: second, projects: Arc::clone(&world.daemon.projects) };
    let recalled = second.call("recall", json!({})).await;
    assert!(recalled.contains("the port is 4000"), "while the first is live: {recalled}");
    assert!(recalled.starts_with("Budget: 10/7000 tokens"), "{recalled}");
    let id = id_in(&recalled);
    assert!(second.call("pin", json!({ "id": id })).await.starts_with("Pinned"));
    assert!(first.call("recall", json!({})).await.contains("PINNED"));
}
