//! Looks up a record by its id, key or name. Where a key or a name is missed, the refusal names the
//! nearest ones.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::ids::{Kind, RecordId, Version};
use crate::kinds::MergeKey;
use crate::kinds::note::{Scope, key_line};
use crate::kinds::topic::topic_name;
use crate::limits::{NEAREST_MAX, TOPICS_SHOWN_MAX};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::record::{Record, RecordState};
use crate::refusal::Refusal;

/// Returns the record with this id.
///
/// # Errors
/// Fails if the reader sees no such record, or if it was purged.
pub fn find<'a>(
    memory: &'a Memory,
    reader: &Reader,
    id: RecordId,
) -> Result<&'a Arc<Record>, Refusal> {
    if let Some(record) = memory.record(id).filter(|record| reader.sees(record)) {
        return Ok(record);
    }
    if let Some(purged) = memory.purged(id) {
        return Err(Refusal::Purged { id, time: purged.time });
    }
    // Ids are counted up, so a number nearby says nothing about what the caller wants.
    Err(Refusal::NotFound { id })
}

/// Finds the fact with this key: the reader's own before the project's. In the user's own memory,
/// finds the user's fact.
///
/// # Errors
/// Fails if there is no such fact; the refusal names the nearest keys.
pub fn find_fact<'a>(
    memory: &'a Memory,
    reader: &Reader,
    key: &str,
) -> Result<&'a Record, Refusal> {
    let key = key_line(key)?;
    let scopes = scopes(reader);
    for scope in &scopes {
        let fact = MergeKey::Fact(scope.clone(), key.as_str().into());
        if let Some(record) = memory.keyed(&fact).next() {
            return Ok(record);
        }
    }
    let keys = scopes.iter().flat_map(|scope| memory.facts(scope)).map(|(known, _)| known);
    let asked = key.to_lowercase();
    let asked_parts = parts(&asked);
    let mut near: Vec<(f64, &str)> = keys
        .filter_map(|known| Some((likeness(&asked, &asked_parts, &known.to_lowercase())?, known)))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.dedup_by_key(|(_, known)| *known);
    near.truncate(NEAREST_MAX);
    let nearest = near.into_iter().map(|(_, known)| known.to_owned()).collect();
    Err(Refusal::NoSuchKey { key, nearest })
}

/// Returns the forgotten facts that had this key, the one that had it last first.
pub fn former_facts(memory: &Memory, reader: &Reader, key: &str) -> Vec<RecordId> {
    let Ok(key) = key_line(key) else { return Vec::new() };
    let key: Arc<str> = key.into();
    let scopes = scopes(reader).into_iter();
    let keys: Vec<MergeKey> = scopes.map(|scope| MergeKey::Fact(scope, key.clone())).collect();
    let is_former = |record: &&Arc<Record>| {
        record.state == RecordState::Forgotten
            && reader.sees(record)
            && record.body.key().is_some_and(|key| keys.contains(&key))
    };
    let mut former: Vec<&Arc<Record>> = memory.records_of(Kind::Note).filter(is_former).collect();
    former.sort_by_key(|record| Reverse((record.revision, record.id)));
    former.into_iter().map(|record| record.id).collect()
}

/// Returns the scopes in which a reader's key may be, its own before the project's.
fn scopes(reader: &Reader) -> Vec<Scope> {
    let own = reader.own_sessions().map(|session| Scope::Session(session.clone()));
    own.chain([Scope::Project, Scope::User]).collect()
}

/// Returns the topic with this name.
///
/// # Errors
/// Fails if the name is not a valid topic name or there is no such topic. The refusal names the
/// existing topics, most recently written first.
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

/// The Jaro-Winkler similarity from which two whole keys count as alike. Any two keys of a dozen
/// letters reach 0.6.
const WHOLE_MIN: f64 = 0.85;
/// The share of common parts from which a key is worth naming; usually one part of three.
const PARTS_MIN: f64 = 0.3;
/// The length of a common beginning from which two parts count as half alike: `config`,
/// `configuration`.
const BEGINNING_BYTES: usize = 3;
const BEGINNING_WORTH: f64 = 0.5;

/// Returns the similarity of a known key to the requested one, from 0 to 1; `None` if it is too low
/// to help. Both keys are in lower case.
fn likeness(asked: &str, asked_parts: &[Part<'_>], known: &str) -> Option<f64> {
    let whole = Some(strsim::jaro_winkler(known, asked)).filter(|whole| *whole >= WHOLE_MIN);
    let known_parts = parts(known);
    let shared = shared(asked_parts, &known_parts) + shared(&known_parts, asked_parts);
    let shared = Some(shared / 2.0).filter(|share| *share >= PARTS_MIN);
    whole.into_iter().chain(shared).max_by(f64::total_cmp)
}

/// A part of a key and its weight.
type Part<'k> = (&'k str, f64);

/// Splits a key into parts: `database.port` has two. The last part says what it is, the others only
/// where, so the last weighs more.
fn parts(key: &str) -> Vec<Part<'_>> {
    let parts = key.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let mut parts: Vec<Part<'_>> = parts.map(|part| (part, 1.0)).collect();
    if let Some((_, weight)) = parts.last_mut() {
        *weight = 2.0;
    }
    parts
}

/// Returns the weighted share of a key's parts that another key has.
fn shared(of: &[Part<'_>], other: &[Part<'_>]) -> f64 {
    let worth = |part: &str| {
        let worths = other.iter().map(|(known, _)| alike(part, known));
        worths.max_by(f64::total_cmp).unwrap_or(0.0)
    };
    let had: f64 = of.iter().map(|(part, weight)| weight * worth(part)).sum();
    let all: f64 = of.iter().map(|(_, weight)| weight).sum();
    if all > 0.0 { had / all } else { 0.0 }
}

fn alike(one: &str, other: &str) -> f64 {
    let begins = one.starts_with(other) || other.starts_with(one);
    if one == other {
        1.0
    } else if begins && one.len().min(other.len()) >= BEGINNING_BYTES {
        BEGINNING_WORTH
    } else {
        0.0
    }
}

/// Refuses a record whose content has changed since the version that the caller expects.
pub(crate) fn at_version(
    record: &Arc<Record>,
    expected: Option<Version>,
    origin: &Provenance,
) -> Result<(), Refusal> {
    let same = record.content_version().version..=record.version;
    match expected.filter(|version| !same.contains(version)) {
        None => Ok(()),
        Some(expected) => Err(Refusal::Conflict {
            record: Some(record.id),
            expected: expected.0.into(),
            current: record.version.0.into(),
            changed: vec![Arc::clone(record)],
            time: origin.time,
        }),
    }
}

#[cfg(test)]
mod tests;
