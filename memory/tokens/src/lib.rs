//! Estimates the number of tokens in a text. It cuts the text into pieces by the `o200k` pattern
//! and looks each one up in a small filter built from that vocabulary.
//!
//! Most pieces are a single token of the vocabulary. Any other piece is cut greedily into the
//! longest tokens. Greedy cuts differ little from the real tokenizer's merges, and the filter has a
//! few false positives. The error by kind of text, and how the filter is built, are in
//! docs/tokens.md. The real tokenizer is not used because of its 7 MB, its start-up time and its
//! speed.
//!
//! A piece never crosses a line end, except for blanks and for signs before it. So the counts of
//! lines add up to within a token of the whole.

mod filter;
mod pieces;

use pieces::Pieces;

/// Returns the estimated number of tokens in a text, the same on every machine.
pub fn count(text: &str) -> u32 {
    let tokens: usize = Pieces::of(text).map(|(bytes, len)| filter::tokens_of(bytes, len)).sum();
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Returns the filter that [`count`] was compiled with.
pub fn filter() -> &'static [u8] {
    filter::FILTER
}

/// Builds the filter of a vocabulary, to compare with [`filter`] or to replace it.
pub fn filter_of<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    filter::build(tokens)
}

#[cfg(test)]
mod tests;
