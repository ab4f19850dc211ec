//! Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`. Each line has a
//! `type` and a `payload`.
//!
//! Calls and their outputs are joined by the call's id. A command's status is in the text of its
//! output, in one of three forms, by version. Without one, the status is unknown. A patch names its
//! files in its own text.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use crate::patch::patched;
use crate::transcripts::{Kept, Origin, Reader, Transcripts, directories, files, is_lines, text};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".codex",
    files: of_sessions,
    reader: |_| Box::new(Transcript::default()),
    kept: Kept::Lines,
};

fn of_sessions(folder: &Path) -> Vec<PathBuf> {
    // One level each for the year, the month and the day.
    let mut days = vec![folder.join("sessions")];
    for _ in 0..3 {
        days = days.iter().flat_map(|directory| directories(directory)).collect();
    }
    days.iter()
        .flat_map(|day| files(day, |name| is_lines(name) && name.starts_with("rollout-")))
        .collect()
}

#[derive(Default)]
struct Transcript {
    origin: Origin,
    /// Calls that have no output yet.
    calls: HashMap<String, Call>,
    /// The last prompt, until something follows it. Some versions write it twice.
    prompt: Option<String>,
}

struct Call {
    tool: String,
    /// The command or the patch.
    input: String,
}

impl Transcript {
    fn meta(&mut self, payload: &Value) {
        // A fork repeats the metadata of its origin.
        if self.origin.session.is_some() {
            return;
        }
        self.origin.note(payload, "/id", "/cwd");
        self.origin.is_subagent =
            payload.get("source").is_some_and(|source| source.get("subagent").is_some())
                || text(payload, "thread_source").contains("subagent");
    }

    fn prompted(&mut self, prompt: String) -> Vec<Event> {
        if self.prompt.as_ref() == Some(&prompt) {
            return Vec::new();
        }
        self.prompt = Some(prompt.clone());
        vec![Event::PromptSubmitted { prompt }]
    }

    fn event(&mut self, payload: &Value) -> Vec<Event> {
        match text(payload, "type") {
            "user_message" => self.prompted(text(payload, "message").to_owned()),
            "item_completed" => match payload.get("item") {
                Some(item) if text(item, "type") == "UserMessage" => self.prompted(said(item)),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn item(&mut self, payload: &Value) -> Vec<Event> {
        match text(payload, "type") {
            "message" if text(payload, "role") == "assistant" => {
                self.prompt = None;
                vec![Event::TurnEnded { last_message: Some(said(payload)) }]
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                self.prompt = None;
                let call = Call { tool: text(payload, "name").to_owned(), input: input(payload) };
                self.calls.insert(text(payload, "call_id").to_owned(), call);
                Vec::new()
            }
            "function_call_output" | "custom_tool_call_output" => {
                let call = self.calls.remove(text(payload, "call_id"));
                call.map(|call| Event::ToolRan(ran(call, &output(payload)))).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        let Some(payload) = line.get("payload") else { return Vec::new() };
        match text(line, "type") {
            "session_meta" => {
                self.meta(payload);
                Vec::new()
            }
            "event_msg" => self.event(payload),
            "response_item" => self.item(payload),
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Returns a call's input: a shell's command, a patch, or an empty text.
fn input(payload: &Value) -> String {
    if let Some(input) = payload.get("input").and_then(Value::as_str) {
        return input.to_owned();
    }
    let arguments = match payload.get("arguments").and_then(Value::as_str) {
        Some(arguments) => serde_json::from_str(arguments).unwrap_or_default(),
        None => payload.get("action").cloned().unwrap_or_default(),
    };
    let named = ["cmd", "command", "input", "patch"].iter().find_map(|name| arguments.get(*name));
    match named {
        Some(Value::String(command)) => command.clone(),
        // Either `["bash", "-lc", "the line"]`, or a program and its arguments.
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_, "-lc" | "-c", line] => (*line).to_owned(),
                words => words.join(" "),
            }
        }
        _ => String::new(),
    }
}

fn ran(call: Call, output: &str) -> ToolRun {
    let status = status(output);
    let mut run = ToolRun { tool: call.tool, ..ToolRun::default() };
    if call.input.contains("*** Begin Patch") {
        if status == Some(0) || output.contains("Success. Updated") {
            run.edited = patched(&call.input).collect();
        }
    } else if is_shell(&run.tool)
        && let Some(status) = status
    {
        run.command = Some(CommandRun::judge(call.input, Some(status == 0), printed(output)));
    }
    run
}

fn is_shell(tool: &str) -> bool {
    matches!(
        tool,
        "exec_command" | "shell" | "shell_command" | "container.exec" | "local_shell" | ""
    )
}

/// Returns a command's exit status, from `Process exited with code 1`, `Exit code: 1`, or JSON.
fn status(output: &str) -> Option<i64> {
    if let Ok(json) = serde_json::from_str::<Value>(output)
        && let Some(code) = json.pointer("/metadata/exit_code").and_then(Value::as_i64)
    {
        return Some(code);
    }
    // Only before the command's own output, which may contain anything.
    let head = output.split("\nOutput:\n").next().unwrap_or_default();
    let after = |sign: &str| {
        let rest = head.lines().find_map(|line| line.trim().strip_prefix(sign))?;
        rest.trim().parse().ok()
    };
    after("Process exited with code").or_else(|| after("Exit code:"))
}

/// Returns the part of the output that the command itself printed.
fn printed(output: &str) -> &str {
    output.split_once("\nOutput:\n").map_or(output, |(_, printed)| printed)
}

fn output(payload: &Value) -> String {
    match payload.get("output") {
        Some(Value::String(output)) => output.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
        }
        Some(Value::Object(output)) => {
            output.get("content").and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// Returns the text of a message.
fn said(message: &Value) -> String {
    let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
}
