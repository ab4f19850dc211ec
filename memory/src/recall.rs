//! Recall: finds, filters and ranks the records for a reader's query, over every kind at once.

mod common_words;
mod failure;
mod file;
mod naming;
mod personal;
mod prompt;
mod rescore;
mod resuming;
mod synonyms;

use std::cmp::Reverse;

use crate::files::normalise;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{FOUND_COUNTED_MAX, HITS_BESIDE_MAX, HITS_FEW};
use crate::memory::{Memory, document};
use crate::reader::Reader;
use crate::record::{Record, RecordState};
use crate::search::{Find, Hit, Query, Tuning, as_written};
pub use failure::{FailureView, remedies};
pub use file::{FileQuery, about_file};
pub use prompt::{Candidate, Evidence, PromptChoice, PromptQuery, for_prompt};
use rescore::rescore;

/// A recall request. An empty filter lets everything through.
#[derive(Clone, Copy)]
pub struct Recall<'a> {
    /// The reader; records that it may not see are left out.
    pub reader: &'a Reader,
    /// Words, a `"phrase"` and `-words`. If blank, the records that pass the filters are ranked by
    /// retention alone.
    pub query: &'a str,
    /// Only these kinds.
    pub kinds: &'a [Kind],
    /// Only records with all of these tags.
    pub tags: &'a [String],
    /// Whether one of the tags suffices.
    pub any_tag: bool,
    /// Only the reader's own notes (`true`) or only the project's (`false`).
    pub own: Option<bool>,
    /// Only records that concern this file or one beneath this directory, or whose text names it.
    /// The path is relative to the project's root; the root itself matches all files.
    pub file: Option<&'a str>,
    /// Only records written at or after this time.
    pub since: Option<Timestamp>,
    /// Only records written before this time.
    pub until: Option<Timestamp>,
    /// The maximum number of hits.
    pub limit: usize,
    /// The ranking constants.
    pub tuning: &'a Tuning,
    /// The factor of a record's retention on its score, in (0, 1].
    pub prior: &'a dyn Fn(&Record) -> f32,
    /// Whether to report what each word contributed to each hit.
    pub explain: bool,
}

impl<'a> Recall<'a> {
    /// Creates a request over everything that the reader may see, regardless of retention.
    pub fn new(reader: &'a Reader, query: &'a str, limit: usize, tuning: &'a Tuning) -> Self {
        Self {
            reader,
            query,
            kinds: &[],
            tags: &[],
            any_tag: false,
            own: None,
            file: None,
            since: None,
            until: None,
            limit,
            tuning,
            prior: &|_| 1.0,
            explain: false,
        }
    }
}

/// The result of a recall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Words that no record has, each with the word searched instead, spelled as in the best hit
    /// that has it.
    pub corrected: Vec<(String, String)>,
    /// Whether the query's hard constraints matched nothing, so that its words alone were searched.
    pub relaxed: bool,
    /// The number of records that have a word of the query, including the hits. Counting stops at
    /// the requested hits plus [`FOUND_COUNTED_MAX`].
    pub matching: usize,
    /// Whether there are more than were counted.
    pub more: bool,
}

/// Finds the best records for a query, the best first, ties by id. A hard constraint that leaves no
/// record is dropped: then only the query's words are searched.
pub fn recall(memory: &Memory, of: &Recall<'_>) -> Recalled {
    if of.tuning.strict {
        return recall_by(memory, of, &Query::strict(of.query));
    }
    let query = Query::parse(of.query);
    let found = recall_by(memory, of, &query);
    if !found.hits.is_empty() || !query.is_constrained() {
        return found;
    }
    let found = recall_by(memory, of, &Query::plain(of.query));
    Recalled { relaxed: !found.hits.is_empty(), ..found }
}

fn recall_by(memory: &Memory, of: &Recall<'_>, query: &Query) -> Recalled {
    if of.query.trim().is_empty() {
        let (hits, matching) = by_retention(memory, of);
        return Recalled { hits, matching, ..Recalled::default() };
    }
    if query.is_empty() {
        // Only punctuation or only unwanted words, so nothing can be found.
        return Recalled::default();
    }
    let file = of.file.map(normalise).filter(|file| !file.is_empty());
    let keep = |id: RecordId| {
        let record = memory.record(id)?;
        passes(record, of, file.as_deref()).then(|| (of.prior)(record))
    };
    let Recall { tuning, limit, explain, .. } = *of;
    // Each page re-ranks the same hits: a fixed number of those that have words of the query. Hits
    // without any among them do not count.
    let rescored_max = tuning.rescored_hits;
    let spare = if rescored_max > 0 { tuning.neighbour_hits } else { 0 };
    let find_max = limit.max(rescored_max).saturating_add(spare);
    let find = Find { query, tuning, keep: &keep, limit: find_max, explain };
    let mut found = memory.search().find(&find);
    let is_whole = found.hits.len() < find_max;
    let (mut hits, neighbours): (Vec<Hit>, Vec<Hit>) =
        std::mem::take(&mut found.hits).into_iter().partition(|hit| hit.neighbour_of.is_none());
    let rescored = hits.len().min(rescored_max);
    rescore(memory, query, of.query, hits.get_mut(..rescored).unwrap_or_default());
    let having = hits.len();
    if is_whole && having < HITS_FEW {
        hits.extend(neighbours.into_iter().take(HITS_BESIDE_MAX));
    }
    hits.truncate(limit);
    let counted_max = limit.saturating_add(FOUND_COUNTED_MAX);
    let matching = if is_whole {
        having
    } else {
        let passes = |id: RecordId| passes(memory.record(id)?, of, file.as_deref()).then_some(1.0);
        memory.search().count(&Find { keep: &passes, ..find }, counted_max + 1)
    };
    let written = |(asked, term): (String, String)| {
        let hits = hits.iter().filter_map(|hit| memory.record(hit.id));
        let written =
            hits.filter_map(|record| document(record)).find_map(|it| as_written(&it, &term));
        (asked, written.unwrap_or(term))
    };
    let corrected = found.corrected.into_iter().map(written).collect();
    let more = matching > counted_max;
    Recalled { hits, corrected, relaxed: false, matching: matching.min(counted_max), more }
}

/// Returns the records that pass the filters, most worth keeping first.
fn by_retention(memory: &Memory, of: &Recall<'_>) -> (Vec<Hit>, usize) {
    let file = of.file.map(normalise).filter(|file| !file.is_empty());
    let mut found: Vec<(f32, &Record)> = memory
        .records()
        .map(|record| &**record)
        .filter(|record| passes(record, of, file.as_deref()))
        .map(|record| ((of.prior)(record), record))
        .collect();
    found.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then_with(|| Reverse(one.id.number).cmp(&Reverse(other.id.number)))
    });
    let matching = found.len();
    found.truncate(of.limit);
    let hit = |(prior, record): (f32, &Record)| Hit::certain(record.id, prior);
    (found.into_iter().map(hit).collect(), matching)
}

fn has_tags(record: &Record, of: &Recall<'_>) -> bool {
    let mut tags = of.tags.iter();
    let has = |tag: &String| record.tags.contains(tag);
    if of.any_tag { of.tags.is_empty() || tags.any(has) } else { tags.all(has) }
}

fn passes(record: &Record, of: &Recall<'_>, file: Option<&str>) -> bool {
    let time = record.updated.time;
    record.state != RecordState::Forgotten
        && of.reader.sees(record)
        && (of.kinds.is_empty() || of.kinds.contains(&record.kind()))
        && has_tags(record, of)
        && of.own.is_none_or(|own| own == record.owner().is_some())
        && file.is_none_or(|file| record.body.fields().concerns(file))
        && of.since.is_none_or(|since| time >= since)
        && of.until.is_none_or(|until| time < until)
}

#[cfg(test)]
mod tests;
