//! History and rollback through the tools.

use serde_json::json;

use crate::testing::{Shim, World};

async fn fact(shim: &mut Shim, content: &str) {
    shim.call("memory_note", json!({ "key": "port", "content": content })).await;
}

async fn port(shim: &mut Shim) -> String {
    let text = shim.call("memory_get", json!({ "key": "port" })).await;
    text.lines().nth(1).unwrap_or_default().to_owned()
}

/// Returns the lines of an answer without times and sessions, which differ in every run.
fn steady(text: &str) -> String {
    let head = |line: &str| {
        let parts: Vec<&str> = line.split("  ").filter(|part| !part.contains("UTC")).collect();
        let last = parts.last().and_then(|last| last.split(' ').next()).unwrap_or_default();
        let rest = parts.len().saturating_sub(1);
        [parts.get(..rest).unwrap_or_default(), &[last]].concat().join("  ")
    };
    let steady = |line: &str| if line.contains("UTC") { head(line) } else { line.to_owned() };
    text.lines().map(steady).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn commits_are_listed_shown_and_found() {
    let world = World::new().await;
    let (mut one, mut two) = (world.shim_with("all").await, world.shim_with("all").await);
    let none = one.call("memory_history", json!({})).await;
    assert_eq!(none.trim(), "Nothing is recorded yet.");
    fact(&mut one, "1").await;
    let none = one.call("memory_history", json!({ "kinds": ["anchor"] })).await;
    assert_eq!(none.trim(), "No commit matches.");
    one.call("memory_note", json!({ "content": "for me alone", "scope": "session" })).await;
    let lesson = json!({ "summary": "lock first", "detail": "or it races", "files": ["src/a.rs"] });
    let save = json!({ "session_summary": "Learned of locks.", "lessons": [lesson] });
    two.call("memory_save", save).await;
    fact(&mut two, "2").await;

    let all = two.call("memory_history", json!({})).await;
    insta::assert_snapshot!(steady(&all), @"
    3  note  test-agent
      n1 port: 2 (1 changed)
    2  save  test-agent
      Learned of locks. (2 added)
    1  note  test-agent
      n1 port: 1 (1 added)
    ");
    let shown = two.call("memory_history", json!({ "revision": 3 })).await;
    insta::assert_snapshot!(steady(&shown), @"
    3  note  test-agent
      n1 port: 2 (1 changed)
      n1 port: 2 (version 1 → 2)
        content:
        - 1
        + 2
    ");
    let versions = two.call("memory_history", json!({ "record": "port" })).await;
    insta::assert_snapshot!(steady(&versions), @"
    n1 port: 2
    version 2  commit 3, note  test-agent
        content:
        - 1
        + 2
    version 1  commit 1, note  test-agent
        content:
        + 1
        importance:
        + 5
        key:
        + port
    ");
    let diff = two.call("memory_history", json!({ "diff": true, "limit": 1 })).await;
    assert!(diff.contains("    - 1\n    + 2\n"), "{diff}");

    for (filter, found) in [
        (json!({ "kinds": ["lesson"] }), vec![2]),
        (json!({ "file": "src/a.rs" }), vec![2]),
        (json!({ "file": "b.rs" }), vec![]),
        (json!({ "since": "yesterday" }), vec![3, 2, 1]),
        (json!({ "until": "yesterday" }), vec![]),
        (json!({ "limit": 1 }), vec![3]),
        (json!({ "limit": 2, "cursor": "2" }), vec![2, 1]),
    ] {
        let text = two.call("memory_history", filter.clone()).await;
        let heads = text.lines().filter(|line| line.contains(" UTC  "));
        let revisions = heads.map(|line| line.split(' ').next().unwrap().parse().unwrap());
        assert_eq!(revisions.collect::<Vec<u64>>(), found, "{filter}: {text}");
    }
    // The other session's own note is in no answer.
    for arguments in [json!({}), json!({ "diff": true })] {
        let text = two.call("memory_history", arguments).await;
        assert!(!text.contains("for me alone"), "{text}");
    }
    let hidden = two.call("memory_history", json!({ "record": "n2" })).await;
    assert!(hidden.contains("there is no record n2"), "{hidden}");
}

#[tokio::test]
async fn a_long_history_goes_on_with_its_cursor() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    for number in 0..60 {
        fact(&mut shim, &format!("{number} {}", "long ".repeat(60))).await;
    }
    let (mut seen, mut arguments) = (Vec::new(), json!({ "diff": true, "limit": 60 }));
    for _ in 0..60 {
        let text = shim.call("memory_history", arguments.clone()).await;
        assert!(text.chars().count() <= anchord_memory::limits::ANSWER_CHARS_MAX);
        let heads = text.lines().filter(|line| line.contains(" UTC  "));
        let revisions = heads.map(|line| line.split(' ').next().unwrap().parse::<u64>().unwrap());
        seen.extend(revisions);
        let Some((_, next)) = text.split_once("go on with {\"cursor\":\"") else { break };
        arguments["cursor"] = next.split('"').next().unwrap().into();
    }
    assert_eq!(seen, (1..=60).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn an_undo_names_what_is_in_its_way_and_can_be_undone() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    for content in ["1", "2", "3"] {
        fact(&mut shim, content).await;
    }
    let refused = shim.call("memory_rollback", json!({ "undo": 2 })).await;
    insta::assert_snapshot!(refused, @"
    ERROR Later commits build on commit 2:
      n1 port: 3 (changed again in commit 3)
    Nothing was written. With force these changes are taken back too.
    ");
    let planned = shim.call("memory_rollback", json!({ "undo": 3, "dry_run": true })).await;
    insta::assert_snapshot!(planned, @"
    Would take back commit 3: 1 record
      n1 port: 2 (as in version 2)
    ");
    assert_eq!(port(&mut shim).await, "3", "a plan changes nothing");
    let stale = json!({ "undo": 3, "expected_revision": 2 });
    let stale = shim.call("memory_rollback", stale).await;
    assert!(stale.contains("memory is at 3 now, not at 2"), "{stale}");

    let undone = shim.call("memory_rollback", json!({ "undo": 3 })).await;
    insta::assert_snapshot!(undone, @r#"
    Took back commit 3 in commit 4: 1 record
      n1 port: 2 (as in version 2)
    To take this back: memory_rollback {"undo":4}
    "#);
    assert_eq!(port(&mut shim).await, "2");
    shim.call("memory_rollback", json!({ "undo": 4 })).await;
    assert_eq!(port(&mut shim).await, "3");
    let forced = shim.call("memory_rollback", json!({ "undo": 2, "force": true })).await;
    assert!(forced.contains("and later changes go too"), "{forced}");
    assert_eq!(port(&mut shim).await, "1");
    let back = shim.call("memory_rollback", json!({ "record": "port", "steps": 1 })).await;
    assert!(back.contains("the last change of n1"), "{back}");
    assert_eq!(port(&mut shim).await, "3");
    let back = json!({ "record": "port", "to_revision": 2 });
    shim.call("memory_rollback", back).await;
    assert_eq!(port(&mut shim).await, "2");
    let restored = shim.call("memory_rollback", json!({ "to_revision": 0 })).await;
    assert!(restored.contains("n1 port: 2 (forgotten)"), "{restored}");
    let nothing = shim.call("memory_rollback", json!({ "to_revision": 0 })).await;
    assert!(nothing.starts_with("Nothing to do"), "{nothing}");
}

#[tokio::test]
async fn a_step_back_goes_to_an_earlier_text_and_not_to_where_the_record_was_forgotten() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    for text in ["1", "2"] {
        fact(&mut shim, text).await;
    }
    shim.call("memory_forget", json!({ "id": "n1" })).await;
    shim.call("memory_rollback", json!({ "last": 1 })).await;
    assert_eq!(port(&mut shim).await, "2");
    let back = json!({ "record": "port", "steps": 1 });
    shim.call("memory_rollback", back).await;
    assert_eq!(port(&mut shim).await, "1");
}

#[tokio::test]
async fn a_rollback_says_how_it_wants_to_be_asked() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    fact(&mut shim, "1").await;
    for (arguments, why) in [
        (json!({}), "give one of undo"),
        (json!({ "undo": 1, "last": 1 }), "give one of undo"),
        (json!({ "undo": 9 }), "there is no revision 9; the newest is 1"),
        (json!({ "last": 0 }), "0 steps"),
        (json!({ "undo": 1, "record": "port" }), "record goes with steps"),
        (json!({ "record": "port", "steps": 1 }), "n1 has fewer than 1 earlier versions"),
        (json!({ "to_revision": 1, "to_time": "1h" }), "not both"),
        (json!({ "to_time": "someday" }), "to_time is neither a date"),
        (json!({ "session": "nobody" }), "no commit is by a session nobody"),
    ] {
        let refused = shim.call("memory_rollback", arguments.clone()).await;
        assert!(refused.contains(why), "{arguments}: {refused}");
    }
    assert_eq!(port(&mut shim).await, "1");
}

/// A shim that sends a line again gets the first reply, even if nothing is left to undo.
#[tokio::test]
async fn an_undo_that_is_sent_again_is_not_done_again() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    fact(&mut shim, "1").await;
    fact(&mut shim, "2").await;
    // Afterwards the key leads nowhere.
    let arguments = json!({ "record": "port", "to_revision": 0 });
    let undo = json!({ "name": "memory_rollback", "arguments": arguments });
    let id = shim.ask("tools/call", undo.clone()).await;
    let first = shim.said(id).await;
    assert!(first.contains("n1 port: 2 (forgotten)"), "{first}");
    shim.ask_as(id, "tools/call", undo).await;
    assert_eq!(shim.said(id).await, first);
    let again = shim.call("memory_history", json!({ "limit": 1 })).await;
    assert!(again.starts_with("3 "), "{again}");
}

#[tokio::test]
async fn a_forgotten_fact_is_found_by_its_key() {
    let world = World::new().await;
    let mut one = world.shim_with("all").await;
    fact(&mut one, "1").await;
    fact(&mut one, "2").await;
    one.call("memory_forget", json!({ "id": "port" })).await;
    let versions = one.call("memory_history", json!({ "record": "port" })).await;
    assert!(versions.starts_with("n1 port: 2\n") && versions.contains("version 3"), "{versions}");
    assert!(!versions.contains("with the same key"), "{versions}");
    one.call("memory_rollback", json!({ "record": "port", "to_revision": 1 })).await;
    assert_eq!(port(&mut one).await, "1");

    // Of two that had the key, the last one is meant, and the other is named.
    one.call("memory_forget", json!({ "id": "port" })).await;
    fact(&mut one, "3").await;
    one.call("memory_forget", json!({ "id": "port" })).await;
    let versions = one.call("memory_history", json!({ "record": "port" })).await;
    assert!(versions.starts_with("n2 port: 3\n"), "{versions}");
    assert!(versions.contains("Forgotten before, with the same key: n1"), "{versions}");
    let back = json!({ "record": "port", "to_revision": 1 });
    let refused = one.call("memory_rollback", back).await;
    assert!(refused.contains("n2 stays as it is; n1 had this key before"), "{refused}");
    one.call("memory_rollback", json!({ "record": "port", "to_revision": 6 })).await;
    assert_eq!(port(&mut one).await, "3");
    let missing = one.call("memory_history", json!({ "record": "host" })).await;
    assert!(missing.contains("host"), "{missing}");
}
