//! `~/.imaginary/talks/<id>.jsonl`: `{"who": …, "words": …, "dir": …}`.

use anchord_memory::lifecycle::Event;
use serde_json::Value;

use crate::transcripts::{Kept, Origin, Reader, Transcripts, files, is_lines};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".imaginary",
    files: |folder| files(&folder.join("talks"), is_lines),
    reader: |path| Box::new(Talk { origin: Origin::of_file(path) }),
    kept: Kept::Lines,
};

struct Talk {
    origin: Origin,
}

impl Reader for Talk {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
        self.origin.note(line, "", "/dir");
        let words = text("words");
        match text("who").as_deref() {
            Some("person") => {
                vec![Event::PromptSubmitted { prompt: words.unwrap_or_default() }]
            }
            Some("agent") => vec![Event::TurnEnded { last_message: words }],
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
