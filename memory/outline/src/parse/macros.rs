//! Removes macros before declarations from C and C++, which a grammar can only take for names.
//!
//! A macro is known if the file defines it as nothing or as an attribute. Otherwise a name of
//! capitals counts as one where a declaration cannot have a name. Each becomes spaces, so that
//! lines and bytes stay.

use std::collections::HashSet;

/// Words that begin the text of a macro that stands before a declaration.
const ATTRIBUTES: [&str; 12] = [
    "__attribute__",
    "__declspec",
    "__forceinline",
    "__inline",
    "[[",
    "constexpr",
    "explicit",
    "extern",
    "inline",
    "noexcept",
    "static",
    "virtual",
];

/// Words after which a macro may stand before a name.
const BEFORE: [&str; 14] = [
    "class",
    "const",
    "constexpr",
    "enum",
    "explicit",
    "extern",
    "friend",
    "inline",
    "static",
    "struct",
    "typedef",
    "union",
    "virtual",
    "void",
];

/// Returns the text without such macros, in the same number of bytes.
pub(super) fn without_macros(text: &str) -> String {
    let tokens = tokens(text);
    let known = defined(text);
    let mut bytes = text.as_bytes().to_vec();
    let word = |at: usize| tokens.get(at).and_then(|token| text.get(token.start..token.end));
    // The token before, without the macros that are gone.
    let mut before = None;
    let mut at = 0;
    while let Some(name) = word(at) {
        let is_known = known.contains(name);
        if !is_known && !is_capitals(name) {
            before = Some(name);
            at += 1;
            continue;
        }
        // Its arguments belong to it.
        let mut end = at;
        if word(at + 1) == Some("(") {
            end = closing(text, &tokens, at + 1).unwrap_or(at);
        }
        let (after, then) = (word(end + 1), word(end + 2));
        let is_label = after == Some(":") && then != Some(":") && before.is_none_or(ends);
        if is_known || is_label || is_between(before, after, end > at) {
            let last = if is_label { end + 1 } else { end };
            let from = tokens.get(at).map_or(0, |token| token.start);
            let to = tokens.get(last).map_or(from, |token| token.end);
            for byte in bytes.get_mut(from..to).unwrap_or_default() {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
            at = last + 1;
        } else {
            before = Some(name);
            at += 1;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Whether a declaration ends with this token, so that the next one begins behind it.
fn ends(token: &str) -> bool {
    matches!(token, ";" | "{" | "}" | ":" | ">")
}

/// Whether a name of capitals between two tokens is no type and no variable.
fn is_between(before: Option<&str>, after: Option<&str>, has_arguments: bool) -> bool {
    let begins_name =
        |token: &str| token.starts_with(|c: char| c.is_alphabetic() || "_~[".contains(c));
    let begins = before.is_none_or(ends);
    let is_modifier = before.is_some_and(|before| BEFORE.contains(&before) || before == "*");
    match after {
        Some(after) if begins_name(after) => begins || is_modifier || before == Some(")"),
        // Behind the parameters of a function.
        Some("{" | ";") if matches!(before, Some(")" | "const" | "noexcept" | "override")) => true,
        Some("}") | None => begins,
        Some("(") => is_modifier && !has_arguments,
        _ => false,
    }
}

fn is_capitals(name: &str) -> bool {
    const CHARS_MIN: usize = 4;
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.len() >= CHARS_MIN
        && name.contains('_')
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(fits)
}

/// Returns the macros without parameters that stand for nothing or for an attribute.
fn defined(text: &str) -> HashSet<&str> {
    let define = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let body = rest.get(end..)?;
        let is_attribute = ATTRIBUTES.iter().any(|word| body.trim_start().starts_with(word));
        let is_plain = !body.starts_with('(') && (body.trim().is_empty() || is_attribute);
        let from = rest.as_ptr() as usize - line.as_ptr() as usize;
        (is_plain && end > 0).then_some((from, from + end))
    };
    let names =
        text.lines().filter_map(|line| define(line).and_then(|(from, to)| line.get(from..to)));
    names.collect()
}

/// A name, a number or one other character of code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns the tokens outside of comments, texts and directives.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let find = |from: usize, end: &str| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|part| part == end.as_bytes());
        found.map_or(bytes.len(), |at| from + at + end.len())
    };
    let mut tokens = Vec::new();
    let (mut at, mut starts_line) = (0, true);
    while at < bytes.len() {
        let start = at;
        at = match (byte(at), byte(at + 1)) {
            (b'\n', _) => {
                starts_line = true;
                at + 1
            }
            (c, _) if c.is_ascii_whitespace() => at + 1,
            (b'/', b'/') => find(at, "\n").saturating_sub(1),
            (b'/', b'*') => find(at + 2, "*/"),
            (b'#', _) if starts_line => {
                let mut end = find(at, "\n");
                while end < bytes.len() && end >= 2 && byte(end - 2) == b'\\' {
                    end = find(end, "\n");
                }
                end.saturating_sub(1).max(at + 1)
            }
            (quote @ (b'"' | b'\''), _) => {
                let mut end = at + 1;
                while end < bytes.len() && byte(end) != quote && byte(end) != b'\n' {
                    end += if byte(end) == b'\\' { 2 } else { 1 };
                }
                let end = (end + 1).min(bytes.len());
                tokens.push(Token { start, end });
                end
            }
            (c, _) => {
                let is_word = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || !c.is_ascii();
                let mut end = at + 1;
                while is_word(c) && end < bytes.len() && is_word(byte(end)) {
                    end += 1;
                }
                starts_line = false;
                tokens.push(Token { start, end });
                end
            }
        };
    }
    tokens
}

/// Returns the place of the bracket that closes the one at a place.
fn closing(text: &str, tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match text.get(token.start..token.end) {
            Some("(") => depth += 1,
            Some(")") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
