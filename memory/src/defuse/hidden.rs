//! Characters that a reader does not see, or that do something instead of being shown.

/// Returns whether a character is a control character or invisible. Invisible are Unicode's
/// `Default_Ignorable_Code_Point`, bidi, tag and annotation characters, and Unicode's line breaks.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

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
