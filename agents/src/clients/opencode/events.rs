//! opencode, through our plugin file. The plugin sends what `docs/hooks.md` specifies and reads
//! `{"context": …}`, and before a tool `{"deny": …}` or `{"ask": …}`.
//!
//! The system prompt is rebuilt for every model call and needs the same bytes each time. A subagent
//! is a session with a parent. Its events belong to the parent, and its task arrives as its prompt.

use anchord_memory::lifecycle::{
    Answer, CommandRun, Event, StartSource, Subagent, ToolRun, ToolUse,
};

use crate::events::{Adapter, Envelope, Payload, Read, only_reads};

pub(in crate::clients) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "call_id",
        "command",
        "cwd",
        "exit",
        "file",
        "hook_event_name",
        "last_message",
        "message_id",
        "output",
        "parent_id",
        "patch",
        "pid",
        "prompt",
        "session_id",
        "summary",
        "tool",
    ],
    usual: |_| {},
    session: |payload| payload.text("parent_id").or(payload.session()),
    run: |_| None,
    agent: child,
    read,
    asks: false,
    write,
};

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let child = child(payload);
    let event = match name {
        // No answer is possible here; the system prompt follows.
        "session.created" => return Some(Read::nothing()),
        "system.transform" => Event::SessionStarted { source: StartSource::Rebuilt },
        "tool.execute.before" => Event::ToolBegins(tool_use(payload, &WRITES)),
        "tool.execute.after" => Event::ToolRan(tool(payload, &WRITES)),
        "session.idle" => {
            let last_message = payload.owned("last_message");
            match child {
                Some(child) => Event::SubagentEnded(Subagent { last_message, ..child }),
                None => Event::TurnEnded { last_message },
            }
        }
        // A subagent's context is not the conversation's.
        "session.compacting" | "session.compacted" | "session.deleted" if child.is_some() => {
            return Some(Read::nothing());
        }
        "chat.message" => {
            Event::PromptSubmitted { prompt: payload.owned("prompt").unwrap_or_default() }
        }
        "session.compacting" => Event::CompactionBegins { messages: None },
        "session.compacted" => {
            Event::Compacted { summary: payload.owned("summary"), messages: None }
        }
        "session.deleted" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}

/// Returns the subagent, if the session has a parent.
fn child(payload: Payload<'_>) -> Option<Subagent> {
    payload.text("parent_id")?;
    Some(Subagent { id: payload.owned("session_id")?, ..Subagent::default() })
}

/// Tools that write the file they name.
pub(in crate::clients) const WRITES: [&str; 5] =
    ["edit", "write", "patch", "multiedit", "apply_patch"];

/// Reads a tool that is about to run, as our plugins send it. They take a text only after it.
/// `writes` are the tools that write the file they name.
pub(in crate::clients) fn tool_use(payload: Payload<'_>, writes: &[&str]) -> ToolUse {
    let tool = payload.owned("tool").unwrap_or_default();
    let files: Vec<String> = payload.owned("file").into_iter().chain(payload.patched()).collect();
    let writes = if writes.contains(&tool.as_str()) { files.clone() } else { Vec::new() };
    let command = payload.owned("command");
    let only_reads = only_reads(&tool) || command.is_some();
    ToolUse { tool, files, writes, command, only_reads, ..ToolUse::default() }
}

/// Reads a tool's run as our plugins send it: a file, or a command with its exit code. A failed
/// command also has the beginning and the end of its output.
pub(in crate::clients) fn tool(payload: Payload<'_>, writes: &[&str]) -> ToolRun {
    let exit = payload.value("exit").and_then(serde_json::Value::as_i64);
    let output = payload.text("output").unwrap_or_default();
    let command = payload.owned("command").filter(|_| exit.is_some());
    let tool = payload.owned("tool").unwrap_or_default();
    let (edited, read): (Vec<String>, Vec<String>) = payload
        .owned("file")
        .into_iter()
        .chain(payload.patched())
        .partition(|_| writes.contains(&tool.as_str()));
    ToolRun {
        tool,
        edited,
        read,
        command: command
            .map(|command| CommandRun::judge(command, exit.map(|exit| exit == 0), output)),
    }
}

/// Writes the answer to one of our plugins.
pub(in crate::clients) fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (
            Answer::Context(text),
            Event::SessionStarted { .. } | Event::PromptSubmitted { .. } | Event::ToolRan(_),
        )
        | (Answer::Instructions(text), Event::CompactionBegins { .. }) => {
            serde_json::json!({ "context": text }).to_string()
        }
        (Answer::Stop { asks, reason }, Event::ToolBegins(_)) => {
            let stop = if *asks { "ask" } else { "deny" };
            serde_json::json!({ stop: reason }).to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
