//! When two texts say the same: case and space folded, and words of substance.
//!
//! The list of stop words is short on purpose. A word left off it keeps two lessons apart, which
//! costs a line; a word wrongly on it would lose one. So no negation, no direction, no time and no
//! quantity stands here: `from A to B` is not `to A from B`, and `never X` is not `X`.

const STOP_WORDS: [&str; 27] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am", "it", "its", "this",
    "that", "these", "those", "of", "there", "so", "also", "just", "really", "very", "simply",
    "please", "note:",
];

/// Lower case, and every run of white space one space.
pub(crate) fn fold(text: &str) -> String {
    one_line(text).to_lowercase()
}

/// Every run of white space one space, none at the ends.
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

/// The words that carry the meaning, folded and in order; two summaries with the same substance are
/// one lesson. This is the transitive closure of "one contains the other and adds no word of
/// substance", so what merges does not depend on the order in which lessons come.
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

/// A word without quotes around it and the punctuation of a sentence after it. What stands before a
/// word stays, since `!flag`, `#[cfg]` and `.env` mean something else without it.
fn bare(word: &str) -> &str {
    let quote = |c: char| matches!(c, '`' | '"' | '\'' | '“' | '”' | '‘' | '’');
    word.trim_start_matches(quote)
        .trim_end_matches(|c: char| quote(c) || matches!(c, '.' | ',' | ';' | ':' | '!' | '?'))
}

/// Whether a text names a file or directory, on its own or beneath others: `auth` stands in `src/auth/mod.rs`, not in
/// `author` or `auth.rs`.
pub(crate) fn names_path(text: &str, path: &str) -> bool {
    path_mentions(text, path).next().is_some()
}

/// Returns where a text names a path, as [`names_path`] says: the first byte of each occurrence.
pub(crate) fn path_mentions<'a>(text: &'a str, path: &'a str) -> impl Iterator<Item = usize> + 'a {
    // Letters of scripts without small and capital ones stand beside a path with no space between.
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

/// At most `chars_max` characters, the last one `…` when something was cut.
pub(crate) fn clip(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let mut clipped: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    clipped.push('…');
    clipped
}

/// Stands where the beginning of a text was cut off.
const CUT_HERE: &str = "[cut here: what stood before is in earlier versions, if anywhere]\n\n";

/// At most `bytes_max` bytes: the end of the text, from a paragraph on where one begins soon, behind a line that says
/// that something was cut. The line goes with the beginning when that is cut again.
pub(crate) fn keep_end(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let from = text.len() - bytes_max.saturating_sub(CUT_HERE.len());
    let end = text.get(text.ceil_char_boundary(from)..).unwrap_or_default();
    let paragraph = end.find("\n\n").filter(|at| *at < end.len() / 2).map_or(0, |at| at + 2);
    format!("{CUT_HERE}{}", end.get(paragraph..).unwrap_or_default().trim_start_matches('\n'))
}

#[cfg(test)]
mod tests;
