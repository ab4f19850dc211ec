//! A text's runs of three words, hashed.

/// Calls `each` with the hash of every run of three words; a text of fewer is one run.
#[inline]
pub(super) fn runs(text: &str, mut each: impl FnMut(u64)) {
    let (mut first, mut second, mut count) = (0, 0, 0_usize);
    words(text, |word| {
        count += 1;
        let two = mix(first, second);
        if count > 2 {
            each(mix(two, word));
        }
        (first, second) = (mix(0, second), word);
    });
    if (1..=2).contains(&count) {
        each(mix(first, second));
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
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        at += 1;
        match LETTERS.get(usize::from(*byte)) {
            Some(0) => end(&mut word),
            Some(letter) if *letter < NOT_ASCII => word = spell(word, u32::from(*letter)),
            _ => {
                let Some(char) = text.get(at - 1..).and_then(|rest| rest.chars().next()) else {
                    break;
                };
                at += char.len_utf8() - 1;
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
