//! Splits a large source. The daemon holds each request in memory and writes it as one journal
//! entry.

use std::collections::BTreeMap;

use anchord_daemon::api::ImportReply;
use anchord_daemon::limits::IMPORT_TEXTS_MAX;
use anchord_memory::Kind;
use anchord_memory::import::{NamedText, Parts};
use serde_json::value::RawValue;

/// Splits a source into the texts of its requests, each of about `part_bytes` bytes.
///
/// # Errors
/// Fails if an export is to be split and is not a JSON object, or has no list of records.
pub(super) fn split(
    parts: Parts,
    texts: Vec<NamedText>,
    part_bytes: usize,
) -> Result<Vec<Vec<NamedText>>, serde_json::Error> {
    match parts {
        Parts::One => Ok(vec![texts]),
        Parts::Texts => Ok(by_texts(texts, part_bytes)),
        Parts::Records => {
            let mut split = Vec::new();
            for NamedText { name, text } in texts {
                let records = by_records(text, part_bytes)?;
                split.extend(records.into_iter().map(|part| vec![NamedText::new(&name, part)]));
            }
            Ok(split)
        }
    }
}

fn by_texts(texts: Vec<NamedText>, part_bytes: usize) -> Vec<Vec<NamedText>> {
    let (mut parts, mut part, mut bytes) = (Vec::new(), Vec::new(), 0);
    for text in texts {
        let more = text.text.len() + text.name.len();
        if !part.is_empty() && (bytes + more > part_bytes || part.len() >= IMPORT_TEXTS_MAX) {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes += more;
        part.push(text);
    }
    parts.push(part);
    parts
}

/// Splits an export into documents that are exports themselves, each with about `part_bytes` bytes
/// of records. The last one has the remaining fields, because conversations find their topics only
/// once those exist. A small export stays as it is.
fn by_records(export: String, part_bytes: usize) -> Result<Vec<String>, serde_json::Error> {
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

/// Returns the revisions of all commits of an import, oldest first.
pub(super) fn revisions(done: &ImportReply) -> Vec<u64> {
    if done.revisions.is_empty() {
        return done.revision.into_iter().collect();
    }
    done.revisions.clone()
}

/// Adds up the replies to one part and to the next one.
pub(super) fn joined(one: ImportReply, next: ImportReply) -> ImportReply {
    let commits: Vec<u64> = [&one, &next].into_iter().flat_map(revisions).collect();
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
        revision: commits.last().copied(),
        revisions: Some(commits).filter(|all| all.len() > 1).unwrap_or_default(),
        counts,
        merged: one.merged + next.merged,
        remarks,
    }
}

#[cfg(test)]
mod tests;
