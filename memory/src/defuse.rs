//! Makes a text safe to show to a model or on a terminal. Stored text stays as it is.
//!
//! A stored text or a name must not end anchord's frame or imitate a wrapper of the client
//! (`wrappers.rs`). Nor may it move the cursor or hide words. This includes names of files and
//! clients. The bracket of such a mark becomes `‹`, so that the text stays readable. A control or
//! invisible character becomes an escape such as `\u{202e}`.
//!
//! Each edge where text leaves for a reader calls this once, on the whole text. The edges are
//! answers of tools, prompts and resources, hook output, and the output of commands.

mod hidden;
pub(crate) mod marks;
mod wrappers;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use serde::de::IgnoredAny;

pub(crate) use anchord_secrets::is_hidden;
use hidden::is_part_of_a_word;
use marks::{Mark, mark};

/// Makes a multi-line text safe. Tabs and line breaks stay; `\r\n` becomes `\n`. The function is
/// idempotent.
pub fn defuse(text: &str) -> Cow<'_, str> {
    replaced(text, Style::Escapes)
}

/// Makes a text safe in at most `chars_max` characters, if the text itself has no more. Where
/// escapes would make it longer, each run of characters to escape becomes one U+FFFD.
pub fn defuse_within(text: &str, chars_max: usize) -> Cow<'_, str> {
    match defuse(text) {
        Cow::Owned(long) if long.chars().nth(chars_max).is_some() => {
            replaced(text, Style::Placeholders)
        }
        safe => safe,
    }
}

/// Makes a name safe to show within a line: line breaks and tabs are escaped as well.
pub fn defuse_line(text: &str) -> Cow<'_, str> {
    replaced(text, Style::Line)
}

/// Makes a JSON document safe without changing its values, by JSON's own escapes.
pub fn defuse_json(text: &str) -> Cow<'_, str> {
    replaced(text, Style::Json)
}

/// Makes an answer safe in at most `chars_max` characters, as [`defuse_within`] does. An answer
/// that is a JSON document stays one.
pub fn defuse_answer(text: &str, chars_max: usize) -> Cow<'_, str> {
    let safe = defuse_within(text, chars_max);
    let may_be_json = matches!(safe, Cow::Owned(_)) && text.starts_with(['{', '[']);
    if may_be_json && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return defuse_json(text);
    }
    safe
}

/// The way in which a text is made safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Escapes such as `\u{202e}` in a multi-line text.
    Escapes,
    /// Escapes in a text of one line.
    Line,
    /// U+FFFD.
    Placeholders,
    /// JSON's escapes.
    Json,
}

fn replaced(text: &str, style: Style) -> Cow<'_, str> {
    let mut threats = Threats { text, at: 0, style };
    let Some(first) = threats.next() else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut from = 0;
    for Threat { range, kind } in std::iter::once(first).chain(threats) {
        let between = text.get(from..range.start).unwrap_or_default();
        out.push_str(between);
        let found = text.get(range.clone()).unwrap_or_default();
        match (kind, style) {
            (Kind::Mark(_), Style::Json) => {
                // Escaping the first character of `&lt;` is enough.
                let mut chars = found.chars();
                chars.by_ref().take(1).for_each(|c| push_json(&mut out, c));
                out.push_str(chars.as_str());
            }
            (Kind::Mark(mark), _) => out.push(mark.shown()),
            (Kind::LineEnd, _) => {}
            (Kind::Hidden(c), Style::Json) => push_json(&mut out, c),
            (Kind::Hidden(_), Style::Placeholders) => {
                if !(between.is_empty() && out.ends_with(char::REPLACEMENT_CHARACTER)) {
                    out.push(char::REPLACEMENT_CHARACTER);
                }
            }
            (Kind::Hidden(c), Style::Escapes | Style::Line) => {
                write!(out, "\\u{{{:x}}}", u32::from(c)).expect("a String takes all");
            }
        }
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

fn push_json(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        write!(out, "\\u{unit:04x}").expect("a String takes all");
    }
}

/// A range of a text that must not be shown as it is.
struct Threat {
    range: Range<usize>,
    kind: Kind,
}

enum Kind {
    /// The bracket with which a mark begins.
    Mark(Mark),
    /// A character that is invisible or controls a terminal.
    Hidden(char),
    /// The first character of `\r\n`.
    LineEnd,
}

/// Finds the ranges that must not be shown as they are. A safe text costs one check per byte.
struct Threats<'a> {
    text: &'a str,
    at: usize,
    style: Style,
}

impl Iterator for Threats<'_> {
    type Item = Threat;

    fn next(&mut self) -> Option<Threat> {
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            self.at += rest.iter().position(|byte| is_suspect(*byte))?;
            let start = self.at;
            let c = self.text.get(start..)?.chars().next()?;
            self.at += c.len_utf8();
            let may_begin = matches!(c, '<' | '[' | '&' | '\u{ff1c}' | '\u{fe64}');
            if let Some((mark, bytes)) = may_begin.then(|| mark(self.text, start)).flatten() {
                self.at = start + bytes;
                return Some(Threat { range: start..self.at, kind: Kind::Mark(mark) });
            }
            let kind = match c {
                '\n' | '\t' if self.style != Style::Line => continue,
                // White space between values.
                '\r' if self.style == Style::Json => continue,
                '\r' if self.style != Style::Line && self.follows().starts_with('\n') => {
                    Kind::LineEnd
                }
                c if is_hidden(c) && !is_part_of_a_word(self.before(start), c, self.follows()) => {
                    Kind::Hidden(c)
                }
                _ => continue,
            };
            return Some(Threat { range: start..self.at, kind });
        }
    }
}

impl Threats<'_> {
    fn before(&self, at: usize) -> &str {
        self.text.get(..at).unwrap_or_default()
    }

    fn follows(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

/// Returns whether a mark or a hidden character can begin with a byte. That is an ASCII character,
/// or the first UTF-8 byte of a hidden character or a full-width bracket.
fn is_suspect(byte: u8) -> bool {
    byte < 0x20
        || matches!(byte, b'<' | b'[' | b'&' | 0x7f)
        || matches!(byte, 0xc2 | 0xcd | 0xd8 | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf0 | 0xf3)
}

#[cfg(test)]
mod tests;
