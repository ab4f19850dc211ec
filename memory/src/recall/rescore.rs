//! Re-ranks the best hits of a search, by whether the query names a record and by the record's
//! importance.
//!
//! To BM25, a key of two words is two words among many, so a fact would lose to long texts that
//! repeat one of them. A hit gains
//!
//! ```text
//! prior × best × (NAMED × √(said × covered) + FACT × said + EXACT × exact)
//!     + own × (IMPORTANT × importance + PINNED × pinned)
//! ```
//!
//! - `best` is the highest score before, `own` the hit's own, `prior` the factor from the record's
//!   retention.
//!
//! - `said` is the share of the record's title or key that the query contains.
//!
//! - `covered` is the share of the query that the title or key contains. Both shares are weighted
//!   by the rarity of the words and know synonyms. If either is 0, both count as 0.
//!
//! - `FACT` counts only for notes with a key, and `exact` is 1 if the query is the key.
//!
//! - `importance` is 0 for a note's default importance, and at most 1.
//!
//! Only low importance lowers a score. `docs/retrieval.md` says how the constants were chosen.

use super::naming::{Naming, title};
use super::{common_words, synonyms};
use crate::limits::{IMPORTANCE, IMPORTANCE_MAX};
use crate::memory::Memory;
use crate::record::Record;
use crate::search::{Bonus, Hit, Query, Terms};

/// The gain, relative to the best score, of a record whose title the query names in full and
/// nothing else.
const NAMED: f32 = 0.5;
/// The gain, relative to the best score, of a fact whose whole key the query contains.
const FACT: f32 = 0.6;
/// The gain, relative to the best score, of the fact whose key is the query.
const EXACT: f32 = 1.0;
/// The gain, relative to a hit's own score, of the highest importance.
const IMPORTANT: f32 = 0.1;
/// The gain, relative to a hit's own score, of a pinned record.
const PINNED: f32 = 0.1;

/// Adds to each hit's score what it gains and sorts the hits, best first, ties by id. `text` is the
/// query as written.
pub(super) fn rescore(memory: &Memory, query: &Query, text: &str, hits: &mut [Hit]) {
    if hits.is_empty() {
        return;
    }
    let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
    let asked = WeightedQuery::of(memory, query, text);
    for hit in &mut *hits {
        let Some(record) = memory.record(hit.id) else { continue };
        let highest = best * hit.prior;
        let named = highest * asked.names(memory, record);
        let exact = if asked.is_key_of(record) { highest * EXACT } else { 0.0 };
        let important = hit.score * IMPORTANT * importance(record);
        let pinned = if record.pinned { hit.score * PINNED } else { 0.0 };
        let gains =
            [("named", named), ("key", exact), ("importance", important), ("pinned", pinned)];
        for (reason, score) in gains.into_iter().filter(|(_, score)| *score != 0.0) {
            hit.score += score;
            hit.gains.push(Bonus { reason, score });
        }
    }
    hits.sort_by(|one, other| {
        other.score.total_cmp(&one.score).then_with(|| one.id.cmp(&other.id))
    });
}

/// A query, and the weight of each of its words.
struct WeightedQuery<'a> {
    /// The query as written, without surrounding quotes.
    text: &'a str,
    naming: Naming<'a>,
    /// The query's own words, then their replacements.
    query: Query,
    words: Vec<Word>,
    /// The sum of the words' weights.
    weight: f32,
}

/// A word of the query.
struct Word {
    weight: f32,
    /// The query's terms that replace it.
    stand_ins: Terms,
}

impl<'a> WeightedQuery<'a> {
    fn of(memory: &Memory, own: &Query, text: &'a str) -> Self {
        let asked: Vec<(String, String)> =
            own.asked().map(|word| (word.to_owned(), synonyms::key_words(word))).collect();
        let rarities = memory.search().rarities(own);
        let all: Vec<&str> = asked.iter().map(|(_, stand_ins)| stand_ins.as_str()).collect();
        let query = own.clone().with(&all.join(" "));
        let word = |((word, stand_ins), rarity): (&(String, String), f32)| Word {
            weight: common_words::weight(word, rarity),
            stand_ins: query.terms_in(stand_ins),
        };
        let words: Vec<Word> = asked.iter().zip(rarities).map(word).collect();
        let weight = words.iter().map(|word| word.weight).sum();
        let unquoted = text.trim().trim_matches(['"', '“', '”']);
        Self { text: unquoted, naming: Naming::new(text), query, words, weight }
    }

    /// Returns the share of the query that a title or key has, from 0 to 1.
    fn share_covered(&self, title: &str) -> f32 {
        let terms = self.query.terms_in(title);
        let of = |(at, word): (usize, &Word)| {
            let has = terms.has(at) || terms.and(word.stand_ins).count() > 0;
            if has { word.weight } else { 0.0 }
        };
        let covered: f32 = self.words.iter().enumerate().map(of).sum();
        if self.weight > 0.0 { covered / self.weight } else { 0.0 }
    }

    /// Returns how surely the query names a record, as a share of the best score.
    fn names(&self, memory: &Memory, record: &Record) -> f32 {
        let title = title(record);
        let covered = self.share_covered(&title);
        if covered <= 0.0 {
            return 0.0;
        }
        let named = self.naming.share_of(memory, record, &title);
        let is_fact = record.note().is_some_and(|note| note.key.is_some());
        NAMED * (named * covered).sqrt() + if is_fact { FACT * named } else { 0.0 }
    }

    fn is_key_of(&self, record: &Record) -> bool {
        let key = record.note().and_then(|note| note.key.as_deref());
        key.is_some_and(|key| key.eq_ignore_ascii_case(self.text))
    }
}

/// Returns a note's importance, from below 0 to 1; that of other kinds is 0.
fn importance(record: &Record) -> f32 {
    let importance = record.note().map_or(IMPORTANCE, |note| note.importance);
    (f32::from(importance) - f32::from(IMPORTANCE)) / f32::from(IMPORTANCE_MAX - IMPORTANCE)
}

#[cfg(test)]
mod tests;
