//! Splits a large export. The daemon holds each request in memory and writes it as one journal
//! entry.

use std::collections::BTreeMap;

use anchord_daemon::api::ImportReply;
use anchord_memory::Kind;
use serde_json::value::RawValue;

/// Splits an export into documents that are exports themselves, each with about `part_bytes` bytes
/// of records. The last one has the remaining fields, because conversations find their topics only
/// once those exist. A small export stays as it is.
///
/// # Errors Fails if the export is not a JSON object, or has no list of records.
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

/// Labels the reply to one part, counted from 1. If there are several, its remarks name the part,
/// since their counts and places are relative to it.
pub(super) fn of_part(mut reply: ImportReply, part: usize, of: usize) -> ImportReply {
    if of > 1 {
        for remark in &mut reply.remarks {
            remark.insert_str(0, &format!("part {part} of {of}: "));
        }
    }
    reply
}

/// Adds up the replies to one part and to the next one.
pub(super) fn joined(one: ImportReply, next: ImportReply) -> ImportReply {
    let mut counts = one.counts;
    for kind in Kind::ALL {
        let (sum, more) = (counts.0.of_mut(kind), next.counts.of(kind));
        sum.found += more.found;
        sum.new += more.new;
    }
    let mut remarks = one.remarks;
    remarks.extend(next.remarks);
    ImportReply {
        project: next.project.or(one.project),
        applied: one.applied || next.applied,
        already: one.already && next.already,
        nothing: one.nothing && next.nothing,
        revision: next.revision.or(one.revision),
        counts,
        merged: one.merged + next.merged,
        remarks,
    }
}

#[cfg(test)]
mod tests;
