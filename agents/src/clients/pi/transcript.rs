//! pi: `~/.pi/agent/sessions/<directory>/<time>_<session id>.jsonl`. The first line is the session.
//! Calls and their results are joined by the call's id.

use std::collections::HashMap;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use crate::transcripts::{
    Kept, Origin, Reader, Transcripts, files_in_each, is_lines, prompted, text,
};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".pi/agent",
    files: |folder| files_in_each(&folder.join("sessions"), "", is_lines),
    reader: |_| Box::new(Transcript::default()),
    kept: Kept::Lines,
};

#[derive(Default)]
struct Transcript {
    origin: Origin,
    /// The arguments of calls that have no result yet.
    calls: HashMap<String, Value>,
}

impl Transcript {
    fn of_agent(&mut self, message: &Value) -> Vec<Event> {
        let mut events = Vec::new();
        for part in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            match text(part, "type") {
                "text" => {
                    let message = text(part, "text").to_owned();
                    events.push(Event::TurnEnded { last_message: Some(message) });
                }
                "toolCall" => {
                    let arguments = part.get("arguments").cloned().unwrap_or_default();
                    self.calls.insert(text(part, "id").to_owned(), arguments);
                }
                _ => {}
            }
        }
        events
    }

    fn ran(&mut self, message: &Value) -> Option<ToolRun> {
        let arguments = self.calls.remove(text(message, "toolCallId"))?;
        let mut run = ToolRun { tool: text(message, "toolName").to_owned(), ..ToolRun::default() };
        let failed = message.get("isError") == Some(&Value::Bool(true));
        match run.tool.as_str() {
            "edit" | "write" if !failed => run.edited.push(text(&arguments, "path").to_owned()),
            "bash" => {
                let printed = said(message);
                // The extension's own text may follow. Without a code the command did not run.
                let code = printed.split_once("Command exited with code ");
                let command = text(&arguments, "command").to_owned();
                let output = code.map_or("", |(output, _)| output.trim_end());
                run.command = (!failed || code.is_some())
                    .then(|| CommandRun::judge(command, Some(!failed), output));
            }
            _ => {}
        }
        Some(run)
    }
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        let Some(message) = line.get("message") else {
            if text(line, "type") == "session" {
                self.origin = Origin::default();
                self.origin.note(line, "/id", "/cwd");
            }
            return Vec::new();
        };
        match text(message, "role") {
            "user" => prompted(said(message)).into_iter().collect(),
            "assistant" => self.of_agent(message),
            "toolResult" => self.ran(message).map(Event::ToolRan).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Returns the text of a message.
fn said(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(said)) => said.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
