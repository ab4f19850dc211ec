//! Commands that call tools, and the log of calls by commands and agents.

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use super::*;
use crate::retrieval_log::Retrieval;
use crate::sessions::sweep;
use crate::testing::{Shim, World, dead, hello_from, holding, poll};

fn demo(world: &World) -> String {
    world.hello().cwd.unwrap()
}

async fn command(world: &World, tool: &str, arguments: Value) -> Answer<ToolReply> {
    typed(world, "", tool, arguments).await
}

/// Calls a tool for a person who typed these words.
async fn typed(world: &World, words: &str, tool: &str, arguments: Value) -> Answer<ToolReply> {
    let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
    let typed = words.split_whitespace().map(str::to_owned).collect();
    let params =
        ToolParams { project: demo(world), tool: tool.to_owned(), arguments, typed, at: None };
    call_tool(&world.daemon.admin.tools, params).await
}

async fn log(world: &World) -> Vec<Retrieval> {
    let query = LogQuery { project: demo(world), after: None, limit: 100, wait: false };
    let reply = retrievals(&world.daemon.admin, query).await.unwrap();
    assert_eq!(reply.fault, None);
    reply.lines
}

/// Renders the parts of a line that are the same in every run.
fn told(line: &Retrieval) -> String {
    let Retrieval { number, client, tool, asked, ids, tokens, truncated, refused, .. } = line;
    let marks = [(*truncated, " truncated"), (*refused, " refused")];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    assert_eq!(*tokens == 0, client == "anchord-cli" && tool == "memory_export", "{line:?}");
    format!("{number} {client} {tool} {asked} -> [{}]{marks}\n", ids.join(" "))
}

async fn with_notes(world: &World) -> Shim {
    let mut shim = world.shim_with("all").await;
    let items = ["retry with jitter", "retry no more than five times", "the queue is bounded"];
    let items: Vec<Value> = items.iter().map(|text| json!({"content": text})).collect();
    shim.call("memory_note", json!({"items": items})).await;
    shim
}

#[tokio::test]
async fn every_answer_that_reads_is_logged_with_what_it_gave() {
    let world = World::new().await;
    let mut before = world.shim().await;
    before.call("memory_load", json!({})).await;
    let mut shim = with_notes(&world).await;
    shim.call("memory_note", json!({"key": "build", "content": "make"})).await;
    shim.call("memory_note", json!({"key": "build", "content": "make all"})).await;
    let token = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"].concat();
    for (tool, arguments) in [
        ("memory_load", json!({})),
        ("memory_search", json!({"query": "retry", "limit": 1})),
        ("memory_search", json!({"query": token})),
        ("memory_get", json!({"key": "build", "version": 1})),
        ("memory_get", json!({"id": "n99"})),
        ("memory_list", json!({"limit": 2})),
        ("memory_export", json!({"format": "json"})),
    ] {
        shim.call(tool, arguments).await;
    }
    shim.call("memory_checkpoint", json!({"summary": "not a line"})).await;
    command(&world, "memory_search", json!({"query": "bounded", "limit": 1})).await.unwrap();
    let lines = log(&world).await;
    insta::assert_snapshot!(lines.iter().map(told).collect::<String>());
    let session = shim.welcome.session.clone().unwrap();
    assert!(lines[..7].iter().all(|line| line.session == session));
    assert!(lines[7].session.starts_with("cli-"), "{}", lines[7].session);
    assert_eq!(holding(&world.directory("instance"), &token), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn a_load_and_an_export_from_a_shell_are_logged_like_tool_calls() {
    let world = World::new().await;
    let _shim = with_notes(&world).await;
    let arguments = json!({"sections": ["notes", "lessons"], "task": "size the queue"});
    let loaded = command(&world, "memory_load", arguments).await.unwrap();
    assert!(loaded.text.contains("the queue is bounded") && !loaded.text.contains("Blueprints"));
    let format = api::ExportFormat::Zipmem;
    crate::admin::export_document(&world.daemon.sessions, &demo(&world), format).await.unwrap();
    let lines: Vec<String> = log(&world)
        .await
        .into_iter()
        .map(|mut line| {
            line.ids.sort();
            assert!(line.session.starts_with("cli-"), "{line:?}");
            told(&line)
        })
        .collect();
    assert_eq!(
        lines,
        [
            "1 anchord-cli memory_load {\"sections\":[\"notes\",\"lessons\"],\"task\":\"size the queue\"} -> [n1 n2 n3]\n",
            "2 anchord-cli memory_export {\"format\":\"zipmem\"} -> [n1 n2 n3]\n",
        ]
    );
}

#[tokio::test]
async fn a_person_can_read_private_notes_of_past_sessions() {
    let world = World::new().await;
    let mut past = world.shim_with("all").await;
    past.call("memory_note", json!({"content": "for me", "scope": "session"})).await;
    drop(past);
    let mut other = world.shim_with("all").await;
    let none = other.call("memory_get", json!({"id": "n1"})).await;
    assert!(none.contains("there is no"), "{none}");
    let none = other.call("memory_forget", json!({"id": "n1"})).await;
    assert!(none.contains("there is no"), "{none}");

    let kept = async || {
        let session = Session::ephemeral(
            COMMAND_LINE,
            place(&world.daemon.sessions, &demo(&world)).await.unwrap(),
        );
        session.view(&world.daemon.sessions).await.unwrap().memory.totals().kept.notes.records
    };
    assert_eq!(kept().await, 1);
    let reply =
        async |tool: &str, arguments: Value| command(&world, tool, arguments).await.unwrap().text;
    let listed = reply("memory_list", json!({})).await;
    assert!(listed.contains("n1 (one session's own): for me"), "{listed}");
    assert!(reply("memory_get", json!({"id": "n1"})).await.contains("for me"));
    assert!(!reply("memory_search", json!({"query": "for me"})).await.contains("n1"));
    reply("memory_forget", json!({"id": "n1"})).await;
    assert_eq!(kept().await, 0);
}

#[tokio::test]
async fn a_load_by_a_person_does_not_use_up_notices() {
    let world = World::new().await;
    let mut gone = world.connect(dead(world.hello())).await;
    gone.initialize("2025-06-18").await;
    gone.call("memory_checkpoint", json!({"summary": "half way"})).await;
    drop(gone);
    poll(|| (world.daemon.sessions.table.connections() == 0).then_some(())).await;
    sweep(&world.daemon.sessions).await;
    let is_told = |text: &str| text.contains("Kept for");
    for _ in 0..2 {
        let loaded = command(&world, "memory_load", json!({})).await.unwrap();
        assert!(is_told(&loaded.text), "{}", loaded.text);
    }
    let mut shim = world.shim().await;
    assert!(is_told(&shim.call("memory_load", json!({})).await));
    assert!(!is_told(&shim.call("memory_load", json!({})).await));
}

#[tokio::test]
async fn tokens_given_to_a_command_do_not_count_as_given_to_a_model() {
    let world = World::new().await;
    let mut shim = with_notes(&world).await;
    let given = || world.daemon.projects.open.retrievals().tokens();
    command(&world, "memory_search", json!({"query": "retry"})).await.unwrap();
    command(&world, "memory_load", json!({})).await.unwrap();
    assert_eq!(log(&world).await.iter().filter(|line| line.tokens > 0).count(), 2);
    assert_eq!(given(), 0);
    shim.call("memory_search", json!({"query": "retry"})).await;
    assert_eq!(u64::from(log(&world).await[2].tokens), given());
    assert!(given() > 0);
}

#[tokio::test]
async fn a_large_export_is_logged_in_a_short_line() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let text = |at: usize| json!({"content": format!("number {at}")});
    let items: Vec<Value> = (0..limits::RETRIEVAL_IDS_MAX + 5).map(text).collect();
    for part in items.chunks(100) {
        shim.call("memory_note", json!({"items": part})).await;
    }
    let format = api::ExportFormat::Json;
    crate::admin::export_document(&world.daemon.sessions, &demo(&world), format).await.unwrap();
    let line = log(&world).await.remove(0);
    assert_eq!((line.ids.len(), line.more, line.tokens), (limits::RETRIEVAL_IDS_MAX, 5, 0));
}

#[tokio::test]
async fn a_dry_run_of_a_compaction_names_its_records() {
    let world = World::new().await;
    let text = "the parser keeps one token of lookahead and never goes back further than that";
    for content in [text, &format!("{text} today"), "unlike either of them"] {
        command(&world, "memory_note", json!({"content": content})).await.unwrap();
    }
    let arguments = json!({"target_usage": 0.0, "dry_run": true});
    let reply = command(&world, "memory_compact", arguments).await.unwrap();
    assert!(reply.text.starts_with("Would bring"), "{}", reply.text);
    assert_eq!(reply.records, []);
    insta::assert_snapshot!(
        serde_json::to_string(&reply.plan).unwrap(),
        @r#"{"promoted":[],"folded":[{"id":"n2","into":"n1"}],"archived":["n1","n3"]}"#
    );
    let done = command(&world, "memory_compact", json!({"target_usage": 0.0})).await.unwrap();
    assert_eq!((done.plan, done.records.len()), (None, 3));
}

#[tokio::test]
async fn text_shown_by_hooks_is_logged_and_counted_once() {
    let world = World::new().await;
    let mut shim = with_notes(&world).await;
    shim.call("memory_update", json!({"id": "n3", "pinned": true})).await;
    let hook = async |name: &str, more: Value| {
        let mut event = json!({"hook_event_name": name, "session_id": "a"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let printed = world.hook("claude-code", &event).await;
        let output: Value = serde_json::from_str(&printed).unwrap_or_default();
        let context = output["hookSpecificOutput"]["additionalContext"].as_str();
        context.map_or(printed, str::to_owned)
    };
    let mut given = Vec::new();
    for (name, more) in [
        ("SessionStart", json!({"source": "startup"})),
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "hello"})),
        ("SubagentStart", json!({"agent_id": "x", "agent_type": "Explore"})),
        ("PreCompact", json!({"trigger": "auto"})),
        ("SessionStart", json!({"source": "compact"})),
    ] {
        given.push(hook(name, more).await);
    }
    let rebuilt = json!({"hook_event_name": "system.transform", "session_id": "o"});
    let first = world.hook("opencode", &rebuilt).await;
    assert_eq!(world.hook("opencode", &rebuilt).await, first);
    let first: Value = serde_json::from_str(&first).unwrap();
    given.push(first["context"].as_str().unwrap().to_owned());
    let lines = log(&world).await;
    insta::assert_snapshot!(lines.iter().map(told).collect::<String>(), @"
    1 claude-code hook start null -> [n1 n2 n3]
    2 claude-code hook subagent null -> [n3]
    3 claude-code hook compaction null -> [n3]
    4 claude-code hook restored null -> [n1 n2 n3]
    5 opencode hook start null -> [n1 n2 n3]
    ");
    assert!(lines.iter().all(|line| line.micros > 0 && line.time > 0 && !line.session.is_empty()));
    let tokens: u32 = given.iter().map(|text| anchord_memory::tokens::count(text)).sum();
    assert_eq!(world.daemon.projects.open.retrievals().tokens(), u64::from(tokens));
    assert!(given[1].is_empty() && given[2].is_empty());
}

#[tokio::test]
async fn reading_a_topic_is_logged_and_binding_one_is_not() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let save = json!({"session_summary": "x", "topic": {"name": "wire", "status": "half way"}});
    shim.call("memory_save", save).await;
    for action in [json!({}), json!({"action": "list"}), json!({"action": "read"})] {
        shim.call("memory_topic", action).await;
    }
    shim.call("memory_topic", json!({"action": "bind", "name": "wire"})).await;
    insta::assert_snapshot!(log(&world).await.iter().map(told).collect::<String>(), @r#"
    1 test-agent memory_topic {} -> [t1]
    2 test-agent memory_topic {"action":"list"} -> [t1]
    3 test-agent memory_topic {"action":"read"} -> [t1]
    "#);
}

#[tokio::test]
async fn an_answer_about_history_is_logged_with_the_records_that_it_names() {
    let world = World::new().await;
    let mut shim = with_notes(&world).await;
    shim.call("memory_note", json!({"key": "build", "content": "make"})).await;
    for (tool, arguments) in [
        ("memory_history", json!({})),
        ("memory_history", json!({"revision": 1})),
        ("memory_history", json!({"record": "build"})),
        ("memory_diff", json!({"from": 1})),
        ("memory_rollback", json!({"undo": 2, "dry_run": true})),
    ] {
        command(&world, tool, arguments).await.unwrap();
    }
    let lines = log(&world).await;
    let ids: Vec<String> = lines.iter().map(|line| line.ids.join(" ")).collect();
    assert_eq!(ids, ["n4 n1", "n1 n2 n3", "n4", "n4", "n4"]);
}

#[tokio::test]
async fn a_command_leaves_a_record_and_no_session() {
    let world = World::new().await;
    std::fs::create_dir(world.directory("demo/src")).unwrap();
    let stored = command(&world, "memory_note", json!({"content": "from a shell"})).await.unwrap();
    assert!(stored.text.starts_with("Stored n1"), "{}", stored.text);
    let record = &stored.records[0];
    assert_eq!((record.id.to_string().as_str(), stored.records.len()), ("n1", 1));
    assert_eq!(record.created.client.as_ref(), "anchord-cli");

    let found = command(&world, "memory_search", json!({"query": "shell"})).await.unwrap();
    assert_eq!((&found.records, found.truncated), (&vec![record.clone()], false));
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id.to_string();
    let forget = ToolParams {
        project: id,
        tool: "memory_forget".to_owned(),
        arguments: json!({"id": "n1"}).as_object().unwrap().clone(),
        typed: Vec::new(),
        at: None,
    };
    call_tool(&world.daemon.admin.tools, forget).await.unwrap();
    let none = command(&world, "memory_search", json!({"query": "shell"})).await.unwrap();
    assert!(none.records.is_empty() && none.text.starts_with("Nothing matches"), "{}", none.text);

    assert_eq!(world.daemon.sessions.table.all().len(), 0);
    assert_eq!(world.daemon.projects.registry.snapshot().sessions().count(), 0);
    let status = super::super::status(&world.daemon.admin).await.unwrap();
    assert_eq!(status.sessions, []);
}

#[tokio::test]
async fn what_a_command_cannot_have_is_said() {
    let world = World::new().await;
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("memory_save", json!({"session_summary": "s"})),
        ("memory_checkpoint", json!({})),
        ("memory_dream", json!({})),
        ("memory_get", json!({"id": "n7"})),
        ("memory_note", json!({"content": " "})),
        ("memory_search", json!({"limit": "many"})),
    ] {
        let error = command(&world, tool, arguments).await.unwrap_err();
        said.push(format!("{:?}: {}; {:?}", error.code, error.error, error.action));
    }
    insta::assert_snapshot!(said.join("\n"));
    assert_eq!(world.daemon.projects.open.all().len(), 0, "nothing came of any of them");
    let query = LogQuery { project: demo(&world), after: None, limit: 1, wait: false };
    assert_eq!(retrievals(&world.daemon.admin, query).await.unwrap_err().code, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_secret_is_removed_from_a_commands_input() {
    let world = World::new().await;
    let token = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"].concat();
    let content = format!("push with {token} from CI");
    let stored = command(&world, "memory_note", json!({"content": content})).await.unwrap();
    assert!(
        stored.remark.unwrap().starts_with("A secret was taken out of the input (GitHub token)")
    );
    assert_eq!(holding(&world.directory("instance"), &token), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn a_waiting_reader_gets_the_next_line() {
    let world = World::new().await;
    let mut shim = with_notes(&world).await;
    shim.call("memory_load", json!({})).await;
    assert_eq!(log(&world).await.len(), 1);
    let query = LogQuery { project: demo(&world), after: Some(1), limit: 10, wait: true };
    let admin = Arc::clone(&world.daemon.admin);
    let waiting = tokio::spawn(async move { retrievals(&admin, query).await });
    shim.call("memory_search", json!({"query": "queue"})).await;
    let lines = waiting.await.unwrap().unwrap().lines;
    assert_eq!((lines[0].number, lines[0].tool.as_str()), (2, "memory_search"));

    let query = LogQuery { project: demo(&world), after: Some(2), limit: 10, wait: true };
    let admin = Arc::clone(&world.daemon.admin);
    let waiting = tokio::spawn(async move { retrievals(&admin, query).await });
    world.daemon.shutdown.start("asked by a test");
    let answered = tokio::time::timeout(limits::RETRIEVAL_WAIT_MAX / 3, waiting).await;
    assert_eq!(answered.unwrap().unwrap().unwrap().lines, [], "a daemon that leaves keeps nobody");
}

#[tokio::test]
async fn a_log_is_deleted_with_its_project_and_redacted_by_a_purge() {
    let world = World::new().await;
    let mut shim = with_notes(&world).await;
    shim.call("memory_search", json!({"query": "a planted value"})).await;
    shim.call("memory_note", json!({"content": "a planted value of the sea"})).await;
    let purge = api::PurgeParams {
        project: demo(&world),
        ids: Vec::new(),
        query: Some("a planted value".to_owned()),
        dry_run: false,
        typed: Vec::new(),
    };
    super::super::purge(&world.daemon.admin, purge).await.unwrap();
    let planted = holding(&world.directory("instance"), "a planted value");
    assert_eq!(planted, Vec::<std::path::PathBuf>::new());
    let lines = log(&world).await;
    assert_eq!((lines.len(), lines[0].tool.as_str()), (1, "memory_search"), "the line is there");

    let other = world.directory("other");
    std::fs::create_dir(&other).unwrap();
    let mut gone = world.connect(dead(hello_from(&other))).await;
    gone.initialize("2025-06-18").await;
    gone.call("memory_note", json!({"content": "x"})).await;
    gone.call("memory_load", json!({})).await;
    drop(gone);
    poll(|| (world.daemon.sessions.table.connections() == 1).then_some(())).await;
    sweep(&world.daemon.sessions).await;
    let registry = world.daemon.projects.registry.snapshot();
    let id = registry.projects().find(|project| project.root == other).unwrap().id;
    world.daemon.projects.open.retrievals().flush().await;
    let directory = world.daemon.projects.open.directory(id);
    assert!(crate::retrieval_log::files(&directory)[1].is_file());
    let id = id.to_string();
    super::super::delete_project(&world.daemon.sessions, &id, &id).await.unwrap();
    assert!(!directory.exists());
}

#[tokio::test]
async fn a_home_used_as_a_project_by_an_agent_works_for_commands_too() {
    let world = World::new().await;
    let home = world.directory("home");
    std::fs::create_dir(&home).unwrap();
    let project = home.to_str().unwrap().to_owned();
    let listed = async || {
        let (tool, arguments) = ("memory_list".to_owned(), serde_json::Map::new());
        let (project, typed) = (project.clone(), Vec::new());
        call_tool(
            &world.daemon.admin.tools,
            ToolParams { project, tool, arguments, typed, at: None },
        )
        .await
    };
    let of_user = listed().await.unwrap();
    assert_eq!(of_user.text.trim_end(), "Nothing is recorded yet.", "of the user's own");

    let named = Hello { project: Some(project.clone()), ..world.hello() };
    let mut shim = world.connect(named).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_note", json!({"content": "The letters are in the attic."})).await;
    assert!(listed().await.unwrap().text.contains("in the attic"));
    let status = crate::admin::project(&world.daemon.sessions, &project).await.unwrap();
    assert_eq!((status.root.as_str(), status.revision), (project.as_str(), 1));
    // The home directory is still passed over for directories beneath it.
    std::fs::create_dir(home.join("new")).unwrap();
    let below =
        crate::admin::project(&world.daemon.sessions, home.join("new").to_str().unwrap()).await;
    assert!(below.unwrap_err().error.contains("nothing is remembered for"));
}

/// Records that a person adds or rewrites are committed at once: other sessions see them before
/// any save.
#[tokio::test]
async fn agents_see_at_once_what_a_person_adds_and_rewrites() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    std::fs::create_dir(world.directory("demo/src")).unwrap();
    let file = world.directory("demo/src/cache.rs");
    let part = json!({
        "blueprints": [{"category": "decision", "title": "Cache", "content": "It is warm."}],
        "anchors": [{"file": file, "lines": "2-3", "concept": "warms it"}],
        "lessons": [{"summary": "it leaks", "files": [file]}],
    });
    let added = command(&world, "memory_add", part).await.unwrap();
    assert_eq!(added.records.len(), 3, "{added:?}");
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("It is warm.") && load.contains("src/cache.rs:2-3: warms it"), "{load}");
    assert!(!load.contains("## Sessions"), "a person has no row: {load}");
    for rewrite in [
        json!({"id": "b1", "content": "It is lazy.", "expected_version": 1}),
        json!({"id": "l3", "files": [world.directory("demo/src/main.rs")]}),
        json!({"id": "a2", "file": world.directory("demo/src/main.rs")}),
    ] {
        command(&world, "memory_rewrite", rewrite).await.unwrap();
    }
    let load = shim.call("memory_load", json!({})).await;
    assert!(
        load.contains("It is lazy.") && load.contains("[src/main.rs -> 2-3 -> warms it]"),
        "{load}"
    );
    assert!(load.contains("l3 it leaks (src/main.rs)"), "{load}");
    let stale = json!({"id": "b1", "content": "x", "expected_version": 1});
    let refused = command(&world, "memory_rewrite", stale).await.unwrap_err();
    assert!(refused.error.starts_with("failed to edit: b1 is at 2 now, not at 1"), "{refused:?}");
    for tool in ["memory_add", "memory_rewrite"] {
        let said = shim.call(tool, json!({})).await;
        assert!(said.contains("unknown tool"), "agents do not have it: {said}");
    }
}

#[tokio::test]
async fn a_typed_command_is_answered_with_commands() {
    let world = World::new().await;
    let _shim = with_notes(&world).await;
    let rest = |text: &str| text.lines().last().unwrap().split_once("; ").unwrap().1.to_owned();
    let one = json!({"limit": 1});
    let listed = command(&world, "memory_list", one.clone()).await.unwrap();
    assert_eq!(
        rest(&listed.text),
        "2 left out: n2, n1; go on with {\"cursor\":\"3\"} added to this call"
    );
    let listed = typed(&world, "list --limit 1", "memory_list", one).await.unwrap();
    assert_eq!(
        rest(&listed.text),
        "2 left out: n2, n1; go on with `anchord list --limit 1 --cursor 3`"
    );

    // A secret is taken out of the repeated command as it is out of the query.
    let token = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"].concat();
    let (words, query) = (format!("search {token} retry"), format!("{token} retry"));
    let arguments = json!({"query": query, "limit": 1});
    let found = typed(&world, &words, "memory_search", arguments).await.unwrap();
    assert!(found.text.contains("`anchord search ") && !found.text.contains(&token), "{found:?}");

    for (tool, arguments, agents, persons) in [
        ("memory_get", json!({"key": "x"}), "memory_search finds", "`anchord search` finds"),
        ("memory_forget", json!({"id": "x"}), "memory_search finds", "`anchord search` finds"),
        (
            "memory_update",
            json!({"id": "n1", "content": " "}),
            "memory_forget takes",
            "`anchord forget` takes",
        ),
        ("memory_list", json!({"limit": []}), "memory_list: limit", "limit"),
    ] {
        let refused = command(&world, tool, arguments.clone()).await.unwrap_err().error;
        assert!(refused.contains(agents), "{refused}");
        let refused = typed(&world, "get x", tool, arguments).await.unwrap_err().error;
        assert!(refused.contains(persons) && !refused.contains("memory_"), "{refused}");
    }
}

/// Stored text that reads like anchord's own is somebody's.
#[tokio::test]
async fn stored_text_that_looks_like_a_call_is_not_reworded() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let stored = "call memory_get {\"id\":\"b1\"} or memory_list\ntruncated: memory_list\n\
                  Cut at character 9 of 99. The rest: memory_get {\"id\":\"n1\"}.";
    shim.call("memory_note", json!({"content": stored})).await;
    let got = typed(&world, "get n1", "memory_get", json!({"id": "n1"})).await.unwrap();
    assert!(got.text.contains(stored), "{}", got.text);
}

#[tokio::test]
async fn every_tool_named_in_texts_exists() {
    let world = World::new().await;
    let tools = world.daemon.admin.tools.tools(anchord_proto::hello::ToolSet::All);
    for tool in anchord_memory::Tool::ALL {
        let name = Audience::Agent.tool(tool);
        assert!(tools.get(&name).is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_person_gets_errors_of_records_apart_from_the_others() {
    let world = World::new().await;
    let _shim = with_notes(&world).await;
    let asked = json!({"id": ["n1", "n99"]});
    let reply = typed(&world, "get n1 n99", "memory_get", asked.clone()).await.unwrap();
    assert_eq!(reply.records.len(), 1);
    let [why] = &reply.refused[..] else { panic!("{reply:?}") };
    assert!(why.starts_with("failed to get: there is no record n99"), "{why}");
    assert!(!reply.text.contains("n99"), "{}", reply.text);
    let of_agent = command(&world, "memory_get", asked).await.unwrap();
    assert!(of_agent.text.contains("there is no record n99") && of_agent.refused.is_empty());
}
