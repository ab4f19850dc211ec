//! Writes memory in the forms that others read: the `state.json` of zipmem and of the compactor,
//! and a page of Markdown.

use serde_json::{Value, json};

use crate::ids::{Kind, Timestamp, hashed};
use crate::memory::Memory;
use crate::record::{Body, Record, RecordState};
use crate::render::{self, item};

/// Returns the active records as zipmem's `state.json`, with the whole log of sessions. `now` dates
/// an empty memory.
pub fn zipmem_state(memory: &Memory, project: &str, now: Timestamp) -> Value {
    let list = |kind: Kind| -> Vec<Value> { memory.active_of(kind).map(|r| item(r)).collect() };
    let log: Vec<Value> = memory
        .records()
        .filter(|record| record.state != RecordState::Forgotten)
        .filter(|record| matches!(&record.body, Body::SessionRow(row) if row.folded == 0))
        .map(|record| item(record))
        .collect();
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
            "checkpoint_mode": "balanced",
        },
    })
}

fn item(record: &Record) -> Value {
    let timestamp = record.updated.time.iso();
    match &record.body {
        Body::Blueprint(blueprint) => json!({
            "id": record.id.to_string(),
            "category": blueprint.category.name(),
            "title": blueprint.title,
            "content": blueprint.content,
            "immutable": blueprint.immutable,
            "timestamp": timestamp,
        }),
        Body::Anchor(anchor) => json!({
            "file_path": anchor.file,
            "line_range": anchor.lines.to_string(),
            "concept": anchor.concept,
            "timestamp": timestamp,
        }),
        Body::Lesson(lesson) => json!({
            "id": record.id.to_string(),
            "summary": lesson.summary,
            "detail": lesson.detail,
            "related_files": lesson.files,
            "timestamp": timestamp,
        }),
        Body::Note(note) => json!({
            "id": record.id.to_string(),
            "key": note.key,
            "content": note.content,
            "summary": note.summary,
            "tags": record.tags,
            "importance": note.importance,
            "pinned": record.pinned,
            "timestamp": timestamp,
        }),
        Body::Topic(topic) => json!({
            "id": record.id.to_string(),
            "name": topic.name,
            "status": topic.status,
            "timestamp": timestamp,
        }),
        Body::SessionRow(row) => json!({
            "session_id": row.session.to_string(),
            "started_at": row.started.iso(),
            "ended_at": row.ended.iso(),
            "summary": item::trail_text(row),
            "anchors_added": row.anchors_added,
            "lessons_added": row.lessons_added,
        }),
    }
}

/// Returns the active notes that `sees` accepts, as the compactor's `state.json`. Access counts are
/// not exported: an item's last access is its last write. A note that has expired by `now` gets a
/// tag, since that form has no expiry.
pub fn compactor_state(memory: &Memory, now: Timestamp, sees: impl Fn(&Record) -> bool) -> Value {
    let records = memory.records().filter(|record| record.state.is_active() && sees(record));
    let items = records.filter_map(|record| {
        let note = record.note()?;
        let mut tags = record.tags.clone();
        tags.extend(note.is_expired(now).then(|| EXPIRED_TAG.to_owned()));
        Some(json!({
            "id": hashed::show(record.id),
            "content": note.content,
            "summary": note.summary,
            "tags": tags,
            "importance": note.importance,
            "pinned": record.pinned,
            "created_at": record.created.time.iso(),
            "accessed_at": record.updated.time.iso(),
            "access_count": note.repeats,
            "tokens": note.tokens,
            "content_type": note.content_type,
        }))
    });
    json!({ "version": 1, "items": items.collect::<Vec<Value>>() })
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
    for (kind, heading) in [
        (Kind::Blueprint, "## Blueprints"),
        (Kind::Anchor, "## Anchors"),
        (Kind::Note, "## Notes"),
        (Kind::Lesson, "## Lessons"),
        (Kind::Topic, "## Topics"),
        (Kind::SessionRow, "## Sessions"),
    ] {
        let parts: Vec<String> = memory.active_of(kind).map(|record| part(record, now)).collect();
        if !parts.is_empty() {
            // Lists stay together; texts are set apart.
            let gap = if kind == Kind::Blueprint { "\n\n" } else { "\n" };
            page.push(heading.to_owned());
            page.push(parts.join(gap));
        }
    }
    page.join("\n\n") + "\n"
}

fn part(record: &Record, now: Timestamp) -> String {
    let id = record.id;
    match &record.body {
        Body::Blueprint(blueprint) => {
            let category = blueprint.category.name();
            format!("### {id} {} ({category})\n\n{}", blueprint.title, blueprint.content.trim_end())
        }
        Body::Lesson(lesson) => {
            let files: Vec<String> = lesson.files.iter().map(|file| format!("`{file}`")).collect();
            let files =
                if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) };
            let detail = if lesson.detail.is_empty() {
                String::new()
            } else {
                format!("\n  {}", lesson.detail.replace('\n', "\n  "))
            };
            format!("- {id} **{}**{files}{detail}", lesson.summary)
        }
        Body::Anchor(anchor) => {
            format!("- {id} `{}` {}: {}", anchor.file, anchor.lines, anchor.concept)
        }
        Body::Topic(_) => format!("- {}", item::whole(record)),
        Body::Note(note) => {
            let expired = if note.is_expired(now) { "[EXPIRED] " } else { "" };
            format!("- {expired}{}", item::whole(record))
        }
        Body::SessionRow(row) => {
            let summary = item::trail_text(row).replace('\n', "\n  ");
            format!("- {id} {}: {summary}", row.ended.date())
        }
    }
}

#[cfg(test)]
mod tests;
