//! Hashes a text's runs of three words, and its numbers.

use std::collections::BTreeSet;

/// Calls `each` with the hash of every run of three words. A shorter text is a single run.
/// Overwrites `room`.
pub(super) fn runs(text: &str, room: &mut Vec<u64>, mut each: impl FnMut(u64)) {
    // Collects all words first: each loop alone is small enough for the processor to predict well.
    room.clear();
    words(text, |word| room.push(word));
    match room.as_slice() {
        [] => {}
        [one] => each(mix(0, *one)),
        [one, other] => each(mix(mix(0, *one), *other)),
        many => {
            for three in many.windows(3) {
                if let [first, second, third] = three {
                    each(mix(mix(mix(0, *first), *second), *third));
                }
            }
        }
    }
}

/// Returns a digest of the set of words that contain a digit: numbers, versions, dates, names such
/// as `sha256`. Neither order nor repetition counts.
pub(super) fn numbers(text: &str) -> u64 {
    let words = text.split(|char: char| !char.is_alphanumeric());
    let words = words.filter(|word| word.chars().any(char::is_numeric));
    let words: BTreeSet<String> = words.map(str::to_lowercase).collect();
    words
        .iter()
        .flat_map(|word| word.bytes().chain([0]))
        .fold(EMPTY, |hash, byte| mix(hash, u64::from(byte)))
}

/// Calls `each` with the hash of every word. A word consists of letters and digits, in lower case.
/// In scripts without spaces, each character is a word.
#[inline]
fn words(text: &str, mut each: impl FnMut(u64)) {
    let bytes = text.as_bytes();
    let mut word = EMPTY;
    let mut end = |word: &mut u64| {
        if *word != EMPTY {
            each(std::mem::replace(word, EMPTY));
        }
    };
    let mut at = 0;
    // Reads eight bytes at once. Most words end within them, and a branch per letter would be
    // unpredictable.
    while at < bytes.len() {
        let eight = eight(bytes, at);
        let letters = letters(eight);
        let count = first(!letters & TOPS);
        if count > 0 {
            word = mix(word, (eight | SMALL) & u64::MAX >> (64 - 8 * count));
        }
        at += count;
        if count == 8 {
            continue;
        }
        if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            let Some(char) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
            at += char.len_utf8();
            let wide = char >= '\u{2e80}';
            let counts = char.is_alphanumeric();
            if !counts || wide {
                end(&mut word);
            }
            if counts {
                word = char.to_lowercase().fold(word, |word, small| mix(word, u64::from(small)));
                if wide {
                    end(&mut word);
                }
            }
            continue;
        }
        end(&mut word);
        at += first((letters | eight) & TOPS & u64::MAX << (8 * count)) - count;
    }
    end(&mut word);
}

/// Returns the eight bytes from a position, the first one lowest, padded with 0 beyond the end.
#[inline]
fn eight(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.first_chunk().map_or_else(
        || rest.iter().rev().fold(0, |eight, byte| eight << 8 | u64::from(*byte)),
        |eight| u64::from_le_bytes(*eight),
    )
}

/// Returns the top bit of each byte that is an ASCII letter or digit. The sums have seven bits
/// each, so they never carry into the next byte.
#[inline]
fn letters(eight: u64) -> u64 {
    let at_least = |bytes: u64, least: u8| bytes + u64::from(0x80 - least) * ONES;
    let (plain, small) = (eight & !TOPS, (eight | SMALL) & !TOPS);
    let digits = at_least(plain, b'0') & !at_least(plain, b'9' + 1);
    let letters = at_least(small, b'a') & !at_least(small, b'z' + 1);
    (digits | letters) & !eight & TOPS
}

/// Returns the index of the first byte whose top bit is set, or 8.
#[inline]
fn first(tops: u64) -> usize {
    (tops.trailing_zeros() / 8) as usize
}

const ONES: u64 = u64::from_le_bytes([1; 8]);
const TOPS: u64 = 0x80 * ONES;
/// The bit that distinguishes a small ASCII letter from its capital; all digits have it too.
const SMALL: u64 = 0x20 * ONES;

/// The initial hash: a word without letters.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

#[inline]
fn mix(hash: u64, more: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
