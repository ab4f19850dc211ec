//! How many tokens a text is, near enough: the pieces of the pattern of `o200k`, each looked up in a small
//! filter made of that vocabulary.
//!
//! A piece that is one token of the vocabulary counts one, which most are; another is cut greedily into the
//! longest tokens. Greedy cuts differ little from the merges of the real tokenizer, and the filter takes a few
//! strangers for tokens; docs/tokens.md has the error by kind of text and how the filter is made. The
//! tokenizer itself is left out for its 7 MB, its start and its speed. Pieces do not reach over a line's end but
//! for blank ones and signs before it, so that counts of lines add up to within a token of the whole.

mod filter;
mod pieces;

use pieces::Pieces;

/// Tokens of a text: an estimate, the same on every machine.
pub fn count(text: &str) -> u32 {
    let tokens: usize = Pieces::of(text).map(|(bytes, len)| filter::tokens_of(bytes, len)).sum();
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// The bytes of the filter that [`count`] was compiled with.
pub fn filter() -> &'static [u8] {
    filter::FILTER
}

/// The filter of a vocabulary, to compare with [`filter`] or to put in its place.
pub fn filter_of<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    filter::build(tokens)
}

#[cfg(test)]
mod tests;
