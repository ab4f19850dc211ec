//! Hidden characters that belong to a word.

use anchord_secrets::is_hidden;

/// Returns whether a hidden character only shapes the visible ones around it. That is a joiner
/// between letters or emoji that are not ASCII, or one selector after a sign. More of them hide
/// text.
pub(super) fn is_part_of_a_word(before: &str, c: char, after: &str) -> bool {
    let is_shaped = |c: char| !c.is_ascii() && !is_hidden(c) && !c.is_whitespace();
    let mut before = before.chars().rev();
    match c {
        '\u{200c}' | '\u{200d}' => {
            let last = match before.next() {
                Some('\u{fe0f}') => before.next(),
                last => last,
            };
            last.is_some_and(is_shaped) && after.chars().next().is_some_and(is_shaped)
        }
        '\u{fe0e}' | '\u{fe0f}' => before
            .next()
            .is_some_and(|c| is_shaped(c) || c.is_ascii_digit() || matches!(c, '#' | '*')),
        _ => false,
    }
}
