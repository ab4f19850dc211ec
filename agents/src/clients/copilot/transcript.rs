//! GitHub Copilot CLI: `~/.copilot/session-state/<session id>/events.jsonl`. Each line has a `type`
//! and its `data`. The begin and the end of a tool are joined by the call's id.

use std::collections::HashMap;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use super::printed::without_exit_code;
use crate::transcripts::{Kept, Origin, Reader, Transcripts, files_in_each, prompted, text};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".copilot",
    files: |folder| files_in_each(&folder.join("session-state"), "", |name| name == "events.jsonl"),
    reader: |_| Box::new(Transcript::default()),
    kept: Kept::Lines,
};

#[derive(Default)]
struct Transcript {
    origin: Origin,
    /// Calls that have not ended yet: the tool and its arguments.
    calls: HashMap<String, (String, Value)>,
}

impl Transcript {
    fn ran(&mut self, data: &Value) -> Option<ToolRun> {
        let (tool, arguments) = self.calls.remove(text(data, "toolCallId"))?;
        let mut run = ToolRun { tool, ..ToolRun::default() };
        let done = data.get("success") == Some(&Value::Bool(true));
        if let Some(code) = data.pointer("/shellExecution/exitCode").and_then(Value::as_i64) {
            let printed = data.pointer("/result/content").and_then(Value::as_str);
            let (printed, _) = without_exit_code(printed.unwrap_or_default());
            let command = text(&arguments, "command").to_owned();
            run.command = Some(CommandRun::judge(command, Some(done && code == 0), printed));
        } else if done {
            let edits = data.get("fileEdits").and_then(Value::as_array).into_iter().flatten();
            run.edited = edits.map(|edit| text(edit, "path").to_owned()).collect();
        }
        Some(run)
    }
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        let Some(data) = line.get("data") else { return Vec::new() };
        // A subagent's messages are in the same file, under the call that started it.
        let of_subagent = data.get("parentToolCallId").is_some_and(|call| !call.is_null());
        let event = match text(line, "type") {
            "session.start" | "session.resume" => {
                self.origin.note(data, "/sessionId", "/context/cwd");
                None
            }
            "user.message" if !of_subagent => prompted(text(data, "content").to_owned()),
            "assistant.message" if !of_subagent => {
                let said = text(data, "content");
                let last_message = Some(said.to_owned()).filter(|said| !said.is_empty());
                last_message.is_some().then_some(Event::TurnEnded { last_message })
            }
            "tool.execution_start" => {
                let arguments = data.get("arguments").cloned().unwrap_or_default();
                let call = text(data, "toolCallId").to_owned();
                self.calls.insert(call, (text(data, "toolName").to_owned(), arguments));
                None
            }
            "tool.execution_complete" => self.ran(data).map(Event::ToolRan),
            _ => None,
        };
        event.into_iter().collect()
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
