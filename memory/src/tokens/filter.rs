//! The vocabulary of `o200k` as a filter of 256 KiB: which runs of bytes are tokens, with about one stranger in a
//! hundred taken for one.
//!
//! A Bloom filter in blocks (Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007):
//! a token sets [`BITS`] bits of one word, so a look-up reads memory once.
//!
//! Behind the filter stands a list of those tokens that are long runs of signs or blanks, by their hashes of 64 bits,
//! with no strangers in it.

use std::collections::BTreeSet;
use std::iter;

/// Made by [`build`] from the 199,998 tokens in openai/tiktoken (MIT); docs/tokens.md has the command.
pub(super) static FILTER: &[u8] = include_bytes!("o200k.filter");

/// Words of the filter, as a power of two: the hash's top bits choose one.
const WORDS_LOG2: u32 = 15;
/// Bits that a token sets.
const BITS: u32 = 5;

/// The longest token looked for in a run of signs or blanks, where long ones are rulers and indentation.
const SIGNS: usize = 128;
/// Tokens of signs or blanks longer than this are listed one by one: at each place of a ruler many lengths are tried,
/// and with one stranger in a hundred most rulers would have one. [`SIGNS`] is this doubled a few times.
const LISTED: usize = 4;
/// The longest looked for where a Latin word is cut. Longer ones are rare, and each look may meet a stranger.
const WORD: usize = 16;
/// The longest looked for in scripts of two bytes a letter, and in Hangul.
const SCRIPT: usize = 12;
/// The longest looked for in Han and kana: three characters.
const HAN: usize = 9;

/// Tokens of the piece that `bytes` begins with, `len` long; what follows it helps to read it fast.
#[inline]
pub(super) fn tokens_of(bytes: &[u8], len: usize) -> usize {
    if len == 1 {
        return 1;
    }
    let longest = longest(bytes);
    // Words with blanks and signs before them, the most of any text; a sentence in Han is no token.
    if len <= SIGNS && longest > HAN && is_token(bytes, len, longest) {
        return 1;
    }
    cut(bytes, len)
}

/// The longest token looked for at the front, by what the first two bytes are.
#[inline]
fn longest(bytes: &[u8]) -> usize {
    let [first, second] = bytes.first_chunk().copied().unwrap_or_default();
    match first.max(second) {
        // Boxes, dashes, quotation marks, arrows.
        0xe2 => SIGNS,
        0xe3..=0xe9 => HAN,
        0x80.. => SCRIPT,
        _ if first.is_ascii_alphanumeric() || second.is_ascii_alphanumeric() => WORD,
        _ => SIGNS,
    }
}

/// Cuts the longest token off the front until nothing is left.
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

/// The longest token looked for where signs or blanks begin and `left` bytes are left: most runs begin like no token
/// of twice the length.
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

/// A hash of the first `len` bytes.
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

/// Eight bytes from a place, zeros where there are none.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(eight) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*eight);
    }
    rest.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

/// The word a token's bits are in, and the bits.
#[inline]
fn place(hash: u64) -> (usize, u64) {
    let mask = (0..BITS).fold(0, |mask, at| mask | (1 << ((hash >> (8 + 6 * at)) & 63)));
    ((hash >> (64 - WORDS_LOG2)) as usize, mask)
}

/// Whether the first `len` bytes are a token. Of most the filter tells, of long ones of signs or blanks the list after
/// it; `longest` is that of the bytes.
#[inline]
fn is_token(bytes: &[u8], len: usize, longest: usize) -> bool {
    let hash = hash(bytes, len);
    let (at, mask) = place(hash);
    word(FILTER, at * 8) & mask == mask && (len <= LISTED || longest != SIGNS || is_in_list(hash))
}

/// What stands in the list for a longer token that begins with these bytes.
fn beginning(bytes: &[u8], len: usize) -> u64 {
    !hash(bytes, len)
}

fn is_in_list(hash: u64) -> bool {
    let (hashes, _) = FILTER.get(8 << WORDS_LOG2..).unwrap_or_default().as_chunks::<8>();
    hashes.binary_search_by_key(&hash, |hash| u64::from_le_bytes(*hash)).is_ok()
}

/// The filter of a vocabulary, and after it the list: hashes of long tokens of signs or blanks and of what they begin
/// with, in ascending order.
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
