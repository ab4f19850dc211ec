//! Cuts texts to a length and marks those that say less than their record.

use crate::fold::{clip_words, cut_after_word, one_line};
use crate::limits::TITLE_CHARS_MAX;
use crate::tokens;

/// The mark at the end of a line that says less than its record.
pub(super) const CUT: &str = " …";

/// Cuts a text to at most `chars_max` characters, after a word if possible. [`CUT`] at its end is
/// included.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    let kept = clip_words(text, chars_max.saturating_sub(CUT.chars().count()));
    kept.trim_end_matches('…').trim_end().to_owned() + CUT
}

/// Clips a text to this many characters and tokens. In some scripts a character is more than one
/// token.
pub(super) fn clip_within(text: &str, chars_max: usize, tokens_max: u32) -> String {
    let mut clipped = clip_words(text, chars_max);
    while tokens::count(&clipped) > tokens_max && clipped.chars().count() > 1 {
        clipped = clip_words(&clipped, clipped.chars().count() * 3 / 4);
    }
    clipped
}

/// Returns a record's title: `full` if it is one short line, else as much of `line` as fits.
pub(super) fn titled(line: &str, full: &str) -> String {
    if line == full && full.chars().count() <= TITLE_CHARS_MAX {
        return full.to_owned();
    }
    let line = one_line(line);
    let beginning = cut_after_word(&line, TITLE_CHARS_MAX - CUT.chars().count());
    beginning.trim_end_matches(['…', ' ']).to_owned() + CUT
}
