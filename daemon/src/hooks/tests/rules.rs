//! Rules before an agent's tools.

use serde_json::{Value, json};

use super::event;
use crate::admin::call_tool;
use crate::api::{self, ToolParams};
use crate::limits::RULES_FILE_BYTES_MAX;
use crate::metrics::MetricsSnapshot;
use crate::retrieval_log::Start;
use crate::testing::{Shim, World};

/// Calls a tool as a person does by a command. Returns the answer or the error.
async fn by_command(world: &World, tool: &str, arguments: Value) -> String {
    let project = match tool {
        "memory_approve" => api::USER.to_owned(),
        _ => world.directory("demo").to_str().unwrap().to_owned(),
    };
    let Value::Object(arguments) = arguments else { panic!("an object") };
    let (tool, typed) = (tool.to_owned(), vec!["anchord".to_owned()]);
    let params = ToolParams { project, tool, arguments, typed, at: None };
    match call_tool(&world.daemon.admin.tools, params).await {
        Ok(reply) => reply.text,
        Err(reply) => reply.error,
    }
}

/// Returns Claude Code's event before a command.
fn command(line: &str, id: &str) -> Value {
    let input = json!({"command": line});
    event("PreToolUse", "a", &json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": id}))
}

/// Writes a rule as a person.
async fn rule(world: &World, effect: &str, more: &Value) -> String {
    let mut arguments =
        json!({"title": "No force push", "reason": "others build on it", "effect": effect});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    by_command(world, "memory_rule_set", arguments).await
}

fn decision(printed: &str) -> (String, String) {
    let output: Value = serde_json::from_str(printed).unwrap();
    let output = &output["hookSpecificOutput"];
    let text = |field: &str| output[field].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[tokio::test]
async fn a_denied_command_is_stopped_with_the_reason() {
    let world = World::new().await;
    let said = rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    assert_eq!(said, "r1 is in force.\n");
    let printed = world.hook("claude-code", &command("cd x && git push --force", "1")).await;
    let (decision, reason) = decision(&printed);
    assert_eq!(decision, "deny");
    assert!(reason.contains("r1 No force push: others build on it."), "{reason}");
    let again = world.hook("claude-code", &command("cd x && git push --force", "1")).await;
    assert_eq!(again, printed, "however often it is asked");
    assert_eq!(world.hook("claude-code", &command("git push", "2")).await, "");
}

#[tokio::test]
async fn a_patch_is_stopped_by_the_files_in_its_text() {
    let world = World::new().await;
    super::saved(&world, "Sockets, not ports").await;
    rule(&world, "deny", &json!({"paths": ["migrations/**"]})).await;
    let push =
        json!({"title": "No push", "reason": "no", "effect": "deny", "commands": ["git push"]});
    by_command(&world, "memory_rule_set", push).await;
    let patch = |file: &str| {
        format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n")
    };
    let of = |tool: &str, field: &str, text: &str| {
        event(
            "PreToolUse",
            "p",
            &json!({"tool_name": tool, "tool_use_id": text, "tool_input": {field: text}}),
        )
    };
    let (bad, good) = (patch("migrations/1.sql"), patch("src/a.rs"));
    for (tool, field, text) in [
        ("apply_patch", "command", bad.clone()),
        ("apply_patch", "input", bad.clone()),
        ("Bash", "command", format!("apply_patch <<'EOF'\n{bad}EOF")),
        ("Bash", "command", format!("bash -lc \"apply_patch <<'EOF'\n{bad}EOF\"")),
        ("Bash", "command", format!("cd migrations && apply_patch <<'EOF'\n{}EOF", patch("1.sql"))),
        ("Bash", "command", format!("apply_patch <<'EOF' && git push\n{good}EOF")),
        ("Bash", "command", format!("git push # *** Begin Patch\n{good}")),
    ] {
        let printed = world.hook("codex", &of(tool, field, &text)).await;
        assert_eq!(decision(&printed).0, "deny", "{tool} {text}: {printed}");
    }
    let plugin = json!({
        "hook_event_name": "tool.execute.before", "session_id": "o", "call_id": "1",
        "tool": "apply_patch", "patch": "*** Begin Patch\n*** Add File: migrations/2.sql",
    });
    let printed = world.hook("opencode", &plugin).await;
    assert!(printed.contains("A rule of this project denies this"), "{printed}");
    for (tool, text) in
        [("apply_patch", good.clone()), ("Bash", format!("apply_patch <<'EOF'\n{good}EOF"))]
    {
        assert_eq!(world.hook("codex", &of(tool, "command", &text)).await, "", "{text}");
    }
    // What was stopped is not activity, and what passed is.
    world.hook("codex", &super::prompt("p", "patch it")).await;
    world.hook("codex", &super::ended("p")).await;
    let load = super::loaded(&world).await;
    assert!(load.contains("Edited: src/a.rs") && !load.contains("1.sql"), "{load}");
}

#[tokio::test]
async fn a_rule_about_writing_lets_reading_pass() {
    let world = World::new().await;
    rule(&world, "deny", &json!({"writes": ["migrations/**"]})).await;
    let file = world.directory("demo/migrations").join("1.sql");
    let of = |tool: &str| {
        let input = json!({"file_path": file.to_str().unwrap()});
        let more = json!({"tool_name": tool, "tool_use_id": tool, "tool_input": input});
        event("PreToolUse", "w", &more)
    };
    for (tool, expected) in [("Read", ""), ("Edit", "deny"), ("mcp__files__put", "ask")] {
        let printed = world.hook("claude-code", &of(tool)).await;
        let stop = if printed.is_empty() { String::new() } else { decision(&printed).0 };
        assert_eq!(stop, expected, "{tool}: {printed}");
    }
    let bash = world.hook("claude-code", &command("cat migrations/1.sql", "1")).await;
    assert_eq!(bash, "", "a shell may read it too");
    let bash = world.hook("claude-code", &command("rm migrations/1.sql", "2")).await;
    assert_eq!(decision(&bash).0, "deny");
    for (arguments, said) in [
        (json!({"paths": ["migrations/1.sql"]}), "Asked"),
        (json!({"writes": ["migrations/1.sql"]}), "Denied"),
        (json!({"paths": ["migrations/1.sql"], "writes": ["src/a.rs"]}), "Allowed"),
    ] {
        let checked = by_command(&world, "memory_rule_check", arguments).await;
        assert!(checked.starts_with(said), "{checked}");
    }
    let listed = by_command(&world, "memory_rules", json!({})).await;
    assert!(listed.contains("files to write: migrations/**"), "{listed}");
}

#[tokio::test]
async fn a_client_that_asks_gets_ask_and_another_is_told_how_to_approve() {
    let world = World::new().await;
    rule(&world, "ask", &json!({"commands": ["make deploy"]})).await;
    let printed = world.hook("claude-code", &command("make deploy", "1")).await;
    assert_eq!(decision(&printed).0, "ask");
    let printed = world.hook("codex", &command("make deploy", "1")).await;
    let (decision, reason) = decision(&printed);
    assert_eq!(decision, "deny");
    let id = reason.split("anchord approve ").nth(1).unwrap().split('`').next().unwrap();
    let approved = by_command(&world, "memory_approve", json!({"id": id})).await;
    assert!(
        approved.starts_with("Approved until") && approved.ends_with(" UTC: make deploy\n"),
        "{approved}"
    );
    assert!(!approved.contains("UTC UTC"), "{approved}");
    assert_eq!(world.hook("codex", &command("make deploy", "2")).await, "");
    let other = world.hook("codex", &command("make deploy PROD=1", "3")).await;
    assert!(other.contains("deny"), "an approval is for exactly one action: {other}");
    let refused = by_command(&world, "memory_approve", json!({"id": id})).await;
    assert!(refused.contains("no action"), "once: {refused}");
}

#[tokio::test]
async fn an_agent_proposes_and_cannot_weaken() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let deny = json!({"title": "No force push", "reason": "no", "effect": "deny", "commands": ["git push --force"]});
    let said = shim.call("memory_rule_set", deny.clone()).await;
    assert!(said.contains("r1 is proposed and not in force"), "{said}");
    assert_eq!(world.hook("claude-code", &command("git push --force", "1")).await, "");
    let said = by_command(&world, "memory_rule_stand", json!({"id": "r1", "disable": false})).await;
    assert_eq!(said, "r1 is in force.\n");
    assert!(!world.hook("claude-code", &command("git push --force", "2")).await.is_empty());
    let said = shim.call("memory_rule_set", deny).await;
    assert!(said.contains("is in force already"), "{said}");
    let weaker = json!({"title": "no force push", "reason": "no", "effect": "allow", "commands": ["git push --force"]});
    for (tool, arguments) in [
        ("memory_rule_set", weaker),
        ("memory_forget", json!({"id": "r1"})),
        ("memory_update", json!({"id": "r1", "pinned": false})),
        ("memory_rollback", json!({"undo": 2})),
        ("memory_rollback", json!({"id": "r1", "steps": 1})),
    ] {
        let said = shim.call(tool, arguments).await;
        assert!(said.contains("only a person changes it"), "{tool}: {said}");
    }
    for (tool, arguments) in [
        ("memory_rule_stand", json!({"id": "r1", "disable": true})),
        ("memory_approve", json!({})),
        ("memory_rules", json!({})),
    ] {
        let said = shim.call(tool, arguments).await;
        assert!(said.starts_with("FAULT"), "only a command has {tool}: {said}");
    }
    assert!(!world.hook("claude-code", &command("git push --force", "3")).await.is_empty());
    by_command(&world, "memory_rule_stand", json!({"id": "r1", "disable": true})).await;
    assert_eq!(world.hook("claude-code", &command("git push --force", "4")).await, "");
}

#[tokio::test]
async fn an_agent_is_not_its_own_person() {
    let world = World::new().await;
    assert_eq!(world.hook("claude-code", &command("anchord stop", "1")).await, "", "no rules yet");
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    for (at, line) in [
        "anchord approve 3fa2c19b",
        "x=rules; anchord $x disable r1",
        "~/.cargo/bin/anchord forget r1",
        "echo >> .anchord/rules.toml",
    ]
    .into_iter()
    .enumerate()
    {
        let printed = world.hook("claude-code", &command(line, &format!("a{at}"))).await;
        assert_eq!(decision(&printed).0, "ask", "{line}");
    }
    for line in ["anchord search rules", "anchord note 'approve the plan'", "anchord rules list"] {
        assert_eq!(world.hook("claude-code", &command(line, line)).await, "", "{line}");
    }
    let file = world.directory("demo/.anchord/rules.toml");
    let of = |tool: &str| {
        let input = json!({"file_path": file.to_str().unwrap()});
        event(
            "PreToolUse",
            "a",
            &json!({"tool_name": tool, "tool_use_id": tool, "tool_input": input}),
        )
    };
    assert_eq!(decision(&world.hook("claude-code", &of("Write")).await).0, "ask");
    assert_eq!(world.hook("claude-code", &of("Read")).await, "", "it may be read");
    let cat = command("cat .anchord/rules.toml", "cat");
    assert_eq!(world.hook("claude-code", &cat).await, "", "by a command too");
    assert_eq!(decision(&world.hook("claude-code", &of("mcp__files__put")).await).0, "ask");
}

#[tokio::test]
async fn an_approval_of_a_checked_command_counts_for_the_tool_that_runs_it() {
    let world = World::new().await;
    rule(&world, "ask", &json!({"commands": ["make deploy"]})).await;
    let tried = by_command(&world, "memory_rule_check", json!({"command": "make deploy"})).await;
    assert!(tried.starts_with("Asked") && !tried.contains("anchord approve"), "{tried}");
    let none = by_command(&world, "memory_approve", json!({})).await;
    assert_eq!(none, "No action waits for an approval.\n");
    let mut shim = world.shim_with("all").await;
    let said = shim.call("memory_rule_check", json!({"command": "make deploy"})).await;
    let id = said.split("anchord approve ").nth(1).unwrap().split('`').next().unwrap();
    by_command(&world, "memory_approve", json!({"id": id})).await;
    assert_eq!(world.hook("codex", &command("make deploy", "1")).await, "");
}

/// A person would approve it for another time, which nobody asked for.
#[tokio::test]
async fn an_action_that_ran_or_passes_waits_no_more() {
    let world = World::new().await;
    rule(&world, "ask", &json!({"commands": ["make deploy"]})).await;
    let mut shim = world.shim_with("all").await;
    let none = "No action waits for an approval.\n";
    shim.call("memory_rule_check", json!({"command": "make deploy"})).await;
    let printed = world.hook("claude-code", &command("make deploy", "1")).await;
    assert_eq!(decision(&printed).0, "ask", "in the client's own prompt");
    let waits = by_command(&world, "memory_approve", json!({})).await;
    assert!(waits.contains("make deploy"), "a person may yet refuse it there: {waits}");
    let input = json!({"command": "make deploy"});
    let ran = json!({"tool_name": "Bash", "tool_use_id": "1", "tool_input": input,
        "tool_response": {"stdout": "done"}});
    world.hook("claude-code", &event("PostToolUse", "a", &ran)).await;
    assert_eq!(by_command(&world, "memory_approve", json!({})).await, none, "it ran");

    world.hook("codex", &command("make deploy", "2")).await;
    assert_ne!(by_command(&world, "memory_approve", json!({})).await, none);
    by_command(&world, "memory_rule_stand", json!({"id": "r1", "disable": true})).await;
    assert_eq!(world.hook("codex", &command("make deploy", "3")).await, "");
    assert_eq!(by_command(&world, "memory_approve", json!({})).await, none, "no rule asks");
}

#[tokio::test]
async fn a_check_answers_under_both_names_and_is_logged() {
    let world = World::new().await;
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    let mut shim = world.shim_with("all").await;
    for tool in ["memory_rule_check", "check_compliance"] {
        let said = shim.call(tool, json!({"command": "git push --force"})).await;
        assert!(said.starts_with("Denied.\nr1 No force push"), "{tool}: {said}");
        let said = shim.call(tool, json!({"action": "read the docs"})).await;
        assert_eq!(said, "Allowed: no rule matches.\n");
    }
    world.hook("claude-code", &command("git push --force", "1")).await;
    let open = &world.daemon.projects.open;
    let directory = open.directory(open.all()[0].id);
    let lines = open.retrievals().read(directory, Start::Last, 100).await;
    let checks: Vec<_> =
        lines.iter().filter(|line| line.tool == crate::retrieval_log::RULE_CHECK).collect();
    assert_eq!(checks.len(), 1, "{lines:?}");
    assert_eq!(checks[0].asked["result"], "deny");
    assert_eq!(checks[0].asked["rules"], json!(["r1"]));
}

/// Returns the results of the checks in the log, each with what it says of the check.
async fn logged(world: &World) -> Vec<(String, String)> {
    let open = &world.daemon.projects.open;
    let directory = open.directory(open.all()[0].id);
    let lines = open.retrievals().read(directory, Start::Last, 100).await;
    let checks = lines.iter().filter(|line| line.tool == crate::retrieval_log::RULE_CHECK);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    checks.map(|line| (text(&line.asked["result"]), text(&line.asked["checked"]))).collect()
}

#[tokio::test]
async fn a_check_that_a_hook_did_not_wait_for_is_logged_as_late() {
    let world = World::new().await;
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    for (at, line) in ["git push --force", "ls"].into_iter().enumerate() {
        world.hook_that_leaves("claude-code", &command(line, &format!("left{at}"))).await;
        world.hook("claude-code", &command(line, &format!("waited{at}"))).await;
    }
    let expected = [
        ("no check", "deny came too late"),
        ("deny", ""),
        ("no check", "allow came too late"),
        ("allow", ""),
    ];
    let expected = expected.map(|(result, checked)| (result.to_owned(), checked.to_owned()));
    assert_eq!(logged(&world).await, expected);
}

/// Such a hook usually checks by itself, with a line in another log. It may be ended before.
#[tokio::test]
async fn a_late_check_is_logged_also_where_rules_fail_closed() {
    let world = World::new().await;
    let closed = json!({"commands": ["git push --force"], "fail_closed": true});
    rule(&world, "deny", &closed).await;
    world.hook_that_leaves("claude-code", &command("git push --force", "1")).await;
    world.hook("claude-code", &command("git push --force", "2")).await;
    let results: Vec<String> = logged(&world).await.into_iter().map(|(it, _)| it).collect();
    assert_eq!(results, ["no check", "deny"]);
}

#[tokio::test]
async fn a_check_is_logged_once_however_often_its_event_comes() {
    let world = World::new().await;
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    let push = command("git push --force", "1");
    let first = world.hook("claude-code", &push).await;
    assert_eq!(world.hook("claude-code", &push).await, first);
    assert_eq!(logged(&world).await, [("deny".to_owned(), String::new())]);
    // A check that was late does not count as one.
    let other = command("git push --force", "2");
    world.hook_that_leaves("claude-code", &other).await;
    world.hook("claude-code", &other).await;
    world.hook_that_leaves("claude-code", &other).await;
    let results: Vec<String> = logged(&world).await.into_iter().map(|(it, _)| it).collect();
    assert_eq!(results, ["deny", "no check", "deny"]);
}

#[tokio::test]
async fn the_log_has_the_result_for_a_long_command() {
    let world = World::new().await;
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    let long = "git push \"--force\";\n".repeat(5_000);
    world.hook("claude-code", &command(&long, "1")).await;
    let open = &world.daemon.projects.open;
    let directory = open.directory(open.all()[0].id);
    let lines = open.retrievals().read(directory, Start::Last, 100).await;
    let mut lines = lines.iter();
    let check = lines.find(|line| line.tool == crate::retrieval_log::RULE_CHECK).unwrap();
    assert!(check.asked["result"].is_string(), "{check:?}");
    let kept = check.asked["command"].as_str().unwrap();
    assert!(kept.starts_with("git push") && kept.ends_with('…'), "{kept}");
}

#[tokio::test]
async fn a_load_begins_with_the_rules_in_force() {
    let world = World::new().await;
    super::saved(&world, "Sockets, not ports").await;
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    let mut shim: Shim = world.shim().await;
    let load = shim.call("memory_load", json!({})).await;
    let (rule, blueprint) = (load.find("No force push").unwrap(), load.find("Sockets").unwrap());
    assert!(rule < blueprint, "{load}");
    assert!(load.contains("## Rules in force") && load.contains("others build on it"), "{load}");
}

#[tokio::test]
async fn the_rules_come_first_after_a_compaction() {
    let world = World::new().await;
    let mut shim = super::saved(&world, "Sockets, not ports").await;
    // A pinned record of an earlier id, and others that are not pinned.
    let pinned = shim.call("memory_update", json!({"id": "b1", "pinned": true})).await;
    assert!(!pinned.starts_with("ERROR"), "{pinned}");
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    for client in ["claude-code", "codex"] {
        world.hook(client, &super::started("c", "startup")).await;
        world.hook(client, &super::prompt("c", "make it faster")).await;
        let load = super::context(&world.hook(client, &super::started("c", "compact")).await);
        let at = |text: &str| load.find(text).unwrap_or_else(|| panic!("{client}, {text}: {load}"));
        assert!(at("others build on it") < at("Sockets"), "{client}: {load}");
        assert!(at("commands: git push --force") < at("Sockets"), "in full: {load}");
        assert!(at("## Rules in force") < at("make it faster"), "{client}: {load}");
    }
}

#[tokio::test]
async fn every_load_has_the_rules_of_the_file() {
    let world = World::new().await;
    let mut shim = super::saved(&world, "Sockets, not ports").await;
    let file = world.directory("demo/.anchord/rules.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "[[rule]]\nid = \"friday\"\ntitle = \"No deploy\"\nreason = \"nobody is there\"\neffect = \"deny\"\nmatches.commands = [\"make deploy\"]\nwindows = [{ days = [\"fri\"], from = \"12:00\", tz = \"Europe/Berlin\" }]\n").unwrap();
    let whole = "file:friday [deny, from .anchord/rules.toml] No deploy\n  nobody is there\n  \
                 commands: make deploy\n  when: fri from 12:00 (Europe/Berlin)\n";
    let begun = super::context(&world.hook("claude-code", &super::started("c", "startup")).await);
    world.hook("claude-code", &super::prompt("c", "make it faster")).await;
    let again = super::context(&world.hook("claude-code", &super::started("c", "compact")).await);
    let load = shim.call("memory_load", json!({})).await;
    for text in [&begun, &again, &load] {
        assert!(text.contains(&format!("## Rules in force\n{whole}")), "{text}");
        assert!(text.find(whole) < text.find("Sockets"), "{text}");
    }
    let list = by_command(&world, "memory_rules", json!({})).await;
    assert!(list.contains(whole), "{list}");
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    let only = by_command(&world, "memory_rules", json!({"only_file": true})).await;
    assert_eq!(only, whole);
    std::fs::write(&file, "[[rule]]\nid = \"x\"\neffect = \"denny\"\n").unwrap();
    for text in [
        shim.call("memory_load", json!({"sections": ["rules"]})).await,
        super::context(&world.hook("claude-code", &super::started("d", "startup")).await),
    ] {
        let line = text.lines().find(|line| line.contains("cannot be read")).unwrap_or_default();
        assert!(line.contains(".anchord/rules.toml cannot be read: line 3, column 10"), "{text}");
    }
}

/// A subagent has only what it is given, and a summary only what it is told to keep.
#[tokio::test]
async fn a_subagent_and_a_compaction_are_given_the_rules_of_the_file() {
    let world = World::new().await;
    super::saved(&world, "Sockets, not ports").await;
    let file = world.directory("demo/.anchord/rules.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let given = async |conversation: &str| {
        let agent = json!({"agent_id": "x1", "agent_type": "Explore"});
        let begins = event("SubagentStart", conversation, &agent);
        let compacts = event("PreCompact", conversation, &json!({"trigger": "auto"}));
        let slice = super::context(&world.hook("claude-code", &begins).await);
        [slice, world.hook("claude-code", &compacts).await]
    };
    let rule = "[[rule]]\nid = \"push\"\ntitle = \"No push\"\neffect = \"deny\"\n\
                reason = \"it is frozen\"\nmatches.commands = [\"git push\"]\n";
    std::fs::write(&file, rule).unwrap();
    for text in given("c").await {
        let whole = "Rules in force:\nfile:push [deny, from .anchord/rules.toml] No push\n  \
                     it is frozen\n  commands: git push\n";
        assert!(text.contains(whole), "{text}");
    }
    std::fs::write(&file, "[[rule]]\nid = \"x\"\neffect = \"denny\"\n").unwrap();
    for text in given("d").await {
        let line = text.lines().find(|line| line.contains("cannot be read")).unwrap_or_default();
        assert!(line.contains("line 3, column 10"), "{text}");
    }
}

#[tokio::test]
async fn checks_are_counted_by_result() {
    let world = World::new().await;
    world.hook("claude-code", &command("git push --force", "0")).await;
    rule(&world, "deny", &json!({"commands": ["git push --force"]})).await;
    for (at, line) in ["git push --force", "ls", "cat a", "anchord stop"].into_iter().enumerate() {
        world.hook("claude-code", &command(line, &format!("m{at}"))).await;
    }
    let text = world.daemon.admin.metrics.prometheus(MetricsSnapshot::default());
    for line in [
        "anchord_rule_checks_total 4",
        "anchord_rule_failures_total 2",
        "anchord_rule_failure_ratio 0.5",
        "anchord_rule_results_total{result=\"allow\"} 2",
        "anchord_rule_results_total{result=\"ask\"} 1",
        "anchord_rule_results_total{result=\"deny\"} 1",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
}

#[tokio::test]
async fn a_file_of_rules_counts_and_a_broken_one_asks() {
    let world = World::new().await;
    super::saved(&world, "Sockets, not ports").await;
    let file = world.directory("demo/.anchord/rules.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "[[rule]]\nid = \"push\"\ntitle = \"No push\"\neffect = \"deny\"\nmatches.commands = [\"git push\"]\n").unwrap();
    let printed = world.hook("claude-code", &command("git push", "1")).await;
    let (stop, reason) = decision(&printed);
    assert_eq!(stop, "deny");
    assert!(reason.contains("file:push No push"), "{reason}");
    std::fs::write(&file, "[[rule]]\neffect = \"denny\"\n").unwrap();
    let printed = world.hook("claude-code", &command("ls", "2")).await;
    let (stop, reason) = decision(&printed);
    assert_eq!(stop, "ask");
    assert!(reason.contains(".anchord/rules.toml cannot be read: line 2, "), "{reason}");
    // A client without a prompt of its own leaves the action for `anchord approve`.
    world.hook("codex", &command("ls", "3")).await;
    let waiting = by_command(&world, "memory_approve", json!({})).await;
    let root = world.directory("demo").display().to_string();
    let named = format!("  ls (.anchord/rules.toml cannot be read), in {root}\n");
    assert!(waiting.contains(&named), "{waiting}");
    let large = "#".repeat(usize::try_from(RULES_FILE_BYTES_MAX).unwrap() + 1);
    std::fs::write(&file, large).unwrap();
    let printed = world.hook("claude-code", &command("ls", "4")).await;
    let reason = decision(&printed).1;
    assert_eq!(reason.matches(".anchord/rules.toml").count(), 1, "{reason}");
    let mends = json!({"tool_name": "Edit", "tool_use_id": "3",
        "tool_input": {"file_path": file.to_str().unwrap()}});
    let printed = world.hook("claude-code", &event("PreToolUse", "a", &mends)).await;
    assert_eq!(decision(&printed).0, "ask", "a person sees how it is mended");
}

#[tokio::test]
async fn a_relative_name_counts_from_the_directory_of_the_event() {
    let world = World::new().await;
    rule(&world, "deny", &json!({"paths": ["src/app.py"]})).await;
    std::fs::create_dir_all(world.directory("demo/src")).unwrap();
    let patch = "*** Begin Patch\n*** Update File: app.py\n@@\n-a\n+b\n*** End Patch\n";
    for (number, (client, tool, input)) in [
        ("claude-code", "Bash", json!({"command": "echo x > app.py"})),
        ("claude-code", "Edit", json!({"file_path": "app.py"})),
        ("claude-code", "Read", json!({"file_path": "./app.py"})),
        ("codex", "apply_patch", json!({"command": patch})),
    ]
    .into_iter()
    .enumerate()
    {
        for (directory, stops) in [("demo/src", true), ("demo", false)] {
            let more = json!({
                "tool_name": tool, "tool_input": input, "tool_use_id": format!("{number}{stops}"),
                "cwd": world.directory(directory),
            });
            let printed = world.hook(client, &event("PreToolUse", "a", &more)).await;
            assert_eq!(
                printed.contains("No force push"),
                stops,
                "{tool} in {directory}: {printed}"
            );
        }
    }
}
