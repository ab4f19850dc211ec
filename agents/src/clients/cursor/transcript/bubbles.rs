//! The messages in the database of Cursor's editor. One of a person has the type 1, one of the
//! agent the type 2. A message of the agent may be a call, with its result, in `toolFormerData`.
//!
//! Arguments and results are JSON in a text, or JSON. The status of a call says little: one that a
//! person refused, and a command that failed, may be `completed`, too.

use std::borrow::Cow;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use super::{PROMPT, between};
use crate::patch::patched;
use crate::transcripts::{Origin, Reader, prompted, text};

/// A reader of messages.
#[derive(Default)]
pub(super) struct Bubbles {
    /// Stays empty: the database names each conversation.
    origin: Origin,
}

impl Reader for Bubbles {
    fn read(&mut self, bubble: &Value) -> Vec<Event> {
        let said = text(bubble, "text").trim();
        match bubble.get("type").and_then(Value::as_i64) {
            Some(1) => {
                let asked = between(said, PROMPT).unwrap_or(said);
                prompted(asked.to_owned()).into_iter().collect()
            }
            Some(2) => {
                // Older versions keep what the agent thought as a message that says so.
                let is_thought = bubble.get("isThought") == Some(&Value::Bool(true));
                let last_message = Some(said.to_owned()).filter(|said| !said.is_empty());
                let said = last_message.filter(|_| !is_thought);
                let said = said.map(|said| Event::TurnEnded { last_message: Some(said) });
                let call = bubble.get("toolFormerData").and_then(ran);
                said.into_iter().chain(call.map(Event::ToolRan)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Returns a call's run; `None` if it names no tool.
fn ran(call: &Value) -> Option<ToolRun> {
    let tool = Some(text(call, "name")).filter(|name| !name.is_empty())?;
    let mut run = ToolRun { tool: tool.to_owned(), ..ToolRun::default() };
    let result = unpacked(call, "result");
    if text(call, "status") != "completed" || is_refused(call, &result) {
        return Some(run);
    }
    let arguments = [unpacked(call, "params"), unpacked(call, "rawArgs")];
    if is_edit(tool) {
        run.edited = edited(&arguments);
        if text(additional(call), "status") == "error" || !text(&result, "error").is_empty() {
            run.edited.clear();
        }
    } else if COMMANDS.contains(&tool) {
        run.command = command(call, &arguments, &result);
    }
    Some(run)
}

/// The tools that run a command, in several versions.
const COMMANDS: [&str; 3] = ["run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2"];

/// Returns whether a tool writes the file that it names. The names of some versions of `edit_file`
/// have an ending.
fn is_edit(tool: &str) -> bool {
    const NAMES: [&str; 9] = [
        "search_replace",
        "write",
        "write_file",
        "create_file",
        "multiedit",
        "apply_patch",
        "edit_notebook",
        "reapply",
        "delete_file",
    ];
    tool.starts_with("edit_file") || NAMES.contains(&tool.to_lowercase().as_str())
}

/// Returns the files that the arguments of an edit name.
fn edited(arguments: &[Cow<'_, Value>]) -> Vec<String> {
    const FIELDS: [&str; 7] = [
        "relativeWorkspacePath",
        "targetFile",
        "target_file",
        "filePath",
        "file_path",
        "path",
        "target_notebook",
    ];
    let fields = |value| FIELDS.into_iter().map(move |name| text(value, name));
    let mut named = arguments.iter().flat_map(|value| fields(value.as_ref()));
    if let Some(file) = named.find(|file| !file.is_empty()) {
        return vec![file.to_owned()];
    }
    let patches = arguments.iter().map(AsRef::as_ref).flat_map(|value| {
        [value.as_str().unwrap_or_default(), text(value, "input"), text(value, "patch")]
    });
    patches.flat_map(patched).collect()
}

/// Returns the command of a call. One that still runs, or was stopped, has no outcome.
fn command(call: &Value, arguments: &[Cow<'_, Value>], result: &Value) -> Option<CommandRun> {
    let mut lines = arguments.iter().map(|value| text(value, "command"));
    let line = lines.find(|line| !line.is_empty())?.to_owned();
    let code = ["exitCodeV2", "exitCode"].into_iter().find_map(|name| result.get(name)?.as_i64());
    let status = text(additional(call), "status");
    let by_status = [("success", true), ("error", false)].into_iter();
    let by_status = by_status.filter(|(name, _)| *name == status).map(|(_, passed)| passed).next();
    let reason = text(result, "endedReason");
    let is_stopped = !reason.is_empty() && !reason.ends_with("EXECUTION_COMPLETED");
    let runs_on = arguments.iter().any(|value| {
        let flags = ["isBackground", "is_background"].map(|name| value.get(name));
        flags.contains(&Some(&Value::Bool(true)))
    });
    let passed = code.map(|code| code == 0).or(by_status);
    let passed = passed.filter(|_| !is_stopped && !runs_on);
    let output = result.as_str().unwrap_or_else(|| text(result, "output"));
    Some(CommandRun::judge(line, passed, output))
}

/// Returns whether the person refused a call.
fn is_refused(call: &Value, result: &Value) -> bool {
    result.get("rejected") == Some(&Value::Bool(true))
        || text(call, "userDecision") == "rejected"
        || text(additional(call), "status") == "rejected"
}

fn additional(call: &Value) -> &Value {
    call.get("additionalData").unwrap_or(&Value::Null)
}

/// Returns a field that is JSON, or JSON in a text. A text that is not JSON stays one.
fn unpacked<'call>(call: &'call Value, name: &str) -> Cow<'call, Value> {
    let value = call.get(name).unwrap_or(&Value::Null);
    match value.as_str().and_then(|text| serde_json::from_str(text).ok()) {
        Some(unpacked) => Cow::Owned(unpacked),
        None => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests;
