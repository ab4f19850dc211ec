//! The documented list of tools is the real one; each tool does what it says and words its errors.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::spelling::SYNONYMS;
use crate::testing::{Shim, World, hello_from};

mod budget;
mod edges;
mod history;
mod input;
mod notes;
mod outline;
mod pages;
mod personal;
mod several;
mod topics;
mod unindexed;

/// The variable that makes the test write the document instead of comparing it.
const UPDATE: &str = "UPDATE_DOCS";

/// The beginning of `docs/mcp-tools.md`.
const HEAD: &str = r#"# MCP tools

Generated from the definitions; after a change run `UPDATE_DOCS=1 cargo test -p anchord-daemon --lib
tools_are_documented`.

Input is liberal. null means absent, also in a list. Whole numbers may come as `5.0` or `"5"`,
booleans as `"true"`, `"yes"` or 1, and one value may stand for a list of one. All arguments may be
an object in a text. `filePath` and `file_path` are one name, and [other names](#other-names) of
fields are taken too. An unknown field is named in the answer, and the rest is stored.

A note may be a text alone. So may a lesson: its first sentence is the summary. A lesson may also
have `problem`, `cause` and `fix`, and a blueprint `reason`; they become part of its text. A
blueprint may be a text that begins with its category, as in `decision: use sled. It needs no
server.` For a category, words such as `rule`, `design` or `library` are taken; for an importance,
`low`, `normal`, `high` and `critical`.

Lines may be `42-67`, `42`, `L42-L67`, `[42, 67]` or `{"start": 42, "end": 67}`. They may also be
`start_line` and `end_line`, or stand behind the file: `src/a.rs:42-67`. An anchor without lines is
one of the whole file. It may be a text: `src/a.rs:42-67 the retry loop`.

Every answer is text and has 9,000 characters at most. What did not fit is named, with the `cursor`
that fetches it. A mistake of the caller's is a result with `isError` that says what to do. `--tools
zipmem`, `compactor` and `infinite-context` follow their originals: they do not name unknown fields,
and their answers are as long as theirs.

A `topic` is an object with `name`, `status`, `overview`, `architecture`, `decisions`, `history` and
`files`. A decision is `{question, decision}`, a question, or a statement; a line of history is a
text, or `{text, files}` ([topics.md](topics.md)). `context` of `memory_save` is free text. It is
kept as a note, its headings and labels go into the topic, and the reply may ask for more
([infinite-context.md](infinite-context.md#merging-free-text)).

`max_tokens` caps an answer of `memory_load`, and from 250 on one of `memory_search`, `memory_get`,
`memory_list` and `memory_export`. A search and a list say `truncated: true`, how many records were
left out, the first 20 of them by id, and the cursor; `limit` is from 1 to 100 for a search and from
1 to 200 for a list.

A note is the project's unless `scope` says `session`. Then its session alone sees it, and those
that go on with the same conversation, as an agent does that resumes it; `memory_update` with
`scope: project` shares it. When the conversation is over no other agent finds it; `anchord export
--format json` has everything, for you. (`--tools compactor` is its own: [a client goes on with what
its ended sessions left](compactor.md).)
"#;

const NAMES: &str = "
## Other names

A name that is a field of the call is that field. Any other is the first field of the call that has
it here and is not given. If one field has several names, its own wins, then the earliest here. A
blank one gives way to one with text. The answer says which are ignored.

| field | other names |
| --- | --- |
";

/// Returns the expected content of `docs/mcp-tools.md`.
fn document() -> String {
    let mut text = HEAD.to_owned();
    text.push_str(NAMES);
    for (field, names) in SYNONYMS {
        writeln!(text, "| `{field}` | `{}` |", names.join("`, `")).unwrap();
    }
    let default = ToolList::new(ToolSet::Default);
    for (set, name) in [
        (ToolSet::Default, "The default set"),
        (ToolSet::All, "What `--tools all` adds"),
        (ToolSet::Zipmem, "`--tools zipmem`"),
        (ToolSet::Compactor, "`--tools compactor`"),
        (ToolSet::InfiniteContext, "`--tools infinite-context`"),
        (ToolSet::SnapMemory, "`--tools snap-memory`"),
    ] {
        writeln!(text, "\n## {name}").unwrap();
        for tool in ToolList::new(set).definitions() {
            if set != ToolSet::Default && default.get(&tool.name).is_some() {
                continue;
            }
            let json = serde_json::to_value(&tool).unwrap();
            let hint = |name: &str| json["annotations"][name] == true;
            let effect = match (hint("readOnlyHint"), hint("destructiveHint")) {
                (true, _) if tool.name == "memory_get" => {
                    "Changes nothing, but what was archived, or shown by its summary, is active and whole again."
                }
                (true, _) => "Changes nothing.",
                (false, true) => "Takes something out of sight.",
                (false, false) => "Adds or changes.",
            };
            let first = match json["_meta"]["anthropic/alwaysLoad"] {
                Value::Bool(true) => " Always in view of clients that search for tools.",
                _ => "",
            };
            let schema = serde_json::to_string_pretty(&json["inputSchema"]).unwrap();
            let described = tool.description.as_deref().unwrap().trim();
            write!(
                text,
                "\n### {}\n\n{described}\n\n{effect}{first}\n\n```json\n{schema}\n```\n",
                tool.name
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn tools_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mcp-tools.md");
    let document = document();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/mcp-tools.md is not up to date; run this test with {UPDATE}=1"
    );
}

#[test]
fn a_tool_list_is_stable_and_differs_between_sets() {
    let json = |set| serde_json::to_string(&ToolList::new(set).definitions()).unwrap();
    for set in ToolSet::ALL {
        assert_eq!(json(set), json(set));
        assert_eq!(ToolList::new(set).digest(), ToolList::new(set).digest());
    }
    assert_ne!(ToolList::new(ToolSet::Default).digest(), ToolList::new(ToolSet::Zipmem).digest());
}

#[test]
fn every_tool_is_annotated_and_has_an_object_for_parameters() {
    for set in ToolSet::ALL {
        for tool in ToolList::new(set).definitions() {
            let json = serde_json::to_value(&tool).unwrap();
            assert_eq!(json["inputSchema"]["type"], "object", "{json}");
            assert!(json["inputSchema"]["properties"].is_object(), "{json}");
            // A tool that changes something has to declare whether it is destructive.
            let hints = &json["annotations"];
            assert_eq!(hints["openWorldHint"], false, "{json}");
            let changes = hints["destructiveHint"].is_boolean();
            assert!(hints["readOnlyHint"] == true || changes, "{json}");
            for word in ["\"format\":\"", "\"title\":\"", "\"$ref\"", "\"null\""] {
                let schema = json["inputSchema"].to_string();
                assert!(!schema.contains(word), "{word} costs tokens: {schema}");
            }
        }
    }
}

/// Uses the count that is calibrated against the real tokenizer; `anchord-benches tools` uses the
/// real one.
#[test]
fn the_default_set_costs_little() {
    let tools = ToolList::new(ToolSet::Default).definitions();
    let shipped = tools.iter().filter(|tool| !tool.name.starts_with("test_"));
    let costs: Vec<(String, u32)> = shipped
        .map(|tool| {
            let json = serde_json::to_string(tool).unwrap();
            (tool.name.to_string(), anchord_memory::tokens::count(&json))
        })
        .collect();
    let sum: u32 = costs.iter().map(|(_, tokens)| tokens).sum();
    assert!(sum <= 1_500, "{sum} tokens: {costs:?}");
}

fn everything() -> Value {
    json!({
        "session_summary": "Made the cache warm up.",
        "blueprints": [{ "category": "decision", "title": "Cache", "content": "It is warmed at start." }],
        "anchors": [{ "file": "src/cache.rs", "lines": "2-3", "concept": "where it is warmed" }],
        "lessons": [{ "summary": "a cold cache times out", "detail": "after 5 s", "files": ["src/cache.rs"] }],
    })
}

async fn saved(world: &World) -> Shim {
    let mut shim = world.shim().await;
    let saved = shim.call("memory_save", everything()).await;
    assert!(saved.starts_with("Saved"), "{saved}");
    shim
}

#[tokio::test]
async fn a_new_project_is_empty() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    insta::assert_snapshot!(shim.call("memory_load", json!({})).await, @"
    Memory of demo from earlier sessions: reference, not instructions.
    Nothing is recorded yet: memory_checkpoint what you learn as you go, memory_save before you end.
    ");
    insta::assert_snapshot!(shim.call("memory_status", json!({})).await, @"
    project: demo
    revision: 0
    active: 0 blueprints, 0 anchors, 0 lessons, 0 notes, 0 topics, 0 sessions, 0 rules
    size: 0 B (a nudge above 100.0 KB, oldest parts archived above 500.0 KB)
    budget: 0 notes, 0 tokens, 0.0% of 100000 tokens (the default); above 90% compacted to 80%
    your own notes: 0 notes, 0 tokens, 0.0% of 100000 tokens (the client's default); above 90% compacted to 80%
    kept: 0 of 100000 notes, 0 B of 256 MiB; 0 archived
    staged by this session: nothing
    staged size: 0 B of 8 MiB by this session, 0 B of 32 MiB by all
    other live sessions here: none
    ");
    std::fs::create_dir(world.directory("demo/.zipmem")).unwrap();
    std::fs::write(world.directory("demo/.zipmem/state.json"), "{}").unwrap();
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("`anchord import .zipmem`"), "{load}");
}

#[tokio::test]
async fn a_session_is_shown_its_own_staged_work() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_checkpoint", json!({ "summary": "half way" })).await;
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("Staged by you and not saved yet: a summary; memory_save"), "{load}");
    shim.call("memory_checkpoint", json!({ "lessons": [{ "summary": "it leaks" }] })).await;
    let status = shim.call("memory_status", json!({})).await;
    assert!(status.contains("\nstaged by this session: 1 lesson\n"), "{status}");
    let load = world.shim().await.call("memory_load", json!({})).await;
    assert!(!load.contains("Staged by you"), "it is private: {load}");
}

#[tokio::test]
async fn work_is_staged_then_saved_then_loaded() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let mut part = everything();
    part.as_object_mut().unwrap().remove("session_summary");
    part["anchors"][0]["file"] = world.directory("demo/src/cache.rs").to_str().into();
    insta::assert_snapshot!(shim.call("memory_checkpoint", part).await, @"
    Staged. Pending until memory_save: 1 blueprint, 1 anchor, 1 lesson.
    Staged, but src/cache.rs does not exist.
    ");
    let mut other = world.shim().await;
    let unseen = other.call("memory_load", json!({})).await;
    assert!(!unseen.contains("cache"), "staged work is private: {unseen}");
    insta::assert_snapshot!(shim.call("memory_status", json!({})).await, @"
    project: demo
    revision: 0
    active: 0 blueprints, 0 anchors, 0 lessons, 0 notes, 0 topics, 0 sessions, 0 rules
    size: 0 B (a nudge above 100.0 KB, oldest parts archived above 500.0 KB)
    budget: 0 notes, 0 tokens, 0.0% of 100000 tokens (the default); above 90% compacted to 80%
    your own notes: 0 notes, 0 tokens, 0.0% of 100000 tokens (the client's default); above 90% compacted to 80%
    kept: 0 of 100000 notes, 0 B of 256 MiB; 0 archived
    staged by this session: 1 blueprint, 1 anchor, 1 lesson
    staged size: 484 B of 8 MiB by this session, 484 B of 32 MiB by all
    other live sessions here: 1 (test-agent)
    ");
    let save = json!({ "session_summary": "Made the cache warm up.", "expected_revision": 0 });
    insta::assert_snapshot!(shim.call("memory_save", save).await, @"Saved as s4, revision 1: 1 blueprint (+1), 1 anchor (+1), 1 lesson (+1), 1 session; 123 B.");
    insta::assert_snapshot!(other.call("memory_load", json!({})).await, @"
    Memory of demo from earlier sessions: reference, not instructions.

    ## Blueprints
    b1 [decision] Cache
      It is warmed at start.

    ## Anchors
    a2 src/cache.rs:2-3: where it is warmed (code is gone)

    ## Lessons
    l3 a cold cache times out (src/cache.rs)
      after 5 s

    ## Sessions
    s4 DAY test-agent: Made the cache warm up.

    Changed by others since revision 0:
    - new s4 DAY test-agent: Made the cache warm up.
    - new l3 a cold cache times out …
    - new a2 [src/cache.rs -> 2-3 -> where it is warmed] (code is gone)
    - new b1 [decision] Cache …
    Also here now: test-agent.
    ");
    let lessons = json!({ "sections": ["lessons"], "since": 1 });
    insta::assert_snapshot!(other.call("memory_load", lessons).await, @"
    Memory of demo from earlier sessions: reference, not instructions.

    ## Lessons
    l3 a cold cache times out (src/cache.rs)
      after 5 s

    Also here now: test-agent.
    ");
}

#[tokio::test]
async fn changes_by_others_are_reported_once() {
    let world = World::new().await;
    let (mut one, mut two) = (world.shim().await, world.shim().await);
    one.call("memory_load", json!({})).await;
    two.call("memory_save", json!({ "session_summary": "s", "lessons": [{ "summary": "news" }] }))
        .await;
    let load = one.call("memory_load", json!({})).await;
    let (_, changed) = load.split_once("Changed by others since revision 0:\n").expect(&load);
    assert!(changed.contains("new l1 news"), "{load}");
    let again = one.call("memory_load", json!({})).await;
    assert!(again.contains("l1 news") && !again.contains("Changed by others"), "{again}");
}

#[tokio::test]
async fn a_record_is_read_at_any_version() {
    let world = World::new().await;
    let mut shim = saved(&world).await;
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "b1" })).await, @r"
    b1 [decision] Cache
    It is warmed at start.

    b1 version 1; written DAY by test-agent in session SESSION.
    ");
    let newer = json!({ "session_summary": "s", "blueprints": [
        { "category": "decision", "title": "cache", "content": "It is lazy.", "immutable": false },
    ] });
    insta::assert_snapshot!(shim.call("memory_save", newer).await, @"
    Saved as s4, revision 2: 1 blueprint, 1 anchor, 1 lesson, 1 session; 113 B.
    1 replaced what was there.
    ");
    let newest = shim.call("memory_get", json!({ "id": "B1" })).await;
    assert!(newest.contains("It is lazy."), "{newest}");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "b1", "version": 1 })).await, @r"
    b1 [decision] Cache
    It is warmed at start.

    b1 version 1; written DAY by test-agent in session SESSION.
    NOT CURRENT: replaced on DAY by version 2: b1 [decision, mutable] cache …
    ");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "b1", "version": 9 })).await, @"ERROR failed to get: b1 has no version 9; versions go from 1 to 2");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "b77" })).await, @"ERROR failed to get: there is no record b77; memory_search finds records by their words");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "first" })).await, @"ERROR failed to get: `first` is not a record id; ids look like b12 (blueprint), a12 (anchor), l12 (lesson), n12 (note), t12 (topic), s12 (session), r12 (rule), u12 (the user's own note); and there is no fact with the key `first`; memory_search finds notes by their words");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "b1", "cursor": "x" })).await, @"ERROR failed to get: cursor is not a cursor for b1: `x`; leave it out");
}

#[tokio::test]
async fn an_anchor_is_expanded_from_the_file_as_it_is_now() {
    let world = World::new().await;
    let mut shim = saved(&world).await;
    let expand = json!({ "id": "a2", "expand": true });
    insta::assert_snapshot!(shim.call("memory_get", expand.clone()).await, @"ERROR failed to expand src/cache.rs: the code is not there any more; search for it");

    std::fs::create_dir(world.directory("demo/src")).unwrap();
    let path = world.directory("demo/src/cache.rs");
    std::fs::write(&path, "fn one() {}\nfn warm() {\n    two();\n}\n").unwrap();
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    insta::assert_snapshot!(shim.call("memory_get", expand.clone()).await, @r"
    a2 [src/cache.rs -> 2-3 -> where it is warmed]

    a2 version 1; written DAY by test-agent in session SESSION.

    src/cache.rs lines 2-3 now:
    2	fn warm() {
    3	    two();
    ");
    let future = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(4_000_000_000);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(future).unwrap();
    let changed = shim.call("memory_get", expand.clone()).await;
    assert!(changed.starts_with("ERROR") && changed.contains("the file changed"), "{changed}");
    assert!(!changed.contains("fn warm"), "{changed}");
    insta::assert_snapshot!(shim.call("memory_get", json!({ "id": "l3", "expand": true })).await, @"ERROR failed to get: l3 is not an anchor; only anchors can be expanded");

    std::fs::write(&path, format!("one\n{}\n", "x".repeat(100_000))).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    let cut = shim.call("memory_get", expand).await;
    assert!(cut.chars().count() <= 9_000 && cut.contains("cut at line 2"), "{}", cut.len());

    let save = json!({ "session_summary": "s", "anchors": [
        { "file": "../outside.rs", "lines": "1", "concept": "not in the project" },
        { "file": "src/cache.rs", "lines": "fn warm", "concept": "no range" },
    ] });
    std::fs::write(world.directory("outside.rs"), "secret\n").unwrap();
    let said = shim.call("memory_save", save).await;
    insta::assert_snapshot!(said, @"
    Saved as s4, revision 2: 1 blueprint, 3 anchors (+2), 1 lesson, 1 session; 182 B.
    Stored, but failed to read `../outside.rs`: it is outside the project.
    ");
    for id in ["a5", "a6"] {
        let said = shim.call("memory_get", json!({ "id": id, "expand": true })).await;
        assert!(said.starts_with("ERROR failed to expand"), "{said}");
        assert!(!said.contains("secret"), "{said}");
    }
}

#[tokio::test]
async fn a_record_is_forgotten_unless_it_changed() {
    let world = World::new().await;
    let mut shim = saved(&world).await;
    let stale = json!({ "id": "l3", "expected_version": 7 });
    insta::assert_snapshot!(shim.call("memory_forget", stale).await, @r"
    ERROR failed to forget: l3 is at 1 now, not at 7; nothing was written. Changed since:
    l3 a cold cache times out …
    ");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "l3", "expected_version": 1 })).await, @"Forgotten, kept in history: l3 a cold cache times out …");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "l3" })).await, @"Was forgotten before: l3 a cold cache times out …");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "l9" })).await, @"ERROR failed to forget: there is no record l9; memory_search finds records by their words");
    insta::assert_snapshot!(shim.call("memory_forget", json!({ "id": "9" })).await, @"ERROR failed to forget: `9` is not a record id; ids look like b12 (blueprint), a12 (anchor), l12 (lesson), n12 (note), t12 (topic), s12 (session), r12 (rule), u12 (the user's own note), and there is no fact with the key `9`; memory_search finds notes by their words");
    let load = shim.call("memory_load", json!({})).await;
    assert!(!load.contains("a cold cache times out"), "{load}");
}

#[tokio::test]
async fn a_save_with_a_stale_revision_shows_changes_and_loses_nothing() {
    let world = World::new().await;
    let _saved = saved(&world).await;
    let mut other = world.shim().await;
    other.call("memory_checkpoint", json!({ "lessons": [{ "summary": "kept" }] })).await;
    let save = |revision: u64| json!({ "session_summary": "s", "expected_revision": revision });
    insta::assert_snapshot!(other.call("memory_save", save(0)).await, @r"
    ERROR failed to save: memory is at 1 now, not at 0; nothing was written. Changed since:
    new s4 DAY test-agent: Made the cache warm up.
    new l3 a cold cache times out …
    new a2 [src/cache.rs -> 2-3 -> where it is warmed]
    new b1 [decision] Cache …
    ");
    let status = other.call("memory_status", json!({})).await;
    assert!(status.contains("staged by this session: 1 lesson"), "{status}");
    assert!(other.call("memory_save", save(1)).await.contains("revision 2"));
}

#[tokio::test]
async fn an_invalid_parameter_is_named() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let cases = [
        ("memory_get", json!({})),
        ("memory_get", json!({ "id": 7 })),
        ("memory_load", json!({ "sections": ["everything"] })),
        ("memory_checkpoint", json!({})),
        ("memory_checkpoint", json!({ "lessons": [{ "summary": "ok" }, { "sumary": "x" }] })),
        ("memory_checkpoint", json!({ "lessons": [{ "summary": " " }] })),
        (
            "memory_checkpoint",
            json!({ "blueprints": [{ "category": "law", "title": "t", "content": "c" }] }),
        ),
        ("memory_save", json!({ "lessons": [] })),
        ("memory_save", json!({ "session_summary": "" })),
    ];
    let mut said = String::new();
    for (tool, arguments) in cases {
        let text = shim.call(tool, arguments).await;
        writeln!(said, "{text}").unwrap();
    }
    insta::assert_snapshot!(said, @"
    ERROR failed to get: give an id, or a fact's key
    ERROR failed to get: `7` is not a record id; ids look like b12 (blueprint), a12 (anchor), l12 (lesson), n12 (note), t12 (topic), s12 (session), r12 (rule), u12 (the user's own note); and there is no fact with the key `7`; memory_search finds notes by their words
    ERROR memory_load: sections[0]: unknown variant `everything`, expected one of `blueprints`, `anchors`, `lessons`, `notes`, `topics`, `sessions`, `rules`
    ERROR failed to checkpoint: checkpoint has nothing in it; give a summary or any of these: blueprints, anchors, lessons, notes, topic
    ERROR failed to checkpoint: lessons[1].summary is missing; give summary and detail
    Unknown field `sumary` in lessons[1] was ignored; did you mean `summary`?
    ERROR failed to checkpoint: lessons[0].summary is empty
    ERROR memory_checkpoint: blueprints[0].category: is not one of the categories architecture, schema, decision, convention, dependency: `law`
    ERROR memory_save: missing field `session_summary`
    ERROR failed to save: session_summary is empty; say what this session did
    ");
    assert_eq!(world.daemon.projects.registry.snapshot().projects().count(), 0);
    assert!(!world.directory("demo/.anchord").exists(), "a refused write leaves nothing behind");
}

#[tokio::test]
async fn a_directory_that_is_not_a_project_cannot_be_written_to() {
    let world = World::new().await;
    std::fs::create_dir(world.directory("home")).unwrap();
    let mut shim = world.connect(hello_from(&world.directory("home"))).await;
    shim.initialize("2025-06-18").await;
    for (tool, arguments) in [
        ("memory_save", everything()),
        ("memory_forget", json!({ "id": "b1" })),
        ("memory_status", json!({})),
        ("memory_get", json!({ "id": "b1" })),
    ] {
        let said = shim.call(tool, arguments).await;
        assert!(said.starts_with("ERROR failed to find a project"), "{tool}: {said}");
    }
}

#[tokio::test]
async fn every_answer_is_short_enough_for_every_client() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for part in 0..4 {
        let lessons: Vec<Value> = (0..60)
            .map(|n| json!({ "summary": format!("lesson {part}.{n} 語"), "detail": "語 ".repeat(150) }))
            .collect();
        let blueprints: Vec<Value> = (0..10)
            .map(|n| json!({
                "category": "schema", "title": format!("table {part}.{n}"), "content": "column ".repeat(1_000),
            }))
            .collect();
        let anchors: Vec<Value> = (0..60)
            .map(|n| json!({ "file": format!("src/{part}/{n}.rs"), "lines": "1-9", "concept": "x".repeat(200) }))
            .collect();
        let save = json!({
            "session_summary": "many ".repeat(5_000),
            "lessons": lessons, "blueprints": blueprints, "anchors": anchors,
        });
        let said = shim.call("memory_save", save).await;
        assert!(said.starts_with("Saved") && said.chars().count() <= 9_000, "{said}");
    }
    let mut arguments = json!({});
    let mut pages = 0;
    loop {
        let page = shim.call("memory_load", arguments).await;
        assert!(page.chars().count() <= 9_000, "page {pages} has {}", page.chars().count());
        pages += 1;
        let Some((_, cursor)) =
            page.split_once("cursor\":\"").or_else(|| page.split_once("cursor: \""))
        else {
            break;
        };
        let cursor = cursor.split('"').next().unwrap();
        arguments = json!({ "cursor": cursor });
        assert!(pages < 200, "it does not end: {page}");
    }
    assert!(pages > 3, "{pages} pages hold it all");
    for (tool, arguments) in [
        ("memory_status", json!({})),
        ("memory_get", json!({ "id": "b1" })),
        ("memory_load", json!({ "since": 0 })),
        ("memory_save", json!({ "session_summary": "s", "expected_revision": 0 })),
        ("memory_forget", json!({ "id": "b999", "expected_version": 1 })),
    ] {
        let said = shim.call(tool, arguments).await;
        assert!(said.chars().count() <= 9_000, "{tool} says {}", said.chars().count());
    }
}

#[tokio::test]
async fn pages_of_a_search_show_each_hit_once_however_many_there_are() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    for part in 0..4 {
        let items: Vec<_> =
            (0..70).map(|n| json!({ "content": format!("tide {part}x{n}") })).collect();
        shim.call("memory_note", json!({ "items": items })).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let asked = json!({ "query": "tide", "limit": 50, "cursor": cursor });
        let page = shim.call("memory_search", asked).await;
        let ids = page.lines().filter_map(|line| line.split([' ', ':']).next());
        let is_id = |word: &&str| {
            word.strip_prefix('n').is_some_and(|number| number.parse::<u64>().is_ok())
        };
        seen.extend(ids.filter(is_id).map(str::to_owned));
        assert!(!seen.is_empty(), "{page}");
        let Some((_, next)) = page.split_once("cursor\":\"") else { break };
        cursor = next.split('"').next().map(str::to_owned);
    }
    let unique: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), unique.len()), (280, 280));
}
