//! Cuts a text into the pieces in which `o200k` looks for tokens. Pieces are words with one leading
//! sign or blank, up to three digits, signs with the line ends after them, and blanks.
//!
//! The pattern comes from openai/tiktoken's `openai_public.py`. Its alternatives are tried in this
//! order:
//!
//! - `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`, directly
//!   followed by `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`.
//! - The same with `+` and `*` swapped.
//! - `\p{N}{1,3}`.
//! - ` ?[^\s\p{L}\p{N}]+[\r\n/]*`.
//! - `\s*[\r\n]+`.
//! - `\s+(?!\S)`.
//! - `\s+`.
//!
//! A piece is a run of bytes, cut between characters.

use super::filter::word;

/// The pattern's character classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// An upper case letter.
    Upper,
    /// A lower case letter.
    Lower,
    /// A letter without case, or a mark.
    Letter,
    /// A digit or other number.
    Number,
    /// The end of a line.
    Break,
    /// The blank that may come before signs.
    Space,
    /// Another blank.
    Blank,
    /// Anything else.
    Sign,
}

impl Class {
    const ASCII: [Self; 128] = {
        let mut table = [Self::Sign; 128];
        let mut byte = 0;
        while byte < 128 {
            #[expect(clippy::cast_possible_truncation, reason = "below 128")]
            #[expect(clippy::indexing_slicing, reason = "below 128; evaluated by the compiler")]
            {
                table[byte] = match byte as u8 {
                    b'A'..=b'Z' => Self::Upper,
                    b'a'..=b'z' => Self::Lower,
                    b'0'..=b'9' => Self::Number,
                    b'\n' | b'\r' => Self::Break,
                    b' ' => Self::Space,
                    b'\t' | 0x0b | 0x0c => Self::Blank,
                    _ => Self::Sign,
                };
            }
            byte += 1;
        }
        table
    };

    fn of(char: char) -> Self {
        // Covers most East Asian text without a table lookup.
        if matches!(char, 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='鿿' | '가'..='힣') {
            return Self::Letter;
        }
        if char.is_alphabetic() {
            return match (char.is_uppercase(), char.is_lowercase()) {
                (true, _) => Self::Upper,
                (_, true) => Self::Lower,
                _ => Self::Letter,
            };
        }
        match char {
            _ if char.is_numeric() => Self::Number,
            _ if char.is_whitespace() => Self::Blank,
            // Combining marks: Latin, and the scripts of India and South-East Asia.
            '\u{300}'..='\u{36f}' | '\u{900}'..='\u{e7f}' => Self::Letter,
            _ => Self::Sign,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Letter)
    }

    fn is_blank(self) -> bool {
        matches!(self, Self::Space | Self::Blank | Self::Break)
    }
}

/// The pieces of a text, in order. Concatenated they are the text.
pub(super) struct Pieces<'a> {
    text: &'a str,
    /// The byte position of the next piece.
    at: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the class of the character at a position and its width in bytes.
    #[inline]
    fn class_at(&self, at: usize) -> Option<(Class, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if let Some(class) = Class::ASCII.get(usize::from(byte)) {
            return Some((*class, 1));
        }
        let char = self.text.get(at..)?.chars().next()?;
        Some((Class::of(char), char.len_utf8()))
    }

    /// Returns the end of a run of matching characters.
    #[inline]
    fn run(&self, mut at: usize, is: impl Fn(Class) -> bool) -> usize {
        while let Some((class, width)) = self.class_at(at) {
            if !is(class) {
                break;
            }
            at += width;
        }
        at
    }

    /// Returns the end of the word that begins here.
    fn word(&self, at: usize) -> usize {
        let upper = self.run(at, |class| matches!(class, Class::Upper | Class::Letter));
        let lower = self.lower(upper);
        let end = match self.text.as_bytes().get(lower) {
            Some(byte) if !byte.is_ascii() => {
                self.run(lower, |class| matches!(class, Class::Lower | Class::Letter))
            }
            _ => lower,
        };
        end + self.contraction(end)
    }

    /// Returns the end of a run of the letters a to z. It reads eight bytes at a time, since a
    /// branch per byte would cost more than everything else.
    #[inline]
    fn lower(&self, mut at: usize) -> usize {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x80 * ONES;
        loop {
            let word = word(self.text.as_bytes(), at);
            let low = word & !HIGH;
            let from_a = low + ONES * (0x80 - 0x61);
            let past_z = low + ONES * (0x7f - 0x7a);
            let lower = from_a & !past_z & !word & HIGH;
            let run = ((lower ^ HIGH).trailing_zeros() / 8) as usize;
            at += run;
            if run < 8 {
                return at;
            }
        }
    }

    /// Returns the width of a contraction such as `'s` or `'ll` at a position.
    fn contraction(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'\'') {
            return 0;
        }
        let letter = |at: usize| bytes.get(at).map(u8::to_ascii_lowercase);
        match (letter(at + 1), letter(at + 2)) {
            (Some(b's' | b't' | b'm' | b'd'), _) => 2,
            (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => 3,
            _ => 0,
        }
    }

    fn end(&self) -> Option<usize> {
        let at = self.at;
        let (class, width) = self.class_at(at)?;
        if class.is_letter() {
            return Some(self.word(at));
        }
        let next = self.class_at(at + width).map(|(class, _)| class);
        if class == Class::Number {
            let mut end = at + width;
            for _ in 0..2 {
                match self.class_at(end) {
                    Some((Class::Number, width)) => end += width,
                    _ => break,
                }
            }
            return Some(end);
        }
        if class != Class::Break && next.is_some_and(Class::is_letter) {
            return Some(self.word(at + width));
        }
        if class == Class::Sign || (class == Class::Space && next == Some(Class::Sign)) {
            let end = self.run(at + width, |class| class == Class::Sign);
            let tail = self.text.as_bytes().get(end..)?;
            let more = tail.iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count();
            return Some(end + more);
        }
        let end = self.run(at, Class::is_blank);
        let blanks = self.text.get(at..end)?;
        if let Some(last) = blanks.rfind(['\r', '\n']) {
            return Some(at + last + 1);
        }
        let last = blanks.chars().next_back().map_or(0, char::len_utf8);
        // The last blank belongs to the next piece, unless it is the only one.
        Some(if end < self.text.len() && blanks.len() > last { end - last } else { end })
    }
}

impl<'a> Iterator for Pieces<'a> {
    /// The text from the piece on, and the piece's length in bytes.
    type Item = (&'a [u8], usize);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let end = self.end()?;
        let rest = self.text.as_bytes().get(self.at..)?;
        let len = end - self.at;
        self.at = end;
        Some((rest, len))
    }
}
