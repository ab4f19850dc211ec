//! Imports claude-mem's database, whose rows arrive as lines of JSON. Read from its source at
//! 13.15.3; columns that older versions lack, or name differently, are allowed for.
//!
//! claude-mem has a model describe each piece of work as an observation. A decision becomes a
//! blueprint that may be replaced, a fixed bug or a trap a lesson, any other observation a note.
//! The summaries of a session become entries of its row. Prompts and queues are not read.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::judged::EarlierTexts;
use super::notes::{Import, Meeting, plan_items};
use super::source::{Candidate, ImportStep, NamedText, Parts, Source, Table};
use super::zipmem::{text, time};
use super::{Dated, ImportOutcome, SourceRow};
use crate::files::relative;
use crate::fold::{clip, one_line};
use crate::ids::{Kind, SessionId, Timestamp};
use crate::kinds::note::{NewNote, accept_note, tag_as_kept};
use crate::limits::{TAG_CHARS_MAX, TAGS_MAX, WIDE_LINE_CHARS_MAX};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Blueprint, Category, Lesson};
use crate::staged::Counts;

/// The source name under which imports of the database are remembered. It is also the client of
/// its records.
const CLAUDE_MEM: &str = "claude-mem";

/// claude-mem.
pub(super) const SOURCE: Source = Source {
    name: CLAUDE_MEM,
    takes: "claude-mem's claude-mem.db, or the folder that it is in",
    files: &["claude-mem.db"],
    recognises: has_tables,
    read: |texts| Ok(vec![Box::new(parse(texts))]),
    kinds: &[Kind::Blueprint, Kind::Lesson, Kind::Note, Kind::SessionRow],
    parts: Parts::Texts,
    tables: &[
        Table { name: OBSERVATIONS, projects: PROJECTS, order: "id" },
        Table { name: SUMMARIES, projects: PROJECTS, order: "id" },
    ],
};

const OBSERVATIONS: &str = "observations";
const SUMMARIES: &str = "session_summaries";
const PROJECTS: &[&str] = &["project", "merged_into_project"];

/// Each column of a summary with its label.
const PARTS: [(&str, &str); 6] = [
    ("request", "Request"),
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
];

fn has_tables(candidate: &Candidate<'_>) -> bool {
    let of = |table: &str| candidate.texts.iter().any(|text| is_of(text, table));
    of(OBSERVATIONS) || of(SUMMARIES)
}

/// Returns whether a text has rows of a table.
fn is_of(text: &NamedText, table: &str) -> bool {
    text.name.strip_suffix(".jsonl") == Some(table)
}

/// The records of a database's rows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rows {
    blueprints: Vec<Dated<Blueprint>>,
    lessons: Vec<Dated<Lesson>>,
    items: Vec<Dated<NewNote>>,
    sessions: Vec<SourceRow>,
    notes: Vec<String>,
    sensitive: usize,
    earlier: Arc<EarlierTexts>,
}

impl ImportStep for Rows {
    fn found(&self) -> PerKind<usize> {
        let sessions: BTreeSet<&SessionId> = self.sessions.iter().map(|row| &row.session).collect();
        PerKind {
            blueprints: self.blueprints.len(),
            lessons: self.lessons.len(),
            notes: self.items.len(),
            rows: sessions.len(),
            ..PerKind::default()
        }
    }

    fn set_root(&mut self, root: &str) {
        for file in self.lessons.iter_mut().flat_map(|lesson| &mut lesson.item.files) {
            *file = relative(file, root);
        }
    }

    fn set_earlier(&mut self, earlier: &Arc<EarlierTexts>) {
        self.earlier = Arc::clone(earlier);
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        let read = (self.found(), self.notes.as_slice());
        plan_items(memory, (CLAUDE_MEM, digest), read, by, |import: &mut Import<'_>| {
            import.set_earlier(&self.earlier);
            // Two decisions of one day differ in the second.
            let marks = |time: Timestamp| vec![time.date(), time.second()];
            let blueprints = self.blueprints.iter();
            import
                .put_blueprints(blueprints.map(|it| (it, it.time.map(marks).unwrap_or_default())));
            import.put_lessons(&self.lessons);
            let items = self.items.iter().map(|it| (it, Vec::new()));
            import.put_notes(items, Meeting::Replace);
            import.put_sessions(&self.sessions);
        })
    }
}

fn parse(texts: &[NamedText]) -> Rows {
    let mut rows = Rows::default();
    for text in texts {
        for (number, line) in (1..).zip(text.text.lines()).filter(|(_, line)| !line.is_empty()) {
            let Ok(fields) = serde_json::from_str::<Map<String, Value>>(line) else {
                rows.notes.push(format!("{}:{number} is not a JSON object; left out", text.name));
                continue;
            };
            let taken = if is_of(text, SUMMARIES) {
                rows.take_summary(&fields)
            } else {
                rows.take_observation(&fields)
            };
            if let Err(why) = taken {
                let id = fields.get("id").map_or_else(|| number.to_string(), Value::to_string);
                rows.notes.push(format!("{} {id} {why}; left out", text.name));
            }
        }
    }
    if rows.sensitive > 0 {
        let count = rows.sensitive;
        rows.notes.push(format!("observations marked as sensitive are left out: {count}"));
    }
    rows
}

impl Rows {
    fn take_observation(&mut self, fields: &Map<String, Value>) -> Result<(), String> {
        let kind = text(fields, "type").map(|kind| tag_as_kept(&kind)).unwrap_or_default();
        if kind == "sensitive" {
            self.sensitive += 1;
            return Ok(());
        }
        let body = body(fields);
        let title = text(fields, "title").or_else(|| body.lines().next().map(str::to_owned));
        let title = title.map(|title| one_line(&title)).filter(|title| !title.is_empty());
        let title = clip(&title.ok_or("has no text".to_owned())?, WIDE_LINE_CHARS_MAX);
        let time = moment(fields);
        let concepts = list(fields, "concepts");
        let concepts: Vec<String> = concepts.iter().map(|concept| concept_tag(concept)).collect();
        let is_lesson =
            |concept: &String| matches!(concept.as_str(), "gotcha" | "problem-solution");
        let mut files = list(fields, "files_modified");
        files.extend(list(fields, "files_read"));
        if kind == "decision" {
            let content = with_files(if body.is_empty() { title.clone() } else { body }, &files);
            let item = Blueprint::new(Category::Decision, title, content);
            let item = Blueprint { immutable: false, ..item };
            self.blueprints.push(Dated { time, item });
        } else if kind == "bugfix" || concepts.iter().any(is_lesson) {
            let item = Lesson { summary: title, detail: body, files, ..Lesson::default() };
            self.lessons.push(Dated { time, item });
        } else {
            let content = if body.starts_with(&title) { body } else { format!("{title}\n{body}") };
            let mut tags: Vec<String> = Vec::new();
            for tag in std::iter::once(kind).chain(concepts) {
                if !tag.is_empty() && !tags.contains(&tag) && tags.len() < TAGS_MAX {
                    tags.push(tag);
                }
            }
            let content = with_files(content.trim_end().to_owned(), &files);
            let note = NewNote { content, tags, ..NewNote::default() };
            let item = accept_note(note).map_err(|refusal| refusal.to_string())?;
            self.items.push(Dated { time, item });
        }
        Ok(())
    }

    fn take_summary(&mut self, fields: &Map<String, Value>) -> Result<(), String> {
        let session = text(fields, "memory_session_id").or_else(|| text(fields, "sdk_session_id"));
        let session = session.ok_or("names no session".to_owned())?;
        let parts = PARTS.iter().filter_map(|(column, label)| {
            Some(format!("{label}: {}", text(fields, column)?.trim()))
        });
        let summary = parts.collect::<Vec<_>>().join("\n");
        if summary.is_empty() {
            return Err("has no text".to_owned());
        }
        self.sessions.push(SourceRow {
            session: SessionId::new(one_line(&session)),
            started: None,
            ended: moment(fields),
            summary,
            added: Counts::default(),
        });
        Ok(())
    }
}

/// Returns an observation's own text: what happened, then its facts as a list.
fn body(fields: &Map<String, Value>) -> String {
    let narrative = text(fields, "narrative").or_else(|| text(fields, "text"));
    let narrative = narrative.or_else(|| text(fields, "subtitle")).unwrap_or_default();
    let facts = list(fields, "facts").into_iter().map(|fact| format!("- {}", one_line(&fact)));
    let facts = facts.collect::<Vec<_>>().join("\n");
    let parts = [narrative.trim(), &facts].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

fn with_files(text: String, files: &[String]) -> String {
    if files.is_empty() { text } else { format!("{text}\nFiles: {}", files.join(", ")) }
}

/// Reads a list, which is JSON in a text. Any other text is its only item, as there.
fn list(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    let Some(text) = text(fields, name) else { return Vec::new() };
    let items = match serde_json::from_str(&text) {
        Ok(Value::Array(items)) => items,
        Ok(Value::Null) => Vec::new(),
        _ => vec![Value::String(text)],
    };
    let mut list: Vec<String> = Vec::new();
    for item in items.iter().filter_map(Value::as_str).map(str::trim) {
        if !item.is_empty() && !list.iter().any(|known| known == item) {
            list.push(item.to_owned());
        }
    }
    list
}

/// Returns a concept as a tag. Before version 49 of its schema, a description could follow it.
fn concept_tag(concept: &str) -> String {
    let name = concept.split_once(':').map_or(concept, |(name, _)| name);
    clip(&tag_as_kept(name), TAG_CHARS_MAX)
}

fn moment(fields: &Map<String, Value>) -> Option<Timestamp> {
    time(fields, "created_at_epoch").or_else(|| time(fields, "created_at"))
}

#[cfg(test)]
mod tests;
