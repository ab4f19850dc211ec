//! Patterns with wildcards, matched against texts of which parts may be unknown.
//!
//! A text is a list of symbols. [`Sym::Any`] stands for any characters, since a shell word may
//! contain a variable. So the answer has three values. No crate for globs answers "maybe".

use crate::limits::ALTERNATIVES_MAX;

/// The answer of a match, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// It does not match, whatever the unknown parts are.
    #[default]
    No,
    /// It depends on unknown parts.
    Maybe,
    /// It matches, whatever the unknown parts are.
    Yes,
}

/// A symbol of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sym {
    /// A known character.
    Char(char),
    /// Unknown characters, possibly none.
    Any,
}

/// Returns the symbols of a known text.
pub(crate) fn syms(text: &str) -> Vec<Sym> {
    text.chars().map(Sym::Char).collect()
}

/// Returns a text in which `…` stands for unknown characters.
pub(crate) fn shown(text: &[Sym]) -> String {
    text.iter()
        .map(|sym| match sym {
            Sym::Char(c) => *c,
            Sym::Any => '…',
        })
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Tok {
    Char(char),
    /// Any one character but `/`.
    One,
    /// Any characters but `/`.
    Star,
    /// Any characters.
    Deep,
    /// Any number of whole parts with their slashes, at the beginning of a part.
    Dirs,
    /// The place within one of these parts. It always follows [`Tok::Dirs`].
    InDir,
    /// One character of a set, or one outside it.
    Set {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

/// A fault of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPattern {
    Bracket,
    Brace,
    Alternatives,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Wild {
    alternatives: Vec<Vec<Tok>>,
    fold: bool,
}

impl Wild {
    /// Compiles a pattern of a word: `*` stands for any characters, and everything else for itself.
    pub(crate) fn word(pattern: &str) -> Self {
        Self::of_word(pattern, false)
    }

    /// Compiles a pattern of a word that matches in upper and lower case alike.
    pub(crate) fn word_in_any_case(pattern: &str) -> Self {
        Self::of_word(pattern, true)
    }

    fn of_word(pattern: &str, fold: bool) -> Self {
        let tok = |c| if c == '*' { Tok::Deep } else { Tok::Char(folded(c, fold)) };
        Self { alternatives: vec![pattern.chars().map(tok).collect()], fold }
    }

    /// Compiles a glob of a path or branch: `*` and `?` stay within one part, `**` crosses parts,
    /// `[a-z]` is one character, and `{a,b}` are alternatives.
    pub(crate) fn glob(pattern: &str) -> Result<Self, BadPattern> {
        let mut alternatives = Vec::new();
        for plain in alternatives_of(pattern)? {
            let toks = glob_toks(&plain)?;
            // `dir/**` also stands for `dir`, since removing it removes what is in it.
            if let Some(dir) = toks.strip_suffix(&[Tok::Char('/'), Tok::Deep])
                && !dir.is_empty()
            {
                alternatives.push(dir.to_vec());
            }
            alternatives.push(toks);
        }
        Ok(Self { alternatives, fold: false })
    }

    /// Matches a text.
    pub(crate) fn matches(&self, text: &[Sym]) -> Match {
        let best = self.alternatives.iter().map(|toks| matches(toks, text, self.fold)).max();
        best.unwrap_or_default()
    }
}

fn folded(c: char, fold: bool) -> char {
    if fold { c.to_ascii_lowercase() } else { c }
}

/// Follows all positions in the pattern at once.
fn matches(toks: &[Tok], text: &[Sym], fold: bool) -> Match {
    if toks == [Tok::Deep] {
        return Match::Yes;
    }
    let mut at = vec![false; toks.len() + 1];
    let mut next = at.clone();
    let mut certain = true;
    if let Some(first) = at.first_mut() {
        *first = true;
    }
    skip_stars(toks, &mut at);
    for sym in text {
        match *sym {
            Sym::Any => {
                certain = false;
                // Every element consumes some text, so any later position can be reached.
                let first = at.iter().position(|is| *is).unwrap_or(at.len());
                at.iter_mut().skip(first).for_each(|is| *is = true);
            }
            Sym::Char(c) => {
                next.fill(false);
                step(toks, folded(c, fold), &at, &mut next);
                std::mem::swap(&mut at, &mut next);
                skip_stars(toks, &mut at);
            }
        }
        if !at.contains(&true) {
            return Match::No;
        }
    }
    match (at.last(), certain) {
        (Some(true), true) => Match::Yes,
        (Some(true), false) => Match::Maybe,
        _ => Match::No,
    }
}

fn step(toks: &[Tok], c: char, at: &[bool], next: &mut [bool]) {
    for (index, tok) in toks.iter().enumerate().filter(|(index, _)| at.get(*index) == Some(&true)) {
        let to = match tok {
            Tok::Char(of) => (*of == c).then_some(index + 1),
            Tok::One => (c != '/').then_some(index + 1),
            Tok::Star => (c != '/').then_some(index),
            Tok::Deep => Some(index),
            Tok::Dirs => Some(if c == '/' { index } else { index + 1 }),
            Tok::InDir => Some(if c == '/' { index - 1 } else { index }),
            Tok::Set { ranges, negated } => {
                let inside = ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
                (c != '/' && inside != *negated).then_some(index + 1)
            }
        };
        if let Some(slot) = to.and_then(|to| next.get_mut(to)) {
            *slot = true;
        }
    }
}

/// A star may stand for nothing.
fn skip_stars(toks: &[Tok], at: &mut [bool]) {
    for (index, tok) in toks.iter().enumerate() {
        let skipped = match tok {
            Tok::Star | Tok::Deep => 1,
            Tok::Dirs => 2,
            _ => continue,
        };
        if at.get(index) == Some(&true)
            && let Some(slot) = at.get_mut(index + skipped)
        {
            *slot = true;
        }
    }
}

fn glob_toks(pattern: &str) -> Result<Vec<Tok>, BadPattern> {
    let mut toks = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let starts_part = toks.is_empty() || toks.ends_with(&[Tok::Char('/')]);
        let tail = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = match c {
            '*' if starts_part && rest.starts_with("**/") => {
                toks.extend([Tok::Dirs, Tok::InDir]);
                rest.strip_prefix("**/").unwrap_or_default()
            }
            '*' if rest.starts_with("**") => {
                toks.push(Tok::Deep);
                rest.trim_start_matches('*')
            }
            '*' => {
                toks.push(Tok::Star);
                tail
            }
            '?' => {
                toks.push(Tok::One);
                tail
            }
            '[' => {
                let (set, after) = set(tail).ok_or(BadPattern::Bracket)?;
                toks.push(set);
                after
            }
            '\\' => {
                let literal = tail.chars().next().unwrap_or('\\');
                toks.push(Tok::Char(literal));
                tail.get(literal.len_utf8()..).unwrap_or_default()
            }
            _ => {
                toks.push(Tok::Char(c));
                tail
            }
        };
    }
    Ok(toks)
}

/// Reads a set behind its `[`. Returns it with the text behind its `]`.
#[expect(clippy::single_match_else, reason = "both cases are as common")]
fn set(text: &str) -> Option<(Tok, &str)> {
    let negated = text.starts_with(['!', '^']);
    let body = if negated { text.get(1..)? } else { text };
    // A `]` in the first place is a member.
    let first = body.chars().next()?.len_utf8();
    let end = first + body.get(first..)?.find(']')?;
    let members: Vec<char> = body.get(..end)?.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = members.as_slice();
    while let Some((from, after)) = rest.split_first() {
        rest = match after {
            ['-', to, after @ ..] => {
                ranges.push((*from, *to));
                after
            }
            _ => {
                ranges.push((*from, *from));
                after
            }
        };
    }
    Some((Tok::Set { ranges, negated }, body.get(end + 1..)?))
}

/// Expands the braces of a glob.
fn alternatives_of(pattern: &str) -> Result<Vec<String>, BadPattern> {
    let mut done = Vec::new();
    let mut todo = vec![pattern.to_owned()];
    while let Some(next) = todo.pop() {
        if done.len() + todo.len() > ALTERNATIVES_MAX {
            return Err(BadPattern::Alternatives);
        }
        let Some(open) = next.find('{') else {
            if next.contains('}') {
                return Err(BadPattern::Brace);
            }
            done.push(next);
            continue;
        };
        let (before, rest) = (next.get(..open), next.get(open + 1..));
        let (before, rest) = (before.unwrap_or_default(), rest.unwrap_or_default());
        let (parts, after) = brace_parts(rest).ok_or(BadPattern::Brace)?;
        todo.extend(parts.iter().map(|part| format!("{before}{part}{after}")));
    }
    Ok(done)
}

/// Splits what follows a `{` into its parts and the text behind its `}`.
fn brace_parts(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(text.get(from..at)?);
                return Some((parts, text.get(at + 1..)?));
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}
