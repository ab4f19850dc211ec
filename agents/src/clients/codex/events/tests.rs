//! Recorded payloads, and the files that patches and shell commands name.

use anchord_memory::lifecycle::Event;

use crate::events::ParsedEvent;
use crate::events::testing::{read_event, rendered};

#[test]
fn payloads_are_understood() {
    insta::assert_snapshot!(rendered(
        super::super::KNOWN.id,
        include_str!("../fixtures/events.json")
    ));
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
        let (ParsedEvent::Event(envelope), _) = read_event("codex", &payload) else {
            panic!("an event")
        };
        let Event::ToolRan(run) = envelope.event else { panic!("a tool's run") };
        assert_eq!(run.edited, ["src/b.txt", "a.rs", "c.rs", "d.rs"]);
        assert_eq!(run.command, None);
    }
}

#[test]
fn a_patch_in_a_shell_command_is_a_command_too() {
    let patch = "apply_patch <<'EOF' && make deploy\n*** Begin Patch\n*** Update File: a.rs\n\
                 *** End Patch\nEOF";
    let payload = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": { "command": patch },
    });
    let (ParsedEvent::Event(envelope), _) = read_event("codex", &payload) else {
        panic!("an event")
    };
    let Event::ToolBegins(begins) = envelope.event else { panic!("a tool's use") };
    assert_eq!((begins.writes, begins.command.as_deref()), (vec!["a.rs".to_owned()], Some(patch)));
    assert!(begins.is_run, "no end is reported");
}

#[test]
fn a_shell_command_names_the_files_that_it_prints() {
    let files = |command: &str| {
        let payload = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "tool_input": { "command": command },
        });
        let (ParsedEvent::Event(envelope), _) = read_event("codex", &payload) else {
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
