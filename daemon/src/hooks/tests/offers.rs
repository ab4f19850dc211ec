//! The offer of a long file's outline.

use std::fs;

use super::*;

fn read(file: &str, more: &Value) -> Value {
    let mut input = json!({ "file_path": file });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({
        "hook_event_name": "PreToolUse", "session_id": "offers", "tool_name": "Read",
        "tool_input": input, "tool_use_id": format!("toolu_{file}_{more}"),
    })
}

#[tokio::test]
async fn the_outline_of_a_long_file_is_offered_once_to_an_agent_that_reads_it_whole() {
    let world = World::new().await;
    let body = "    let x = 1;\n".repeat(20);
    let text: String = (0..30).map(|at| format!("pub fn thing_{at}() {{\n{body}}}\n")).collect();
    let long = world.directory("demo").join("long.rs");
    fs::write(&long, text).unwrap();
    fs::write(world.directory("demo/short.rs"), "fn a() {}\n").unwrap();
    let short = world.hook("claude-code", &read("short.rs", &json!({}))).await;
    assert_eq!(short, "", "a short file has no offer");
    let long = long.to_str().unwrap();
    for part in
        [json!({ "offset": 3 }), json!({ "limit": 500 }), json!({ "offset": 1, "limit": 9 })]
    {
        let part = world.hook("claude-code", &read(long, &part)).await;
        assert_eq!(part, "", "a part of a file has no offer");
    }
    let offer = world.hook("claude-code", &read(long, &json!({}))).await;
    assert!(offer.contains("long.rs has 660 lines"), "{offer}");
    assert!(offer.contains("`anchord outline PATH` prints its outline for"), "{offer}");
    let again = world.hook("claude-code", &read(long, &json!({ "limit": null }))).await;
    assert_eq!(again, "", "once for a file and conversation");
    assert_eq!(world.daemon.admin.metrics.outlines().offered, 1);
}

#[tokio::test]
async fn an_offer_after_a_part_was_read_does_not_repeat_records() {
    let world = World::new().await;
    let text: String =
        (0..500).map(|at| format!("pub fn thing_{at}() {{ let x = [1; 9]; }}\n")).collect();
    fs::write(world.directory("demo").join("long.rs"), text).unwrap();
    // Longer than an excerpt, so that it is not given in full.
    let detail = "They are called in any order. ".repeat(60);
    let lesson =
        json!({"summary": "Things have no side effects", "detail": detail, "files": ["long.rs"]});
    let save = json!({"session_summary": "Learned.", "lessons": [lesson]});
    let said = world.shim().await.call("memory_save", save).await;
    assert!(said.starts_with("Saved"), "{said}");
    let part = world.hook("claude-code", &read("long.rs", &json!({ "limit": 20 }))).await;
    assert!(part.contains("Things have no side effects"), "{part}");
    let whole = world.hook("claude-code", &read("long.rs", &json!({}))).await;
    assert!(whole.contains("long.rs has 500 lines"), "{whole}");
    assert!(!whole.contains("side effects"), "{whole}");
}
