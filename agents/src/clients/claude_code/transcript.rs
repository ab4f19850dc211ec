//! Claude Code: `~/.claude/projects/<directory>/<session id>.jsonl`, with a line for each message
//! and for much else.
//!
//! A tool's use and its result are on separate lines, joined by the use's id. The client's own
//! additions to the conversation are reminders, summaries and the echo of its commands. They are
//! marked or begin with a tag.

use std::collections::HashMap;
use std::path::Path;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use crate::transcripts::{Kept, Origin, Reader, Transcripts, files_in_each, is_lines, text};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".claude",
    files: |folder| {
        files_in_each(&folder.join("projects"), "", |name| {
            is_lines(name) && !name.starts_with("agent-")
        })
    },
    reader: |path| Box::new(Transcript::new(path)),
    kept: Kept::Lines,
};

struct Transcript {
    origin: Origin,
    /// Uses of tools that have no result yet.
    uses: HashMap<String, (String, Value)>,
}

impl Transcript {
    fn new(path: &Path) -> Self {
        Self { origin: Origin::of_file(path), uses: HashMap::new() }
    }

    fn of_agent(&mut self, content: &Value) -> Vec<Event> {
        let mut events = Vec::new();
        for block in content.as_array().into_iter().flatten() {
            match text(block, "type") {
                "text" => {
                    let said = text(block, "text").to_owned();
                    events.push(Event::TurnEnded { last_message: Some(said) });
                }
                "tool_use" => {
                    let name = text(block, "name").to_owned();
                    let input = block.get("input").cloned().unwrap_or_default();
                    self.uses.insert(text(block, "id").to_owned(), (name, input));
                }
                _ => {}
            }
        }
        events
    }

    fn of_person(&mut self, content: &Value) -> Vec<Event> {
        if let Some(prompt) = content.as_str() {
            return prompted(prompt).into_iter().collect();
        }
        let mut events = Vec::new();
        for block in content.as_array().into_iter().flatten() {
            match text(block, "type") {
                "text" => events.extend(prompted(text(block, "text"))),
                "tool_result" => {
                    if let Some((name, input)) = self.uses.remove(text(block, "tool_use_id")) {
                        events.push(Event::ToolRan(ran(name, &input, block)));
                    }
                }
                _ => {}
            }
        }
        events
    }
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        self.origin.note(line, "/sessionId", "/cwd");
        let marked = |name: &str| line.get(name) == Some(&Value::Bool(true));
        let not_said = ["isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage"]
            .into_iter()
            .any(marked);
        let Some(content) = line.pointer("/message/content").filter(|_| !not_said) else {
            return Vec::new();
        };
        match text(line, "type") {
            "assistant" => self.of_agent(content),
            "user" => self.of_person(content),
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Returns a person's prompt; `None` for the client's own texts in a person's place.
fn prompted(text: &str) -> Option<Event> {
    const OWN: [&str; 7] = [
        "<command-",
        "<local-command-",
        "<system-reminder>",
        "<bash-",
        "<task-notification>",
        "Caveat: The messages below",
        "[Request interrupted",
    ];
    let own = OWN.iter().any(|own| text.trim_start().starts_with(own));
    (!own && !text.trim().is_empty()).then(|| Event::PromptSubmitted { prompt: text.to_owned() })
}

fn ran(tool: String, input: &Value, result: &Value) -> ToolRun {
    let failed = result.get("is_error") == Some(&Value::Bool(true));
    let mut run = ToolRun { tool, ..ToolRun::default() };
    match run.tool.as_str() {
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" if !failed => {
            let file = ["file_path", "notebook_path"].map(|name| text(input, name));
            run.edited =
                file.into_iter().filter(|file| !file.is_empty()).map(str::to_owned).collect();
        }
        "Bash" => {
            // The outcome of a command that runs on is not known yet. A refused command did not
            // run.
            let in_background = input.get("run_in_background") == Some(&Value::Bool(true));
            let exited = said(result).contains("Exit code");
            if !in_background && (!failed || exited) {
                let command = text(input, "command").to_owned();
                run.command = Some(CommandRun::judge(command, Some(!failed), &said(result)));
            }
        }
        _ => {}
    }
    run
}

/// Returns the text of a tool's result.
fn said(result: &Value) -> String {
    match result.get("content") {
        Some(Value::String(said)) => said.clone(),
        Some(Value::Array(blocks)) => blocks.iter().map(|block| text(block, "text")).collect(),
        _ => String::new(),
    }
}
