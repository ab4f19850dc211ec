//! Normalises text for the rules: compatibility forms become plain (NFKC) and invisible characters
//! are removed.
//!
//! Each position in the plain text maps to one in the original, so that exactly the match is
//! removed from the original.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::compose;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::hidden::is_hidden;

/// A text in its plain form.
pub(super) struct Normal<'a> {
    /// The plain text, borrowed if it equals the original.
    pub(super) text: Cow<'a, str>,
    /// The points at which plain and original text diverge; empty if they are equal.
    steps: Vec<Step>,
}

/// A point from which the two texts run in parallel, up to the next step.
#[derive(Clone, Copy)]
struct Step {
    plain: usize,
    original: usize,
    /// Whether one original character yields all the plain ones up to the next step.
    one: bool,
}

impl<'a> Normal<'a> {
    /// Normalises a text.
    pub(super) fn of(text: &'a str) -> Self {
        let mut changed = next_changed(text, 0);
        if changed.is_none() {
            return Self { text: Cow::Borrowed(text), steps: Vec::new() };
        }
        let mut plain = String::with_capacity(text.len());
        let mut steps: Vec<Step> = Vec::new();
        let mut at = 0;
        while let Some((original, c)) = changed {
            plain.push_str(text.get(at..original).unwrap_or_default());
            at = original + c.len_utf8();
            let mut from = Step { plain: plain.len(), original, one: true };
            if !is_hidden(c) {
                // An accent joins the letter before it, if that letter is unchanged.
                let last = plain.chars().next_back().filter(|last| {
                    let begin = plain.len() - last.len_utf8();
                    steps.last().is_none_or(|step| step.plain <= begin)
                });
                match last.and_then(|last| Some((last, compose(last, c)?))) {
                    Some((last, one)) => {
                        from.plain -= last.len_utf8();
                        from.original -= last.len_utf8();
                        plain.truncate(from.plain);
                        plain.push(one);
                    }
                    None => plain.extend(std::iter::once(c).nfkc()),
                }
            }
            steps.push(from);
            steps.push(Step { plain: plain.len(), original: at, one: false });
            changed = next_changed(text, at);
        }
        plain.push_str(text.get(at..).unwrap_or_default());
        Self { text: Cow::Owned(plain), steps }
    }

    /// Returns the original range of a range in the plain text.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        if self.steps.is_empty() {
            return range;
        }
        self.at(range.start, false)..self.at(range.end, true)
    }

    fn at(&self, plain: usize, is_end: bool) -> usize {
        let next = self.steps.partition_point(|step| step.plain <= plain);
        let Some(step) = next.checked_sub(1).and_then(|at| self.steps.get(at)) else {
            return plain;
        };
        let inside = plain - step.plain;
        match (step.one, is_end && inside > 0) {
            (false, _) => step.original + inside,
            (true, false) => step.original,
            (true, true) => self.steps.get(next).map_or(step.original, |step| step.original),
        }
    }
}

/// Returns the next character that changes. Skips ASCII many bytes at a time.
fn next_changed(text: &str, from: usize) -> Option<(usize, char)> {
    const CHUNK: usize = 64;
    let mut at = from;
    while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        let chunk = rest.get(..CHUNK).unwrap_or(rest);
        if chunk.is_ascii() {
            at += chunk.len();
            continue;
        }
        let end = text.ceil_char_boundary(at + chunk.len());
        let mut chars = text.get(at..end)?.char_indices();
        if let Some((offset, c)) = chars.find(|(_, c)| is_changed(*c)) {
            return Some((at + offset, c));
        }
        at = end;
    }
    None
}

/// Whether a character differs from its plain form, or joins the one before it.
fn is_changed(c: char) -> bool {
    !c.is_ascii()
        && !is_plain(c)
        && (is_hidden(c) || is_nfkc_quick(std::iter::once(c)) != IsNormalized::Yes)
}

/// Whether a character is one of the many that are already plain. This is faster than Unicode's
/// tables. `…` counts as plain, since no rule needs its three dots.
fn is_plain(c: char) -> bool {
    matches!(c,
        '\u{c0}'..='\u{131}' | '\u{391}'..='\u{3ce}' | '\u{400}'..='\u{482}' | '\u{5d0}'..='\u{5ea}'
        | '\u{2013}'..='\u{2014}' | '\u{2018}'..='\u{201e}' | '…' | '\u{2190}'..='\u{21ff}'
        | '\u{2500}'..='\u{25ff}' | '\u{3001}'..='\u{3002}' | '\u{3041}'..='\u{3094}'
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests;
