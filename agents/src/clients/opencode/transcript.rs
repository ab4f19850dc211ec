//! opencode: `~/.local/share/opencode/opencode.db`. A session has messages, and a message has
//! parts, each with its data as JSON. A session with a parent is a subagent's.
//!
//! A call and its output are one part.

use std::path::{Path, PathBuf};

use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use serde_json::Value;

use crate::transcripts::{
    Database, Kept, Origin, Reader, Transcripts, listed, prompted, rows, text,
};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".local/share/opencode",
    files: |folder| database(folder, "opencode.db"),
    reader: |_| Box::new(Transcript::default()),
    kept: Kept::Rows(DATABASE),
};

/// The database of opencode, or of a program that was made from it.
pub(in crate::clients) const DATABASE: Database = Database {
    conversations: |connection, _| listed(connection, CONVERSATIONS),
    lines: |connection, id, each| rows(connection, LINES, id, each),
};

const CONVERSATIONS: &str = "SELECT id, directory, time_updated FROM session \
     WHERE parent_id IS NULL";
const LINES: &str = "SELECT part.time_created, message.data, part.data FROM part \
     JOIN message ON message.id = part.message_id WHERE part.session_id = ?1 \
     ORDER BY message.time_created, message.id, part.id";

/// Returns the database in a folder, if it is there.
pub(in crate::clients) fn database(folder: &Path, name: &str) -> Vec<PathBuf> {
    let path = folder.join(name);
    // One that cannot be examined is reported when it is read.
    if path.try_exists().unwrap_or(true) { vec![path] } else { Vec::new() }
}

/// A reader of lines that are a message and one of its parts.
#[derive(Default)]
pub(in crate::clients) struct Transcript {
    /// Stays empty: the database names each conversation.
    origin: Origin,
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        let (Some(message), Some(part)) = (line.get(0), line.get(1)) else { return Vec::new() };
        // The client and its plugins add texts of their own.
        if part.get("synthetic") == Some(&Value::Bool(true)) {
            return Vec::new();
        }
        let said = text(part, "text");
        let event = match (text(part, "type"), text(message, "role")) {
            ("text", "user") => prompted(said.to_owned()),
            ("text", "assistant") if !said.is_empty() => {
                Some(Event::TurnEnded { last_message: Some(said.to_owned()) })
            }
            ("tool", _) => Some(Event::ToolRan(ran(part))),
            _ => None,
        };
        event.into_iter().collect()
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

fn ran(part: &Value) -> ToolRun {
    let mut run = ToolRun { tool: text(part, "tool").to_owned(), ..ToolRun::default() };
    let Some(state) = part.get("state") else { return run };
    let input = |name: &str| state.get("input").map_or("", |input| text(input, name)).to_owned();
    let done = text(state, "status") == "completed";
    match run.tool.as_str() {
        "edit" | "write" | "multiedit" if done => run.edited.push(input("filePath")),
        "bash" if done => {
            let code = state.pointer("/metadata/exit").and_then(Value::as_i64);
            let output = text(state, "output");
            let passed = code.map(|code| code == 0);
            run.command = Some(CommandRun::judge(input("command"), passed, output));
        }
        _ => {}
    }
    run
}
