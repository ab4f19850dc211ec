//! Calls of that system as its users make them, its replies, and what it gets wrong.

use serde_json::{Value, json};

use crate::clock;
use crate::testing::{Shim, World};

async fn shim(world: &World) -> Shim {
    world.shim_with("infinite-context").await
}

async fn checkpoint(shim: &mut Shim, context: &str) -> String {
    shim.call("checkpoint", json!({ "context": context, "token_count": 24_690 })).await
}

async fn resume(shim: &mut Shim) -> String {
    shim.call("resume", json!({})).await
}

async fn rollback(shim: &mut Shim, arguments: Value) -> String {
    shim.call("rollback", arguments).await
}

/// Returns the state in a reply that asks for one.
fn state_in(reply: &str) -> Value {
    let line = reply.lines().find(|line| line.starts_with('{'));
    let line = line.unwrap_or_else(|| panic!("no state in {reply}"));
    serde_json::from_str(&line.replace("DAY", &clock::now().date())).unwrap()
}

/// Returns a reply without its times.
fn untimed(reply: &str) -> String {
    let is_time = |word: &str| {
        let bytes = word.as_bytes();
        bytes.len() >= 8 && bytes[2..3] == *b":" && bytes[5..6] == *b":"
    };
    let words = reply.split(' ').filter(|word| !is_time(word));
    words.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_project_without_checkpoints_is_empty() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    insta::assert_snapshot!(resume(&mut shim).await, @"
    # Project Context Resume

    Version 0, no checkpoint yet
    ");
    insta::assert_snapshot!(shim.call("status", json!({})).await, @"
    # Project State Status

    Session ID: (none yet)
    Version: 0
    Last Checkpoint: never
    Last Access: never
    Token Budget Used: 0 / 200,000 (0.0%)

    Active Files: 0

    Active Decisions: 0

    Checkpoint History: 0 versions available
    ");
    let none = "No checkpoint history available to rollback.";
    assert_eq!(rollback(&mut shim, json!({})).await.trim_end(), none);
}

#[tokio::test]
async fn a_checkpoint_is_seen_by_everyone_at_once() {
    let world = World::new().await;
    std::fs::create_dir_all(world.directory("demo/src")).unwrap();
    std::fs::write(world.directory("demo/src/evict.rs"), "").unwrap();
    let mut one = shim(&world).await;
    let text = "Overview: A cache.\n\nTask: measure it\nFiles: src/evict.rs, src/gone.rs\n\
                Decisions:\n- LRU or LFU? LRU\n- Sockets, not ports.\nDone:\n- wrote the eviction (src/evict.rs)";
    insta::assert_snapshot!(checkpoint(&mut one, text).await, @"
    Checkpoint saved successfully (version 1)
    The text was appended (n1); its form gave overview, task, files, decisions, done.
    ");
    let mut other = shim(&world).await;
    insta::assert_snapshot!(untimed(&resume(&mut other).await), @"
    # Project Context Resume

    ## Overview
    A cache.

    ## Current Task
    measure it

    ## Active Files
    - src/evict.rs

    ## Recent Changes
    - DAY UTC: wrote the eviction (src/evict.rs)

    ## Decisions
    - [decided] LRU or LFU?: LRU
    - [decided] Sockets, not ports.

    Version 1, last checkpoint DAY UTC
    ");
    let status = other.call("status", json!({})).await;
    for line in [
        "Version: 1",
        "Token Budget Used: 24,690 / 200,000 (12.3%)",
        "Active Files: 1",
        "  - [decided] LRU or LFU?",
        "Checkpoint History: 1 versions available",
        "  0. v1 - ",
    ] {
        assert!(status.contains(line), "{line} is not in {status}");
    }
    assert!(!status.contains("Last Access: never"), "{status}");
    // The same memory for the other tools, and the whole text as a note.
    let mut third = world.shim().await;
    let found =
        third.call("memory_search", json!({ "query": "eviction", "kinds": ["note"] })).await;
    assert!(found.contains("Done:"), "{found}");
    let load = third.call("memory_load", json!({})).await;
    assert!(load.contains("main: measure it"), "{load}");
}

/// The file was missing for a moment, as on another branch.
#[tokio::test]
async fn a_missing_file_is_back_when_it_is_back() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    checkpoint(&mut shim, "Files: src/a.rs").await;
    assert!(!resume(&mut shim).await.contains("Active Files"));
    std::fs::create_dir_all(world.directory("demo/src")).unwrap();
    std::fs::write(world.directory("demo/src/a.rs"), "").unwrap();
    assert!(resume(&mut shim).await.contains("## Active Files\n- src/a.rs\n"));
}

/// There, a rollback after one checkpoint always fails, of 5 only 4 can be reached, and a second
/// rollback gives the same state.
#[tokio::test]
async fn each_rollback_goes_one_further_and_can_be_taken_back() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    for task in ["one", "two", "three", "four"] {
        checkpoint(&mut shim, &format!("Task: {task}")).await;
    }
    let task = |text: String| {
        let at = text.find("## Current Task\n").unwrap() + 16;
        text[at..].lines().next().unwrap().to_owned()
    };
    let too_far = rollback(&mut shim, json!({ "steps": 4 })).await;
    assert_eq!(too_far.trim_end(), "Only 3 checkpoints available. Cannot rollback 4 steps.");
    let reply = rollback(&mut shim, json!({})).await;
    assert!(reply.starts_with("Rolled back to version 3 ("), "{reply}");
    assert!(reply.trim_end().ends_with("now version 5"), "{reply}");
    assert_eq!(task(resume(&mut shim).await), "three");
    rollback(&mut shim, json!({})).await;
    assert_eq!(task(resume(&mut shim).await), "two");
    let reply = rollback(&mut shim, json!({ "to_version": 4 })).await;
    assert!(reply.starts_with("Rolled back to version 4 ("), "{reply}");
    assert_eq!(task(resume(&mut shim).await), "four", "forward, too");
    rollback(&mut shim, json!({ "steps": 3 })).await;
    assert_eq!(task(resume(&mut shim).await), "one");
    let none = rollback(&mut shim, json!({})).await;
    assert_eq!(none.trim_end(), "No checkpoint history available to rollback.");
    let status = shim.call("status", json!({})).await;
    assert!(status.contains("Checkpoint History: 4 versions available"), "{status}");
    insta::assert_snapshot!(rollback(&mut shim, json!({ "to_version": 9 })).await, @"ERROR Rollback failed: there is no checkpoint 9; there are: 4, 3, 2, 1");
    insta::assert_snapshot!(rollback(&mut shim, json!({ "steps": 0 })).await, @"ERROR Rollback failed: steps is not a whole number, 1 or more");
    insta::assert_snapshot!(rollback(&mut shim, json!({ "steps": "many" })).await, @r#"ERROR Rollback failed: steps: invalid type: string "many", expected a whole number"#);
}

/// There, the lock is a warning, and a session that writes meanwhile makes the model be called
/// again.
#[tokio::test]
async fn other_writes_between_checkpoints_are_no_steps() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    checkpoint(&mut shim, "Task: one").await;
    let mut other = world.shim_with("all").await;
    let write = json!({ "action": "write", "topic": { "name": "main", "status": "between" } });
    other.call("memory_topic", write).await;
    checkpoint(&mut shim, "Task: three").await;
    let status = shim.call("status", json!({})).await;
    assert!(status.contains("Version: 3\n") && status.contains("  1. v1 - "), "{status}");
    assert!(status.contains("Live Sessions: "), "{status}");
    let reply = rollback(&mut shim, json!({})).await;
    assert!(reply.starts_with("Rolled back to version 1 ("), "{reply}");
    assert!(reply.trim_end().ends_with("now version 4"), "{reply}");
}

/// There, a model rewrites everything, and what it leaves out is gone.
#[tokio::test]
async fn a_state_is_merged_only_if_nothing_is_missing() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    checkpoint(&mut shim, "Decisions:\n- LRU or LFU? LRU\nDone: wrote the queue").await;
    let reply = checkpoint(&mut shim, "We measured it and take LFU.").await;
    assert!(reply.starts_with("Checkpoint saved successfully (version 2)\n"), "{reply}");
    assert!(
        reply.ends_with("waits for your state.\n") || reply.ends_with("waits for your state."),
        "{reply}"
    );
    let mut state = state_in(&reply);
    state["active_context"]["active_decisions"] = json!([]);
    let refused = shim.call("checkpoint", json!({ "state": state })).await;
    insta::assert_snapshot!(refused, @r"
    ERROR Checkpoint failed: The state was not taken:
    - the question is missing: LRU or LFU?
    ");
    let mut state = state_in(&reply);
    state["active_context"]["active_decisions"][0]["decision"] = json!("LFU");
    state["active_context"]["current_task"] = json!("ship it");
    let merged = shim.call("checkpoint", json!({ "state": state, "token_count": 1 })).await;
    insta::assert_snapshot!(merged, @r"
    Checkpoint saved successfully (version 3)
    Your state was merged.
    ");
    let text = resume(&mut shim).await;
    assert!(text.contains("- [decided] LRU or LFU?: LFU") && text.contains("ship it"), "{text}");
    // The same again: somebody has written meanwhile.
    let stale = shim.call("checkpoint", json!({ "state": state_in(&reply) })).await;
    assert!(stale.contains("meta.version is 2, the brief is at version 3"), "{stale}");
}

/// An earlier text may have the words of any answer, and the name of any file.
#[tokio::test]
async fn an_earlier_text_takes_nothing_out_of_the_brief() {
    let world = World::new().await;
    std::fs::create_dir_all(world.directory("demo/src")).unwrap();
    std::fs::write(world.directory("demo/src/evict.rs"), "").unwrap();
    let mut shim = shim(&world).await;
    checkpoint(&mut shim, "We compared LFU and LRU in src/evict.rs.").await;
    let form = "Files: src/evict.rs\nDecisions:\n- LRU or LFU? LRU\n\nThe counters are slow.";
    let flipped = |reply: &str| {
        let mut state = state_in(reply);
        state["active_context"]["active_decisions"][0]["decision"] = json!("LFU");
        state
    };
    let without_file = |reply: &str| {
        let mut state = state_in(reply);
        state["active_context"]["active_files"] = json!([]);
        state
    };
    // The text with which the question was decided names the other answer, too.
    let reply = checkpoint(&mut shim, form).await;
    let refused = shim.call("checkpoint", json!({ "state": flipped(&reply) })).await;
    assert!(refused.contains("which no newer text says: LRU or LFU? was LRU"), "{refused}");
    // Neither does any text before the last one say anything.
    let reply = checkpoint(&mut shim, "We looked at the queue.").await;
    for (state, why) in [
        (flipped(&reply), "which no newer text says: LRU or LFU? was LRU"),
        (without_file(&reply), "the text does not name it: src/evict.rs"),
    ] {
        let refused = shim.call("checkpoint", json!({ "state": state })).await;
        assert!(refused.starts_with("ERROR") && refused.contains(why), "{refused}");
    }
    // A text that comes with the state, or waits for it, takes out what it names.
    let told =
        json!({ "context": "evict.rs is done.", "token_count": 1, "state": without_file(&reply) });
    let merged = shim.call("checkpoint", told).await;
    assert!(merged.contains("your state was merged."), "{merged}");
    let reply = checkpoint(&mut shim, "After all we take LFU.").await;
    let merged = shim.call("checkpoint", json!({ "state": flipped(&reply) })).await;
    assert!(merged.contains("Your state was merged."), "{merged}");
    let text = resume(&mut shim).await;
    assert!(text.contains("LRU or LFU?: LFU") && !text.contains("Active Files"), "{text}");
}

/// There, the context is written nowhere if the model fails.
#[tokio::test]
async fn the_text_is_on_disk_whatever_becomes_of_the_state() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    checkpoint(&mut shim, "Task: one").await;
    let call = json!({ "context": "We take LFU.", "token_count": 5, "state": "not a state" });
    let reply = shim.call("checkpoint", call).await;
    assert!(reply.starts_with("Checkpoint saved successfully (version 2)\n"), "{reply}");
    assert!(reply.contains("The state was not taken:"), "{reply}");
    assert!(resume(&mut shim).await.contains("We take LFU."));
    let missing = shim.call("checkpoint", json!({ "token_count": 5 })).await;
    insta::assert_snapshot!(missing, @"ERROR Checkpoint failed: context is missing: say what was done and what is open");
    let negative = shim.call("checkpoint", json!({ "context": "x", "token_count": -1 })).await;
    insta::assert_snapshot!(negative, @"ERROR Checkpoint failed: token_count is not a number, 0 or more");
}

/// There, the eleventh change is gone, and after 5 checkpoints everything before them.
#[tokio::test]
async fn all_versions_stay() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    for at in 1..=12 {
        checkpoint(&mut shim, &format!("change {at}")).await;
    }
    let text = resume(&mut shim).await;
    assert!(text.contains("change 12") && text.contains("change 3"), "{text}");
    assert!(!text.contains("change 2\n"), "{text}");
    let mut all = world.shim_with("all").await;
    let topic = all.call("memory_topic", json!({ "action": "read", "name": "main" })).await;
    assert!(topic.contains("change 1\n"), "{topic}");
    let reply = rollback(&mut shim, json!({ "steps": 11 })).await;
    assert!(reply.starts_with("Rolled back to version 1 ("), "{reply}");
}

/// Everything goes to a third party there, secrets included.
#[tokio::test]
async fn secrets_are_taken_out_first() {
    let world = World::new().await;
    let mut shim = shim(&world).await;
    let key = ["AKIA", "IOSFODNN7EXAMPLQ"].concat();
    let reply = checkpoint(&mut shim, &format!("Task: use {key}")).await;
    assert!(reply.contains("A secret was taken out"), "{reply}");
    assert!(!resume(&mut shim).await.contains(&key));
}

#[tokio::test]
async fn a_checkpoint_binds_the_conversation_to_the_brief() {
    let world = World::new().await;
    let mut all = world.shim_with("all").await;
    all.call("memory_topic", json!({ "action": "bind", "name": "cache" })).await;
    let mut shim = shim(&world).await;
    checkpoint(&mut shim, "Task: one").await;
    let exported: Value = serde_json::from_str(
        all.call("memory_export", json!({ "format": "json" })).await.lines().last().unwrap(),
    )
    .unwrap_or_default();
    assert!(exported.to_string().contains("main"), "{exported}");
}

#[tokio::test]
async fn a_save_keeps_and_merges_a_text_too() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let text = "Task: measure it\n\nWe take LFU, since it was faster.";
    let save = json!({ "session_summary": "worked", "context": text });
    let reply = shim.call("memory_save", save).await;
    assert!(reply.starts_with("Saved") && reply.contains("memory_save with `state`"), "{reply}");
    assert!(reply.trim_end().ends_with("waits for your state."), "{reply}");
    let mut state = state_in(&reply);
    assert_eq!(state["active_context"]["current_task"], "measure it");
    state["active_context"]["active_decisions"] =
        json!([{ "question": "LRU or LFU?", "status": "decided", "decision": "LFU" }]);
    let save = json!({ "session_summary": "merged", "state": state });
    let reply = shim.call("memory_save", save).await;
    assert!(reply.trim_end().ends_with("Your state was merged."), "{reply}");
    let mut all = world.shim_with("all").await;
    let topic = all.call("memory_topic", json!({ "action": "read", "name": "main" })).await;
    assert!(topic.contains("decided: LRU or LFU? -> LFU"), "{topic}");
    let plain = shim.call("memory_save", json!({ "session_summary": "no text" })).await;
    assert!(!plain.contains("merged"), "{plain}");
}
