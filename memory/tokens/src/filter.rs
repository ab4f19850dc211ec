//! The `o200k` vocabulary as a filter of 256 KiB. It tells which byte sequences are tokens, with
//! about one false positive in a hundred.
//!
//! It is a blocked Bloom filter (Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom
//! Filters", 2007). A token sets [`BITS`] bits of one word, so a lookup reads memory once.
//!
//! After the filter comes a list of the tokens that are long runs of signs or blanks, as 64-bit
//! hashes. It has no false positives.

use std::collections::BTreeSet;
use std::iter;

/// The filter, made by [`build`] from the 199,998 tokens in openai/tiktoken (MIT). docs/tokens.md
/// has the command.
pub(super) static FILTER: &[u8] = include_bytes!("o200k.filter");

/// The base-2 logarithm of the filter's size in words; the top bits of a hash choose a word.
const WORDS_LOG2: u32 = 15;
/// The number of bits that a token sets.
const BITS: u32 = 5;

/// The longest token tried in a run of signs or blanks, where long ones are rulers and indentation.
const SIGNS: usize = 128;
/// The length above which tokens of signs or blanks are listed one by one. Many lengths are tried
/// at each position of a ruler, so one false positive in a hundred would affect most rulers.
/// Doubling this value a few times gives [`SIGNS`].
const LISTED: usize = 4;
/// The longest token tried where a Latin word is cut. Longer ones are rare, and each lookup risks a
/// false positive.
const WORD: usize = 16;
/// The longest token tried in scripts of two bytes per letter, and in Hangul.
const SCRIPT: usize = 12;
/// The longest token tried in Han and kana: three characters.
const HAN: usize = 9;

/// Counts the tokens of a piece: the first `len` of `bytes`. The bytes after it allow fast reads.
#[inline]
pub(super) fn tokens_of(bytes: &[u8], len: usize) -> usize {
    if len == 1 {
        return 1;
    }
    let longest = longest(bytes);
    // Words with a leading blank or sign, the most common pieces of any text. A sentence in Han is
    // never a token.
    if len <= SIGNS && longest > HAN && is_token(bytes, len, longest) {
        return 1;
    }
    cut(bytes, len)
}

/// Returns the longest token length to try at the front, judging by the first two bytes.
#[inline]
fn longest(bytes: &[u8]) -> usize {
    let [first, second] = bytes.first_chunk().copied().unwrap_or_default();
    match first.max(second) {
        // Boxes, dashes, quotation marks and arrows.
        0xe2 => SIGNS,
        0xe3..=0xe9 => HAN,
        0x80.. => SCRIPT,
        _ if first.is_ascii_alphanumeric() || second.is_ascii_alphanumeric() => WORD,
        _ => SIGNS,
    }
}

/// Counts tokens by cutting the longest one off the front until nothing is left.
fn cut(bytes: &[u8], len: usize) -> usize {
    let mut rest = bytes;
    let mut left = len;
    let mut tokens = 0;
    while left > 0 {
        let longest = longest(rest);
        let end = left.min(if longest == SIGNS { signs(rest, left) } else { longest });
        let token = (2..=end)
            .rev()
            .find(|end| (*end < 4 || is_boundary(rest, *end)) && is_token(rest, *end, longest))
            .unwrap_or(1);
        rest = rest.get(token..).unwrap_or_default();
        left -= token;
        tokens += 1;
    }
    tokens
}

/// Returns the longest token length to try in signs or blanks, with `left` bytes left. Most runs do
/// not begin like any token of twice the length.
fn signs(bytes: &[u8], left: usize) -> usize {
    let mut end = LISTED;
    while end < left.min(SIGNS) && is_in_list(beginning(bytes, end)) {
        end *= 2;
    }
    end
}

/// Whether a character begins here.
fn is_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}

/// Hashes the first `len` bytes.
#[inline]
fn hash(bytes: &[u8], len: usize) -> u64 {
    let mut hash = len as u64;
    let mut at = 0;
    while at < len {
        let some = word(bytes, at);
        let left = len - at;
        let some = if left < 8 { some & ((1 << (8 * left)) - 1) } else { some };
        hash = (hash ^ some).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
        at += 8;
    }
    hash.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Returns eight bytes from a position, padded with zeros beyond the end.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(eight) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*eight);
    }
    rest.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

/// Returns the index of the word that holds a token's bits, and the bits.
#[inline]
fn place(hash: u64) -> (usize, u64) {
    let mask = (0..BITS).fold(0, |mask, at| mask | (1 << ((hash >> (8 + 6 * at)) & 63)));
    ((hash >> (64 - WORDS_LOG2)) as usize, mask)
}

/// Whether the first `len` bytes are a token. The filter decides, and the list as well for long
/// runs of signs or blanks. `longest` is the length to try for these bytes.
#[inline]
fn is_token(bytes: &[u8], len: usize, longest: usize) -> bool {
    let hash = hash(bytes, len);
    let (at, mask) = place(hash);
    word(FILTER, at * 8) & mask == mask && (len <= LISTED || longest != SIGNS || is_in_list(hash))
}

/// Returns the list entry that marks these bytes as the beginning of a longer token.
fn beginning(bytes: &[u8], len: usize) -> u64 {
    !hash(bytes, len)
}

fn is_in_list(hash: u64) -> bool {
    let (hashes, _) = FILTER.get(8 << WORDS_LOG2..).unwrap_or_default().as_chunks::<8>();
    hashes.binary_search_by_key(&hash, |hash| u64::from_le_bytes(*hash)).is_ok()
}

/// Builds the filter of a vocabulary, followed by the list. The list has the hashes of long tokens
/// of signs or blanks and of their beginnings, in ascending order.
pub(super) fn build<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut words = vec![0_u64; 1 << WORDS_LOG2];
    let mut listed = BTreeSet::new();
    for token in tokens {
        let hash = hash(token, token.len());
        let (at, mask) = place(hash);
        if let Some(word) = words.get_mut(at) {
            *word |= mask;
        }
        if token.len() > LISTED && longest(token) == SIGNS {
            listed.insert(hash);
            let ends = iter::successors(Some(LISTED), |end| Some(end * 2));
            listed
                .extend(ends.take_while(|end| *end < token.len()).map(|end| beginning(token, end)));
        }
    }
    words.into_iter().chain(listed).flat_map(u64::to_le_bytes).collect()
}
