//! Payloads of later clients, and texts that are not payloads.

use super::testing::read_event;
use super::*;

#[test]
fn unknown_fields_of_a_later_client_are_ignored_and_reported() {
    let payload = serde_json::json!({
        "hook_event_name": "Stop", "session_id": "s", "mood": "fine", "last_assistant_message": 7,
    });
    let (read, unknown) = read_event("claude-code", &payload);
    let ParsedEvent::Event(envelope) = read else { panic!("an event") };
    assert_eq!(envelope.event, Event::TurnEnded { last_message: None });
    assert_eq!(unknown, ["mood"]);
    let payload = serde_json::json!({"hook_event_name": "MoonRose", "session_id": "s"});
    assert_eq!(read_event("claude-code", &payload).0, ParsedEvent::Unknown("MoonRose".to_owned()));
}

/// Rules about paths see whatever names files: a path, a list of paths, a pattern.
#[test]
fn files_are_read_from_every_field_that_names_them() {
    let files = |client: &str, event: &str, tool: &str, input: serde_json::Value| {
        let payload = serde_json::json!({
            "hook_event_name": event, "session_id": "s", "tool_name": tool, "tool_input": input,
        });
        let (ParsedEvent::Event(envelope), _) = read_event(client, &payload) else {
            panic!("an event")
        };
        let Event::ToolBegins(begins) = envelope.event else { panic!("a tool begins") };
        assert!(begins.only_reads, "{tool}");
        begins.files
    };
    let claude = |tool, input| files("claude-code", "PreToolUse", tool, input);
    let gemini = |tool, input| files("gemini", "BeforeTool", tool, input);
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(claude("Grep", json(r#"{"pattern": "KEY", "glob": ".env"}"#)), [".env"]);
    assert_eq!(
        claude("Grep", json(r#"{"pattern": "KEY", "path": "/p/", "glob": ".env,*.rs !b {c,d}"}"#)),
        ["/p/", "/p/.env", "/p/*.rs", "/p/{c,d}"]
    );
    assert_eq!(claude("Glob", json(r#"{"pattern": "**/.env"}"#)), ["**/.env"]);
    assert_eq!(claude("Glob", json(r#"{"pattern": "/p/.env", "path": "/q"}"#)), ["/q", "/p/.env"]);
    let many = r#"{"include": [".env", "src/*.rs"], "exclude": ["x"]}"#;
    assert_eq!(gemini("read_many_files", json(many)), [".env", "src/*.rs"]);
    assert_eq!(gemini("read_many_files", json(r#"{"paths": ["a", "", 7]}"#)), ["a"]);
    let search = r#"{"pattern": "x", "dir_path": "src", "include": "*.pem"}"#;
    assert_eq!(gemini("search_file_content", json(search)), ["src/*.pem"]);
}

/// Rules match command lines. A list of words is one, too, whichever words need quotes.
#[test]
fn a_command_may_be_a_list_of_words() {
    let command = |client: &str, input: serde_json::Value| {
        let payload = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "tool_input": { "command": input },
        });
        let (ParsedEvent::Event(envelope), _) = read_event(client, &payload) else {
            panic!("an event")
        };
        let Event::ToolBegins(begins) = envelope.event else { panic!("a tool begins") };
        (begins.command, begins.writes)
    };
    for client in ["codex", "claude-code"] {
        let (line, _) = command(client, serde_json::json!(["bash", "-lc", "git push --force"]));
        assert_eq!(line.as_deref(), Some("bash -lc 'git push --force'"), "{client}");
        let (line, _) = command(client, serde_json::json!(["git", "push", "-f"]));
        assert_eq!(line.as_deref(), Some("git push -f"), "{client}");
        for nothing in [serde_json::json!([]), serde_json::json!(""), serde_json::json!(7)] {
            assert_eq!(command(client, nothing).0, None, "{client}");
        }
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** End Patch\n";
        let (_, writes) = command(client, serde_json::json!(["apply_patch", patch]));
        assert_eq!(writes, ["a.rs"], "{client}");
    }
}

#[test]
fn an_invalid_event_is_an_error() {
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
