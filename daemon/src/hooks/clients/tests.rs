//! Recorded payloads, their parsed events, and the printed answers. OpenClaw's payloads and
//! opencode's last six are written in our plugins' format rather than recorded.

use std::fmt::Write as _;

use super::*;

/// Renders how an adapter reads each payload of a fixture, and how it writes an answer.
fn told(client: &str, fixture: &str) -> String {
    let adapter = Adapter::of(client).unwrap();
    let payloads: Vec<serde_json::Value> = serde_json::from_str(fixture).unwrap();
    let mut told = String::new();
    for payload in payloads {
        let (heard, unknown) = adapter.read(payload.to_string().as_bytes()).unwrap();
        assert!(unknown.is_empty(), "{unknown:?} of {payload}");
        let name = payload["hook_event_name"].as_str().unwrap();
        match heard {
            ParsedEvent::Event(envelope) => {
                writeln!(told, "{name}: {:?}", envelope.event).unwrap();
                if let Some(agent) = &envelope.agent {
                    writeln!(told, "  in {} {:?}", agent.id, agent.agent_type).unwrap();
                }
                assert_eq!(envelope.cwd.as_deref(), Some("/home/u/app"));
                for answer in ["context", "instructions"] {
                    let text = "of\nthe daemon".to_owned();
                    let says = match answer {
                        "context" => Answer::Context(text),
                        _ => Answer::Instructions(text),
                    };
                    let printed = adapter.write(&envelope, &says);
                    if !printed.is_empty() {
                        writeln!(told, "  {answer}: {printed}").unwrap();
                    }
                }
                assert_eq!(adapter.write(&envelope, &Answer::Nothing), "");
            }
            heard => writeln!(told, "{name}: {heard:?}").unwrap(),
        }
    }
    told
}

#[test]
fn claude_code_is_understood() {
    insta::assert_snapshot!(told("claude-code", include_str!("fixtures/claude_code.json")));
}

#[test]
fn codex_is_understood() {
    insta::assert_snapshot!(told("codex", include_str!("fixtures/codex.json")));
}

#[test]
fn gemini_is_understood() {
    insta::assert_snapshot!(told("gemini", include_str!("fixtures/gemini.json")));
}

#[test]
fn opencode_is_understood() {
    insta::assert_snapshot!(told("opencode", include_str!("fixtures/opencode.json")));
}

#[test]
fn openclaw_is_understood() {
    insta::assert_snapshot!(told("openclaw", include_str!("fixtures/openclaw.json")));
}

fn heard(client: &str, payload: &serde_json::Value) -> (ParsedEvent, Vec<String>) {
    Adapter::of(client).unwrap().read(payload.to_string().as_bytes()).unwrap()
}

#[test]
fn what_a_later_client_has_is_ignored_and_named() {
    let payload = serde_json::json!({
        "hook_event_name": "Stop", "session_id": "s", "mood": "fine", "last_assistant_message": 7,
    });
    let (read, unknown) = heard("claude-code", &payload);
    let ParsedEvent::Event(envelope) = read else { panic!("an event") };
    assert_eq!(envelope.event, Event::TurnEnded { last_message: None });
    assert_eq!(unknown, ["mood"]);
    let payload = serde_json::json!({"hook_event_name": "MoonRose", "session_id": "s"});
    assert_eq!(heard("claude-code", &payload).0, ParsedEvent::Unknown("MoonRose".to_owned()));
}

#[test]
fn what_is_no_event_is_an_error() {
    let adapter = Adapter::of("codex").unwrap();
    for malformed in ["", "[]", "7", "{\"hook_event_name\":"] {
        assert_eq!(adapter.read(malformed.as_bytes()), Err(Unreadable::Malformed), "{malformed}");
    }
    let missing = Err(Unreadable::Missing("hook_event_name"));
    assert_eq!(adapter.read(br#"{"session_id":"s"}"#), missing);
    let no_session = br#"{"hook_event_name":"Stop","session_id":""}"#;
    assert_eq!(adapter.read(no_session), Err(Unreadable::Missing("session")));
    assert!(Adapter::of("a-client-of-next-year").is_none());
}

#[test]
fn a_patch_names_the_files_that_it_edits() {
    let patch = "*** Begin Patch\n*** Add File: src/b.txt\n+two\n*** Update File: a.rs\n@@\n-x\n\
                 *** Move to: c.rs\n*** Delete File: d.rs\n*** End Patch\n";
    for input in ["command", "input"] {
        let payload = serde_json::json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "apply_patch",
            "tool_input": { input: patch },
        });
        let (ParsedEvent::Event(envelope), _) = heard("codex", &payload) else {
            panic!("an event")
        };
        let Event::ToolRan(run) = envelope.event else { panic!("a tool's run") };
        assert_eq!(run.edited, ["src/b.txt", "a.rs", "c.rs", "d.rs"]);
        assert_eq!(run.command, None);
    }
}

#[test]
fn a_shell_command_names_the_files_that_it_prints() {
    let files = |command: &str| {
        let payload = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "tool_input": { "command": command },
        });
        let (ParsedEvent::Event(envelope), _) = heard("codex", &payload) else {
            panic!("an event")
        };
        let Event::ToolBegins(begins) = envelope.event else { panic!("a tool's use") };
        begins.files
    };
    assert_eq!(files("cat src/a.rs b.toml | head"), ["src/a.rs", "b.toml"]);
    assert_eq!(files("sed -n '1,200p' src/a.rs"), ["src/a.rs"]);
    assert_eq!(files("nl -ba \"src/a.rs\" && cargo test"), ["src/a.rs"]);
    for nothing in ["cargo test", "ls src/a.rs", "cat $FILE", "cat *.rs", "head -n 20", ""] {
        assert_eq!(files(nothing), Vec::<String>::new(), "{nothing}");
    }
}
