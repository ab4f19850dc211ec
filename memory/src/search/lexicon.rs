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

/// The last byte of sixteen is the length.
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

/// A short word as a number, different for each.
fn pack(raw: &str) -> Option<u128> {
    let mut bytes = [0; SHORT + 1];
    let (length, text) = bytes.split_last_mut()?;
    text.get_mut(..raw.len())?.copy_from_slice(raw.as_bytes());
    *length = u8::try_from(raw.len()).ok()?;
    Some(u128::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests;
