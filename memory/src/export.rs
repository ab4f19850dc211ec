//! Writes memory in the forms that others read: the `state.json` of zipmem and of the compactor, a
//! state of infinite-context, and a page of Markdown.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::brief::Brief;
use crate::ids::{ItemIds, Kind, SessionId, Timestamp};
use crate::import::{SNAP_KEY, SNAP_MAP};
use crate::kinds::note::ContentType;
use crate::kinds::topic::{MAIN, topic_key};
use crate::memory::Memory;
use crate::plan::snap_name_of;
use crate::record::{Anchor, Blueprint, Body, Lesson, Record, RecordState};
use crate::render::{self, item};
use crate::staged::Staged;
use crate::topic_file::{Shown, TopicFile, snap_file};

/// Returns the active records as zipmem's `state.json`, with the whole log of sessions. `now` dates
/// an empty memory. A session is in the log once for each entry of its row, so that an import
/// compares like with like.
pub fn zipmem_state(memory: &Memory, project: &str, now: Timestamp) -> Value {
    let list = |kind: Kind| -> Vec<Value> { memory.active_of(kind).map(|r| item(r)).collect() };
    let log: Vec<Value> = memory
        .records()
        .filter(|record| record.state != RecordState::Forgotten)
        .filter_map(|record| match &record.body {
            Body::SessionRow(row) if row.folded == 0 => Some(row.zipmem_log()),
            _ => None,
        })
        .flatten()
        .collect();
    let mode = memory.settings(None).and_then(|settings| settings.checkpoint_mode);
    let mode = mode.unwrap_or_default();
    let created = memory.records().map(|record| record.created.time).min().unwrap_or(now);
    let updated = memory.last_written().map_or(now, |record| record.updated.time);
    json!({
        "version": 1,
        "project_name": project,
        "created_at": created.iso(),
        "updated_at": updated.iso(),
        "blueprints": list(Kind::Blueprint),
        "anchors": list(Kind::Anchor),
        "lessons": list(Kind::Lesson),
        "session_log": log,
        "meta": {
            "total_compactions": memory.revision().0,
            "total_sessions": memory.session_rows(),
            "state_size_bytes": memory.totals().text_bytes,
            "shared": false,
            "checkpoint_mode": mode.name(),
        },
    })
}

/// A stage of a session, as zipmem sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZipmemStatus {
    /// It has not saved since its last call.
    Active,
    /// It has saved.
    Closed,
    /// It ended without a save.
    Interrupted,
}

impl ZipmemStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Closed => "closed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A session, to be shown as zipmem would show it.
#[derive(Clone, Copy, Debug)]
pub struct ZipmemSession<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// The process of its agent's tools, and the one above it.
    pub pids: (u32, u32),
    /// Its stage.
    pub status: ZipmemStatus,
    /// The time at which it began.
    pub started: Timestamp,
    /// The time of its last call.
    pub now: Timestamp,
    /// Its staged work.
    pub staged: Option<&'a Staged>,
}

/// Returns a session as zipmem's `session.json`. Only an active one has pending work.
pub fn zipmem_session(session: &ZipmemSession<'_>) -> Value {
    let ZipmemSession { id, pids: (pid, ppid), status, started, now, staged } = *session;
    let none = Staged::default();
    let staged = staged.filter(|_| status == ZipmemStatus::Active).unwrap_or(&none);
    let blueprint = |it: &Blueprint| {
        let category = it.category.name();
        json!({ "category": category, "title": it.title, "content": it.content, "immutable": it.immutable })
    };
    let anchor = |it: &Anchor| json!({ "file_path": it.file, "line_range": it.lines.to_string(), "concept": it.concept });
    let lesson = |it: &Lesson| json!({ "summary": it.summary, "detail": it.detail, "related_files": it.files });
    let mut value = json!({
        "version": 1,
        "session_id": id.to_string(),
        "status": status.name(),
        "pid": pid,
        "ppid": ppid,
        "started_at": started.iso(),
        "updated_at": now.iso(),
        "pending": {
            "session_summary": staged.summary.as_deref().unwrap_or_default(),
            "blueprints": staged.blueprints.iter().map(blueprint).collect::<Vec<_>>(),
            "anchors": staged.anchors.iter().map(anchor).collect::<Vec<_>>(),
            "lessons": staged.lessons.iter().map(lesson).collect::<Vec<_>>(),
        },
    });
    if let (ZipmemStatus::Interrupted, Some(fields)) = (status, value.as_object_mut()) {
        fields.insert("reason".to_owned(), "ended without a save".into());
    }
    value
}

fn item(record: &Record) -> Value {
    record.body.fields().zipmem(record)
}

/// Returns the active notes that `sees` accepts, as the compactor's `state.json`. Access counts are
/// not exported: an item's last access is its last write. A note that has expired by `now` gets a
/// tag, since that form has no expiry.
pub fn compactor_state(
    memory: &Memory,
    ids: ItemIds,
    now: Timestamp,
    sees: impl Fn(&Record) -> bool,
) -> Value {
    let records = memory.records().filter(|record| record.state.is_active() && sees(record));
    let items = records.filter_map(|record| {
        let note = record.note()?;
        let mut tags = record.tags.clone();
        tags.extend(note.is_expired(now).then(|| EXPIRED_TAG.to_owned()));
        Some(json!({
            "id": ids.show(record.id),
            "content": note.content,
            "summary": note.summary,
            "tags": tags,
            "importance": note.importance,
            "pinned": record.pinned,
            "created_at": record.created.time.iso(),
            "accessed_at": record.updated.time.iso(),
            "access_count": note.repeats,
            "tokens": note.tokens,
            "content_type": type_number(note.content_type),
        }))
    });
    json!({ "version": 1, "items": items.collect::<Vec<Value>>() })
}

/// Returns the brief as a state of infinite-context. `project` is the project's id, and `now` dates
/// an empty brief.
pub fn infinite_context_state(memory: &Memory, project: &str, now: Timestamp) -> Value {
    let record = memory.topic(MAIN).map(|record| &**record);
    let brief = Brief::of(project, record, BTreeSet::new());
    let mut state = brief.state();
    let written = record.map_or(now, |record| record.updated.time).iso();
    if let Some(meta) = state.get_mut("meta").and_then(Value::as_object_mut) {
        meta.insert("last_checkpoint".to_owned(), written.clone().into());
        meta.insert("last_access".to_owned(), written.into());
        meta.insert("token_budget_used".to_owned(), 0.into());
    }
    state
}

/// Returns the files of snap-memory's folder, by name: all topics, and the topics of OpenClaw's
/// conversations.
pub fn snap_memory(memory: &Memory) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (record, topic) in memory.topics() {
        let title = snap_name_of(record, topic);
        names.insert(topic_key(&topic.name), title.clone());
        let file = snap_file(&title);
        files
            .insert(file, TopicFile { title, ..TopicFile::of(record, topic, Shown::ALL) }.render());
    }
    let named = |topic: &str| names.get(&topic_key(topic)).cloned();
    let bound: BTreeMap<&str, String> = memory
        .bindings()
        .filter_map(|(key, bound)| Some((key.strip_prefix(SNAP_KEY)?, named(&bound.topic)?)))
        .collect();
    files.insert(SNAP_MAP.to_owned(), format!("{:#}\n", json!(bound)));
    files
}

/// Returns the number that stands for a type in the compactor's file.
fn type_number(content_type: ContentType) -> u8 {
    match content_type {
        ContentType::Prose => 0,
        ContentType::Code => 1,
        ContentType::Error => 2,
        ContentType::ToolOutput => 3,
        ContentType::Decision => 4,
    }
}

/// The tag of an expired note, for a form that has no expiry.
const EXPIRED_TAG: &str = "expired";

/// Returns the active records as a page for people. Contents are verbatim; a note that has expired
/// by `now` is marked.
pub fn markdown(memory: &Memory, project: &str, now: Timestamp) -> String {
    // Notes have a budget of their own and no share in the size.
    let size = match memory.totals().text_bytes {
        0 => String::new(),
        bytes => format!(" ({})", render::bytes(bytes)),
    };
    let mut page = vec![format!("# {project}: memory at revision {}{size}", memory.revision().0)];
    let mut kinds = Kind::ALL;
    kinds.sort_by_key(|kind| kind.facts().page_place);
    for kind in kinds {
        let parts: Vec<String> = memory.active_of(kind).map(|record| part(record, now)).collect();
        if !parts.is_empty() {
            // Lists stay together; texts are set apart.
            let gap = if kind == Kind::Blueprint { "\n\n" } else { "\n" };
            page.push(format!("## {}", kind.facts().heading));
            page.push(parts.join(gap));
        }
    }
    page.join("\n\n") + "\n"
}

fn part(record: &Record, now: Timestamp) -> String {
    record.body.fields().page(record, &item::whole(record), now)
}

#[cfg(test)]
mod tests;
