//! The fields that our own plugins send and the answers that they take, as `docs/hooks.md` says.
//! The plugins are in `integrations/`.

use anchord_memory::lifecycle::{Answer, CommandRun, Event, ToolRun, ToolUse};
use serde_json::{Value, json};

use super::{Envelope, Payload, only_reads};

/// Tools that write the file they name, in opencode and in programs that were made like it.
pub(crate) const WRITES: [&str; 5] = ["edit", "write", "patch", "multiedit", "apply_patch"];

/// Reads a tool that is about to run, as our plugins send it. They take a text only after it.
/// `writes` are the tools that write the file they name.
pub(crate) fn tool_use(payload: Payload<'_>, writes: &[&str]) -> ToolUse {
    let tool = payload.owned("tool").unwrap_or_default();
    let files: Vec<String> = payload.owned("file").into_iter().chain(payload.patched()).collect();
    let writes = if writes.contains(&tool.as_str()) { files.clone() } else { Vec::new() };
    let command = payload.command();
    let only_reads = only_reads(&tool) || command.is_some();
    ToolUse { tool, files, writes, command, only_reads, ..ToolUse::default() }
}

/// Reads a tool's run as our plugins send it: a file, or a command with its exit code. A failed
/// command also has the beginning and the end of its output.
pub(crate) fn tool(payload: Payload<'_>, writes: &[&str]) -> ToolRun {
    let exit = payload.value("exit").and_then(Value::as_i64);
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
pub(crate) fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (
            Answer::Context(text),
            Event::SessionStarted { .. } | Event::PromptSubmitted { .. } | Event::ToolRan(_),
        )
        | (Answer::Instructions(text), Event::CompactionBegins { .. }) => {
            json!({ "context": text }).to_string()
        }
        (Answer::Stop { asks, reason }, Event::ToolBegins(_)) => {
            let stop = if *asks { "ask" } else { "deny" };
            json!({ stop: reason }).to_string()
        }
        _ => String::new(),
    }
}
