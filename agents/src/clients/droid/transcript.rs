//! Factory Droid: `~/.factory/sessions/<directory>/<session id>.jsonl`. The first line is the
//! session. A tool's use and its result are on separate lines, joined by the use's id.

use std::collections::HashMap;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use super::printed::without_exit_code;
use crate::transcripts::{
    Kept, Origin, Reader, Transcripts, files_in_each, is_lines, prompted, text,
};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".factory",
    files: |folder| files_in_each(&folder.join("sessions"), "", is_lines),
    reader: |_| Box::new(Transcript::default()),
    kept: Kept::Lines,
};

#[derive(Default)]
struct Transcript {
    origin: Origin,
    /// Uses of tools that have no result yet: the tool and its input.
    uses: HashMap<String, (String, Value)>,
}

impl Transcript {
    fn block(&mut self, role: &str, block: &Value) -> Option<Event> {
        match (role, text(block, "type")) {
            ("user", "text") => {
                let prompt = text(block, "text");
                let is_own = prompt.trim_start().starts_with("<system-reminder>");
                (!is_own).then(|| prompted(prompt.to_owned())).flatten()
            }
            ("assistant", "text") => {
                Some(Event::TurnEnded { last_message: Some(text(block, "text").to_owned()) })
            }
            (_, "tool_use") => {
                let input = block.get("input").cloned().unwrap_or_default();
                let tool = text(block, "name").to_owned();
                self.uses.insert(text(block, "id").to_owned(), (tool, input));
                None
            }
            (_, "tool_result") => {
                let (tool, input) = self.uses.remove(text(block, "tool_use_id"))?;
                Some(Event::ToolRan(ran(tool, &input, block)))
            }
            _ => None,
        }
    }
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        if text(line, "type") == "session_start" {
            self.origin = Origin::default();
            self.origin.note(line, "/id", "/cwd");
        }
        // Hooks and the client's own remarks are for one of the two alone.
        let message = line.get("message").filter(|it| text(it, "visibility").is_empty());
        let Some(message) = message else { return Vec::new() };
        let role = text(message, "role");
        let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
        blocks.filter_map(|block| self.block(role, block)).collect()
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

fn ran(tool: String, input: &Value, result: &Value) -> ToolRun {
    let failed = result.get("is_error") == Some(&Value::Bool(true));
    let mut run = ToolRun { tool, ..ToolRun::default() };
    match run.tool.as_str() {
        "Create" | "Edit" if !failed => run.edited.push(text(input, "file_path").to_owned()),
        "Execute" => {
            let (output, passed) = without_exit_code(text(result, "content"));
            // Without a code the command did not run, or runs on.
            let command = text(input, "command").to_owned();
            run.command = passed.map(|passed| CommandRun::judge(command, Some(passed), output));
        }
        _ => {}
    }
    run
}
