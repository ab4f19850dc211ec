//! A damaged event of a tool is still one, and no other event becomes one.

use super::*;

/// Returns the client's name for the tool's event that is read of a text.
fn name(client: &str, line: &[u8]) -> Option<String> {
    tool(Adapter::of(client).unwrap(), line).map(|envelope| envelope.name)
}

#[test]
fn the_fields_before_the_damage_tell_a_tool_from_another_event() {
    let damaged = [
        &br#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_in"#[..],
        b"{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"cwd\":\"/p\xff\"}",
        br#"{"hook_event_name":"PreToolUse","session_id":"s"} {"x":1}"#,
        br#"{"hook_event_name":"PreToolUse","session_id":7}"#,
        br#"{"session_id":"s","cwd":"/p","hook_ev"#,
        b"\xef\xbb\xbf{\"hook_event_name\":\"PreToolUse\"",
        b"not json",
        b"",
    ];
    for line in damaged {
        let shown = String::from_utf8_lossy(line);
        assert_eq!(name("claude-code", line).as_deref(), Some("PreToolUse"), "{shown}");
    }
    for line in [
        &br#"{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"x"#[..],
        br#"{"hook_event_name":"MoonRose","session_id":"s""#,
        br#"{"session_id":"s"}"#,
    ] {
        assert_eq!(name("claude-code", line), None, "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn each_client_has_its_own_name_for_the_event() {
    let begins = [
        ("gemini", "BeforeTool"),
        ("copilot", "preToolUse"),
        ("crush", "PreToolUse"),
        ("opencode", "tool.execute.before"),
        ("openclaw", "before_tool_call"),
        ("pi", "tool_call"),
        ("cline", "beforeTool"),
    ];
    for (client, event) in begins {
        assert_eq!(name(client, b"{").as_deref(), Some(event), "{client}");
    }
    let torn = br#"{"sessionId":"s","cwd":"/p","toolName":"bash","toolArgs":{"command":"git p"#;
    let envelope = tool(Adapter::of("copilot").unwrap(), torn).unwrap();
    assert_eq!(envelope.cwd.as_deref(), Some("/p"));
}
