//! Codex. Its payloads have Claude Code's format without two things: how a command ended, and the
//! summary of a compaction. It reports a command's raw output. A command whose output unmistakably
//! shows an error counts as failed; no command counts as passed. Codex has no channel into a
//! compaction. Context comes back with `SessionStart` of source `compact`.

use anchord_memory::lifecycle::{Event, ToolUse};

use crate::clients::claude_code::events::write_context;
use crate::events::{Adapter, Payload, Read};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
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
    usual: |_| {},
    session: |payload| payload.session(),
    run: |_| None,
    agent: |payload| payload.agent(),
    read,
    // It runs a tool for which a hook answers "ask".
    asks: false,
    write: write_context,
};

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let agent = || payload.agent().unwrap_or_default();
    let event = match name {
        "SessionStart" => Event::SessionStarted { source: payload.source() },
        "UserPromptSubmit" => payload.prompted(),
        "PreToolUse" => Event::ToolBegins(shell(payload).unwrap_or_else(|| payload.tool_use(&[]))),
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

/// Reads what a shell command is about to do to files. Codex intercepts a patch in a shell command,
/// applies it itself, and never reports its end.
fn shell(payload: Payload<'_>) -> Option<ToolUse> {
    let command = payload.object("tool_input").command()?;
    if payload.text("tool_name") != Some("Bash") {
        return None;
    }
    let begins = payload.tool_use(&[]);
    if !begins.writes.is_empty() {
        return Some(ToolUse { is_run: true, ..begins });
    }
    let reads_whole = prints_whole(&command);
    Some(ToolUse { files: files_read(&command), reads_whole, ..begins })
}

/// Programs that print files. Codex has no tool of its own for that.
const READERS: [&str; 6] = ["bat", "cat", "head", "nl", "sed", "tail"];

/// Returns whether a line only prints files from the beginning to the end.
fn prints_whole(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_plain = !line.contains(['|', ';', '&', '\n', '>', '<']);
    is_plain && words.next().is_some_and(|program| WHOLE_READERS.contains(&program))
}

/// Programs that print files from the beginning to the end.
const WHOLE_READERS: [&str; 3] = ["bat", "cat", "nl"];

/// Finds the files that the first command of a line prints.
fn files_read(line: &str) -> Vec<String> {
    let first = line.split(['|', ';', '&', '\n', '>']).next().unwrap_or_default();
    let mut words = first.split_whitespace();
    if !words.next().is_some_and(|program| READERS.contains(&program)) {
        return Vec::new();
    }
    let names = words.map(|word| word.trim_matches(['"', '\'']));
    let is_file = |word: &&str| {
        let plain = !word.starts_with('-') && !word.contains(['$', '*', '(', '{', ',']);
        // Skips sed programs (`5p`) and line counts.
        plain && word.contains(['.', '/']) && !word.starts_with("s/")
    };
    names.filter(is_file).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
