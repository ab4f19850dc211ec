//! What memory has that is about a prompt so well that it is worth saying unasked.
//!
//! Nobody asked, so nothing is better than noise. A prompt is read clause by clause, since people wrap what they want in
//! what they say besides; of one clause a record must have at least half, by the rarity of its words, and as much as two
//! words that no other record has. How often that speaks, rightly and wrongly, is measured: `docs/retrieval.md`.

use std::collections::BTreeSet;

use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{ABOUT_CLAUSES_MAX, ABOUT_WORDS_MIN, QUERY_CHARS_MAX};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::search::{Find, Query, Tuning};

/// Of a clause's words, by their rarity, a record has at least this share.
const SHARE_MIN: f32 = 0.5;
/// And they weigh at least this much, where a word that no record has weighs one.
const WEIGHT_MIN: f32 = 2.0;
/// Hits of each clause that are looked at.
const LOOKED_AT: usize = 10;

/// Who asks what.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Who reads.
    pub reader: &'a Reader,
    /// What a person wrote.
    pub prompt: &'a str,
    /// Records that were shown before.
    pub shown: &'a BTreeSet<RecordId>,
    /// Tells what has expired.
    pub now: Timestamp,
    /// At most so many.
    pub limit: usize,
}

/// The active records that are about a prompt, the best first; mostly none. Rows made by rule are none of them: they
/// quote prompts.
pub fn about(memory: &Memory, of: &About<'_>) -> Vec<RecordId> {
    let keep = |id: RecordId| {
        let record = memory.record(id)?;
        let fits = record.standing.is_active()
            && of.reader.sees(record)
            && !of.shown.contains(&id)
            && !(record.kind() == Kind::SessionRow && record.is_captured())
            && !record.note().is_some_and(|note| note.is_expired(of.now));
        fits.then_some(1.0)
    };
    let mut found: Vec<(RecordId, f32)> = Vec::new();
    for clause in clauses(of.prompt).take(ABOUT_CLAUSES_MAX) {
        let query = Query::told(clause);
        let find = Find {
            query: &query,
            tuning: &Tuning::default(),
            keep: &keep,
            limit: LOOKED_AT,
            explain: true,
        };
        for cover in memory.search().cover(&find) {
            let enough = cover.share >= SHARE_MIN && cover.weight >= WEIGHT_MIN;
            if enough && !found.iter().any(|(id, _)| *id == cover.id) {
                found.push((cover.id, cover.share * cover.weight));
            }
        }
    }
    // Stable: of equals the one that was found first, which is the better hit of the earlier clause.
    found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    found.into_iter().map(|(id, _)| id).take(of.limit).collect()
}

/// The parts of a prompt that say one thing each: what ends with a sentence's sign and white space, or with the line.
fn clauses(prompt: &str) -> impl Iterator<Item = &str> {
    let read = prompt.char_indices().nth(QUERY_CHARS_MAX).map_or(prompt.len(), |(end, _)| end);
    let sentences = prompt.get(..read).unwrap_or_default().lines().flat_map(|line| {
        let mut after_sign = false;
        line.split(move |c: char| {
            let ends = after_sign && c.is_whitespace();
            after_sign = matches!(c, '.' | '?' | '!' | ';' | ':' | '。' | '？' | '！');
            ends
        })
    });
    // A script without spaces has its words elsewhere.
    let long =
        |clause: &&str| clause.split_whitespace().count() >= ABOUT_WORDS_MIN || !clause.is_ascii();
    sentences.map(str::trim).filter(long)
}

#[cfg(test)]
mod tests;
