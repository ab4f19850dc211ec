//! The summary of the comment above an item: its first sentence.

use crate::limits::DOC_CHARS_MAX;
use crate::outline::clip;

/// The comments that document the item below them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comments {
    /// The signs before a comment to the end of the line, the longest first.
    pub(crate) line: &'static [&'static str],
    /// The signs around a block comment.
    pub(crate) block: Option<(&'static str, &'static str)>,
    /// The signs at the beginning of lines that may stand between a comment and its item.
    pub(crate) between: &'static [&'static str],
}

pub(crate) const COMMENTS_C: Comments =
    Comments { line: &["///", "//!", "//"], block: Some(("/*", "*/")), between: &["#[", "@", "["] };

pub(crate) const COMMENTS_HASH: Comments = Comments { line: &["#"], block: None, between: &["@"] };

pub(crate) const COMMENTS_SQL: Comments =
    Comments { line: &["--"], block: Some(("/*", "*/")), between: &[] };

pub(crate) const COMMENTS_NONE: Comments = Comments { line: &[], block: None, between: &[] };

/// The most lines above an item that are read in search of the beginning of its comment.
const LINES: usize = 60;

impl Comments {
    /// Returns the first sentence of the comment that ends right above a row; empty if there is
    /// none.
    pub(super) fn above(&self, lines: &[&str], row: usize) -> String {
        let line = |at: usize| lines.get(at).map_or("", |line| line.trim());
        let mut end = row;
        while end > 0 && self.between.iter().any(|sign| line(end - 1).starts_with(sign)) {
            end -= 1;
        }
        let Some(last) = end.checked_sub(1) else { return String::new() };
        let lowest = end.saturating_sub(LINES);
        if let Some((opens, closes)) = self.block
            && line(last).ends_with(closes)
        {
            let first = (lowest..=last).rev().find(|at| line(*at).starts_with(opens));
            let Some(first) = first else { return String::new() };
            let text = (first..=last).map(|at| {
                let text = line(at);
                let text =
                    if at == first { text.trim_start_matches(['/', '*', '!']) } else { text };
                let text = if at == last { text.trim_end_matches(['/', '*']) } else { text };
                text.trim().trim_start_matches('*').trim()
            });
            return summary(text);
        }
        let sign = |at: usize| self.line.iter().find(|sign| line(at).starts_with(**sign));
        if sign(last).is_none() || line(last).starts_with("#!") {
            return String::new();
        }
        let above = (lowest..=last).rev().take_while(|at| sign(*at).is_some());
        let first = above.last().unwrap_or(last);
        let text = (first..=last).map(|at| {
            let text = sign(at).map_or("", |sign| line(at).strip_prefix(sign).unwrap_or_default());
            text.trim()
        });
        summary(text)
    }
}

/// Returns the first sentence of the first paragraph, on one line.
pub(crate) fn summary<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let is_empty = |line: &&str| !line.chars().any(char::is_alphanumeric);
    let is_tag = |line: &str| line.starts_with('@') || line.starts_with('\\');
    // `<summary>` and its like only mark what is theirs.
    let plain = |line: &str| {
        let mut text = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('<') {
            text.push_str(before);
            let tag = after.split_once('>');
            match tag {
                Some((tag, after)) if tag.starts_with(|c: char| c == '/' || c.is_lowercase()) => {
                    rest = after;
                }
                _ => {
                    text.push('<');
                    rest = after;
                }
            }
        }
        text + rest
    };
    let lines: Vec<String> = lines.map(plain).collect();
    let lines = lines.iter().map(|line| line.trim());
    let paragraph: Vec<&str> =
        lines.skip_while(is_empty).take_while(|line| !is_empty(line) && !is_tag(line)).collect();
    let text = clip(&paragraph.join(" "), 4 * DOC_CHARS_MAX);
    let sentence = text.split_inclusive(". ").next().unwrap_or(&text);
    clip(sentence.trim().trim_end_matches('.'), DOC_CHARS_MAX)
}
