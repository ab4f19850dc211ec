//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`. The first line is the
//! session; then each message has a line, and again when its tools have run.
//!
//! No line names the directory. The file `.project_root` of the project's folder does. Older
//! versions wrote one JSON document for a session, which is not read.

use std::collections::HashSet;
use std::path::Path;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use super::printed::{is_failed, printed};
use crate::transcripts::{
    Kept, Origin, Reader, Transcripts, beside, files_in_each, is_lines, prompted, text,
};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".gemini",
    files: |folder| {
        files_in_each(&folder.join("tmp"), "chats", |name| {
            is_lines(name) && name.starts_with("session-")
        })
    },
    reader: |path| Box::new(Transcript::new(path)),
    kept: Kept::Lines,
};

struct Transcript {
    origin: Origin,
    /// Calls that were reported already.
    ran: HashSet<String>,
}

impl Transcript {
    fn new(path: &Path) -> Self {
        let project = path.parent().and_then(Path::parent);
        let root = project.and_then(|project| beside(&project.join(ROOT)));
        let cwd = root.map(|root| root.trim().to_owned()).filter(|root| !root.is_empty());
        Self { origin: Origin { cwd, ..Origin::default() }, ran: HashSet::new() }
    }

    fn of_person(line: &Value) -> Vec<Event> {
        let parts = line.get("content").and_then(Value::as_array).into_iter().flatten();
        let texts = parts.map(|part| text(part, "text"));
        // The client's own texts are in tags.
        let own = |text: &&str| OWN.iter().any(|own| text.trim_start().starts_with(own));
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty() && !own(text)).collect();
        prompted(texts.join("\n")).into_iter().collect()
    }

    fn of_agent(&mut self, line: &Value) -> Vec<Event> {
        let calls = line.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
        let new = calls.filter(|call| self.ran.insert(text(call, "id").to_owned()));
        let mut events: Vec<Event> = new.map(|call| Event::ToolRan(ran(call))).collect();
        let said = text(line, "content");
        if !said.is_empty() {
            events.push(Event::TurnEnded { last_message: Some(said.to_owned()) });
        }
        events
    }
}

/// The file that names the directory of a project's folder.
const ROOT: &str = ".project_root";

/// The beginnings of texts that the client adds to a prompt.
const OWN: [&str; 2] = ["<session_context>", "<hook_context>"];

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        if self.origin.session.is_none() {
            self.origin.note(line, "/sessionId", "");
            self.origin.is_subagent = !matches!(text(line, "kind"), "" | "main");
        }
        match text(line, "type") {
            "user" => Self::of_person(line),
            "gemini" => self.of_agent(line),
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

fn ran(call: &Value) -> ToolRun {
    let mut run = ToolRun { tool: text(call, "name").to_owned(), ..ToolRun::default() };
    let argument = |name: &str| call.get("args").map_or("", |args| text(args, name)).to_owned();
    let done = text(call, "status") == "success";
    match run.tool.as_str() {
        "write_file" | "replace" | "edit" if done => run.edited.push(argument("file_path")),
        "run_shell_command" if done => {
            let response = call.pointer("/result/0/functionResponse/response");
            let output = response.map_or("", |response| text(response, "output"));
            let passed = Some(!is_failed(output));
            run.command = Some(CommandRun::judge(argument("command"), passed, &printed(output)));
        }
        _ => {}
    }
    run
}
