//! The command line can do what agents do. Its exit code and its JSON report the outcome to
//! programs.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use anchord_tests::{Agent, Instance, Project, Shell};
use serde_json::{Value, json};

/// The memory of an open project has no more than the beginning of a forgotten text.
#[test]
fn a_forgotten_text_is_read_from_the_journal() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let text = format!("the port is 8080\n{}the end of it", "and here is why\n".repeat(100));
    shell.done(&["note", "--key", "port", &text]);
    shell.done(&["forget", "port"]);
    for when in ["at once", "after the daemon died"] {
        let record = &shell.json(&["get", "n1"])["records"][0];
        assert_eq!(record["body"]["note"]["content"], text, "{when}");
        let (code, said) = shell.said(&["get", "n1"]);
        assert!(code == 0 && said.contains("\nthe end of it\n"), "{when}: {said}");
        assert!(said.contains("n1 version 2, forgotten: kept in history alone"), "{when}: {said}");
        let exported: Value =
            serde_json::from_str(&shell.done(&["export", "--format", "json"])).unwrap();
        assert_eq!(exported["records"][0]["standing"], "forgotten", "{when}");
        assert_eq!(exported["records"][0]["body"]["note"]["content"], text, "{when}");
        instance.wait_gone(instance.kill9());
    }
}

/// A daemon runs whatever the configuration says, and a person is told wherever they look.
#[test]
fn a_typo_in_the_configuration_never_ends_memory() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "before the typo"]);
    instance.configure("[memory]\nload_token = 900\n");
    let wanted = "config.toml: line 2: unknown key load_token; did you mean load_tokens?";

    let output = shell.command(&["restart"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains(wanted), "{told}");
    assert!(told.starts_with("warning: cannot use "), "{told}");
    assert!(shell.done(&["load"]).contains("before the typo"));
    assert!(shell.done(&["status"]).contains(wanted));
    let findings = shell.json(&["doctor"]);
    assert!(findings[0]["what"].as_str().unwrap().contains(wanted), "it comes first: {findings}");

    instance.configure("[memory]\nload_tokens = 900\n");
    let (_, told) = shell.said(&["doctor"]);
    assert!(told.contains("when the daemon started, it could not use "), "{told}");
    shell.done(&["restart"]);
    assert!(!shell.said(&["doctor"]).1.contains("config.toml"), "it is in use now");
}

/// The key signs what sessions resume with, so no daemon starts with one that others can read.
#[test]
fn a_key_that_others_can_read_is_named_with_its_repair() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "before"]);
    let daemon = instance.daemon_pid();
    let key = instance.home().join("key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let cannot = format!("cannot trust {}: others may read it", key.display());
    let (code, text) = shell.said(&["restart"]);
    assert!(code == 1 && text.contains(&format!("error: {cannot}")), "{text}");
    assert!(text.contains("Nothing was stopped."), "{text}");
    assert!(daemon.is_some() && instance.daemon_pid() == daemon, "it goes on");
    shell.done(&["stop"]);
    let (code, text) = shell.said(&["load"]);
    assert!(code == 3 && text.contains("`anchord doctor --fix`"), "{text}");
    assert!(text.contains(&cannot), "{text}");
    let (code, text) = shell.said(&["doctor", "--fix"]);
    assert!(code == 0 && text.contains("its mode is 600 now"), "{text}");
    assert!(shell.done(&["load"]).contains("before"));
}

#[test]
fn commands_note_find_and_forget_as_agents_do() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let (code, text) = shell.said(&["note", "retries are bounded to five", "--tag", "net"]);
    assert_eq!((code, text.lines().next()), (0, Some("Stored n1 (6 tokens) #net")), "{text}");
    let mut piped = shell.command(&["note", "--key", "plan", "--pin", "--json"]);
    let mut piped = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"first line\nsecond line\n").unwrap();
    let stored: Value = serde_json::from_slice(&piped.wait_with_output().unwrap().stdout).unwrap();
    let record = &stored["records"][0];
    assert_eq!(record["body"]["note"]["content"], "first line\nsecond line");
    assert_eq!((&record["pinned"], &record["id"]), (&json!(true), &json!("n2")));

    let mut agent = Agent::open(&instance, project.path());
    assert!(agent.tool("memory_search", &json!({"query": "retry"})).starts_with("n1"));
    agent.tool("memory_note", &json!({"content": "the cache is warmed at start"}));
    let found = shell.json(&["search", "cache", "--limit", "1"]);
    assert_eq!((&found["records"][0]["id"], found["text"].is_string()), (&json!("n3"), true));
    assert_eq!(shell.said(&["search", "xylophone"]).0, 1, "as grep does");
    assert_eq!(shell.json(&["search", "xylophone"])["records"], json!([]));

    assert!(shell.said(&["get", "plan"]).1.starts_with("n2 plan"));
    let (code, both) = shell.said(&["get", "n1", "n2"]);
    assert_eq!(code, 0, "{both}");
    assert!(both.starts_with("n1") && both.contains("\nn2 plan"), "{both}");
    let (code, text) = shell.said(&["get", "n1", "n99"]);
    assert!(code == 1 && text.contains("\nerror: failed to get: there is no record n99"), "{text}");
    let (code, text) = shell.said(&["get", "n1", "plan"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("`plan` is not an id"), "{text}");
    assert_eq!(shell.json(&["get", "n1"])["records"][0]["tags"], json!(["net"]));
    let (code, text) = shell.said(&["get", "plans"]);
    assert!(code == 1 && text.starts_with("error: failed to get: ") && text.contains("plan"));
    let listed = shell.json(&["list", "--kind", "note", "--limit", "2"]);
    assert_eq!(
        (listed["records"].as_array().unwrap().len(), &listed["truncated"]),
        (2, &json!(true))
    );
    let (code, text) = shell.said(&["forget", "n1", "n99", "n3"]);
    assert!(code == 1 && text.contains("no record n99"), "{text}");
    assert_eq!(shell.said(&["search", "retries", "--tag", "net"]).0, 1, "the others are forgotten");
    let (code, text) = shell.said(&["compact", "--dry-run"]);
    assert!(code == 0 && text.starts_with("Nothing to compact"), "{text}");

    for wrong in [
        &["note"][..],
        &["note", " "],
        &["search", "x", "--kind", "dream"],
        &["compact", "--target-usage", "7"],
        &["forget"],
        &["get", "n1", "--project", "/nowhere"],
    ] {
        let (code, text) = shell.said(wrong);
        assert_eq!(code, 2, "{wrong:?}: {text}");
    }
    let status = shell.json(&["status"]);
    assert_eq!(status["sessions"].as_array().unwrap().len(), 1, "the agent's: {status}");
}

/// Bare `anchord` is what a person types first.
#[test]
fn anchord_alone_says_what_to_do_first() {
    let (instance, project) = (Instance::new(), Project::git());
    let (code, text) = Shell::new(&instance, project.path()).said(&[]);
    assert_eq!(code, 2, "it did nothing: {text}");
    let first = text.split_once("\nFirst steps:\n").unwrap().1;
    assert!(first.trim_start().starts_with("setup "), "{text}");
    let groups = text.lines().filter(|line| line.ends_with(':') && !line.starts_with(' '));
    assert!(groups.count() > 5 && text.contains("\nRead the memory:\n"), "{text}");
    assert!(!text.contains("\nCommands:\n"), "no flat list: {text}");
    assert_eq!(instance.daemon_pid(), None);
}

/// An id that does not exist is no misspelled one, so nothing is near it.
#[test]
fn an_unknown_id_gets_no_hint_of_others() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "retries are bounded to five"]);
    shell.done(&["note", "--key", "n7", "a key that looks like an id"]);
    for command in ["forget", "get", "pin"] {
        let (code, text) = shell.said(&[command, "n77"]);
        assert!(code == 1 && text.contains("no record n77"), "{command}: {text}");
        assert!(!text.contains("near it"), "{command}: {text}");
        assert!(!text.contains("n1") && !text.contains("n2"), "{command}: {text}");
    }
}

/// Nothing given at a prompt may be something given at the start.
#[test]
fn why_also_names_what_a_start_shows() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let why = ["why", "--prompt", "paint it green"];
    assert_eq!(shell.done(&why), "Nothing is given: no record has a word of this prompt.\n");
    shell.done(&["note", "retries are bounded to five"]);
    shell.done(&["note", "--key", "test.command", "cargo test"]);
    let start = "start shows these without a prompt (`anchord load`): n1, n2.";
    let text = shell.done(&why);
    assert!(text.starts_with("Nothing is given: ") && text.contains(start), "{text}");
    let text = shell.done(&["why", "--file", "src/paint.rs"]);
    assert!(text.starts_with("Nothing is given: ") && text.contains(start), "{text}");
    // The log has what the prompt is given, and only that.
    let text = shell.done(&["why", "--prompt", "run the tests"]);
    assert!(text.contains("n2 test.command: cargo test"), "{text}");
    let log = shell.done(&["log"]);
    assert!(log.contains("prompt=run the tests -> n2\n"), "{log}");
    assert!(log.contains("prompt=paint it green -> nothing\n"), "{log}");
}

/// The words that agents' tools take for a category are taken at a shell, too.
/// The daemon knows a project by a path without links.
#[test]
fn why_takes_every_path_of_a_file_and_says_which_options_there_are() {
    let instance = Instance::new();
    let project = Project::git();
    let shell = Shell::new(&instance, project.path());
    std::fs::write(project.path().join("src/tax.py"), "").unwrap();
    shell.done(&["note", "src/tax.py rounds half up"]);
    let link = instance.user_home().join("link");
    std::os::unix::fs::symlink(project.path(), &link).unwrap();
    let link = link.to_str().unwrap();
    let (absolute, linked) = (project.path().join("src/tax.py"), format!("{link}/src/tax.py"));
    for file in ["src/tax.py", absolute.to_str().unwrap(), &linked] {
        for named in [&[][..], &["--project", link]] {
            let why = shell.done(&[&["why", "--file", file], named].concat());
            assert!(why.contains("Memory has on src/tax.py:\nn1: "), "{file} {named:?}: {why}");
        }
    }
    let (code, text) = shell.said(&["why"]);
    assert!(code == 2 && text.contains("<--prompt <TEXT>|--file <PATH>>"), "{text}");
}

/// A copied command would otherwise be about the memory of the working directory.
#[test]
fn advice_names_the_project_of_the_command() {
    let instance = Instance::new();
    let project = Project::git();
    Shell::new(&instance, project.path()).done(&["note", "the port is 1"]);
    let elsewhere = Project::git();
    let shell = Shell::new(&instance, elsewhere.path());
    let root = project.path().to_str().unwrap();
    for (command, advice) in [
        (&["get", "n99"][..], "anchord search"),
        (&["purge", "nosuch"], "anchord list"),
        (&["purge", "n99"], "anchord list"),
        (&["load", "--at", "2020-01-01"], "anchord history"),
    ] {
        let (_, text) = shell.said(&[command, &["--project", root]].concat());
        assert!(text.contains(&format!("`{advice} --project {root}`")), "{command:?}: {text}");
    }
}

#[test]
fn a_rule_that_the_teams_file_does_not_have_is_not_said_to_be_there() {
    let (instance, project) = (Instance::new(), Project::git());
    let disable = ["rules", "disable", "file:friday"];
    let (code, text) = Shell::new(&instance, project.path()).said(&disable);
    assert!(code == 1 && text.contains("there is no rule friday in .anchord/rules.toml"), "{text}");
}

#[test]
fn a_category_is_written_as_agents_write_it() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["add", "blueprint", "Retries", "At most five", "--category", "rule"]);
    let category =
        |id: &str| shell.json(&["get", id])["records"][0]["body"]["blueprint"]["category"].clone();
    assert_eq!(category("b1"), "convention");
    shell.done(&["edit", "b1", "--category", "ARCH"]);
    assert_eq!(category("b1"), "architecture");
    let all = "architecture, schema, decision, convention, dependency";
    for command in [&["add", "blueprint"][..], &["edit"]] {
        let help = shell.done(&[command, &["--help"]].concat());
        assert!(help.contains(&format!("[possible values: {all}]")), "{help}");
    }
    let (code, text) = shell.said(&["edit", "b1", "--category", "law"]);
    assert!(code == 2 && text.contains(all), "{text}");
}

#[test]
fn json_output_has_a_cursor_and_names_commands() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let mut agent = Agent::open(&instance, project.path());
    for number in 0..3 {
        agent.tool(
            "memory_note",
            &json!({"content": format!("the cache is warmed, part {number}")}),
        );
    }
    agent.tool("memory_note", &json!({"content": "the cache is mine", "scope": "session"}));
    for (command, all) in [(&["list", "--kind", "note"][..], 4), (&["search", "cache"], 3)] {
        let first = shell.json(&[command, &["--limit", "1"]].concat());
        assert_eq!(first["left_out"], json!(all - 1), "{first}");
        let text = first["text"].as_str().unwrap();
        assert!(text.contains("`anchord ") && !text.contains('{'), "{text}");
        let cursor = first["cursor"].as_str().unwrap();
        let rest = shell.json(&[command, &["--cursor", cursor]].concat());
        assert_eq!(rest["records"].as_array().unwrap().len(), all - 1, "{rest}");
        assert_eq!((&rest["cursor"], &rest["left_out"]), (&Value::Null, &Value::Null), "{rest}");
    }
    let nothing = shell.json(&["search", "xylophone"]);
    assert!(!nothing["text"].as_str().unwrap().contains("memory_"), "{nothing}");

    let own = shell.json(&["search", "cache", "--scope", "session"]);
    assert_eq!(own["records"][0]["body"]["note"]["content"], "the cache is mine", "{own}");
    assert_eq!(own["records"].as_array().unwrap().len(), 1, "{own}");
    let shared = shell.json(&["search", "cache", "--scope", "project"]);
    assert_eq!(shared["records"].as_array().unwrap().len(), 3, "{shared}");
}

/// The end of an answer names the command that prints the next part, until there is none.
#[test]
fn the_command_named_by_a_cut_load_prints_the_rest() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let mut agent = Agent::open(&instance, project.path());
    agent.tool(
        "memory_save",
        &json!({"session_summary": "Begun.", "lessons": [{"summary": "the lock stays when it fails"}]}),
    );
    for number in 0..60 {
        let text = format!("note-{number} {}", "says what it says at length. ".repeat(12));
        agent.tool("memory_note", &json!({"content": text}));
    }
    let (code, lessons) = shell.said(&["load", "--section", "lessons", "--section", "sessions"]);
    assert!(code == 0 && lessons.contains("the lock stays") && lessons.contains("Begun."));
    assert!(!lessons.contains("note-"), "{lessons}");
    assert_eq!(shell.said(&["load", "--section", "dreams"]).0, 2);
    // The load of an agent with little room, without and with a task.
    let (_, whole) = shell.said(&["load"]);
    let (_, small) = shell.said(&["load", "--max-tokens", "600"]);
    let (_, about) = shell.said(&["load", "--max-tokens", "600", "--task", "what note-37 says"]);
    assert!(small.len() < whole.len() / 2 && !small.contains("note-37 "), "{small}");
    assert!(about.contains("note-37 "), "{about}");
    assert_eq!(shell.said(&["load", "--cursor", "nowhere"]).0, 1);

    let (mut pages, mut words) =
        (String::new(), vec!["load".to_owned(), "--section=notes".to_owned()]);
    for page in 0.. {
        assert!(page < 30, "it ends: {pages}");
        let words_now: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, text) = shell.said(&words_now);
        assert!(code == 0 && !text.contains("memory_"), "{text}");
        pages.push_str(&text);
        let next = text.split_once("one in full, `anchord ");
        let Some((_, rest)) = next.or_else(|| text.split_once("The rest: `anchord ")) else {
            break;
        };
        let (line, _) = rest.split_once('`').unwrap();
        words = line.split(' ').map(str::to_owned).collect();
    }
    assert!(pages.matches("The rest: ").count() > 1, "more than two pages");
    for number in 0..60 {
        assert!(pages.contains(&format!("note-{number} ")), "note-{number} is on no page");
    }
}

#[test]
fn the_log_shows_each_query_and_can_be_followed() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({"content": "retries are bounded to five"}));
    agent.tool("memory_search", &json!({"query": "bounded retry"}));
    shell.said(&["get", "n1"]);
    let (code, text) = shell.said(&["log", "--since", "soon"]);
    assert!(code == 2 && text.contains("3 days ago"), "{text}");
    let (code, none) = shell.said(&["log", "--since", "tomorrow"]);
    assert!(code == 0 && none.lines().count() == 1, "only the head: {none}");
    let all = shell.done(&["log", "--since", "2h"]);
    assert_eq!(all, shell.done(&["log"]));
    assert_eq!(shell.done(&["log", "--since", "2h", "-n", "1"]).lines().count(), 2);
    let (code, text) = shell.said(&["log"]);
    assert_eq!((code, text.lines().count()), (0, 3), "{text}");
    assert!(text.lines().nth(1).unwrap().ends_with("bounded retry -> n1"), "{text}");
    assert!(text.lines().nth(2).unwrap().contains("anchord-cli     get "), "{text}");
    let narrow = shell.command(&["log"]).env("COLUMNS", "60").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(narrow.contains("search") && narrow.contains("-> n1"), "{narrow}");

    let mut follow = shell.command(&["log", "-n", "1", "--follow", "--json"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["client"], "anchord-cli", "the last line comes first");
    agent.tool("memory_search", &json!({"query": "retry"}));
    assert_eq!(next()["asked"], json!({"query": "retry"}));
    instance.kill9();
    agent.tool("memory_search", &json!({"query": "five"}));
    assert_eq!(next()["asked"], json!({"query": "five"}), "another daemon is followed");
    follow.kill().unwrap();
    follow.wait().unwrap();
}

/// Writes a transcript in Claude Code's format, of a session that is over.
fn transcript(instance: &Instance, session: &str, cwd: &str, prompt: &str) {
    let folder = instance.user_home().join(".claude/projects/-some-project");
    std::fs::create_dir_all(&folder).unwrap();
    let line = |kind: &str, content: Value| {
        let line = json!({"type": kind, "cwd": cwd, "timestamp": "2026-11-01T09:30:00.000Z", "message": {"content": content}});
        line.to_string() + "\n"
    };
    let run = json!([{"type": "tool_use", "id": "1", "name": "Write", "input": {"file_path": format!("{cwd}/src/lib.rs")}}]);
    let ran = json!([{"type": "tool_result", "tool_use_id": "1", "content": "written"}]);
    let text = line("user", json!(prompt)) + &line("assistant", run) + &line("user", ran);
    let path = folder.join(format!("{session}.jsonl"));
    std::fs::write(&path, text).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
}

#[test]
fn past_sessions_are_imported_once_into_their_projects() {
    let (instance, project, other) = (Instance::new(), Project::git(), Project::git());
    let shell = Shell::new(&instance, project.path());
    assert_eq!(shell.said(&["import", "sessions"]).0, 0, "nothing to import is no failure");
    let at = |project: &Project| project.path().to_str().unwrap().to_owned();
    transcript(&instance, "a", &at(&project), "make the parser faster");
    transcript(&instance, "b", &at(&other), "write the handbook");
    transcript(&instance, "c", "/no/longer/there", "nobody knows");

    let plan = shell.json(&["import", "sessions", "--dry-run"]);
    assert_eq!((&plan["applied"], &plan["transcripts"]), (&json!(false), &json!(3)));
    let (code, text) = shell.said(&["load"]);
    assert!(
        code == 0 && text.contains("Nothing is recorded yet") && !text.contains("memory_"),
        "a plan changes nothing: {text}"
    );

    let done = shell.json(&["import", "sessions", "--yes"]);
    let added: Vec<&Value> =
        done["projects"].as_array().unwrap().iter().map(|p| &p["added"]).collect();
    assert_eq!((added, &done["left_out"][0]["why"]), (vec![&json!(1); 2], &json!("is gone")));
    let (_, text) = shell.said(&["load"]);
    let row = "s1 2026-11-01 claude-code (not saved by its agent): Asked: make the parser faster; Edited: src/lib.rs\n";
    assert!(text.contains(row) && !text.contains("handbook"), "{text}");

    let again = shell.json(&["import", "sessions", "--yes", "--project", &at(&project)]);
    assert_eq!(
        (&again["projects"][0]["added"], &again["projects"][0]["known"]),
        (&json!(0), &json!(1))
    );
    // The session continued, and its last line was torn when its client was killed.
    let path = instance.user_home().join(".claude/projects/-some-project/a.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let more =
        text.lines().next().unwrap().replace("T09:30", "T10:30").replace("faster", "smaller");
    std::fs::write(&path, format!("{text}{more}\n{}", &more[..50])).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let (code, text) = shell.said(&["import", "sessions", "--yes"]);
    assert!(code == 5 && text.contains("a.jsonl: the last line is torn"), "{text}");
    assert!(text.contains("1 session went on: brought up to date"), "{text}");
    let (code, text) = shell.said(&["import", "sessions", "--yes"]);
    assert!(code == 5 && text.contains("nothing is new"), "{text}");
    let mut agent = Agent::open(&instance, project.path());
    let found = agent.tool("memory_search", &json!({"query": "parser"}));
    assert!(found.contains("(captured)") && found.contains("(2 prompts)"), "{found}");
}

#[test]
fn agents_see_at_once_what_people_add_edit_and_pin() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let mut agent = Agent::open(&instance, project.path());
    let src = project.path().join("src");
    std::fs::create_dir_all(&src).unwrap();
    std::fs::write(src.join("cache.rs"), "fn warm() {}\n").unwrap();
    std::fs::write(project.path().join("policy.md"), "It is warm.\nAlways.\n").unwrap();

    let (code, text) =
        shell.said(&["add", "blueprint", "Cache", "--category", "decision", "--from", "policy.md"]);
    assert_eq!((code, text.as_str()), (0, "Added b1 [decision] Cache …\n"), "{text}");
    let mut piped =
        shell.command(&["add", "lesson", "a cold cache times out", "-", "--file", "cache.rs"]);
    let mut piped =
        piped.current_dir(&src).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"warm it first\n").unwrap();
    assert!(piped.wait_with_output().unwrap().status.success());
    let anchor = shell
        .command(&["add", "anchor", "cache.rs", "1", "warms it", "--json"])
        .current_dir(&src)
        .output();
    let anchor: Value = serde_json::from_slice(&anchor.unwrap().stdout).unwrap();
    assert_eq!(
        anchor["records"][0]["body"]["anchor"]["file"], "src/cache.rs",
        "from here: {anchor}"
    );
    let load = agent.tool("memory_load", &json!({}));
    for part in [
        "It is warm.\n  Always.",
        "l2 a cold cache times out (src/cache.rs)",
        "warm it first",
        "a3 src/cache.rs:1: warms it",
    ] {
        assert!(load.contains(part), "{part} is not in {load}");
    }
    let (code, text) =
        shell.said(&["add", "blueprint", "cache", "It is lazy.", "--category", "decision"]);
    assert!(code == 1 && text.contains("`anchord edit b1` changes it"), "{text}");

    let (code, text) = shell.said(&[
        "edit",
        "b1",
        "--content",
        "It is lazy.",
        "--category",
        "convention",
        "--tag",
        "perf",
    ]);
    assert_eq!(
        (code, text.as_str()),
        (0, "Updated, version 2: b1 [convention] Cache …\n"),
        "{text}"
    );
    assert!(agent.tool("memory_get", &json!({"id": "b1"})).contains("It is lazy."));
    assert_eq!(shell.json(&["get", "b1"])["records"][0]["tags"], json!(["perf"]));
    shell.said(&["note", "7717", "--key", "port"]);
    assert!(
        shell
            .said(&["edit", "port", "--importance", "9", "--expires", "tomorrow"])
            .1
            .starts_with("Updated, version 2: n4 port")
    );

    for (flag, pinned) in [("pin", true), ("unpin", false)] {
        let (code, text) = shell.said(&[flag, "b1", "n4"]);
        assert_eq!((code, text.lines().count()), (0, 2), "{text}");
        assert_eq!(shell.json(&["get", "b1"])["records"][0]["pinned"] == true, pinned);
    }
    for (flag, pinned) in [("pin", true), ("unpin", false)] {
        assert_eq!(shell.said(&[flag, "port"]).0, 0);
        assert_eq!(shell.json(&["get", "n4"])["records"][0]["pinned"] == true, pinned, "{flag}");
    }
    let (code, text) = shell.said(&["unpin", "no.such.key"]);
    assert!(code == 1 && text.contains("no.such.key"), "{text}");
    let (code, text) = shell.said(&["pin", "b99", "n4"]);
    assert!(code == 1 && text.contains("no record b99") && text.contains("n4"), "{text}");

    for wrong in [
        &["add"][..],
        &["add", "blueprint", "Cache", "x"],
        &["add", "blueprint", "Cache", "x", "--category", "law"],
        &["add", "blueprint", "Cache", " ", "--category", "schema"],
        &["add", "blueprint", "Cache", "x", "--from", "policy.md", "--category", "schema"],
        &["add", "anchor", "src/cache.rs", "1"],
        &["edit", "b1", "--importance", "7"],
        &["edit", "l2", "--title", "x"],
        &["edit", "n4", "--expires", "someday"],
        &["pin"],
    ] {
        let (code, text) = shell.said(wrong);
        assert_eq!(code, 2, "{wrong:?}: {text}");
    }
}

#[test]
fn an_edit_without_options_opens_the_editor_and_loses_no_text() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.said(&["add", "lesson", "a cold cache times out", "warm it first"]);
    let edit = |id: &str, editor: &str| {
        let mut command = shell.command(&["edit", id]);
        let Output { status, stdout, stderr } =
            command.env_remove("VISUAL").env("EDITOR", editor).output().unwrap();
        (status.code().unwrap(), String::from_utf8([stdout, stderr].concat()).unwrap())
    };
    let (code, text) = edit("l1", "sed -i 's/cold/empty/; s/first/at start/'");
    assert_eq!((code, text.as_str()), (0, "Updated, version 2: l1 a empty cache times out …\n"));
    let got = shell.said(&["get", "l1"]).1;
    assert!(got.contains("a empty cache times out") && got.contains("warm it at start"), "{got}");
    assert_eq!(edit("l1", "true"), (0, "Nothing was changed.\n".to_owned()));
    let (code, text) = edit("l1", "false");
    assert!(code == 1 && text.contains("nothing was changed"), "{text}");
    let (code, text) = edit("l1", "truncate -s 0");
    assert!(code == 2 && text.contains("the text is empty"), "{text}");
    assert_eq!(edit("l1", "").0, 2, "there is no editor, and no terminal");
    // The editor writes another encoding.
    let (code, text) = edit("l1", "printf 'caf\\351' >");
    assert!(code != 0 && text.contains("UTF-8"), "{text}");
    let (_, path) = text.split_once("Your text is in ").unwrap();
    let path = path.trim_end().trim_end_matches('.');
    assert_eq!(std::fs::read(path).unwrap(), b"caf\xe9", "{text}");
    std::fs::remove_file(path).unwrap();
    // Somebody else changes the record while the editor is open.
    let anchord = shell.command(&[]).get_program().to_str().unwrap().to_owned();
    let meanwhile =
        format!("sed -i s/empty/icy/ \"$1\"; {anchord} edit l1 --detail 'nobody knows' #");
    let (code, text) = edit("l1", &meanwhile);
    assert!(code == 1 && text.contains("l1 is at 3 now, not at 2"), "{text}");
    let (_, path) = text.split_once("Your text is in ").unwrap();
    let path = path.trim_end().trim_end_matches('.');
    assert!(std::fs::read_to_string(path).unwrap().starts_with("a icy cache"), "{text}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_edit_of_a_notes_content_keeps_its_tags_and_names_the_lost_summary() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let link = ["note", "see https://example.org", "--key", "link", "--summary", "the link"];
    shell.done(&link);
    let tags = || shell.json(&["get", "link"])["records"][0]["tags"].clone();
    assert_eq!(tags(), json!(["reference"]));
    let lost = "Its summary described the earlier text and was dropped; --summary sets one.\n";
    assert!(shell.done(&["edit", "link", "--content", "ask Ada"]).ends_with(lost));
    assert_eq!(tags(), json!(["reference"]));
    shell.done(&["edit", "link", "--summary", "who knows"]);
    let again = ["edit", "link", "--content", "ask Bo", "--summary", "who knew", "--tag", "x"];
    assert!(!shell.done(&again).contains("is gone"));
    assert_eq!(tags(), json!(["x"]));
}
