//! A cache of words and their terms while documents are read. Texts repeat their words, so a lookup
//! saves stemming each one again.

use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::slots::narrow;
use super::words::{Term, term};
use crate::limits::SEARCH_LEXICON_WORDS_MAX;

/// Words as written, and numbered terms. Numbers are local to the lexicon: terms are numbered in
/// order of appearance.
#[derive(Default)]
pub(super) struct Lexicon {
    /// Words of up to [`SHORT`] bytes. Most words are that short, and packed they compare as one
    /// number.
    short: HashMap<u128, Met, FxBuildHasher>,
    long: HashMap<Box<str>, Met, FxBuildHasher>,
    /// The number of each term by its hash. Words with the same stem share a number.
    by_hash: HashMap<u64, u32, FxBuildHasher>,
    terms: Vec<HashedTerm>,
}

/// A known word.
#[derive(Clone, Copy)]
pub(super) struct Met {
    /// The number of its term.
    pub number: u32,
    /// Whether the word is a stop word. This belongs to the word and not to its term: `being` is a
    /// stop word, `beings` is not one, and both stem to `be`.
    pub stop: bool,
}

/// A term, with its hash stored beside it for fast access.
pub(super) struct HashedTerm {
    pub term: Rc<Term>,
    pub hash: u64,
}

/// The longest packed word in bytes. The last of sixteen bytes holds the length.
const SHORT: usize = 15;

impl Lexicon {
    /// Returns what is known of a word, and learns it if it is new.
    pub(super) fn word(&mut self, raw: &str) -> Met {
        let Some(packed) = pack(raw) else {
            return self.long.get(raw).copied().unwrap_or_else(|| {
                let met = self.learn(raw);
                self.long.insert(raw.into(), met);
                met
            });
        };
        self.short.get(&packed).copied().unwrap_or_else(|| {
            let met = self.learn(raw);
            self.short.insert(packed, met);
            met
        })
    }

    fn learn(&mut self, raw: &str) -> Met {
        let term = term(raw);
        let stop = term.stop;
        let number = *self.by_hash.entry(term.hash).or_insert_with(|| {
            let hash = term.hash;
            self.terms.push(HashedTerm { term, hash });
            narrow(self.terms.len() - 1)
        });
        Met { number, stop }
    }

    /// Returns all terms in the order of their numbers.
    pub(super) fn terms(&self) -> &[HashedTerm] {
        &self.terms
    }

    /// Starts over if the lexicon has grown large. By then most of its words are rare and will not
    /// recur.
    pub(super) fn tidy(&mut self) {
        if self.short.len() + self.long.len() > SEARCH_LEXICON_WORDS_MAX {
            *self = Self::default();
        }
    }
}

/// Packs a short word into a number that is unique to it. It loads whole integers: a byte-by-byte
/// copy must be written before it can be compared, and took longer than the comparison.
fn pack(raw: &str) -> Option<u128> {
    let bytes = raw.as_bytes();
    let length = u32::try_from(bytes.len()).ok()?;
    let (low, high) = match bytes.len() {
        8..=SHORT => {
            let last = u64::from_le_bytes(*bytes.last_chunk()?);
            let beyond = last.checked_shr(8 * (16 - length)).unwrap_or(0);
            (u64::from_le_bytes(*bytes.first_chunk()?), beyond)
        }
        // The two loads may overlap; the overlapping bytes are the same in both.
        4..8 => {
            let (first, last) = (*bytes.first_chunk()?, *bytes.last_chunk()?);
            let last = u64::from(u32::from_le_bytes(last)) << (8 * (length - 4));
            (u64::from(u32::from_le_bytes(first)) | last, 0)
        }
        0..4 => (bytes.iter().rev().fold(0, |low, byte| low << 8 | u64::from(*byte)), 0),
        _ => return None,
    };
    Some(u128::from(low) | u128::from(high | u64::from(length) << 56) << 64)
}

#[cfg(test)]
mod tests;
