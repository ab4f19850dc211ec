//! The vocabulary of `o200k` as a filter of 256 KiB: which runs of bytes are tokens, with about one stranger in a
//! hundred taken for one.
//!
//! A Bloom filter in blocks (Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007):
//! a token sets [`BITS`] bits of one word, so a look-up reads memory once.

/// Made by [`build`] from the 199,998 tokens in openai/tiktoken (MIT); docs/tokens.md has the command.
pub(super) static FILTER: &[u8] = include_bytes!("o200k.filter");

/// Words of the filter, as a power of two: the hash's top bits choose one.
const WORDS_LOG2: u32 = 15;
/// Bits that a token sets.
const BITS: u32 = 5;

/// The longest token looked for in a run of signs or blanks, where long ones are rulers and indentation.
const SIGNS: usize = 128;
/// The longest looked for where a Latin word is cut. Longer ones are rare, and each look may meet a stranger.
const WORD: usize = 16;
/// The same in scripts of two bytes a letter, and in Hangul.
const SCRIPT: usize = 12;
/// The same in Han and kana: three characters.
const HAN: usize = 9;

/// Tokens of the piece that `bytes` begins with, `len` long; what follows it helps to read it fast.
#[inline]
pub(super) fn tokens_of(bytes: &[u8], len: usize) -> usize {
    if len == 1 {
        return 1;
    }
    // Words with blanks and signs before them, the most of any text; a sentence in Han is no token.
    if len <= SIGNS && longest(bytes) > HAN && holds(hash(bytes, len)) {
        return 1;
    }
    cut(bytes, len)
}

/// The longest token looked for at the front, by what the first two bytes are.
#[inline]
fn longest(bytes: &[u8]) -> usize {
    let [first, second] = bytes.first_chunk().copied().unwrap_or_default();
    match first.max(second) {
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
        let token = (2..=left.min(longest(rest)))
            .rev()
            .find(|end| (*end < 4 || is_boundary(rest, *end)) && holds(hash(rest, *end)))
            .unwrap_or(1);
        rest = rest.get(token..).unwrap_or_default();
        left -= token;
        tokens += 1;
    }
    tokens
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

#[inline]
fn holds(hash: u64) -> bool {
    let (at, mask) = place(hash);
    word(FILTER, at * 8) & mask == mask
}

/// The filter of a vocabulary.
pub(super) fn build<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut words = vec![0_u64; 1 << WORDS_LOG2];
    for token in tokens {
        let (at, mask) = place(hash(token, token.len()));
        if let Some(word) = words.get_mut(at) {
            *word |= mask;
        }
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}
