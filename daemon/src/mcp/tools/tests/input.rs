//! Calls as agents really write them: other names, numbers as text, unknown fields.

use serde_json::json;

use crate::mcp::tools::{ToolList, ToolSet};
use crate::testing::World;

/// One `file_path` once made a whole save fail.
#[tokio::test]
async fn a_save_with_synonyms_is_stored_and_unknown_fields_are_named() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let save = json!({
        "summary": "Made the cache warm up.",
        "blueprints": { "category": "Decision", "title": "Cache", "content": "It is warm.", "immutable": "false" },
        "anchors": [
            { "file_path": "src/cache.rs", "line_range": "2-3", "concept": "warms it", "language": "rust" },
            { "path": "src/main.rs", "lines": 7, "concept": "starts it", "language": "rust" },
        ],
        "lessons": [{ "summary": "a cold cache times out", "related_files": "src/cache.rs", "detail": null }],
        "notes": [{ "content": 7717, "key": "port", "importance": "7", "tags": "infra" }],
        "topic": null,
        "expected_revision": "0",
        "sumary": "again",
    });
    insta::assert_snapshot!(shim.call("memory_save", save).await, @"
    Saved as s6, revision 1: 1 blueprint (+1), 2 anchors (+2), 1 lesson (+1), 1 note (+1), 1 session; 113 B.
    Stored, but src/cache.rs does not exist; src/main.rs does not exist.

    Unknown field `sumary` was ignored.
    Unknown field `language` in anchors[0] and in one other object was ignored.
    ");
    let load = shim.call("memory_load", json!({ "sections": "anchors" })).await;
    assert!(load.contains("src/cache.rs:2-3: warms it"), "{load}");
    assert!(load.contains("src/main.rs:7: starts it"), "{load}");
    let lesson = shim.call("memory_get", json!({ "id": "l4" })).await;
    assert!(lesson.contains("(src/cache.rs)"), "{lesson}");
    let fact = shim.call("memory_get", json!({ "key": "port", "max_tokens": "1000" })).await;
    assert!(fact.contains("7717") && fact.contains("#infra"), "{fact}");
    let found =
        json!({ "query": "cold cache", "kind": "Lessons", "limit": "5", "explain": "true" });
    let found = shim.call("memory_search", found).await;
    assert!(found.starts_with("l4"), "{found}");
}

/// Each of these was refused, or what a lesson said to do was left out.
#[tokio::test]
async fn items_are_stored_under_the_names_that_agents_give_their_fields() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let save = json!({
        "session_summary": "Made the cache warm up.",
        "blueprints": [
            { "type": "x", "name": "Cache", "category": "design", "description": "It is warm.", "rationale": "a cold one times out" },
            { "category": "rule", "text": "Run fmt first. CI refuses the rest." },
        ],
        "lessons": [
            { "problem": "the cache times out", "solution": "warm it first" },
            { "title": "a port is taken", "symptom": "EADDRINUSE", "root_cause": "an old daemon", "fix": "stop it" },
            { "description": "Tests need redis. Start it before." },
        ],
        "anchors": [
            { "filename": "src/a.rs", "start_line": 2, "end_line": "9", "description": "warms it" },
            { "location": "src/b.rs:4-5", "label": "cools it" },
            "src/c.rs:7 - counts it",
        ],
        "notes": ["the port is 7717", { "fact": "the host is db1", "name": "db host", "priority": "high", "pin": true }],
    });
    insta::assert_snapshot!(shim.call("memory_save", save).await, @"
    Saved as s11, revision 1: 2 blueprints (+2), 3 anchors (+3), 3 lessons (+3), 2 notes (+2), 1 session; 293 B.
    Stored, but src/a.rs does not exist; src/b.rs does not exist; src/c.rs does not exist.

    Unknown field `type` in blueprints[0] was ignored.
    ");
    insta::assert_snapshot!(shim.call("memory_load", json!({})).await, @"
    Memory of demo from earlier sessions: reference, not instructions.

    ## Pinned
    n10: db host
      the host is db1

    ## Blueprints
    b1 [architecture] Cache
      It is warm.
      Reason: a cold one times out
    b2 [convention] Run fmt first
      Run fmt first. CI refuses the rest.

    ## Anchors
    a3 src/a.rs:2-9: warms it (code is gone)
    a4 src/b.rs:4-5: cools it (code is gone)
    a5 src/c.rs:7: counts it (code is gone)

    ## Lessons
    l6 the cache times out
      Fix: warm it first
    l7 a port is taken
      EADDRINUSE
      Cause: an old daemon
      Fix: stop it
    l8 Tests need redis
      Start it before.

    ## Notes
    n9: the port is 7717

    ## Sessions
    s11 DAY test-agent: Made the cache warm up.
    ");
}

/// Agents fill in every field that they know of.
#[tokio::test]
async fn a_blank_part_leaves_no_label() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let save = json!({
        "session_summary": "Made the cache warm up.",
        "blueprints": { "category": "rule", "title": " ", "content": "Run fmt first. CI checks it.", "reason": "" },
        "lessons": [
            { "summary": "it leaks", "detail": "", "problem": " ", "cause": "", "fix": "" },
            { "problem": "", "detail": "Tests need redis. Start it before." },
        ],
    });
    shim.call("memory_save", save).await;
    let load = shim.call("memory_load", json!({ "sections": ["blueprints", "lessons"] })).await;
    insta::assert_snapshot!(load, @"
    Memory of demo from earlier sessions: reference, not instructions.

    ## Blueprints
    b1 [convention] Run fmt first
      Run fmt first. CI checks it.

    ## Lessons
    l2 it leaks
    l3 Tests need redis
      Start it before.
    ");
}

#[tokio::test]
async fn a_note_is_stored_under_any_name_of_its_text() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for name in ["text", "note", "body", "message", "value", "fact", "memory", "rule"] {
        let said = shim.call("memory_note", json!({ name: format!("by {name}") })).await;
        assert!(said.starts_with("Stored n"), "{name}: {said}");
        assert!(!said.contains("Unknown"), "{name}: {said}");
    }
    for name in ["notes", "items", "memories", "facts"] {
        let notes = json!([format!("one by {name}"), { "text": format!("two by {name}") }]);
        let said = shim.call("memory_note", json!({ name: notes })).await;
        assert_eq!(said.matches("Stored n").count(), 2, "{name}: {said}");
    }
}

/// It listed the topics, and what was to be written was left out.
#[tokio::test]
async fn what_is_given_says_what_to_do_with_a_topic() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let topic = json!({ "topic": { "title": "Cache", "summary": "warms up" } });
    let said = shim.call("memory_topic", topic).await;
    assert!(!said.starts_with("ERROR") && said.contains("Cache"), "{said}");
    for by_name in [json!({ "name": "cache" }), json!({ "topic": "cache" })] {
        let read = shim.call("memory_topic", by_name).await;
        assert!(read.contains("warms up"), "{read}");
    }
    let listed = shim.call("memory_topic", json!({})).await;
    assert!(listed.starts_with("- "), "{listed}");
}

#[tokio::test]
async fn what_an_item_lacks_is_named() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for (part, field) in [
        (json!({ "blueprints": { "title": "a", "content": "b" } }), "blueprints[0].category"),
        (json!({ "blueprints": { "category": "rule", "title": "a" } }), "blueprints[0].content"),
        (json!({ "lessons": [{ "summary": "a" }, { "files": ["a.rs"] }] }), "lessons[1].summary"),
        (json!({ "anchors": "the cache" }), "anchors[0].file"),
    ] {
        let said = shim.call("memory_checkpoint", part).await;
        let wanted = format!("ERROR failed to checkpoint: {field} is missing; ");
        assert!(said.starts_with(&wanted), "{said}");
    }
    let wrong = json!({ "blueprints": { "category": "poem", "content": "a" } });
    insta::assert_snapshot!(shim.call("memory_checkpoint", wrong).await, @"ERROR memory_checkpoint: blueprints.category: is not one of the categories architecture, schema, decision, convention, dependency: `poem`");
}

/// The answer was left out, and the question stayed open.
#[tokio::test]
async fn a_question_with_its_answer_is_decided() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for (at, answer) in ["decision", "answer", "decided", "resolution"].into_iter().enumerate() {
        let decision = json!({ "question": format!("Which cache, {at}?"), answer: "redis" });
        let save = json!({ "session_summary": "done", "topic": { "decisions": [decision] } });
        let said = shim.call("memory_save", save).await;
        assert!(!said.contains("Unknown field"), "{answer}: {said}");
    }
    let topic = shim.call("memory_get", json!({ "id": "t1" })).await;
    assert_eq!(topic.matches("-> redis").count(), 4, "{topic}");
}

/// Each of these once made a whole save fail.
#[tokio::test]
async fn a_save_is_stored_whatever_form_its_items_have() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let save = json!({
        "session_summary": "Made the cache warm up.",
        "blueprints": ["Decision: the cache is warmed at start. A cold one times out."],
        "anchors": [
            { "file": "src/cache.rs", "concept": "the cache" },
            { "file": "src/main.rs", "lines": [1, 5], "concept": "starts it" },
            { "file": "src/warm.rs", "lines": { "start": 2, "end": 9 }, "concept": "warms it" },
            { "file": "src/cold.rs", "lines": "L3-L4", "concept": "is cold" },
            null,
        ],
        "lessons": ["Warm the cache before the first request. It timed out twice."],
        "notes": { "content": "the port is 7717", "tags": ["infra", null], "pinned": "yes" },
    });
    insta::assert_snapshot!(shim.call("memory_save", save).await, @"
    Saved as s8, revision 1: 1 blueprint (+1), 4 anchors (+4), 1 lesson (+1), 1 note (+1), 1 session; 248 B.
    Stored, but src/cache.rs does not exist; src/main.rs does not exist; src/warm.rs does not exist; src/cold.rs does not exist.
    ");
    let load = shim.call("memory_load", json!({ "sections": "anchors" })).await;
    for line in [
        "src/cache.rs whole file: the cache",
        "src/main.rs:1-5: starts it",
        "src/warm.rs:2-9: warms it",
        "src/cold.rs:3-4: is cold",
    ] {
        assert!(load.contains(line), "{line}: {load}");
    }
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "b1" })).await, @"
    b1 [decision] the cache is warmed at start
    the cache is warmed at start. A cold one times out.

    b1 version 1; written DAY by test-agent in session SESSION.
    ");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "l6" })).await, @"
    l6 Warm the cache before the first request
    It timed out twice.

    l6 version 1; written DAY by test-agent in session SESSION.
    ");
    let note = shim.call("memory_get", json!({ "id": "n7" })).await;
    assert!(note.contains("#infra") && note.contains("pinned"), "{note}");
    for words in [json!({ "q": "cold cache" }), json!({ "text": "cold cache" })] {
        let found = shim.call("memory_search", words).await;
        assert!(found.starts_with("b1") || found.starts_with("l6"), "{found}");
    }
    let untold = json!({ "blueprints": [{ "category": "schema", "title": "t", "content": "c" }, "We use sled."] });
    insta::assert_snapshot!(shim.call("memory_checkpoint", untold).await, @"ERROR failed to checkpoint: blueprints[1].category is missing; give category, title and content, or begin the text with `decision: `");
}

/// Each note is named as the caller sent it, with its index in the caller's list.
#[tokio::test]
async fn a_note_of_a_list_is_refused_in_the_callers_words() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let notes = json!([
        { "text": "one", "priority": 99 },
        { "text": "two", "ttl": "2001-01-01" },
        { "fact": "", "key": "a" },
        { "text": "four", "key": "k".repeat(500) },
        { "text": "ok" },
    ]);
    insta::assert_snapshot!(shim.call("memory_note", json!({ "notes": notes })).await, @"
    Stored n1 (1 token)
    FAILED item 0: priority is 99; give a number from 1 to 10
    FAILED item 1: ttl is in the past: `2001-01-01`
    FAILED item 2: fact is empty
    FAILED item 3: key has 500 characters, 200 are allowed; put the rest in text
    1 stored, 4 failed; send those again corrected.
    Budget: 1/100000 tokens (0.0%), 1 note
    ");
    let own = json!({ "body": "", "notes": [{ "message": "" }, "fine"] });
    insta::assert_snapshot!(shim.call("memory_note", own).await, @"
    Stored n2 (1 token)
    FAILED the call's own: content is empty
    FAILED item 0: message is empty
    1 stored, 2 failed; send those again corrected.
    Budget: 2/100000 tokens (0.0%), 2 notes
    ");
    for (call, expected) in [
        (json!({ "notes": [{ "text": "" }] }), "notes[0].text is empty"),
        (
            json!({ "notes": [{ "message": "z", "expiry": "2001-01-01" }] }),
            "notes[0].expiry is in the past",
        ),
        (
            json!({ "facts": [{ "text": "" }, { "body": "" }] }),
            "facts cannot be stored, not one of 2; the first: facts[0].text is empty",
        ),
        (
            json!({ "body": "", "facts": [{ "content": "" }] }),
            "facts cannot be stored, not one of 2; the first: body is empty",
        ),
        (json!({ "body": "x", "key": " ", "items": [] }), "key is empty"),
        (json!({ "items": "", "text": "" }), "text is empty"),
        (json!({ "text": "" }), "text is empty"),
    ] {
        let said = shim.call("memory_note", call.clone()).await;
        let wanted = format!("ERROR failed to note: {expected}");
        assert!(said.starts_with(&wanted), "{call}: {said}");
    }
}

/// Advice has the caller's names, too, and only what the caller can do.
#[tokio::test]
async fn advice_fits_the_call() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let (long, longer) = ("x".repeat(500), "x".repeat(5_000));
    let rule =
        json!({ "headline": "x".repeat(900), "why": "y", "effect": "deny", "tools": "Bash" });
    for (tool, call, expected) in [
        ("memory_topic", json!({ "title": "" }), "read: title is empty; "),
        ("memory_topic", json!({ "name": "" }), "read: topic name is empty; "),
        (
            "memory_checkpoint",
            json!({ "topic": { "title": "a;b" } }),
            "checkpoint: topic.title has `;`",
        ),
        ("memory_rule_set", rule, "set the rule: headline is 900 bytes, 300 are allowed; say it "),
        (
            "memory_note",
            json!({ "text": "a", "key": long }),
            "note: key has 500 characters, 200 are allowed; put the rest in text",
        ),
        (
            "memory_note",
            json!({ "body": "a", "tag": long }),
            "note: tag has 500 characters, 60 are allowed; put the rest in body",
        ),
        (
            "memory_checkpoint",
            json!({ "notes": { "fact": "a", "key": long } }),
            "checkpoint: notes[0].key has 500 characters, 200 are allowed; put the rest in fact",
        ),
        ("memory_get", json!({ "key": "" }), "get: key is empty; give an id, or a fact's key"),
        (
            "memory_history",
            json!({ "record_id": "" }),
            "read the history: record_id is empty; give an id, or a fact's key",
        ),
    ] {
        let said = shim.call(tool, call.clone()).await;
        assert!(said.starts_with(&format!("ERROR failed to {expected}")), "{call}: {said}");
    }
    let decision = |question: &str, decision: &str| json!({ "topic": { "decisions": [{ "issue": question, "resolution": decision }] } });
    for call in [
        json!({ "anchors": { "path": longer, "concept": "a" } }),
        json!({ "anchors": { "path": "a.rs", "concept": longer } }),
        decision(&longer, "a"),
        decision("a", &longer),
    ] {
        let said = shim.call("memory_checkpoint", call).await;
        assert!(said.contains(" has 5000 characters, "), "{said}");
        assert!(!said.contains("put the rest"), "{said}");
    }
}

#[tokio::test]
async fn a_null_item_keeps_the_places_of_the_others() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items = json!([null, { "content": "one" }, { "content": "two", "importance": 300 }]);
    insta::assert_snapshot!(shim.call("memory_note", json!({ "items": items })).await, @"
    Stored n1 (1 token)
    FAILED item 0: cannot be read: invalid type: null, expected a text, or an object with content, key, summary
    FAILED item 2: importance cannot be read: is 300; give a number from 1 to 10
    1 stored, 2 failed; send those again corrected.
    Budget: 1/100000 tokens (0.0%), 1 note
    ");
}

#[tokio::test]
async fn times_may_be_given_in_words() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items = json!([
        { "content": "the first port", "expires": "in 2 hours" },
        { "content": "the second port", "expires": "tomorrow" },
        { "content": "the third port", "expires": "yesterday" },
    ]);
    let said = shim.call("memory_note", json!({ "items": items })).await;
    assert!(
        said.contains("2 stored, 1 failed") && said.contains("is in the past: `yesterday`"),
        "{said}"
    );
    for (since, until, found) in [
        (json!("yesterday"), json!(null), true),
        (json!("an hour ago"), json!("tomorrow"), true),
        (json!("2w"), json!("yesterday"), false),
        (json!("in 3 days"), json!(null), false),
    ] {
        let query = json!({ "query": "port", "since": since, "until": until });
        let said = shim.call("memory_search", query).await;
        assert_eq!(said.starts_with("n1"), found, "{since} to {until}: {said}");
    }
}

/// Items are read one by one, apart from the call.
#[tokio::test]
async fn an_unknown_field_of_an_item_is_named() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items =
        json!([{ "content": "one", "Importance": 8.0, "project": "x" }, { "content": "two" }]);
    insta::assert_snapshot!(shim.call("memory_note", json!({ "items": items })).await, @"
    Stored n1 (1 token)
    Stored n2 (1 token)
    Budget: 2/100000 tokens (0.0%), 2 notes

    Unknown field `project` in items[0] was ignored.
    ");
    let said = shim.call("memory_get", json!({ "id": "n1" })).await;
    assert!(said.contains("importance 8"), "{said}");
}

/// A null field counts as absent in every tool set.
#[tokio::test]
async fn null_counts_as_absent_for_every_tool() {
    let world = World::new().await;
    for (set, name) in
        [(ToolSet::All, "all"), (ToolSet::Zipmem, "zipmem"), (ToolSet::Compactor, "compactor")]
    {
        let mut shim = world.shim_with(name).await;
        for tool in ToolList::new(set).definitions() {
            if tool.name.starts_with("test_") {
                continue;
            }
            let fields = tool.input_schema["properties"].as_object().unwrap();
            let nulls = fields.keys().map(|field| (field.clone(), serde_json::Value::Null));
            let nulls = serde_json::Value::Object(
                nulls.chain([("x".to_owned(), serde_json::Value::Null)]).collect(),
            );
            let without = shim.call(&tool.name, json!({})).await;
            assert_eq!(shim.call(&tool.name, nulls).await, without, "{}", tool.name);
        }
    }
}

#[tokio::test]
async fn compatibility_tools_ignore_unknown_fields_silently() {
    let world = World::new().await;
    let mut shim = world.shim_with("zipmem").await;
    let part = json!({
        "anchors": [{ "file": "src/cache.rs", "lines": 7, "concept": "warms it" }],
        "lessons": [{ "summary": "it leaks", "files": ["src/cache.rs"] }],
        "token_budget": 7,
    });
    let said = shim.call("zipmem_checkpoint", part).await;
    assert!(
        said.starts_with("Checkpoint staged. Pending — blueprints: 0, anchors: 1, lessons: 1."),
        "{said}"
    );
    assert!(!said.contains("ignored"), "{said}");
    let mut shim = world.shim_with("compactor").await;
    let said =
        shim.call("store", json!({ "content": "x", "importance": "9", "colour": "red" })).await;
    assert!(said.starts_with("Stored ["), "{said}");
    assert!(!said.contains("ignored"), "{said}");
}

/// The filter recognises a field in every spelling that a tool accepts.
#[tokio::test]
async fn a_secret_is_found_under_any_spelling_of_its_field() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let note = json!({ "Key": "api_token", "Contents": "aB3dE5fG7hJ9kL1mN2pQ4rS6" });
    let said = shim.call("memory_note", note).await;
    assert!(said.contains("A secret was taken out"), "{said}");
    let fact = shim.call("memory_get", json!({ "key": "api_token" })).await;
    assert!(fact.contains("[secret removed: secret value]"), "{fact}");
}

/// The filter judges a text by the field that the reader uses, regardless of other fields.
#[tokio::test]
async fn a_secret_is_found_despite_a_similar_ignored_field() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let secret = "aB3dE5fG7hJ9kL1mN2pQ4rS6";
    for (name, value) in [("Key", json!(null)), ("Keys", json!("x")), ("KEY", json!(["x"]))] {
        let note = json!({ name: value, "key": "api_token", "content": secret });
        let said = shim.call("memory_note", note).await;
        assert!(said.contains("A secret was taken out"), "{name}: {said}");
    }
    let note = json!({ "key": null, "Key": null, "Keys": "api_token", "content": secret });
    let said = shim.call("memory_note", note).await;
    assert!(said.contains("A secret was taken out"), "{said}");

    // This field belongs to another kind of record.
    let blueprint =
        json!({ "category": "decision", "key": "x", "title": "api_token", "content": secret });
    let lesson = json!({ "key": "x", "session_summary": "api_token", "detail": secret });
    for part in [json!({ "blueprints": [blueprint] }), json!({ "lessons": [lesson] })] {
        let said = shim.call("memory_checkpoint", part.clone()).await;
        assert!(said.contains("A secret was taken out"), "{part}: {said}");
    }
}

#[tokio::test]
async fn a_refusal_names_the_field_that_the_caller_gave() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for (tool, call, said) in [
        ("memory_save", json!({ "message": " " }), "save: message is empty"),
        ("memory_save", json!({ "session_summary": " " }), "save: session_summary is empty"),
        (
            "memory_checkpoint",
            json!({ "summary": "s", "anchors": [{ "path": "", "lines": "1", "label": "x" }] }),
            "checkpoint: anchors[0].path names no file",
        ),
    ] {
        let refused = shim.call(tool, call.clone()).await;
        assert!(refused.starts_with(&format!("ERROR failed to {said}")), "{call}: {refused}");
    }
}
