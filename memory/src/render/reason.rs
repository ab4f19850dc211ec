//! Why a record was given: what it shares with the moment's cause, or else its place in a load.

use std::collections::BTreeSet;

use super::plain_name;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{IMPORTANT_MIN, REASON_WORDS_MAX};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::{Candidate, PromptChoice, PromptQuery, for_prompt};
use crate::record::{Body, Record};

/// The cause for which records were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause<'a> {
    /// A load: at a start, after a compaction, or asked for.
    Load,
    /// A prompt, or the task of a subagent.
    Prompt(&'a str),
    /// A file that is about to be used, relative to the project's root.
    File(&'a str),
    /// A command that failed.
    Failure(&'a str),
    /// A search for these words.
    Search(&'a str),
    /// A request by id or key.
    Request,
}

/// Returns for each of these records its title and the reason why it was given, as a fragment.
/// Words it from memory as it is now; a record that is gone is left out.
pub fn reasons(
    memory: &Memory,
    reader: &Reader,
    cause: Cause<'_>,
    ids: &[RecordId],
    now: Timestamp,
) -> Vec<(RecordId, String, String)> {
    let choice = match cause {
        Cause::Prompt(prompt) => {
            let of = PromptQuery { reader, prompt, given: &BTreeSet::new(), now };
            for_prompt(memory, &of)
        }
        _ => PromptChoice::default(),
    };
    let mut all = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let Some(record) = memory.record(*id) else { continue };
        let why = match cause {
            Cause::Load => in_load(record),
            Cause::Prompt(_) => of_prompt(record, &choice),
            Cause::File(file) => of_file(record, file),
            Cause::Failure(_) => "about this command and error".to_owned(),
            Cause::Search(query) if query.trim().is_empty() => {
                format!("place {} of the list", place + 1)
            }
            Cause::Search(query) => format!("place {} for “{query}”", place + 1),
            Cause::Request => "asked for by name".to_owned(),
        };
        all.push((*id, plain_name(record), why));
    }
    all
}

/// Words the place of a record in a load.
fn in_load(record: &Record) -> String {
    if record.kind() == Kind::Rule {
        return "a rule in force, always first".to_owned();
    }
    if record.pinned {
        return "pinned".to_owned();
    }
    let kind = record.kind();
    match &record.body {
        Body::Note(note) => match &note.key {
            Some(_) => format!("a fact, importance {}", note.importance),
            None if note.importance >= IMPORTANT_MIN => {
                format!("a note of importance {}", note.importance)
            }
            None => format!("a note, importance {}, by relevance and age", note.importance),
        },
        Body::Lesson(lesson) if lesson.captured.is_some() => {
            "a fix that was recorded by rule".to_owned()
        }
        _ => format!("a share of the budget belongs to {}", kind.plural()),
    }
}

fn of_prompt(record: &Record, choice: &PromptChoice) -> String {
    if choice.last_session == Some(record.id) {
        return "the last session, which the prompt goes on with".to_owned();
    }
    let is_of =
        |candidate: &&Candidate| candidate.id == record.id && !candidate.evidence.words.is_empty();
    let Some(candidate) = choice.candidates.iter().find(is_of) else {
        return "changed by another session since the last prompt".to_owned();
    };
    let words: Vec<&str> = candidate
        .evidence
        .words
        .iter()
        .map(|(word, _)| word.as_str())
        .take(REASON_WORDS_MAX)
        .collect();
    format!("has {} of the prompt (score {:.1})", words.join(", "), candidate.score)
}

fn of_file(record: &Record, file: &str) -> String {
    let names = record.body.own_texts().iter().any(|text| text.contains(file));
    let is_anchored = record.anchor().is_some_and(|anchor| anchor.file == file);
    if names || is_anchored {
        format!("names {file}")
    } else {
        format!("about {file} or its directory")
    }
}

#[cfg(test)]
mod tests;
