//! The words of a command pattern, read as a shell reads them.

use std::iter::Peekable;
use std::str::Chars;

/// The reason why a pattern is not the words of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPattern {
    /// It has an operator that separates commands.
    Operator,
    /// It has a redirection.
    Redirection,
    /// A quote is not closed, or nothing follows a backslash.
    Quote,
}

/// Returns the words of a pattern, without their quotes. `*` is a wildcard in quotes, too: the
/// words of a command have no quotes either.
pub(crate) fn words(pattern: &str) -> Result<Vec<String>, BadPattern> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = pattern.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | ';' | '|' | '&' => return Err(BadPattern::Operator),
            '<' | '>' => return Err(BadPattern::Redirection),
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => quoted(c, &mut chars, word.get_or_insert_default())?,
            '\\' => {
                let escaped = chars.next().ok_or(BadPattern::Quote)?;
                word.get_or_insert_default().push(escaped);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Whether a shell would expand a part of the pattern, as in `deploy $TARGET`. The words of a
/// command have no such part.
pub(crate) fn expands(pattern: &str) -> bool {
    let mut quote = None;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('$' | '`', None | Some('"')) => return true,
            ('\\', None | Some('"')) => drop(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    false
}

/// Reads up to the closing quote. Between double quotes, a backslash escapes what it does in Bash.
fn quoted(
    quote: char,
    rest: &mut Peekable<Chars<'_>>,
    word: &mut String,
) -> Result<(), BadPattern> {
    while let Some(c) = rest.next() {
        if c == quote {
            return Ok(());
        }
        let escaped = rest.next_if(|next| quote == '"' && c == '\\' && "\"\\$`".contains(*next));
        word.push(escaped.unwrap_or(c));
    }
    Err(BadPattern::Quote)
}
