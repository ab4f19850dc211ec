//! Qwen Code: `~/.qwen/projects/<directory>/chats/<session id>.jsonl`, with a line for each message
//! and for much else. Calls and their results are joined by the call's id.

use std::collections::HashMap;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use crate::transcripts::{
    Kept, Origin, Reader, Transcripts, files_in_each, is_lines, prompted, text,
};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".qwen",
    files: |folder| files_in_each(&folder.join("projects"), "chats", is_lines),
    reader: |_| Box::new(Transcript::default()),
    kept: Kept::Lines,
};

#[derive(Default)]
struct Transcript {
    origin: Origin,
    /// Calls that have no result yet: the tool and its arguments.
    calls: HashMap<String, (String, Value)>,
}

impl Transcript {
    fn of_agent(&mut self, parts: &[Value]) -> Vec<Event> {
        let mut events = Vec::new();
        for part in parts {
            if let Some(call) = part.get("functionCall") {
                let arguments = call.get("args").cloned().unwrap_or_default();
                let call_id = text(call, "id").to_owned();
                self.calls.insert(call_id, (text(call, "name").to_owned(), arguments));
            } else if part.get("thought") != Some(&Value::Bool(true))
                && !text(part, "text").is_empty()
            {
                let message = text(part, "text").to_owned();
                events.push(Event::TurnEnded { last_message: Some(message) });
            }
        }
        events
    }

    fn ran(&mut self, result: &Value) -> Option<ToolRun> {
        let (tool, arguments) = self.calls.remove(text(result, "callId"))?;
        let mut run = ToolRun { tool, ..ToolRun::default() };
        let done = text(result, "status") == "success";
        let shown = result.get("resultDisplay");
        let code = shown.and_then(|shown| shown.get("exitCode")).and_then(Value::as_i64);
        match run.tool.as_str() {
            "write_file" | "edit" | "notebook_edit" if done => {
                let file = ["file_path", "notebook_path"].map(|name| text(&arguments, name));
                run.edited
                    .extend(file.into_iter().find(|file| !file.is_empty()).map(str::to_owned));
            }
            // Without its exit code, a failed tool may be a command that did not run.
            "run_shell_command" if done || code.is_some() => {
                let output = shown.map_or("", |shown| text(shown, "output"));
                let command = text(&arguments, "command").to_owned();
                let passed = Some(done && code.unwrap_or_default() == 0);
                run.command = Some(CommandRun::judge(command, passed, output));
            }
            _ => {}
        }
        Some(run)
    }
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        self.origin.note(line, "/sessionId", "/cwd");
        let parts = line.pointer("/message/parts").and_then(Value::as_array);
        let parts = parts.map(Vec::as_slice).unwrap_or_default();
        match text(line, "type") {
            // The client also speaks in the person's place.
            "user" if matches!(text(line, "provenance"), "" | "real_user") => {
                let texts: Vec<&str> = parts.iter().map(|part| text(part, "text")).collect();
                prompted(texts.join("\n")).into_iter().collect()
            }
            "assistant" => self.of_agent(parts),
            "tool_result" => {
                let result = line.get("toolCallResult");
                let run = result.and_then(|result| self.ran(result));
                run.map(Event::ToolRan).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
