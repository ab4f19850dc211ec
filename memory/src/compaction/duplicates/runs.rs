//! A text's runs of three words, hashed.

/// Calls `each` with the hash of every run of three words; a text of fewer is one run. What `room` held is gone.
pub(super) fn runs(text: &str, room: &mut Vec<u64>, mut each: impl FnMut(u64)) {
    // Words first, all of a text: either loop alone is small enough for the processor to look far ahead.
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

/// Calls `each` with the hash of every word. Letters and digits count, in lower case; a character of a script without
/// spaces is a word.
#[inline]
fn words(text: &str, mut each: impl FnMut(u64)) {
    let mut word = EMPTY;
    let mut end = |word: &mut u64| {
        if *word != EMPTY {
            each(std::mem::replace(word, EMPTY));
        }
    };
    let mut bytes = text.as_bytes();
    loop {
        let mut letters = 0;
        for byte in bytes {
            match LETTERS.get(usize::from(*byte)) {
                Some(letter @ 1..NOT_ASCII) => word = spell(word, u32::from(*letter)),
                _ => break,
            }
            letters += 1;
        }
        bytes = bytes.get(letters..).unwrap_or_default();
        let Some((byte, rest)) = bytes.split_first() else { break };
        if byte.is_ascii() {
            end(&mut word);
            bytes = rest;
            continue;
        }
        let rest = text.get(text.len() - bytes.len()..).unwrap_or_default();
        let Some(char) = rest.chars().next() else { break };
        bytes = bytes.get(char.len_utf8()..).unwrap_or_default();
        let wide = char >= '\u{2e80}';
        let counts = char.is_alphanumeric();
        if !counts || wide {
            end(&mut word);
        }
        if counts {
            let small = char.to_lowercase();
            word = small.fold(word, |word, letter| spell(word, u32::from(letter)));
            if wide {
                end(&mut word);
            }
        }
    }
    end(&mut word);
}

/// Letters and digits of ASCII, by byte, in lower case; 0 for what else is ASCII.
#[expect(clippy::indexing_slicing, reason = "made while compiling")]
const LETTERS: [u8; 256] = {
    let mut letters = [NOT_ASCII; 256];
    let mut byte: u8 = 0;
    while byte < NOT_ASCII {
        letters[byte as usize] =
            if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { 0 };
        byte += 1;
    }
    letters
};

const NOT_ASCII: u8 = 128;

/// A word without a letter: where FNV-1a of 64 bits begins (Fowler, Noll, Vo), whose prime [`spell`] has.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

#[inline]
fn spell(word: u64, letter: u32) -> u64 {
    (word ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3)
}

#[inline]
fn mix(hash: u64, more: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
