//! `~/.imaginary/talks/<id>.jsonl`: `{"who": …, "words": …, "dir": …}`.

use std::path::Path;

use anchord_memory::lifecycle::Event;
use serde_json::Value;

use crate::transcripts::{Reader, Transcripts, files};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".imaginary",
    files: |folder| files(&folder.join("talks"), |_| true),
    reader: |path| Box::new(Talk::new(path)),
    database: None,
};

struct Talk {
    session: Option<String>,
    cwd: Option<String>,
}

impl Talk {
    fn new(path: &Path) -> Self {
        let session = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
        Self { session, cwd: None }
    }
}

impl Reader for Talk {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
        self.cwd = text("dir").or(self.cwd.take());
        let words = text("words");
        match text("who").as_deref() {
            Some("person") => {
                vec![Event::PromptSubmitted { prompt: words.unwrap_or_default() }]
            }
            Some("agent") => vec![Event::TurnEnded { last_message: words }],
            _ => Vec::new(),
        }
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    fn is_subagent(&self) -> bool {
        false
    }
}
