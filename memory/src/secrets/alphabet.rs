//! The characters that tokens consist of.

use Alphabet::{Alnum, Dash, Dots, Hex, Path, Slash, Upper, UpperDash, Word};

/// A set of characters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alphabet {
    /// `A-Za-z0-9`
    Alnum,
    /// And `_`
    Word,
    /// And `-`
    Dash,
    /// And `.`
    Dots,
    /// And `/`, `+`, `=`
    Slash,
    /// `0-9a-f`
    Hex,
    /// `A-Z0-9`
    Upper,
    /// And `-`
    UpperDash,
    /// A part of a URL's path.
    Path,
}

/// The number of alphabets.
pub(super) const ALPHABETS: usize = 9;

impl Alphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Alnum => byte.is_ascii_alphanumeric(),
            Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Dash => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Dots => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Slash => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=')
            }
            Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            UpperDash => Upper.has(byte) || byte == b'-',
            Path => Slash.has(byte) || matches!(byte, b'@' | b'%' | b'~'),
        }
    }
}
