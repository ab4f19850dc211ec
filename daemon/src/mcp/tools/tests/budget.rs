//! Every action that takes active notes above their budget is followed by a compaction.

use serde_json::{Value, json};

use super::notes::long;
use crate::testing::{Shim, World};

/// Returns the percentage of its budget that a line of `memory_status` reports as used.
async fn used(shim: &mut Shim, line: &str) -> f64 {
    let status = shim.call("memory_status", json!({})).await;
    let line = status.lines().find(|said| said.starts_with(line)).unwrap();
    let percent = line.split(", ").find_map(|part| part.split_once("% of "));
    percent.unwrap().0.parse().unwrap()
}

async fn archived(shim: &mut Shim) -> Vec<String> {
    let list = shim.call("memory_list", json!({ "limit": 100 })).await;
    let archived = list.lines().filter(|line| line.ends_with("[archived]"));
    archived.map(|line| line.split([':', ' ']).next().unwrap().to_owned()).collect()
}

fn scoped(scope: &str, mut notes: Value) -> Value {
    notes["scope"] = scope.into();
    notes
}

#[tokio::test]
async fn reading_archived_notes_keeps_to_the_budget() {
    for (scope, line) in [("project", "budget: "), ("session", "your own notes: ")] {
        let world = World::new().await;
        let mut shim = world.shim_with("all").await;
        let budget = json!({ "budget_tokens": 2_000, "scope": scope });
        shim.call("memory_configure", budget).await;
        shim.call("memory_note", scoped(scope, long(0..30))).await;
        shim.call("memory_compact", json!({ "target_usage": 0, "scope": scope })).await;
        let archived = archived(&mut shim).await;
        assert_eq!(archived.len(), 30);
        let mut made_room = 0;
        for id in &archived {
            let got = shim.call("memory_get", json!({ "id": id })).await;
            assert!(!got.starts_with("ERROR"), "{got}");
            if let Some((_, said)) = got.split_once("\nCompacted from ") {
                made_room += 1;
                let gone = said.split(['(', ')']).nth(1).unwrap();
                let list = shim.call("memory_list", json!({ "limit": 100 })).await;
                for id in gone.split(", ") {
                    let line = list.lines().find(|line| line.split([':', ' ']).next() == Some(id));
                    assert!(line.unwrap().ends_with("[archived]"), "{id} is named: {got}");
                }
            }
            let used = used(&mut shim, line).await;
            assert!(used <= 90.0, "{used} % after {id}");
            let list = shim.call("memory_list", json!({ "limit": 100 })).await;
            let read = list
                .lines()
                .find(|line| line.split([':', ' ']).next() == Some(id.as_str()))
                .unwrap();
            assert!(!read.contains("[archived]"), "what was read stays: {read}");
        }
        assert!(made_room > 0, "and says what made room for it");
    }
}

#[tokio::test]
async fn reading_an_archived_note_larger_than_the_budget_leaves_it_archived() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let text: Vec<String> = (0..900).map(|word| format!("w{word}")).collect();
    shim.call("memory_note", json!({ "content": text.join(" ") })).await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    assert_eq!(archived(&mut shim).await, ["n1"]);
    let project = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let seq = || world.daemon.projects.open.get(project).unwrap().memory().seq();
    let before = seq();
    let got = shim.call("memory_get", json!({ "id": "n1" })).await;
    assert!(got.contains("w899"), "{got}");
    assert_eq!(seq(), before, "nothing is woken only to be set aside again");
}

#[tokio::test]
async fn reactivating_a_compactor_item_makes_room_for_it() {
    let world = World::new().await;
    let mut shim = world.shim_with("compactor").await;
    shim.call("configure", json!({ "token_budget": 1_000 })).await;
    let items = long(0..18)["items"].clone();
    let stored = shim.call("bulk_store", json!({ "items": items })).await;
    let ids = stored.lines().filter_map(|line| line.strip_prefix("Stored ["));
    let ids: Vec<&str> = ids.filter_map(|line| line.split(']').next()).collect();
    assert_eq!(ids.len(), 18, "{stored}");
    for (tool, summary) in [("update", json!("a summary")), ("pin", Value::Null)] {
        for id in &ids {
            let mut arguments = json!({ "id": id });
            if summary.is_string() {
                arguments["summary"] = summary.clone();
            }
            shim.call(tool, arguments).await;
            let status = shim.call("status", json!({})).await;
            let used = status.split(['(', '%']).nth(1).unwrap();
            assert!(used.parse::<f64>().unwrap() <= 90.0, "{tool} {id}: {status}");
            if tool == "pin" {
                shim.call("unpin", json!({ "id": id })).await;
            }
        }
    }
    shim.call("configure", json!({ "token_budget": 2_000 })).await;
    for id in &ids {
        shim.call("update", json!({ "id": id, "summary": "" })).await;
    }
    let lowered = shim.call("configure", json!({ "token_budget": 1_000 })).await;
    let status = shim.call("status", json!({})).await;
    let (said, evicted) = lowered.split_once("Evicted: [").unwrap();
    let used =
        |text: &str| text.lines().find(|line| line.starts_with("Budget: ")).map(str::to_owned);
    let is_same = used(said).unwrap().starts_with(&used(&status).unwrap());
    assert!(said.starts_with("Configuration updated.\n") && is_same, "{said}{status}");
    let named = evicted.split(", ").filter_map(|id| id.trim_start_matches('[').split(']').next());
    let named: Vec<&str> = named.collect();
    assert!(named.iter().all(|id| ids.contains(id)), "{lowered}");
    for id in &ids {
        let item = shim.call("query", json!({ "query": "finding", "limit": 50 })).await;
        let evicted = item
            .lines()
            .any(|line| line.starts_with(&format!("[{id}]")) && line.ends_with(" ARCHIVED"));
        assert_eq!(evicted, named.contains(id), "{id}: {lowered}");
    }
    let used = status.split(['(', '%']).nth(1).unwrap();
    assert!(used.parse::<f64>().unwrap() <= 80.0, "{status}");
}

#[tokio::test]
async fn a_shared_note_counts_towards_the_project_budget() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    shim.call("memory_note", scoped("session", long(0..18))).await;
    for note in 1..=18 {
        let id = format!("n{note}");
        shim.call("memory_update", json!({ "id": id, "scope": "project" })).await;
        let used = used(&mut shim, "budget: ").await;
        assert!(used <= 90.0, "{used} % after {id}");
    }
}

#[tokio::test]
async fn summaries_replace_the_notes_of_a_nearly_full_budget() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000, "scope": "session" })).await;
    for scope in ["project", "session"] {
        let note = |n: usize, text: &str| json!({ "content": format!("{scope} text{n} {}", text.repeat(8)), "summary": format!("sum of {scope}") });
        let items = json!([
            note(1, "the parser reads tokens one by one and "),
            note(2, "rows are kept in order of time ")
        ]);
        shim.call("memory_note", json!({ "items": items, "scope": scope })).await;
    }
    let filler = json!({ "items": long(0..9)["items"], "scope": "session" });
    let filled = shim.call("memory_note", filler).await;
    let used = used(&mut shim, "your own notes: ").await;
    assert!(used > 80.0 && used <= 90.0, "{used} %: {filled}");
    for (tool, arguments) in
        [("memory_search", json!({ "query": "text1" })), ("memory_load", json!({}))]
    {
        let said = shim.call(tool, arguments).await;
        assert!(said.contains("sum of session …"), "{tool}: {said}");
        assert!(!said.contains("session text1 the parser"), "{tool}: {said}");
        assert!(said.contains("project text1 the parser"), "the project has room: {tool}: {said}");
    }
}

fn pinned() -> Value {
    let text: Vec<String> = (0..470).map(|word| format!("rule{word}")).collect();
    json!({ "content": text.join(" "), "pinned": true })
}

fn full(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.starts_with("The budget is full of pinned notes: ")).collect()
}

#[tokio::test]
async fn a_budget_full_of_pinned_notes_is_reported_only_where_relevant() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", pinned()).await;
    let lowered = shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    assert_eq!(full(&lowered).len(), 1, "it begins: {lowered}");

    let status = shim.call("memory_status", json!({})).await;
    assert!(status.contains("\nbudget: full of pinned notes, "), "{status}");
    assert!(!status.contains("\nyour own notes: full of"), "{status}");

    // A write about something else, or in another session, does not repeat it.
    let said = shim.call("memory_checkpoint", json!({ "summary": "half way" })).await;
    assert!(full(&said).is_empty(), "{said}");
    let said = shim.call("memory_configure", json!({ "load_tokens": 3_000 })).await;
    assert!(full(&said).is_empty(), "{said}");
    let mut other = world.shim_with("all").await;
    let own = json!({ "content": "to myself", "scope": "session" });
    let said = other.call("memory_note", own).await;
    assert!(full(&said).is_empty(), "{said}");

    let said = shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    assert!(full(&said)[0].contains(" n3 stays active, and other notes make room"), "{said}");
    let large: Vec<String> = (0..900).map(|word| format!("large{word}")).collect();
    let said = shim.call("memory_note", json!({ "content": large.join(" ") })).await;
    assert!(full(&said)[0].contains(" n4 has no room beside them and is archived; "), "{said}");
    let archived = archived(&mut shim).await;
    assert!(archived.iter().any(|id| id == "n4"), "{archived:?}");
}

#[tokio::test]
async fn the_compactor_says_when_pinned_items_fill_the_budget() {
    let world = World::new().await;
    let mut shim = world.shim_with("compactor").await;
    shim.call("configure", json!({ "token_budget": 1_000 })).await;
    let said = shim.call("store", json!({ "content": pinned()["content"] })).await;
    let id = said.split(['[', ']']).nth(1).unwrap();
    let said = shim.call("pin", json!({ "id": id })).await;
    assert!(said.contains("\nPinned items take "), "{said}");
}
