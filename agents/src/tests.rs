//! The registry, and rules that every client keeps.

use std::collections::BTreeSet;

use super::*;

#[test]
fn ids_and_names_are_unambiguous() {
    let ids: BTreeSet<&str> = CLIENTS.iter().map(|client| client.id).collect();
    assert_eq!(ids.len(), CLIENTS.len());
    for client in CLIENTS {
        assert_eq!(Client::named(client.id), Some(*client));
        assert_eq!(Client::named_over_mcp(client.mcp.name), Some(*client));
    }
    assert_eq!(Client::named("a-client-of-next-year"), None);
}

#[test]
fn a_client_has_one_name_in_records() {
    for client in CLIENTS {
        assert_eq!(McpNames::recorded(client.id), client.id);
        assert_eq!(McpNames::recorded(client.mcp.name), client.id);
    }
    for (over_mcp, recorded) in [
        ("codex-mcp-client", "codex"),
        ("openclaw-bundle-mcp", "openclaw"),
        ("claude-code", "claude-code"),
        ("claude", "claude-code"),
        ("Claude Code", "claude-code"),
        ("Cline", "cline"),
        ("gemini-cli-mcp-client", "gemini"),
        ("gemini-cli", "gemini"),
        ("opencode", "opencode"),
        ("Cursor-vscode", "cursor"),
        ("Visual Studio Code", "vscode"),
        ("copilot-cli", "copilot"),
        // Other clients, although their names begin in the same way.
        ("claude-ai", "claude-ai"),
        ("ampere", "ampere"),
        ("next-year-mcp-client", "next-year"),
        ("", ""),
    ] {
        assert_eq!(McpNames::recorded(over_mcp), recorded, "{over_mcp}");
    }
}

#[test]
fn a_client_is_recognised_by_the_beginning_of_its_name() {
    let tokens = |name: &str| Client::named_over_mcp(name)?.limits.session_tokens;
    assert_eq!(tokens("claude-code"), Some(80_000));
    assert_eq!(tokens("Cursor-vscode"), Some(60_000));
    assert_eq!(tokens("codex"), None);
    assert_eq!(tokens("a-client-of-next-year"), None);
}

#[test]
fn only_openclaw_names_conversations_in_arguments() {
    let argument = McpNames::conversation_argument_of;
    assert_eq!(argument("openclaw-bundle-mcp"), Some("anchord_conversation"));
    assert_eq!(argument("claude-code"), None);
    assert_eq!(argument("a-client-of-next-year"), None);
}

/// A text that a client would cut must not be written at all.
#[cfg(feature = "events")]
#[test]
fn texts_fit_into_every_clients_context() {
    use anchord_memory::limits::{ANSWER_CHARS_MAX, RESTORED_CHARS_MAX};

    for client in CLIENTS {
        let chars_max = client.limits.text_chars_max.unwrap_or(usize::MAX);
        assert!(ANSWER_CHARS_MAX <= chars_max, "{client:?}");
        assert!(RESTORED_CHARS_MAX <= chars_max, "{client:?}");
    }
}

#[test]
fn a_hook_of_another_client_ignores_the_process_of_an_agent_around_it() {
    let variable = |name: &str| (name == "CLAUDE_PID").then(|| "7".to_owned());
    let process = |client| Environment::process_in(client, variable);
    assert_eq!(process(Some("claude-code")).as_deref(), Some("7"));
    assert_eq!(process(None).as_deref(), Some("7"));
    assert_eq!(process(Some("codex")), None);
    assert_eq!(process(Some("a-client-of-next-year")), None);
}
