//! Codex. Its payloads have Claude Code's form, less what it does not know: how a command ended, and the summary of a
//! compaction. A command's raw output is told, so one that unmistakably shows an error counts as failed, and no
//! other as passed. It has no channel into a compaction; context comes back with `SessionStart` of source `compact`.

use anchord_memory::lifecycle::Event;

use super::claude_code::{source, write_context};
use super::payload::Payload;
use super::{Adapter, Read};

pub(super) const ADAPTER: Adapter = Adapter {
    client: "codex",
    fields: &[
        "agent_id",
        "agent_transcript_path",
        "agent_type",
        "cwd",
        "hook_event_name",
        "last_assistant_message",
        "model",
        "permission_mode",
        "prompt",
        "reason",
        "session_id",
        "source",
        "stop_hook_active",
        "tool_input",
        "tool_name",
        "tool_response",
        "tool_use_id",
        "transcript_path",
        "trigger",
        "turn_id",
    ],
    session: |payload| payload.session(),
    agent: |payload| payload.agent(),
    read,
    write: write_context,
};

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let agent = || payload.agent().unwrap_or_default();
    let event = match name {
        "SessionStart" => Event::SessionStarted { source: source(payload) },
        "UserPromptSubmit" => {
            Event::PromptSubmitted { prompt: payload.owned("prompt").unwrap_or_default() }
        }
        "PreToolUse" => Event::ToolBegins(payload.tool_use()),
        "PostToolUse" => {
            let output = payload.text("tool_response").unwrap_or_default();
            Event::ToolRan(payload.tool(&[], None, output))
        }
        "PreCompact" => Event::CompactionBegins { messages: None },
        "PostCompact" => Event::Compacted { summary: None, messages: None },
        "Stop" => Event::TurnEnded { last_message: payload.owned("last_assistant_message") },
        "StopFailure" | "Interrupt" => Event::TurnEnded { last_message: None },
        "SubagentStart" => Event::SubagentStarted(agent()),
        "SubagentStop" => Event::SubagentEnded(agent()),
        "SessionEnd" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}
