//! Texts in the forms in which they are compared and stored: folded case and space, words of
//! substance, one line, clipped.
//!
//! Two texts are equivalent if they are equal when folded, or have the same words of substance.
//! The list of stop words is short on purpose. A missing stop word keeps two lessons apart, which
//! costs a line. A wrong one would lose a lesson. So the list has no negation, direction, time or
//! quantity: `from A to B` is not `to A from B`, and `never X` is not `X`.

use anchord_secrets::cut_outside_markers;
use sha2::{Digest, Sha256};

const STOP_WORDS: [&str; 27] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am", "it", "its", "this",
    "that", "these", "those", "of", "there", "so", "also", "just", "really", "very", "simply",
    "please", "note:",
];

/// Returns the first eight bytes of a text's SHA-256, which are the same on every machine.
pub(crate) fn digest(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Folds a text: lower case, with every run of white space as one space.
pub(crate) fn fold(text: &str) -> String {
    one_line(text).to_lowercase()
}

/// Puts a text on one line: every run of white space becomes one space, with none at the ends.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Joins the lines of a text into one, with a semicolon after a line that does not end in
/// punctuation.
pub(crate) fn join_lines(text: &str) -> String {
    let mut line = String::new();
    for part in text.lines().map(one_line).filter(|part| !part.is_empty()) {
        let is_ended = line.ends_with(['.', '!', '?', ':', ';', ',', '…']);
        line.push_str(if line.is_empty() || is_ended { "" } else { ";" });
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(&part);
    }
    line
}

/// Returns the words that carry the meaning, folded and in order. Two summaries with the same
/// substance are one lesson. This is the transitive closure of "one contains the other and adds no
/// word of substance". So the result of a merge does not depend on the order in which lessons come.
pub(crate) fn substance(text: &str) -> String {
    let folded = fold(text);
    let words: Vec<&str> = folded
        .split(' ')
        .filter(|word| !STOP_WORDS.contains(word))
        .map(bare)
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(word))
        .collect();
    if words.is_empty() { folded } else { words.join(" ") }
}

/// Returns a word without quotes around it and sentence punctuation after it. Leading signs stay,
/// since `!flag`, `#[cfg]` and `.env` mean something else without them.
fn bare(word: &str) -> &str {
    let quote = |c: char| matches!(c, '`' | '"' | '\'' | '“' | '”' | '‘' | '’');
    word.trim_start_matches(quote)
        .trim_end_matches(|c: char| quote(c) || matches!(c, '.' | ',' | ';' | ':' | '!' | '?'))
}

/// Returns whether a text names a file or directory, alone or as part of a path. `auth` occurs in
/// `src/auth/mod.rs`, but not in `author` or `auth.rs`.
pub(crate) fn names_path(text: &str, path: &str) -> bool {
    path_mentions(text, path).next().is_some()
}

/// Returns the first byte of each occurrence of a path, as [`names_path`] defines it.
pub(crate) fn path_mentions<'a>(text: &'a str, path: &'a str) -> impl Iterator<Item = usize> + 'a {
    // In scripts without letter case, letters may adjoin a path without a space.
    let in_name = |c: char| {
        c.is_lowercase() || c.is_uppercase() || c.is_ascii_digit() || matches!(c, '_' | '-')
    };
    let is_whole = move |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let mut after = text.get(at + path.len()..).unwrap_or_default().chars();
        let ended = match after.next() {
            Some('.') => !after.next().is_some_and(in_name),
            next => !next.is_some_and(in_name),
        };
        ended && !before.is_some_and(|before| in_name(before) || before == '.')
    };
    let found = text.match_indices(path).map(|(at, _)| at);
    found.filter(move |at| !path.is_empty() && is_whole(*at))
}

/// Clips a text to `chars_max` characters. The last one is `…` if anything was cut. The marker of a
/// removed secret is left out rather than cut.
pub(crate) fn clip(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(chars_max.saturating_sub(1)).map_or(0, |(at, _)| at);
    let at = cut_outside_markers(text, end);
    let kept = text.get(..at).unwrap_or_default();
    let kept = if at < end { kept.trim_end() } else { kept };
    format!("{kept}…")
}

/// Clips a text to at most `chars_max` characters, after a word if possible. It ends with `…` if
/// anything was cut.
pub(crate) fn clip_words(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let kept = cut_after_word(text, chars_max.saturating_sub(1));
    if kept.ends_with('…') { kept.to_owned() } else { format!("{kept}…") }
}

/// Returns at most `chars_max` characters of a text. They end after a word, unless that would leave
/// less than half of them.
pub(crate) fn cut_after_word(text: &str, chars_max: usize) -> &str {
    let Some((at, _)) = text.char_indices().nth(chars_max) else { return text };
    let (kept, rest) = text.split_at(at);
    let after_word = rest.trim_start_matches(['.', ',', ';', ':', '!', '?', ')']);
    let is_inside = !after_word.is_empty() && !after_word.starts_with(char::is_whitespace);
    let space = kept.rfind(char::is_whitespace).filter(|space| is_inside && *space > at / 2);
    let words = space.and_then(|space| kept.get(..space)).unwrap_or(kept);
    words.trim_end_matches(|c: char| c.is_whitespace() || c == ';' || c == ',')
}

/// The line that replaces the beginning of a text.
const CUT_HERE: &str = "[cut here: what stood before is in earlier versions, if anywhere]\n\n";

/// Keeps at most the last `bytes_max` bytes of a text, behind a line that says that something was
/// cut. Starts at a paragraph if one begins soon. The line is dropped with the beginning when the
/// text is cut again.
pub(crate) fn keep_end(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let from = text.len() - bytes_max.saturating_sub(CUT_HERE.len());
    let end = text.get(text.ceil_char_boundary(from)..).unwrap_or_default();
    let paragraph = end.find("\n\n").filter(|at| *at < end.len() / 2).map_or(0, |at| at + 2);
    format!("{CUT_HERE}{}", end.get(paragraph..).unwrap_or_default().trim_start_matches('\n'))
}

/// Joins a head and the lines of a text, each on its own line and indented. Blank lines stay blank.
pub(crate) fn with_block(mut head: String, text: &str, indent: &str) -> String {
    for line in text.lines() {
        head.push('\n');
        if !line.trim().is_empty() {
            head.push_str(indent);
            head.push_str(line);
        }
    }
    head
}

#[cfg(test)]
mod tests;
