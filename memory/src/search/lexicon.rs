//! The words that were met while documents are read, each with its term: found by one look instead of being cut to its
//! stem again, since texts repeat their words.

use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::segment::narrow;
use super::words::{Term, term};
use crate::limits::SEARCH_LEXICON_WORDS_MAX;

/// Words as they are written, and terms by numbers. Numbers mean nothing outside: they count in the order in which terms
/// were met.
#[derive(Default)]
pub(super) struct Lexicon {
    /// By words of up to [`SHORT`] bytes: most are, and compare as one number.
    short: HashMap<u128, Met, FxBuildHasher>,
    long: HashMap<Box<str>, Met, FxBuildHasher>,
    /// Words with the same stem have the same number.
    by_hash: HashMap<u64, u32, FxBuildHasher>,
    terms: Vec<Known>,
}

/// What is known of a word.
#[derive(Clone, Copy)]
pub(super) struct Met {
    /// Its term.
    pub number: u32,
    /// Not the term's: `being` is a stop word and `beings` is none, though both are cut to `be`.
    pub stop: bool,
}

/// A term, with what is asked of it for each word beside it.
pub(super) struct Known {
    pub term: Rc<Term>,
    pub hash: u64,
}

/// Of sixteen bytes the last is the length.
const SHORT: usize = 15;

impl Lexicon {
    /// What a word is.
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
            self.terms.push(Known { term, hash });
            narrow(self.terms.len() - 1)
        });
        Met { number, stop }
    }

    /// All terms, by their numbers.
    pub(super) fn terms(&self) -> &[Known] {
        &self.terms
    }

    /// Begins anew when it has become large: then most of its words are rare, and not met again.
    pub(super) fn tidy(&mut self) {
        if self.short.len() + self.long.len() > SEARCH_LEXICON_WORDS_MAX {
            *self = Self::default();
        }
    }
}

/// A short word as a number, different for each. Loaded whole: what is copied byte by byte has to be written before it can be
/// compared, which took longer than the comparison.
fn pack(raw: &str) -> Option<u128> {
    let bytes = raw.as_bytes();
    let length = u32::try_from(bytes.len()).ok()?;
    let (low, high) = match bytes.len() {
        8..=SHORT => {
            let last = u64::from_le_bytes(*bytes.last_chunk()?);
            let beyond = last.checked_shr(8 * (16 - length)).unwrap_or(0);
            (u64::from_le_bytes(*bytes.first_chunk()?), beyond)
        }
        // Bytes that stand in both are the same in both.
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
