//! Pages of records, and that reading them is no use of them.

use serde_json::{Value, json};

use super::*;
use crate::admin::retrievals;
use crate::api::LogQuery;
use crate::clock;
use crate::testing::World;

async fn page(world: &World, pick: Value, limit: u32, cursor: Option<String>) -> RecordsReply {
    let project = world.hello().cwd.unwrap();
    let pick = serde_json::from_value(pick).unwrap();
    let params = RecordsParams { project, pick, limit, cursor };
    records(&world.daemon.sessions, params).await.unwrap()
}

fn ids(page: &RecordsReply) -> Vec<String> {
    page.records.iter().map(|shown| shown.record.id.to_string()).collect()
}

async fn with_notes(world: &World, count: usize) {
    let mut shim = world.shim_with("all").await;
    for number in 1..=count {
        shim.call("memory_note", json!({"content": format!("note number {number}")})).await;
    }
}

#[tokio::test]
async fn pages_go_back_in_time_and_end() {
    let world = World::new().await;
    with_notes(&world, 5).await;
    let newest = json!({"by": "newest"});
    let first = page(&world, newest.clone(), 2, None).await;
    assert_eq!(ids(&first), ["n5", "n4"]);
    assert_eq!((first.revision, first.records[0].title.as_str()), (5, "note number 5"));
    let second = page(&world, newest.clone(), 2, first.cursor).await;
    assert_eq!(ids(&second), ["n3", "n2"]);
    let last = page(&world, newest.clone(), 2, second.cursor).await;
    assert_eq!((ids(&last), last.cursor), (vec!["n1".to_owned()], None));
    let lessons = page(&world, json!({"by": "newest", "kinds": ["lesson"]}), 9, None).await;
    assert_eq!(ids(&lessons), [""; 0]);
    let later = clock::now().0 + 1;
    let later = page(&world, json!({"by": "newest", "since": later}), 9, None).await;
    assert_eq!(ids(&later), [""; 0]);
}

#[tokio::test]
async fn a_look_counts_no_use_and_leaves_no_line() {
    let world = World::new().await;
    with_notes(&world, 2).await;
    let before = clock::now().0 + 1;
    let unread = json!({"by": "never_read", "written_before": before});
    for _ in 0..2 {
        let page = page(&world, unread.clone(), 1, None).await;
        assert_eq!((ids(&page), page.total), (vec!["n1".to_owned()], Some(2)));
    }
    let project = world.hello().cwd.unwrap();
    let query = LogQuery { project, after: None, limit: 100, wait: false };
    assert_eq!(retrievals(&world.daemon.admin, query).await.unwrap().lines, []);
    let mut shim = world.shim().await;
    shim.call("memory_get", json!({"id": "n1"})).await;
    let page = page(&world, unread, 9, None).await;
    assert_eq!(ids(&page), ["n2"], "a use of n1");
    let got = self::page(&world, json!({"by": "ids", "ids": ["n1", "n77"]}), 9, None).await;
    assert_eq!((ids(&got), got.records[0].reads), (vec!["n1".to_owned()], 1));
}

#[tokio::test]
async fn contradictions_come_in_pairs_and_proposed_rules_alone() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let of = |category: &str, content: &str| json!({"category": category, "title": "Ports", "content": content});
    let part = json!({
        "session_summary": "Ports.",
        "blueprints": [of("decision", "None."), of("architecture", "One.")],
    });
    shim.call("memory_save", part).await;
    let rule = json!({"title": "No force push", "reason": "Shared.", "effect": "deny", "commands": ["git push --force"]});
    shim.call("memory_rule_set", rule).await;
    let pairs = page(&world, json!({"by": "contradicting"}), 9, None).await;
    assert_eq!(ids(&pairs), ["b1", "b2"]);
    let rules = page(&world, json!({"by": "proposed_rules"}), 9, None).await;
    assert_eq!(rules.records.len(), 1);
    assert_eq!(rules.records[0].title, "No force push");
}

#[tokio::test]
async fn a_directory_without_memory_has_no_records_and_a_bad_cursor_is_refused() {
    let world = World::new().await;
    let none = page(&world, json!({"by": "newest"}), 9, None).await;
    assert_eq!((none.revision, none.records.len()), (0, 0));
    with_notes(&world, 1).await;
    let project = world.hello().cwd.unwrap();
    for cursor in ["x", "1", "1.", ".n1", "-1.n1"] {
        let pick = RecordPick::Newest { kinds: Vec::new(), since: None };
        let cursor = Some(cursor.to_owned());
        let params = RecordsParams { project: project.clone(), pick, limit: 1, cursor };
        let refused = records(&world.daemon.sessions, params).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::BadRequest, "{}", refused.error);
    }
}
