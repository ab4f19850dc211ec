//! Pages fit together, end, and report when they no longer fit together; and the filters of a page.

use serde_json::{Value, json};

use crate::testing::World;

/// Returns the cursor that an answer names.
fn cursor(said: &str) -> Option<&str> {
    let (_, cursor) = said.split_once("\"cursor\":\"")?;
    cursor.split('"').next()
}

/// Returns the arguments that a page of a record names for the next page.
fn rest_of(said: &str) -> Value {
    let (_, call) = said.rsplit_once("memory_get ").unwrap();
    serde_json::from_str(call.lines().next().unwrap().trim_end_matches('.')).unwrap()
}

#[tokio::test]
async fn all_pages_of_a_version_show_that_version() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for text in ["old", "new"] {
        let content = format!("{text} line\n").repeat(2_000);
        shim.call("memory_note", json!({ "key": "log", "content": content })).await;
    }
    let first = shim.call("memory_get", json!({ "id": "n1", "version": 1 })).await;
    let (_, hint) = first.split_once("The rest: memory_get ").unwrap();
    let hint = hint.lines().next().unwrap().trim_end_matches('.');
    let rest = shim.call("memory_get", serde_json::from_str(hint).unwrap()).await;
    assert!(rest.contains("old line") && !rest.contains("new line\n"), "{hint}: {rest}");
}

#[tokio::test]
async fn an_overflowing_cursor_is_answered() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    let most = usize::MAX;
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("memory_export", json!({ "cursor": format!("{most}-r1") })),
        ("memory_search", json!({ "query": "port", "cursor": format!("{most}-r1") })),
        ("memory_search", json!({ "query": "port", "cursor": format!("{most}0-r1") })),
        ("memory_list", json!({ "cursor": format!("{most}0") })),
        ("memory_get", json!({ "id": "n1", "cursor": most.to_string() })),
    ] {
        said.push(shim.call(tool, arguments).await.trim_end().to_owned());
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    ERROR failed to export: the cursor 18446744073709551615 is past the end; leave it out
    Nothing more.
    ERROR failed to search: `184467440737095516150-r1` is not a cursor from an earlier page; leave it out
    ERROR failed to list: cursor `184467440737095516150` is not a cursor of a list; list without one
    ERROR failed to get: cursor is not a cursor for n1: `18446744073709551615`; leave it out
    ");
}

#[tokio::test]
async fn a_search_can_be_paged_with_the_smallest_token_limit() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items: Vec<_> = (0..8)
        .map(|n| json!({ "content": format!("tide {n}: {}", "the sea came in ".repeat(60)) }))
        .collect();
    shim.call("memory_note", json!({ "items": items })).await;
    let few = shim.call("memory_search", json!({ "query": "tide", "max_tokens": 249 })).await;
    insta::assert_snapshot!(few, @"ERROR failed to search: max_tokens is 249; give 250 or more");
    let mut seen = std::collections::BTreeSet::new();
    let mut arguments = json!({ "query": "tide", "max_tokens": 250 });
    for page in 0..20 {
        let said = shim.call("memory_search", arguments.clone()).await;
        let ids = said.lines().filter_map(|line| line.split([':', ' ']).next());
        let before = seen.len();
        seen.extend(ids.filter(|id| id.starts_with('n') && id.len() == 2).map(str::to_owned));
        let Some(cursor) = cursor(&said) else { break };
        assert!(seen.len() > before, "page {page} shows nothing new: {said}");
        arguments["cursor"] = cursor.into();
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}

#[tokio::test]
async fn the_remaining_pages_show_the_version_of_the_first() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let content =
        |text: &str| json!({ "key": "log", "content": format!("{text} line\n").repeat(2_000) });
    shim.call("memory_note", content("old")).await;
    let first = shim.call("memory_get", json!({ "key": "log" })).await;
    shim.call("memory_note", content("new")).await;
    let rest = shim.call("memory_get", rest_of(&first)).await;
    assert!(rest.contains("old line") && !rest.contains("new line\n"), "{rest}");
    assert!(rest.contains("NOT CURRENT: replaced on "), "{rest}");
}

#[tokio::test]
async fn paging_through_an_archived_note_stays_on_its_current_version() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", json!({ "content": "line\n".repeat(2_500) })).await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    shim.call("memory_note", json!({ "content": "one more" })).await;
    let first = shim.call("memory_get", json!({ "id": "n1" })).await;
    let rest = shim.call("memory_get", rest_of(&first)).await;
    assert!(rest.contains(", was archived"), "{rest}");
    assert!(rest.contains("This version is current.") && !rest.contains("NOT CURRENT"), "{rest}");
}

/// The answer names the version that an update has to expect.
#[tokio::test]
async fn reading_an_archived_note_names_its_new_version() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", json!({ "content": "line\n".repeat(400) })).await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    shim.call("memory_note", json!({ "content": "line of others\n".repeat(200) })).await;

    // A failed call does not count as use.
    let failed = shim.call("memory_get", json!({ "id": "n1", "expand": true })).await;
    assert_eq!(failed, "ERROR failed to get: n1 is not an anchor; only anchors can be expanded");
    let got = shim.call("memory_get", json!({ "id": "n1" })).await;
    assert!(got.contains("\nn1 version 3, was archived: "), "{got}");
    let update = json!({ "id": "n1", "expected_version": 3, "importance": 7 });
    let said = shim.call("memory_update", update).await;
    assert!(!said.starts_with("ERROR"), "{said}");
}

#[tokio::test]
async fn pages_say_when_memory_changed_between_them() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let items: Vec<_> =
        (0..30).map(|n| json!({ "content": format!("tide {n} {}", "x".repeat(900)) })).collect();
    shim.call("memory_note", json!({ "items": items })).await;
    let mut said = Vec::new();
    for (tool, mut arguments) in
        [("memory_export", json!({})), ("memory_search", json!({ "query": "tide" }))]
    {
        let first = shim.call(tool, arguments.clone()).await;
        arguments["cursor"] = cursor(&first).unwrap().into();
        let next = shim.call(tool, arguments.clone()).await;
        assert!(!next.starts_with("ERROR") && !next.starts_with("memory changed"), "{next}");
        shim.call("memory_note", json!({ "content": format!("beside {tool}") })).await;
        let next = shim.call(tool, arguments).await;
        said.push(next.lines().next().unwrap().to_owned());
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    ERROR failed to export: memory changed since the page before; begin again without the cursor, or write it to a file at once with `anchord export`
    memory changed since the page before: a hit may come twice or be missed
    ");
}

#[tokio::test]
async fn tags_and_files_are_found_in_the_form_they_are_shown() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let note = json!({ "content": "the port is 7717", "tags": ["Network Ports"] });
    shim.call("memory_note", note).await;
    let root = world.directory("demo");
    let file = root.join("src/a.rs");
    let anchor = json!({ "file": file, "lines": "1-2", "concept": "binds the port" });
    shim.call("memory_save", json!({ "session_summary": "bound", "anchors": [anchor] })).await;
    let shown = shim.call("memory_search", json!({ "query": "7717" })).await;
    let tag = shown.split(['(', ')', ',']).find(|part| part.trim().starts_with('#')).unwrap();
    for tag in [tag.trim(), "NETWORK  ports"] {
        let arguments = json!({ "query": "7717", "tags": [tag] });
        assert!(shim.call("memory_search", arguments).await.contains("the port is 7717"), "{tag}");
        let listed = shim.call("memory_list", json!({ "tags": [tag] })).await;
        assert!(listed.contains("the port is 7717"), "{tag}: {listed}");
    }
    for file in [file.as_path(), &root, "src".as_ref(), ".".as_ref()] {
        let arguments = json!({ "query": "port", "file": file });
        let found = shim.call("memory_search", arguments).await;
        assert!(found.contains("binds the port"), "{}: {found}", file.display());
    }
}

#[tokio::test]
async fn every_reading_tool_keeps_to_its_token_limit_and_can_be_continued() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let text = |n: u32| format!("tide {n}: {}\n", "the sea came in ".repeat(90)).repeat(2);
    let items: Vec<_> = (0..40).map(|n| json!({ "content": text(n) })).collect();
    shim.call("memory_note", json!({ "items": items })).await;
    for (tool, arguments, enough) in [
        ("memory_list", json!({}), true),
        ("memory_search", json!({ "query": "tide" }), true),
        ("memory_get", json!({ "id": "n1" }), true),
        ("memory_export", json!({ "format": "markdown" }), false),
    ] {
        let mut arguments = arguments;
        arguments["max_tokens"] = 249.into();
        let few = shim.call(tool, arguments.clone()).await;
        assert!(few.ends_with(": max_tokens is 249; give 250 or more"), "{tool}: {few}");
        arguments["max_tokens"] = 250.into();
        for page in 0..60 {
            let said = shim.call(tool, arguments.clone()).await;
            assert!(anchord_memory::tokens::count(&said) <= 250, "{tool} {page}: {said}");
            let Some(cursor) = cursor(&said) else { break };
            assert!(page < 59 || !enough, "{tool} has no end");
            if page == 0 && matches!(tool, "memory_list" | "memory_search") {
                let truncated = said.lines().last().unwrap();
                assert!(truncated.starts_with("truncated: true; 3"), "{truncated}");
                assert_eq!(truncated.matches(", n").count(), 19, "{truncated}");
            }
            arguments["cursor"] = cursor.into();
        }
    }
}

#[tokio::test]
async fn an_expanded_anchor_keeps_to_the_token_limit() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let root = world.directory("demo");
    std::fs::write(root.join("a.rs"), "let the = sea + come + in;\n".repeat(200)).unwrap();
    let anchor = json!({ "file": "a.rs", "lines": "1-200", "concept": "the sea" });
    shim.call("memory_save", json!({ "session_summary": "bound", "anchors": [anchor] })).await;
    let arguments = json!({ "id": "a1", "expand": true, "max_tokens": 250 });
    let said = shim.call("memory_get", arguments).await;
    assert!(anchord_memory::tokens::count(&said) <= 250, "{said}");
    assert!(said.lines().last().unwrap().starts_with("… cut at line "), "{said}");
}
