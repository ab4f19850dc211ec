//! A large export in parts: what the daemon is handed at once, it holds in memory and writes as one entry of a journal.

use std::collections::BTreeMap;

use anchord_daemon::api::{ImportCounts, ImportReply};
use serde_json::value::RawValue;

/// Splits an export into documents that are exports themselves, each with so many bytes of records or a little more, and
/// the last one with what else there is: conversations find their topics when those are there. A small one stays as it is.
///
/// # Errors
/// When it is no JSON object, or has no list of records.
pub(super) fn split(export: String, part_bytes: usize) -> Result<Vec<String>, serde_json::Error> {
    if export.len() <= part_bytes {
        return Ok(vec![export]);
    }
    let mut fields: BTreeMap<&str, &RawValue> =
        serde_json::from_str(export.trim_start_matches('\u{feff}'))?;
    let records = fields.remove(RECORDS).unwrap_or(RawValue::NULL);
    let records: Vec<&RawValue> = serde_json::from_str(records.get())?;
    let format = fields.remove(FORMAT).unwrap_or(RawValue::NULL).get();
    let begin = || format!("{{\"{FORMAT}\":{format},\"{RECORDS}\":[");
    let (mut parts, mut part) = (Vec::new(), begin());
    let mut is_first = true;
    for record in records {
        if part.len() >= part_bytes {
            parts.push(std::mem::replace(&mut part, begin()) + "]}");
            is_first = true;
        }
        if !is_first {
            part.push(',');
        }
        part.push_str(record.get());
        is_first = false;
    }
    part.push(']');
    let rest = fields.into_iter().map(|(name, value)| format!(",\"{name}\":{}", value.get()));
    part.extend(rest);
    parts.push(part + "}");
    Ok(parts)
}

const RECORDS: &str = "records";
const FORMAT: &str = "format";

/// What came of one part, the first being 1. Where there are more, its remarks say so: they count and name places within
/// it.
pub(super) fn of_part(mut reply: ImportReply, part: usize, of: usize) -> ImportReply {
    if of > 1 {
        for remark in &mut reply.remarks {
            remark.insert_str(0, &format!("part {part} of {of}: "));
        }
    }
    reply
}

/// What came of one part and of the next one.
pub(super) fn joined(one: ImportReply, next: ImportReply) -> ImportReply {
    let counts = |one: ImportCounts, next: ImportCounts| ImportCounts {
        found: one.found + next.found,
        new: one.new + next.new,
    };
    let mut remarks = one.remarks;
    remarks.extend(next.remarks);
    ImportReply {
        project: next.project.or(one.project),
        applied: one.applied || next.applied,
        already: one.already && next.already,
        nothing: one.nothing && next.nothing,
        revision: next.revision.or(one.revision),
        blueprints: counts(one.blueprints, next.blueprints),
        anchors: counts(one.anchors, next.anchors),
        lessons: counts(one.lessons, next.lessons),
        sessions: counts(one.sessions, next.sessions),
        notes: counts(one.notes, next.notes),
        topics: counts(one.topics, next.topics),
        merged: one.merged + next.merged,
        remarks,
    }
}

#[cfg(test)]
mod tests;
