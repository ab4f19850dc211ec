//! The indexed terms nearest to the query's, for a query that finds nothing. Also the terms that
//! begin like a query's, for a query in another language than the records: languages share such
//! words.

use std::collections::HashMap;

use super::query::Query;
use super::words::{self, hash};
use super::{Document, DocumentId, SearchIndex};
use crate::limits::{CORRECTED_TERMS_MAX, SEARCH_TERM_BYTES_MAX};

/// Replaces each term that no document has by the nearest one that some have. Returns the new query
/// and the replacements, or `None` if nothing is near or the query is literal. Documents that the
/// filter rejects do not count, so their words never leak.
pub(super) fn correct<I: DocumentId>(
    index: &SearchIndex<I>,
    query: &Query,
    keep: &dyn Fn(I) -> Option<f32>,
) -> Option<(Query, Vec<(String, String)>)> {
    if query.literal {
        return None;
    }
    let having = |hash: u64, most: usize| {
        index.having(hash).filter(|id| keep(*id).is_some()).take(most).count()
    };
    let unknown: Vec<_> = query
        .wanted
        .iter()
        .filter(|wanted| wanted.atom && having(wanted.hash, 1) == 0)
        .take(CORRECTED_TERMS_MAX)
        .map(|wanted| TypedWord::new(wanted.hash, &wanted.asked, &wanted.term))
        .collect();
    if unknown.is_empty() {
        return None;
    }
    // A slip may be a character of four bytes.
    let shortest = unknown.iter().map(|asked| asked.stem.len()).min().unwrap_or(0);
    let longest = unknown.iter().map(|asked| asked.stem.len()).max().unwrap_or(0);
    let bytes = shortest.saturating_sub(4 * SLIPS)..longest + 4 * SLIPS + 1;
    // Ranked by distance, then by number of documents, then by text. The order of segments has no
    // influence.
    let mut near: Vec<HashMap<&str, usize>> = vec![HashMap::new(); unknown.len()];
    for shelf in &index.shelves {
        for text in shelf.segment.texts(bytes.clone()) {
            let letters = letters(text);
            for (asked, near) in unknown.iter().zip(&mut near) {
                if let Some(distance) = asked.distance(text, letters) {
                    near.insert(text, distance);
                }
            }
        }
    }
    let mut corrected = query.clone();
    let mut said = Vec::new();
    for (asked, near) in unknown.iter().zip(near) {
        let live = near.into_iter().filter_map(|(text, distance)| {
            let documents = having(hash(text), DOCUMENTS);
            (documents > 0).then_some((distance, std::cmp::Reverse(documents), text))
        });
        if let Some((_, _, text)) = live.min() {
            corrected = corrected.corrected(asked.hash, text, hash(text));
            said.push((asked.word.to_owned(), text.to_owned()));
        }
    }
    (!said.is_empty()).then_some((corrected, said))
}

/// The least number of leading letters that kin words share: `paginación`, `pagination`.
const KIN_LETTERS: usize = 6;
/// The maximum number of kin per word. Those with the longest common beginning come first, then
/// those in most documents.
const KIN: usize = 3;

impl<I: DocumentId> SearchIndex<I> {
    /// Returns, as one text, the indexed terms that begin like the words of a query, without those
    /// words.
    pub fn kin(&self, query: &Query) -> String {
        let words = query.wanted.iter().filter(|wanted| wanted.atom);
        let words: Vec<&str> =
            words.map(|wanted| &*wanted.term).filter(|term| term.len() >= KIN_LETTERS).collect();
        let mut near: Vec<HashMap<&str, usize>> = vec![HashMap::new(); words.len()];
        for shelf in &self.shelves {
            for text in shelf.segment.texts(KIN_LETTERS..SEARCH_TERM_BYTES_MAX + 1) {
                for (word, near) in words.iter().zip(&mut near) {
                    let alike = word.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
                    if alike >= KIN_LETTERS && alike + 4 >= word.len().max(text.len()) {
                        near.insert(text, alike);
                    }
                }
            }
        }
        let mut kin: Vec<&str> = Vec::new();
        for (word, near) in words.iter().zip(near) {
            let mut near: Vec<_> = near
                .into_iter()
                .filter(|(text, _)| text != word)
                .map(|(text, alike)| {
                    let documents = self.frequency(hash(text)).documents;
                    (std::cmp::Reverse(alike), std::cmp::Reverse(documents), text)
                })
                .collect();
            near.sort_unstable();
            kin.extend(near.into_iter().map(|(.., text)| text).take(KIN));
        }
        kin.join(" ")
    }
}

/// Returns a stemmed term as a document first writes it, in lower case.
pub fn as_written<I>(document: &Document<'_, I>, term: &str) -> Option<String> {
    let mut written = None;
    for text in document.texts.iter().chain(&document.tags).chain(&document.files) {
        words::words(text, 0, &mut |word| {
            if written.is_none() && *words::term(word.raw).text == *term {
                written = Some(word.raw.to_lowercase());
            }
        });
    }
    written
}

/// The number of documents beyond which a word becomes no better a guess.
const DOCUMENTS: usize = 1_000;

/// The maximum number of slips between a word and the intended one.
const SLIPS: usize = 2;

struct TypedWord<'q> {
    hash: u64,
    word: &'q str,
    stem: &'q str,
    chars: usize,
    letters: u32,
    distance_max: usize,
}

impl<'q> TypedWord<'q> {
    fn new(hash: u64, word: &'q str, stem: &'q str) -> Self {
        let chars = stem.chars().count();
        // One slip in a short word, two in a long one. In a very short one, every word is near
        // every other.
        let distance_max = match chars {
            0..=3 => 0,
            4..=7 => 1,
            _ => SLIPS,
        };
        Self { hash, word, stem, chars, letters: letters(stem), distance_max }
    }

    /// Returns the distance of a term from the query's word, if it is near.
    fn distance(&self, text: &str, letters: u32) -> Option<usize> {
        // Each slip adds at most one letter and removes one. Counting letters is cheap, distances
        // are not.
        let (missing, added) = (self.letters & !letters, letters & !self.letters);
        let far = missing.count_ones().max(added.count_ones()) as usize > self.distance_max;
        if far || text.len().abs_diff(self.stem.len()) > self.distance_max * 4 {
            return None;
        }
        if text.chars().count().abs_diff(self.chars) > self.distance_max {
            return None;
        }
        Some(strsim::osa_distance(self.stem, text))
            .filter(|distance| *distance <= self.distance_max)
    }
}

/// Returns one bit per letter that occurs in a text; other characters share the remaining bits.
fn letters(text: &str) -> u32 {
    text.chars().fold(0, |bits, c| {
        let bit = match c {
            'a'..='z' => u32::from(c) - u32::from('a'),
            _ => 26 + u32::from(c) % 6,
        };
        bits | 1 << bit
    })
}
