//! The order in which a load wants the records of a kind: by the task, then by their worth.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::LoadView;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{IMPORTANT_MIN, PROJECT_HALF_LIFE_FACTOR, RELEVANT_MAX};
use crate::memory::Memory;
use crate::record::{Body, Record};
use crate::retention::{Accesses, RetentionParts};
use crate::search::{Find, Query, Tuning};

/// Scores how much each record is about the task, in thousandths. Records that do not match are
/// absent.
pub(super) fn relevance(memory: &Memory, view: &LoadView<'_>) -> BTreeMap<RecordId, i64> {
    let query = Query::plain(view.task.unwrap_or_default());
    if query.is_empty() {
        return BTreeMap::new();
    }
    let keep = |id: RecordId| {
        let record = memory.record(id)?;
        (record.state.is_active() && view.reader.sees(record)).then_some(1.0)
    };
    let (tuning, limit) = (&Tuning::default(), RELEVANT_MAX);
    let found =
        memory.search().find(&Find { query: &query, tuning, keep: &keep, limit, explain: false });
    #[expect(clippy::cast_possible_truncation, reason = "scores are far below that")]
    found.hits.iter().map(|hit| (hit.id, (hit.score * 1_000.0) as i64)).collect()
}

/// Scores how much a record is worth keeping, in millionths, as of the last write, `at`.
fn worth(record: &Record, at: Timestamp) -> i64 {
    let parts = RetentionParts::of(record, &Accesses::default(), at, PROJECT_HALF_LIFE_FACTOR);
    #[expect(clippy::cast_possible_truncation, reason = "scores are below two")]
    let worth = (parts.score() * 1_000_000.0) as i64;
    worth
}

/// The length in bytes above which a text comes after shorter ones, so that it does not keep all of
/// them out.
const LONG_BYTES: usize = 1_600;

/// Returns a sort key, the most wanted first, for records of one kind that are equally relevant to
/// the task. Long texts, and lessons and topics made by rule, come last. Facts and important notes
/// come before other notes, then notes are ordered by worth. Records of other kinds come newest
/// first: what was done last matters, also where a rule wrote the session's row.
pub(super) fn want(record: &Record, at: Timestamp) -> (bool, bool, bool, Reverse<i64>) {
    let bytes = match &record.body {
        Body::Blueprint(blueprint) => blueprint.content.len(),
        Body::Note(note) if note.summary.is_empty() => note.content.len(),
        _ => 0,
    };
    let worth = match &record.body {
        Body::Note(_) if !record.pinned => worth(record, at),
        Body::SessionRow(row) => row.ended.0,
        _ => record.updated.time.0,
    };
    let minor =
        record.note().is_some_and(|note| note.key.is_none() && note.importance < IMPORTANT_MIN);
    let by_rule = record.is_by_rule() && record.kind() != Kind::SessionRow;
    (bytes > LONG_BYTES, by_rule, minor, Reverse(worth))
}

/// Sorts records by a key. The texts of equal ones decide, so the order of storing does not; other
/// texts are not read.
pub(super) fn sort<K: Ord>(records: &mut Vec<&Record>, key: impl Fn(&Record) -> K) {
    let mut keyed: Vec<(K, &Record)> =
        records.iter().map(|record| (key(record), *record)).collect();
    keyed.sort_by(|one, other| one.0.cmp(&other.0));
    for equal in keyed.chunk_by_mut(|one, other| one.0 == other.0).filter(|run| run.len() > 1) {
        equal.sort_by_cached_key(|(_, record)| record.body.fields().order());
    }
    records.clear();
    records.extend(keyed.into_iter().map(|(_, record)| record));
}
