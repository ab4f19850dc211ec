//! Marks that a model could take for the end of anchord's frame or for a wrapper of its client.
//!
//! A mark is read loosely, as a model reads it: case, white space, invisible characters and
//! full-width forms do not matter. A mark that begins at one bracket ends before the next. A text
//! is therefore read once, however many brackets it has.

use anchord_secrets::is_hidden;
use unicode_normalization::UnicodeNormalization;

use super::wrappers::{BARE, BRACKETED, JOINED};
use crate::limits::MARK_NAME_BYTES_MAX;

/// A kind of mark, named after its bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A mark in angle brackets, `<…>`.
    Angle,
    /// A mark in square brackets, `[…]`.
    Square,
}

impl Mark {
    /// Returns the character that replaces the bracket.
    pub(super) fn shown(self) -> char {
        match self {
            Self::Angle => '‹',
            Self::Square => '⟦',
        }
    }
}

/// Finds the mark that begins at `at`. Returns it with the length of its bracket in bytes.
pub(super) fn mark(text: &str, at: usize) -> Option<(Mark, usize)> {
    let rest = text.get(at..)?;
    if let Some(rest) = rest.strip_prefix('[') {
        return is_bracketed(rest).then_some((Mark::Square, 1));
    }
    let bytes = bracket(rest)?;
    let inside = rest.get(bytes..)?;
    let is_mark = frame_name(inside).is_some()
        || !rest.starts_with('&') && (is_turn(inside) || is_wrapper(text.get(..at)?, inside));
    is_mark.then_some((Mark::Angle, bytes))
}

/// Returns the length in bytes of the angle bracket at a text's start. One client escapes the
/// output of hooks, so `&lt;` is a bracket as well.
pub(crate) fn bracket(text: &str) -> Option<usize> {
    const BRACKETS: [&str; 4] = ["<", "&lt;", "\u{ff1c}", "\u{fe64}"];
    BRACKETS.iter().find(|bracket| text.starts_with(**bracket)).map(|bracket| bracket.len())
}

/// A tag of anchord's frame, in any spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrameTag {
    /// Whether it ends a block.
    pub(crate) closes: bool,
    /// The byte offset after it.
    pub(crate) end: usize,
}

/// Reads the tag whose bracket is at `at`, to its end. A tag that opens a block has `note` as its
/// only attribute, in the spelling of [`squeezed`].
pub(crate) fn frame_tag(text: &str, at: usize, note: &str) -> Option<FrameTag> {
    let rest = text.get(at..)?;
    let inside = rest.get(bracket(rest)?..)?;
    let (closes, mut loose) = frame_name(inside)?;
    let mut expected = if closes { "" } else { note }.chars();
    loop {
        match loose.next_squeezed()? {
            '>' => {
                let is_whole = expected.next().is_none();
                return is_whole.then(|| FrameTag { closes, end: text.len() - loose.rest.len() });
            }
            c => (expected.next() == Some(c)).then_some(())?,
        }
    }
}

/// Returns an attribute without the characters in which two spellings of it may differ.
pub(crate) fn squeezed(attribute: &str) -> String {
    let mut loose = Loose { rest: attribute };
    std::iter::from_fn(|| loose.next_squeezed()).collect()
}

/// Reads the frame's name and the slash before it. Returns whether there is a slash, and the rest.
fn frame_name(inside: &str) -> Option<(bool, Loose<'_>)> {
    let mut loose = Loose { rest: inside };
    loose.skip(char::is_whitespace);
    let closes = loose.take('/');
    loose.skip(char::is_whitespace);
    "anchord".chars().all(|c| loose.take(c)).then_some(())?;
    loose.skip(|c| matches!(c, '-' | '_') || c.is_whitespace());
    "memory".chars().all(|c| loose.take(c)).then_some(())?;
    // A hidden character ends the name, as the escape does by which it is shown.
    let next = loose.rest.chars().next().map(plain);
    let goes_on = next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    (!goes_on).then_some((closes, loose))
}

/// Returns whether this is a turn in a chat template: `|im_start|>`, `|end|>`.
fn is_turn(inside: &str) -> bool {
    let mut loose = Loose { rest: inside };
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '\u{2581}');
    loose.take('|') && !loose.name(in_name).is_empty() && loose.take('|') && loose.take('>')
}

/// Returns whether this is a client's wrapper: `system-reminder>`, `/tool_result>`,
/// `invoke name=…`.
fn is_wrapper(before: &str, inside: &str) -> bool {
    let mut loose = Loose { rest: inside };
    let spaced = loose.skip(char::is_whitespace);
    let closes = loose.take('/');
    let spaced = loose.skip(char::is_whitespace) || spaced;
    let mut names = Vec::new();
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    let name = loose.name_shown(in_name, &mut names);
    names.push(name);
    for name in &mut names {
        *name = name.replace('_', "-");
    }
    let is_joined = |name: &String| {
        let (space, name) = in_namespace(name);
        space == "antml" || JOINED.binary_search(&name).is_ok()
    };
    if names.iter().any(is_joined) {
        return true;
    }
    let (_, name) = names.last().map(|name| in_namespace(name)).unwrap_or_default();
    // A common word does not count in `a < system` or `Vec<System>`.
    let is_argument =
        !closes && before.ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
    let ends = loose.peek().is_none_or(|c| c.is_whitespace() || matches!(c, '>' | '/' | '='));
    let doubled = name == "sys" && before.ends_with('<');
    !spaced && !is_argument && ends && (doubled || BARE.binary_search(&name).is_ok())
}

/// Splits a name into its namespace and the rest. Some models call tools under one.
fn in_namespace(name: &str) -> (&str, &str) {
    name.rsplit_once(':').unwrap_or(("", name))
}

/// Returns whether this is a turn in a chat template, in capitals: `INST]`, `/INST]`.
fn is_bracketed(inside: &str) -> bool {
    let mut loose = Loose { rest: inside };
    loose.take('/');
    let start = loose.rest;
    if !start.starts_with(|c: char| c.is_ascii_uppercase() || !c.is_ascii()) {
        return false;
    }
    let name = loose.name(|c| c.is_alphanumeric() || c == '_');
    let is_small = start.get(..start.len() - loose.rest.len()).unwrap_or_default();
    BRACKETED.contains(&name.as_str())
        && !is_small.contains(|c: char| c.is_lowercase())
        && loose.take(']')
}

/// A reader that skips hidden characters, and yields small letters in plain forms.
#[derive(Clone, Copy)]
struct Loose<'a> {
    rest: &'a str,
}

impl Loose<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches(|c| is_hidden(c) && !c.is_whitespace());
        self.rest.chars().next().map(plain)
    }

    fn bump(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    /// Takes this character if it is next.
    fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.bump();
        }
        is_next
    }

    /// Skips the matching characters. Returns whether there was one.
    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) -> bool {
        let mut any = false;
        while self.peek().is_some_and(&is_skipped) {
            self.bump();
            any = true;
        }
        any
    }

    /// Takes the characters of a name. Returns an empty name if there are too many.
    fn name(&mut self, is_part: impl Fn(char) -> bool) -> String {
        self.name_shown(is_part, &mut Vec::new())
    }

    /// Takes the characters of a name. Adds to `shown` what of it is before each hidden character,
    /// since an escape will end the name there.
    fn name_shown(&mut self, is_part: impl Fn(char) -> bool, shown: &mut Vec<String>) -> String {
        let mut name = String::new();
        loop {
            let before = self.rest.len();
            let Some(c) = self.peek().filter(|c| is_part(*c)) else { return name };
            if self.rest.len() < before {
                shown.push(name.clone());
            }
            if name.len() > MARK_NAME_BYTES_MAX {
                return String::new();
            }
            name.push(c);
            self.bump();
        }
    }

    /// Takes the next character that is not white space or a quote. `&gt;` counts as `>`.
    fn next_squeezed(&mut self) -> Option<char> {
        loop {
            let c = self.peek()?;
            if let Some(rest) = self.rest.strip_prefix("&gt;") {
                self.rest = rest;
                return Some('>');
            }
            if let Some(rest) = self.rest.strip_prefix("&quot;") {
                self.rest = rest;
                continue;
            }
            self.bump();
            if !(c.is_whitespace() || matches!(c, '"' | '\'' | '“' | '”')) {
                return Some(c);
            }
        }
    }
}

/// Folds a character's case and form. Full-width and mathematical letters become letters.
fn plain(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut forms = std::iter::once(c).nfkc();
    let c = match (forms.next(), forms.next()) {
        (Some(one), None) => one,
        _ => c,
    };
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c.to_lowercase().next().unwrap_or(c),
    }
}
