//! What is asked: words, `"phrases"` and `-words`. Any text is a query; there is no syntax to get wrong.

use std::ops::Range;

use super::words::{Part, Word, fold, term, words};
use crate::limits::{QUERY_CHARS_MAX, QUERY_TERMS_MAX};

/// A query, read once.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(super) wanted: Vec<Wanted>,
    pub(super) phrases: Vec<Phrase>,
    pub(super) unwanted: Vec<Phrase>,
    /// Whether it was longer than what is read of it.
    cut: bool,
}

/// A term that raises the score of what has it.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// As it was written, in lower case.
    pub asked: String,
    /// As it is indexed.
    pub term: Box<str>,
    pub hash: u64,
    /// Not part of a longer identifier that is also wanted.
    pub atom: bool,
    stop: bool,
}

/// Terms and the distance of each from the first.
pub(super) type Phrase = Vec<(u32, u64)>;

impl Query {
    /// Reads a query. A `"phrase"` must stand in a hit as it is; a `-word` or `-"phrase"` must not. A minus counts only
    /// before a letter at the start of a word, so `--flag` and `-1` are wanted as they are. Stop words count when there is
    /// nothing else. What is beyond the limits of length is not read; see [`Self::is_cut`].
    pub fn parse(text: &str) -> Self {
        let end = text.char_indices().nth(QUERY_CHARS_MAX).map(|(end, _)| end);
        let mut rest = end.map_or(text, |end| &text[..end]);
        let mut query = Self { cut: end.is_some(), ..Self::default() };
        while !rest.is_empty() {
            let (clause, after) = Clause::take(rest);
            query.add(&clause);
            rest = after;
        }
        if query.wanted.iter().any(|wanted| !wanted.stop) {
            query.wanted.retain(|wanted| !wanted.stop);
        }
        query.cut |= query.wanted.len() > QUERY_TERMS_MAX;
        query.wanted.truncate(QUERY_TERMS_MAX);
        query
    }

    /// Whether it has more than [`QUERY_CHARS_MAX`] characters, or more words, or more words in phrases and after minuses,
    /// than [`QUERY_TERMS_MAX`]: what is beyond is not looked for.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Reads a text that was told, not asked: quotes and minuses in it are its own and demand nothing.
    pub fn told(text: &str) -> Self {
        Self::parse(&format!(" {text}").replace(['"', '“', '”'], " ").replace(" -", " "))
    }

    /// Whether nothing is asked for that could raise a score.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Puts another term in the place of one that nothing has.
    pub(super) fn corrected(&self, hash: u64, term: &str, by: u64) -> Self {
        let mut query = self.clone();
        if query.wanted.iter().any(|wanted| wanted.hash == by) {
            query.wanted.retain(|wanted| wanted.hash != hash);
        }
        for wanted in query.wanted.iter_mut().filter(|wanted| wanted.hash == hash) {
            wanted.term = term.into();
            wanted.hash = by;
        }
        for (_, in_phrase) in query.phrases.iter_mut().flatten() {
            if *in_phrase == hash {
                *in_phrase = by;
            }
        }
        query
    }

    /// Has a phrase stand in each hit, or in none. Each is looked for in all documents.
    fn demand(&mut self, phrase: Phrase, unwanted: bool) {
        let terms = self.phrases.iter().chain(&self.unwanted).map(Vec::len).sum::<usize>();
        let phrases = if unwanted { &mut self.unwanted } else { &mut self.phrases };
        if phrase.is_empty() || phrases.contains(&phrase) {
            return;
        }
        if terms + phrase.len() > QUERY_TERMS_MAX {
            self.cut = true;
            return;
        }
        phrases.push(phrase);
    }

    fn add(&mut self, clause: &Clause<'_>) {
        if clause.unwanted || clause.quoted {
            self.demand(phrase(clause.text), clause.unwanted);
        }
        if clause.unwanted {
            return;
        }
        words(clause.text, 0, &mut |word| {
            let term = term(word.raw);
            let known = self.wanted.iter().any(|wanted| wanted.hash == term.hash);
            // A character of a longer run is indexed for queries of that character alone.
            if !known && word.part != Part::Single {
                let asked = clause.text.get(word.range.clone()).unwrap_or_default();
                self.wanted.push(Wanted {
                    asked: fold(asked),
                    term: term.text.clone(),
                    hash: term.hash,
                    atom: word.part != Part::Whole,
                    stop: term.stop,
                });
            }
        });
    }
}

/// The terms of a phrase; an identifier in it must stand as a whole.
fn phrase(text: &str) -> Phrase {
    let mut phrase: Vec<(u32, u64)> = Vec::new();
    let mut whole: Range<usize> = 0..0;
    words(text, 0, &mut |Word { raw, part, position, range }| {
        let covered = range.end <= whole.end;
        match part {
            _ if covered => {}
            Part::Single => {}
            Part::Whole => {
                whole = range;
                phrase.push((position, term(raw).hash));
            }
            Part::Atom | Part::Pair => phrase.push((position, term(raw).hash)),
        }
    });
    let first = phrase.first().map_or(0, |(position, _)| *position);
    for (position, _) in &mut phrase {
        *position -= first;
    }
    phrase
}

struct Clause<'t> {
    text: &'t str,
    quoted: bool,
    unwanted: bool,
}

impl<'t> Clause<'t> {
    /// The next clause and what comes after it.
    fn take(text: &'t str) -> (Self, &'t str) {
        let text = text.trim_start();
        let minus = text.strip_prefix('-');
        let unwanted =
            minus.filter(|rest| rest.starts_with(|c: char| c.is_alphabetic() || is_quote(c)));
        let body = unwanted.unwrap_or(text);
        let unwanted = unwanted.is_some();
        if let Some(inner) = body.strip_prefix(is_quote)
            && let Some((phrase, rest)) = inner.split_once(is_quote)
        {
            return (Self { text: phrase, quoted: true, unwanted }, rest);
        }
        let end = body.find(char::is_whitespace).unwrap_or(body.len());
        let (word, rest) = body.split_at(end);
        (Self { text: word, quoted: false, unwanted }, rest)
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”')
}
