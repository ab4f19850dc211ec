//! Inputs of tools in forms that hide a command from rules that look for a field.

use anchord_memory::lifecycle::{Event, ToolUse};
use serde_json::{Value, json};

use crate::events::ParsedEvent;
use crate::events::testing::read_event;

fn begins(client: &str, payload: Value) -> ToolUse {
    let (ParsedEvent::Event(envelope), _) = read_event(client, &payload) else {
        panic!("an event")
    };
    let Event::ToolBegins(begins) = envelope.event else { panic!("a tool begins") };
    begins
}

fn claude(tool: &str, input: Value) -> ToolUse {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": input,
    });
    begins("claude-code", payload)
}

#[test]
fn a_shell_command_is_read_from_every_form_of_input() {
    let push = "git push --force";
    for input in [
        json!({"command": push}),
        json!(push),
        json!(r#"{"command": "git push --force"}"#),
        json!(r#"["git", "push", "--force"]"#),
        json!(["git", "push", "--force"]),
        json!([push]),
        json!({"cmd": push, "timeout": 5}),
        json!({"command": {"program": "git", "args": ["push", "--force"]}}),
        json!({"command": "git", "args": ["push", "--force"]}),
        json!({"command": "git", "args": "push --force"}),
        json!({"commands": [{"run": push}]}),
        json!({"program": "git", "args": ["push", "--force"]}),
        json!({"executable": "git", "arguments": ["push", "--force"]}),
        json!({"command": "git", "argv": {"0": "push", "1": "--force"}}),
        json!({"args": ["git", "push", "--force"]}),
        json!({"cmd": push, "workdir": "/home/u/app", "justification": "make deploy work"}),
        json!(r#""{\"cmd\": \"git push --force\"}""#),
    ] {
        for tool in ["Bash", "bash", "run_shell_command"] {
            let command = claude(tool, input.clone()).command;
            assert_eq!(command.as_deref(), Some(push), "{tool} {input}");
        }
    }
}

#[test]
fn several_commands_have_a_line_each() {
    for input in [
        json!(["cd app", "make deploy"]),
        json!({"commands": ["cd app", "make deploy"]}),
        json!({"command": [["cd", "app"], ["make", "deploy"]]}),
    ] {
        let command = claude("Bash", input.clone()).command;
        assert_eq!(command.as_deref(), Some("cd app\nmake deploy"), "{input}");
    }
}

/// Each line with the words of all arguments would be more than the machine has.
#[test]
fn a_command_is_hardly_longer_than_its_input() {
    let lines: Vec<Value> = (0..3000).map(|_| json!("a b")).collect();
    let input = json!({"run": lines, "args": "y".repeat(100_000)});
    let command = claude("Bash", input.clone()).command.unwrap();
    assert!(command.len() <= input.to_string().len(), "{}", command.len());
}

#[test]
fn an_input_without_a_command_has_none() {
    for input in [json!(""), json!([]), json!({}), json!(null), json!(7), json!({"timeout": 7})] {
        assert_eq!(claude("Bash", input.clone()).command, None, "{input}");
    }
    assert_eq!(claude("Read", json!("a.rs")).command, None);
    assert_eq!(claude("Edit", json!({"cmd": "git push"})).command, None);
}

#[test]
fn another_tool_s_text_is_its_fields_or_a_patch() {
    let edit = claude("Edit", json!(r#"{"file_path": "a.rs"}"#));
    assert_eq!(edit.writes, ["a.rs"]);
    let patch = "*** Begin Patch\n*** Update File: b.rs\n*** End Patch\n";
    assert_eq!(claude("apply_patch", json!(patch)).writes, ["b.rs"]);
}

#[test]
fn a_client_s_own_fields_are_read_from_a_text() {
    let copilot = |tool: &str, arguments: &str| {
        let payload = json!({"sessionId": "s", "toolName": tool, "toolArgs": arguments});
        begins("copilot", payload)
    };
    let command = copilot("bash", r#"{"command": "make deploy"}"#).command;
    assert_eq!(command.as_deref(), Some("make deploy"));
    assert_eq!(copilot("edit", r#"{"path": "a.rs"}"#).writes, ["a.rs"]);
}

#[test]
fn a_tools_files_are_named_from_the_directory_in_which_it_runs() {
    let with = |cwd: Option<&str>, input: Value| {
        let mut payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Edit",
            "tool_input": input,
        });
        if let Some(cwd) = cwd {
            payload["cwd"] = json!(cwd);
        }
        let ToolUse { files, writes, directory, .. } = begins("claude-code", payload);
        assert_eq!(files, writes);
        (files, directory)
    };
    let file = |name: &str| json!({ "file_path": name });
    let named = |names: &[&str], directory: &str| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        (names, Some(directory.to_owned()).filter(|it| !it.is_empty()))
    };
    assert_eq!(with(Some("/p/src"), file("app.py")), named(&["/p/src/app.py"], "/p/src"));
    assert_eq!(with(Some("/p/src"), file("/p/app.py")), named(&["/p/app.py"], "/p/src"));
    assert_eq!(with(None, file("app.py")), named(&["app.py"], ""));
    let elsewhere = json!({ "file_path": "app.py", "workdir": "../lib" });
    let there = named(&["/p/src/../lib/app.py"], "/p/src/../lib");
    assert_eq!(with(Some("/p/src"), elsewhere), there);
}
