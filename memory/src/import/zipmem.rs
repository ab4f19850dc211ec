//! zipmem's files: `state.json`, and `session.json` for work that was staged and not saved.
//!
//! Reading is lenient. Unknown fields are ignored, missing ones have a default, and an unusable
//! item is left out and named. The only errors are a text that is not a JSON object and an unknown
//! version.

mod plan;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use plan::plan_import_zipmem;

use super::source::{ImportError, ImportStep, NamedText, Parts, Source, bare};
use super::{ImportOutcome, ZIPMEM};
use crate::files::normalise;
use crate::fold::{clip, one_line};
use crate::guide::CheckpointMode;
use crate::ids::{Kind, SessionId, Timestamp};
use crate::limits::{BINDING_KEY_CHARS_MAX, WIDE_FILES_MAX, WIDE_LINE_CHARS_MAX};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Anchor, Blueprint, Category, Lesson};
use crate::staged::{Counts, Staged};

/// The content of zipmem's files, in anchord's terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zipmem {
    /// The project's name there.
    pub project: Option<String>,
    /// The blueprints, in the order of the file.
    pub blueprints: Vec<Dated<Blueprint>>,
    /// The anchors, oldest first, since the newest concept wins.
    pub anchors: Vec<Dated<Anchor>>,
    /// The lessons, in the order of the file.
    pub lessons: Vec<Dated<Lesson>>,
    /// The sessions, in the order of the file.
    pub rows: Vec<SourceRow>,
    /// The work that a session had staged and not saved.
    pub pending: Option<Pending>,
    /// The frequency at which agents are asked to checkpoint there.
    pub mode: Option<CheckpointMode>,
    /// One line for each item that could not be used as it was.
    pub notes: Vec<String>,
}

/// An item with the time at which it was written, if the source has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dated<T> {
    /// The time of writing.
    pub time: Option<Timestamp>,
    /// The item.
    pub item: T,
}

/// A session of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRow {
    /// Its id there.
    pub session: SessionId,
    /// The time at which it began.
    pub started: Option<Timestamp>,
    /// The time at which it ended.
    pub ended: Option<Timestamp>,
    /// The summary of its work.
    pub summary: String,
    /// The numbers of records that it added.
    pub added: Counts,
}

/// The staged work of a session that did not save.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Its id there.
    pub session: SessionId,
    /// The time at which it began.
    pub started: Option<Timestamp>,
    /// The time of its last checkpoint.
    pub updated: Option<Timestamp>,
    /// Whether the source marks it as interrupted.
    pub interrupted: bool,
    /// The staged work.
    pub staged: Staged,
}

/// zipmem.
pub(super) const SOURCE: Source = Source {
    name: ZIPMEM,
    takes: "a folder .zipmem or its state.json",
    files: &["state.json", SESSION],
    recognises: |candidate| {
        let fields = ["project_name", "blueprints", "anchors", "lessons", "session_log"];
        fields.iter().any(|name| candidate.has_field(name))
    },
    read: |texts| Ok(vec![Box::new(parse(texts)?)]),
    kinds: &[Kind::Blueprint, Kind::Anchor, Kind::Lesson, Kind::SessionRow],
    parts: Parts::One,
    tables: &[],
};

/// The file with the work that a session had staged.
const SESSION: &str = "session.json";

impl ImportStep for Zipmem {
    fn found(&self) -> PerKind<usize> {
        let pending = self.pending.as_ref();
        let of = |many: fn(&Staged) -> usize| pending.map_or(0, |pending| many(&pending.staged));
        let logged = self.rows.iter().map(|row| &row.session);
        let sessions: BTreeSet<&SessionId> =
            logged.chain(pending.map(|pending| &pending.session)).collect();
        PerKind {
            blueprints: self.blueprints.len() + of(|staged| staged.blueprints.len()),
            anchors: self.anchors.len() + of(|staged| staged.anchors.len()),
            lessons: self.lessons.len() + of(|staged| staged.lessons.len()),
            rows: sessions.len(),
            ..PerKind::default()
        }
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        plan_import_zipmem(memory, self, digest, by)
    }
}

/// Reads zipmem's files: the state, and the session's if there is one.
///
/// # Errors
/// Fails if a file is not a JSON object, or if the state's version is unknown.
pub fn parse(texts: &[NamedText]) -> Result<Zipmem, ImportError> {
    let (state, others) = texts.split_first().ok_or(ImportError::Empty)?;
    let state = object(state)?;
    if let Some(version) = state.get("version").and_then(Value::as_u64).filter(|v| *v != 1) {
        return Err(ImportError::Version(version));
    }
    let mut reader = Reader::default();
    let mut anchors = reader.anchors(&state, "");
    anchors.sort_by_key(|anchor| anchor.time);
    let mut zipmem = Zipmem {
        project: text(&state, "project_name"),
        blueprints: reader.blueprints(&state, ""),
        anchors,
        lessons: reader.lessons(&state, ""),
        rows: reader.rows(&state),
        pending: None,
        mode: None,
        notes: Vec::new(),
    };
    let meta = state.get("meta").and_then(Value::as_object);
    if let Some(named) = meta.and_then(|meta| text(meta, "checkpoint_mode")) {
        zipmem.mode = named.parse().ok();
        if zipmem.mode.is_none() {
            let named = clip(&named, 40);
            reader.notes.push(format!("checkpoint mode `{named}` is not known; left out"));
        }
    }
    if let Some(session) = others.iter().find(|text| text.name == SESSION) {
        zipmem.pending = reader.pending(&object(session)?);
    }
    zipmem.notes = reader.notes;
    Ok(zipmem)
}

pub(super) fn object(text: &NamedText) -> Result<Map<String, Value>, ImportError> {
    match serde_json::from_str(bare(&text.text)) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(ImportError::Shape { file: text.name.clone() }),
        Err(source) => Err(ImportError::Json { file: text.name.clone(), source }),
    }
}

#[derive(Default)]
struct Reader {
    notes: Vec<String>,
}

impl Reader {
    fn blueprints(&mut self, from: &Map<String, Value>, place: &str) -> Vec<Dated<Blueprint>> {
        self.items(from, "blueprints", place, |fields, notes| {
            let title = line(fields, "title").ok_or("title is empty")?;
            let title = within(title, "title", notes);
            let content = fields.get("content").and_then(Value::as_str);
            let content = content.ok_or("content is missing")?.to_owned();
            let named = text(fields, "category").unwrap_or_default();
            let category = named.parse().unwrap_or_else(|_| {
                let named = clip(&named, 40);
                notes.push(format!("category `{named}` is not known; kept as a decision"));
                Category::Decision
            });
            let immutable = fields.get("immutable").and_then(Value::as_bool).unwrap_or(true);
            let item = Blueprint::new(category, title, content);
            Ok(Blueprint { immutable, exact: true, ..item })
        })
    }

    fn anchors(&mut self, from: &Map<String, Value>, place: &str) -> Vec<Dated<Anchor>> {
        self.items(from, "anchors", place, |fields, notes| {
            let file = line(fields, "file_path").map(|file| normalise(&file));
            let file = file.filter(|file| !file.is_empty()).ok_or("file_path is empty")?;
            let lines = match fields.get("line_range") {
                Some(Value::Number(number)) => number.to_string(),
                _ => line(fields, "line_range").ok_or("line_range is empty")?,
            };
            let concept = line(fields, "concept").ok_or("concept is empty")?;
            let concept = within(concept, "concept", notes);
            Ok(Anchor::new(file, lines.into(), concept))
        })
    }

    fn lessons(&mut self, from: &Map<String, Value>, place: &str) -> Vec<Dated<Lesson>> {
        self.items(from, "lessons", place, |fields, notes| {
            let whole = line(fields, "summary").ok_or("summary is empty")?;
            let mut detail = text(fields, "detail").unwrap_or_default().trim().to_owned();
            let summary = within(whole.clone(), "summary", notes);
            if summary != whole {
                detail = if detail.is_empty() { whole } else { format!("{whole}\n\n{detail}") };
            }
            let mut files: Vec<String> = Vec::new();
            let related = fields.get("related_files").and_then(Value::as_array);
            for file in related.into_iter().flatten().filter_map(Value::as_str) {
                let file = normalise(&one_line(file));
                if !file.is_empty() && !files.contains(&file) {
                    files.push(file);
                }
            }
            if files.len() > WIDE_FILES_MAX {
                files.truncate(WIDE_FILES_MAX);
                notes.push(format!("the first {WIDE_FILES_MAX} of related_files are kept"));
            }
            Ok(Lesson { summary, detail, files, ..Lesson::default() })
        })
    }

    fn rows(&mut self, from: &Map<String, Value>) -> Vec<SourceRow> {
        let rows = self.items(from, "session_log", "", |fields, _| {
            let session = line(fields, "session_id").ok_or("session_id is empty")?;
            let number = |name| {
                let number = fields.get(name).and_then(Value::as_u64).unwrap_or(0);
                u32::try_from(number).unwrap_or(u32::MAX)
            };
            Ok(SourceRow {
                session: SessionId::new(clip(&session, BINDING_KEY_CHARS_MAX)),
                started: time(fields, "started_at"),
                ended: time(fields, "ended_at"),
                summary: text(fields, "summary").unwrap_or_default().trim().to_owned(),
                added: Counts {
                    blueprints: number("blueprints_added"),
                    anchors: number("anchors_added"),
                    lessons: number("lessons_added"),
                    ..Counts::default()
                },
            })
        });
        rows.into_iter().map(|row| row.item).collect()
    }

    /// Reads the staged work. A closed session has saved its own.
    fn pending(&mut self, session: &Map<String, Value>) -> Option<Pending> {
        let status = text(session, "status").unwrap_or_default();
        let pending = session.get("pending").and_then(Value::as_object)?;
        if status == "closed" {
            return None;
        }
        let (started, updated) = (time(session, "started_at"), time(session, "updated_at"));
        let or_unset = |time: Option<Timestamp>| time.unwrap_or_default();
        let part = Staged {
            summary: text(pending, "session_summary").map(|summary| summary.trim().to_owned()),
            blueprints: items(self.blueprints(pending, "pending.")),
            anchors: items(self.anchors(pending, "pending.")),
            lessons: items(self.lessons(pending, "pending.")),
            first: or_unset(started.or(updated)),
            last: or_unset(updated.or(started)),
            client: Arc::from(ZIPMEM),
            ..Staged::default()
        };
        let mut staged = Staged::default();
        staged.absorb(&part);
        (!staged.is_empty()).then(|| Pending {
            session: line(session, "session_id").map_or_else(
                || SessionId::new("zipmem-pending"),
                |id| SessionId::new(clip(&id, BINDING_KEY_CHARS_MAX)),
            ),
            started,
            updated: updated.or(started),
            interrupted: status == "interrupted",
            staged,
        })
    }

    /// Returns the usable items of a list. Names each unusable one by its place.
    fn items<T>(
        &mut self,
        from: &Map<String, Value>,
        list: &str,
        place: &str,
        read: impl Fn(&Map<String, Value>, &mut Vec<String>) -> Result<T, &'static str>,
    ) -> Vec<Dated<T>> {
        let mut found = Vec::new();
        let values = from.get(list).and_then(Value::as_array);
        for (at, value) in values.into_iter().flatten().enumerate() {
            let mut notes = Vec::new();
            let item = match value.as_object() {
                Some(fields) => read(fields, &mut notes).map(|item| (fields, item)),
                None => Err("is not an object"),
            };
            match item {
                Ok((fields, item)) => found.push(Dated { time: time(fields, "timestamp"), item }),
                Err(why) => notes.push(format!("{why}; left out")),
            }
            self.notes.extend(notes.into_iter().map(|why| format!("{place}{list}[{at}]: {why}")));
        }
        found
    }
}

/// Clips a line to the limit, and notes that it was cut.
fn within(line: String, field: &str, notes: &mut Vec<String>) -> String {
    let kept = clip(&line, WIDE_LINE_CHARS_MAX);
    if kept != line {
        notes.push(format!("{field} is cut to {WIDE_LINE_CHARS_MAX} characters"));
    }
    kept
}

fn items<T>(dated: Vec<Dated<T>>) -> Vec<T> {
    dated.into_iter().map(|dated| dated.item).collect()
}

/// Returns a text verbatim, if it is present and not blank.
pub(super) fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = fields.get(name).and_then(Value::as_str)?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Returns a text on one line, if it is present and not blank.
fn line(fields: &Map<String, Value>, name: &str) -> Option<String> {
    text(fields, name).map(|text| one_line(&text))
}

/// Reads a time, given as text (RFC 3339) or in milliseconds.
pub(super) fn time(fields: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    match fields.get(name)? {
        Value::Number(number) => number.as_i64().map(Timestamp),
        Value::String(text) => Timestamp::parse(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
