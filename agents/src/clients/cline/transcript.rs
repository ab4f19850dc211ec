//! Cline: `~/.cline/data/sessions/<id>/<id>.messages.json`, one JSON value. Its list of messages
//! has uses of tools and their results, joined by the use's id. The file `<id>.json` beside it
//! names the directory. A subagent has a file of its own in the same folder.

use std::collections::HashMap;
use std::path::Path;

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use crate::patch::patched;
use crate::transcripts::{
    Document, Kept, Origin, Reader, Transcripts, beside, files_in_each, prompted, text,
};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".cline",
    files: |folder| {
        let of_sessions = |name: &str| name.ends_with(MESSAGES) && !name.starts_with("agent_");
        files_in_each(&folder.join("data/sessions"), "", of_sessions)
    },
    reader: |path| Box::new(Transcript::new(path)),
    kept: Kept::Document(Document { messages: "/messages" }),
};

/// The end of a transcript's name.
const MESSAGES: &str = ".messages.json";

/// The tags around a person's prompt. The first one also has the mode.
const PROMPT: (&str, &str) = ("<user_input", "</user_input>");

/// The beginning of what a failed command reports.
const FAILED: &str = "Command exited with code ";

#[derive(Default)]
struct Transcript {
    origin: Origin,
    /// Uses of tools that have no result yet: the tool and its input.
    uses: HashMap<String, (String, Value)>,
}

impl Transcript {
    fn new(path: &Path) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let session = name.strip_suffix(MESSAGES).unwrap_or(name).to_owned();
        let about = beside(&path.with_file_name(format!("{session}.json")));
        let about = about.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let mut origin = Origin { session: Some(session), ..Origin::default() };
        origin.note(&about, "", "/cwd");
        Self { origin, ..Self::default() }
    }

    fn block(&mut self, role: &str, block: &Value) -> Vec<Event> {
        match (role, text(block, "type")) {
            ("user", "text") => said_by_person(text(block, "text")).into_iter().collect(),
            ("assistant", "text") => {
                vec![Event::TurnEnded { last_message: Some(text(block, "text").to_owned()) }]
            }
            (_, "tool_use") => {
                let input = block.get("input").cloned().unwrap_or_default();
                let tool = text(block, "name").to_owned();
                self.uses.insert(text(block, "id").to_owned(), (tool, input));
                Vec::new()
            }
            (_, "tool_result") => {
                let call = self.uses.remove(text(block, "tool_use_id"));
                let runs = call.map(|(tool, input)| runs(&tool, &input, block));
                runs.into_iter().flatten().map(Event::ToolRan).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Reader for Transcript {
    fn read(&mut self, message: &Value) -> Vec<Event> {
        let role = text(message, "role");
        let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
        blocks.flat_map(|block| self.block(role, block)).collect()
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Returns a prompt without its tags. Texts without them are the client's own.
fn said_by_person(text: &str) -> Option<Event> {
    let (_, tagged) = text.split_once(PROMPT.0)?;
    let (_, prompt) = tagged.split_once('>')?;
    prompted(prompt.split(PROMPT.1).next()?.to_owned())
}

/// Returns the runs of one call, which may be several commands.
fn runs(tool: &str, input: &Value, result: &Value) -> Vec<ToolRun> {
    let run = || ToolRun { tool: tool.to_owned(), ..ToolRun::default() };
    let content = result.get("content").unwrap_or(&Value::Null);
    match tool {
        "run_commands" => {
            let results = content.as_array().into_iter().flatten();
            results.map(|one| ToolRun { command: command(one), ..run() }).collect()
        }
        "editor" | "apply_patch" if is_done(content) => {
            let named = Some(text(input, "path").to_owned()).filter(|path| !path.is_empty());
            let edited = named.into_iter().chain(patched(text(input, "input"))).collect();
            vec![ToolRun { edited, ..run() }]
        }
        _ => vec![run()],
    }
}

/// Returns a command from its result. One without an exit code did not run, or runs on.
fn command(result: &Value) -> Option<CommandRun> {
    let passed = result.get("success") == Some(&Value::Bool(true));
    let ended = passed || text(result, "error").starts_with(FAILED);
    let printed = text(result, "result");
    let status = printed.strip_prefix('[').and_then(|rest| rest.strip_prefix(FAILED));
    let output = status.and_then(|rest| rest.split_once(']')).map_or(printed, |(_, rest)| rest);
    let output = output.trim_start().trim_start_matches("[stderr]").trim();
    ended.then(|| CommandRun::judge(text(result, "query").to_owned(), Some(passed), output))
}

/// Returns whether a tool that writes a file did so. Its result is JSON in a text.
fn is_done(content: &Value) -> bool {
    let result = content.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    result.is_some_and(|result| result.get("success") == Some(&Value::Bool(true)))
}
