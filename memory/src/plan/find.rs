//! Looking a record up by its id or key; a miss names what comes near.

use std::cmp::Reverse;

use crate::ids::{RecordId, Version};
use crate::index::MergeKey;
use crate::limits::{NEAREST_MAX, TOPICS_SHOWN_MAX};
use crate::memory::Memory;
use crate::note::{Scope, key_line};
use crate::reader::Reader;
use crate::record::{Provenance, Record};
use crate::refusal::Refusal;
use crate::render::title;
use crate::topic::topic_name;

/// The record with this id, or a refusal that names those near it.
///
/// # Errors
/// When the reader sees no such record.
pub fn find<'a>(memory: &'a Memory, reader: &Reader, id: RecordId) -> Result<&'a Record, Refusal> {
    if let Some(record) = memory.record(id).filter(|record| reader.sees(record)) {
        return Ok(record);
    }
    if let Some(purged) = memory.purged(id) {
        return Err(Refusal::Purged { id, time: purged.time });
    }
    let mut nearest: Vec<RecordId> = memory.active_of(id.kind).map(|record| record.id).collect();
    nearest.sort_by_key(|near| near.number.abs_diff(id.number));
    nearest.truncate(NEAREST_MAX);
    Err(Refusal::NotFound { id, nearest })
}

/// The fact with this key, the reader's own before the project's.
///
/// # Errors
/// When there is none; names the keys that come nearest.
pub fn find_fact<'a>(
    memory: &'a Memory,
    reader: &Reader,
    key: &str,
) -> Result<&'a Record, Refusal> {
    let key = key_line(key, "")?;
    let own = reader.own_sessions().map(|session| Scope::Session(session.clone()));
    let scopes: Vec<Scope> = own.chain([Scope::Project]).collect();
    for scope in &scopes {
        let fact = MergeKey::Fact(scope.clone(), key.as_str().into());
        if let Some(record) = memory.keyed(&fact).next() {
            return Ok(record);
        }
    }
    let keys = scopes.iter().flat_map(|scope| memory.facts(scope)).map(|(known, _)| known);
    let folded = key.to_lowercase();
    let mut near: Vec<(f64, &str)> = keys
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &folded), known))
        .filter(|(likeness, _)| *likeness > LIKENESS_MIN)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.dedup_by_key(|(_, known)| *known);
    near.truncate(NEAREST_MAX);
    let nearest = near.into_iter().map(|(_, known)| known.to_owned()).collect();
    Err(Refusal::NoSuchKey { key, nearest })
}

/// The topic with this name.
///
/// # Errors
/// When the name is none or there is no such topic; names those that there are, the last written first.
pub fn find_topic<'a>(memory: &'a Memory, name: &str) -> Result<&'a Record, Refusal> {
    let name = topic_name(name)?;
    if let Some(record) = memory.topic(&name) {
        return Ok(record);
    }
    let mut topics: Vec<_> = memory.topics().collect();
    topics.sort_by_key(|(record, _)| Reverse((record.updated.time, record.id)));
    let known = topics.iter().take(TOPICS_SHOWN_MAX).map(|(_, topic)| topic.name.clone());
    Err(Refusal::NoSuchTopic {
        name,
        known: known.collect(),
        more: topics.len().saturating_sub(TOPICS_SHOWN_MAX),
    })
}

/// Jaro-Winkler likeness below which a key is no help.
const LIKENESS_MIN: f64 = 0.6;

/// Refuses a record that is at another version than the caller has in mind.
pub(crate) fn at_version(
    record: &Record,
    expected: Option<Version>,
    origin: &Provenance,
) -> Result<(), Refusal> {
    match expected.filter(|version| *version != record.version) {
        None => Ok(()),
        Some(expected) => Err(Refusal::Conflict {
            what: record.id.to_string(),
            expected: expected.0.into(),
            current: record.version.0.into(),
            changed: vec![title(record, origin.time)],
        }),
    }
}
