//! Tokens that a line break divides, as a terminal or a mail does it.
//!
//! If a line ends within a possible token, the lines around the break are checked again without
//! it. Prose has no digits at such a place, so that little is looked at twice.

use std::ops::Range;

use super::tokens::Alphabet;
use crate::limits::{SECRET_BROKEN_LINES_MAX, SECRET_VALUE_BYTES_MAX};

/// A token's part before or after a break has at least this many characters.
const PART_BYTES_MIN: usize = 4;

/// Lines joined around a break.
pub(super) struct Joined {
    /// The text without the breaks.
    pub(super) text: String,
    /// The beginning of each part, here and in the original.
    parts: Vec<(usize, usize)>,
}

impl Joined {
    /// Returns the place in the original of what stands on both sides of a break; `None` for what
    /// stands in one line.
    pub(super) fn original(&self, range: Range<usize>) -> Option<Range<usize>> {
        let part = |at: usize| self.parts.partition_point(|(begin, _)| *begin <= at) - 1;
        let (first, last) = (part(range.start), part(range.end.checked_sub(1)?));
        let place = |part: usize, at: usize| {
            let (begin, original) = self.parts.get(part)?;
            Some(original + at - begin)
        };
        let across = first != last;
        across.then(|| Some(place(first, range.start)?..place(last, range.end)?)).flatten()
    }
}

/// Finds the places at which lines may divide a token, and joins the lines there.
pub(super) fn joined(text: &str) -> impl Iterator<Item = Joined> {
    let mut done = 0;
    memchr::memchr_iter(b'\n', text.as_bytes()).filter_map(move |at| {
        if at < done {
            return None;
        }
        let joined = joined_at(text, at)?;
        let (begin, original) = *joined.parts.last()?;
        done = original + joined.text.len() - begin;
        Some(joined)
    })
}

fn joined_at(text: &str, at: usize) -> Option<Joined> {
    may_divide(text.as_bytes(), at).then_some(())?;
    let before = last_run(text.get(..before_break(text, at)?)?);
    // The value is empty, or the token is at its end.
    if text.get(..at)?.trim_end_matches('\r').ends_with('=') {
        return None;
    }
    let mut next = after_break(text, at)?;
    let has_digit = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit());
    if before.len() < PART_BYTES_MIN || !has_digit(before) && !has_digit(first_run(text, next)) {
        return None;
    }
    let begin = before_break(text, at)? - before.len();
    let mut joined = Joined { text: before.to_owned(), parts: vec![(0, begin)] };
    for _ in 0..SECRET_BROKEN_LINES_MAX {
        let part = first_run(text, next);
        if part.len() < PART_BYTES_MIN || is_assignment(part) {
            break;
        }
        joined.parts.push((joined.text.len(), next));
        joined.text.push_str(part);
        let end = next + part.len();
        let Some(again) = break_after(text, end).and_then(|at| after_break(text, at)) else {
            break;
        };
        next = again;
    }
    (joined.parts.len() > 1).then_some(joined)
}

/// Returns whether this is the next setting, `NAME=value`. A token has `=` only at its end.
fn is_assignment(part: &str) -> bool {
    part.trim_end_matches('=').contains('=')
}

/// Returns whether a break may divide a token: a digit is near, and no word of a sentence ends
/// here.
fn may_divide(bytes: &[u8], at: usize) -> bool {
    const NEAR: usize = 64;
    let before = bytes.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
    let ends = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+/=\\\"'\r".contains(byte);
    if !before.last().is_some_and(ends) {
        return false;
    }
    let after = bytes.get(at + 1..bytes.len().min(at + 1 + NEAR)).unwrap_or_default();
    let is_gap =
        |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\\' | b'"' | b'\'' | b'\r' | b'>' | b'|');
    let is_part = |byte: &&u8| Alphabet::Slash.has(**byte);
    let digit = |byte: &u8| byte.is_ascii_digit();
    let mut ending = before.iter().rev().skip_while(is_gap).take_while(is_part);
    let mut beginning = after.iter().skip_while(is_gap).take_while(is_part);
    ending.any(digit) || beginning.any(digit)
}

/// Returns where the characters end that stand before a break, without a quote and a backslash.
fn before_break(text: &str, at: usize) -> Option<usize> {
    let line = text.get(..at)?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    let line = match line.strip_suffix('\\') {
        Some(line) => line.trim_end_matches(' '),
        None => line,
    };
    Some(line.trim_end_matches(['"', '\'']).len())
}

/// Returns where the next line's first word begins, without the marks of a quotation.
fn after_break(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at + 1..)?;
    let word = rest.trim_start_matches([' ', '\t', '>', '|', '"', '\'']);
    (rest.len() - word.len() <= 40).then_some(text.len() - word.len())
}

/// Returns the line break that follows a part of a token, if nothing else does.
fn break_after(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let line = rest.trim_start_matches(['"', '\'', ' ', '\\', '\r']);
    let gap = rest.len() - line.len();
    (gap <= 4 && line.starts_with('\n')).then_some(at + gap)
}

/// Returns the characters of a token with which a text ends.
fn last_run(text: &str) -> &str {
    let near = text.len().saturating_sub(SECRET_VALUE_BYTES_MAX);
    let near = text.get(text.ceil_char_boundary(near)..).unwrap_or_default();
    let length = near.bytes().rev().take_while(|byte| Alphabet::Slash.has(*byte)).count();
    near.get(near.len() - length..).unwrap_or_default()
}

/// Returns the characters of a token that begin at a place.
fn first_run(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let bytes = rest.bytes().take(SECRET_VALUE_BYTES_MAX);
    let length = bytes.take_while(|byte| Alphabet::Slash.has(*byte)).count();
    rest.get(..length).unwrap_or_default()
}
