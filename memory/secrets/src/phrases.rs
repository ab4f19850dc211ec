//! Seed phrases of wallets: 12 or more consecutive words from the BIP-39 list.
//!
//! Common words such as `the`, `and` and `to` are not in the list, so 12 in a row are not prose.
//! The checksum is not verified, since a miscopied phrase is a secret too.

use std::ops::Range;
use std::sync::LazyLock;

use bip39::Language;
use rustc_hash::FxHashSet;

use crate::limits::{SEED_GAP_BYTES_MAX, SEED_WORD_BYTES_MAX};

/// The number of words in the shortest phrase.
const WORDS_MIN: usize = 12;
/// The distance between probes. The shortest phrase has 47 bytes, and a word of it begins after one
/// of the probes.
const STRIDE: usize = 36;

/// The words by their first three letters, with one bit for each possible next letter. The first
/// four letters identify a word.
static BEGINNINGS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut beginnings = vec![0; 26 * 26 * 26];
    for word in Language::English.word_list() {
        let (place, bit) = beginning(word.as_bytes()).expect("each word has three letters");
        *beginnings.get_mut(place).expect("there is a place for all of three letters") |= bit;
    }
    beginnings
});

static WORDS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| Language::English.word_list().iter().copied().collect());

/// Finds the phrases. In other text it examines one word per [`STRIDE`] bytes.
pub(super) fn phrases(text: &str) -> Vec<Range<usize>> {
    let beginnings = &**BEGINNINGS;
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let words = word_behind(text, at, beginnings).map(|word| words_around(text, word));
        at += STRIDE;
        if let Some((range, count)) = words {
            at = at.max(range.end);
            let is_phrase = count >= WORDS_MIN && text.get(range.clone()).is_some_and(has_variety);
            found.extend(is_phrase.then_some(range));
        }
    }
    found
}

/// Returns the listed words around one of them, and their number.
fn words_around(text: &str, word: Range<usize>) -> (Range<usize>, usize) {
    let (mut range, mut words) = (word, 1);
    while let Some(next) = next(text, range.end) {
        range.end = next.end;
        words += 1;
    }
    while let Some(before) = before(text, range.start) {
        range.start = before.start;
        words += 1;
    }
    (range, words)
}

/// Whether the words vary, so that they are not one word repeated.
fn has_variety(phrase: &str) -> bool {
    let words = phrase.split(|c: char| !c.is_ascii_lowercase());
    words.collect::<FxHashSet<&str>>().len() > WORDS_MIN / 2
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_lowercase()
}

/// Returns the first word that begins after `at`, if it is in the list.
fn word_behind(text: &str, at: usize, beginnings: &[u32]) -> Option<Range<usize>> {
    // In ASCII, letters have this bit and the characters between words do not. It tests eight bytes
    // at once.
    const LETTERS: u64 = 0x4040_4040_4040_4040;
    let bytes = text.as_bytes();
    let eight = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let first = |bits: u64| (bits.trailing_zeros() / 8) as usize;
    let gap = at + first(!eight(at)? & LETTERS);
    let start = gap + first(eight(gap)? & LETTERS);
    let (place, bit) = beginning(bytes.get(start..)?)?;
    (start > gap && beginnings.get(place)? & bit != 0).then(|| word_at(text, start))?
}

fn word_at(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.as_bytes().get(start..)?;
    let length =
        rest.iter().take(SEED_WORD_BYTES_MAX + 1).take_while(|byte| is_letter(**byte)).count();
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_word = !rest.get(length).is_some_and(goes_on);
    let word = text.get(start..start + length)?;
    (is_word && WORDS.contains(word)).then(|| start..start + length)
}

/// Returns an index for the first three letters of a word, and the bit of the next.
fn beginning(word: &[u8]) -> Option<(usize, u32)> {
    let letter = |byte: u8| byte.wrapping_sub(b'a');
    let [first, second, third] = word.first_chunk()?.map(|byte| usize::from(letter(byte)));
    let fourth = word.get(3).map_or(26, |byte| letter(*byte).min(26));
    let place = (first * 26 + second) * 26 + third;
    (first < 26 && second < 26 && third < 26).then_some((place, 1 << fourth))
}

/// Whether the text may separate two words: spaces, line breaks, commas, a number.
fn is_gap(gap: &[u8]) -> bool {
    let between = |byte: &u8| {
        byte.is_ascii_whitespace() || byte.is_ascii_digit() || b",.;:-)|".contains(byte)
    };
    !gap.is_empty() && gap.len() <= SEED_GAP_BYTES_MAX && gap.iter().all(between) && gap != b"-"
}

fn next(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = text.as_bytes().get(end..)?;
    let gap = rest.iter().take(SEED_GAP_BYTES_MAX + 1).position(|byte| is_letter(*byte))?;
    is_gap(rest.get(..gap)?).then(|| word_at(text, end + gap)).flatten()
}

fn before(text: &str, start: usize) -> Option<Range<usize>> {
    let front = text.as_bytes().get(..start)?;
    let gap = front.iter().rev().take(SEED_GAP_BYTES_MAX + 1).position(|byte| is_letter(*byte))?;
    let end = start - gap;
    let word = front.get(..end)?.iter().rev().take(SEED_WORD_BYTES_MAX + 1);
    let begin = end - word.take_while(|byte| is_letter(**byte)).count();
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_cut = begin.checked_sub(1).and_then(|at| front.get(at)).is_some_and(goes_on);
    (is_gap(front.get(end..)?) && !is_cut).then(|| word_at(text, begin)).flatten()
}
