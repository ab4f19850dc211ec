//! Tokens divided by a line break, as terminals and mail programs do.
//!
//! The lines around a break are joined and checked again if the break falls within a possible
//! token. Prose has no digits there, so little text is checked twice.

use std::ops::Range;

use super::rules::is_token_byte;
use crate::limits::{SECRET_BROKEN_LINES_MAX, SECRET_VALUE_BYTES_MAX};

/// The minimum number of characters of a token before or after a break.
const PART_BYTES_MIN: usize = 4;

/// Lines joined around a break.
pub(super) struct JoinedLines {
    /// The text without the breaks.
    pub(super) text: String,
    /// The beginning of each part, in the joined text and in the original.
    parts: Vec<(usize, usize)>,
}

impl JoinedLines {
    /// Returns the original range of a match that spans a break, or `None` if it lies within one
    /// line.
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

/// Finds the breaks that may divide a token, and joins the lines around them.
pub(super) fn joined(text: &str) -> impl Iterator<Item = JoinedLines> {
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

fn joined_at(text: &str, at: usize) -> Option<JoinedLines> {
    may_divide(text.as_bytes(), at).then_some(())?;
    let before = last_run(text.get(..before_break(text, at)?)?);
    // The value is empty, or the token ends here.
    if text.get(..at)?.trim_end_matches('\r').ends_with('=') {
        return None;
    }
    let mut next = after_break(text, at)?;
    let has_digit = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit());
    if before.len() < PART_BYTES_MIN || !has_digit(before) && !has_digit(first_run(text, next)) {
        return None;
    }
    let begin = before_break(text, at)? - before.len();
    let mut joined = JoinedLines { text: before.to_owned(), parts: vec![(0, begin)] };
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

/// Whether this is the next setting, `NAME=value`. A token has `=` only at its end.
fn is_assignment(part: &str) -> bool {
    part.trim_end_matches('=').contains('=')
}

/// Whether a break may divide a token: there is a digit nearby, and no word of a sentence ends
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
    let is_part = |byte: &&u8| is_token_byte(**byte);
    let digit = |byte: &u8| byte.is_ascii_digit();
    let mut ending = before.iter().rev().skip_while(is_gap).take_while(is_part);
    let mut beginning = after.iter().skip_while(is_gap).take_while(is_part);
    ending.any(digit) || beginning.any(digit)
}

/// Returns where the text before a break ends, without a quote and a backslash.
fn before_break(text: &str, at: usize) -> Option<usize> {
    let line = text.get(..at)?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    let line = match line.strip_suffix('\\') {
        Some(line) => line.trim_end_matches(' '),
        None => line,
    };
    Some(line.trim_end_matches(['"', '\'']).len())
}

/// Returns where the next line's first word begins, without quotation marks or quote prefixes.
fn after_break(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at + 1..)?;
    let word = rest.trim_start_matches([' ', '\t', '>', '|', '"', '\'']);
    (rest.len() - word.len() <= 40).then_some(text.len() - word.len())
}

/// Returns the line break after a part of a token, if nothing else follows.
fn break_after(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let line = rest.trim_start_matches(['"', '\'', ' ', '\\', '\r']);
    let gap = rest.len() - line.len();
    (gap <= 4 && line.starts_with('\n')).then_some(at + gap)
}

/// Returns the token characters at the end of a text.
fn last_run(text: &str) -> &str {
    let near = text.len().saturating_sub(SECRET_VALUE_BYTES_MAX);
    let near = text.get(text.ceil_char_boundary(near)..).unwrap_or_default();
    let length = near.bytes().rev().take_while(|byte| is_token_byte(*byte)).count();
    near.get(near.len() - length..).unwrap_or_default()
}

/// Returns the token characters that begin at a position.
fn first_run(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let bytes = rest.bytes().take(SECRET_VALUE_BYTES_MAX);
    let length = bytes.take_while(|byte| is_token_byte(*byte)).count();
    rest.get(..length).unwrap_or_default()
}
