//! A query: words, one `"phrase"`, and `-words`. Any text is a query; there is no syntax to get
//! wrong.
//!
//! People quote for emphasis and join words with a minus, so only a clear constraint counts as one;
//! see [`Query::parse`].

use std::ops::Range;

use super::words::{Part, Word, fold, term, words};
use crate::limits::{QUERY_CHARS_MAX, QUERY_TERMS_MAX};

/// A parsed query.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(super) wanted: Vec<Wanted>,
    pub(super) phrases: Vec<Phrase>,
    pub(super) unwanted: Vec<Phrase>,
    /// Whether part of it was too long to be read.
    cut: bool,
    /// Whether its words mean only themselves.
    pub(super) literal: bool,
}

/// A term that raises the score of documents that contain it.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The term as written, in lower case.
    pub asked: String,
    /// The term as indexed.
    pub term: Box<str>,
    pub hash: u64,
    /// Whether it is not part of a longer identifier that is also wanted.
    pub atom: bool,
    stop: bool,
}

/// A set of a query's terms, of which there are at most [`QUERY_TERMS_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms(u64);

impl Terms {
    /// Returns the sum of their weights; `weights` is in the order of the query.
    pub fn weight(self, weights: &[f32]) -> f32 {
        let had = weights.iter().enumerate().filter(|(at, _)| self.has(*at));
        // The sum of no floats is -0, which would show in output.
        had.fold(0.0, |sum, (_, weight)| sum + weight)
    }

    /// Returns how many there are.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the terms that are in either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the terms that are in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the query's term at this place is one of them.
    pub fn has(self, at: usize) -> bool {
        at < QUERY_TERMS_MAX && self.0 >> at & 1 == 1
    }

    fn add(&mut self, at: Option<usize>) {
        if let Some(at) = at.filter(|at| *at < QUERY_TERMS_MAX) {
            self.0 |= 1 << at;
        }
    }
}

/// Terms and the distance of each from the first.
pub(super) type Phrase = Vec<(u32, u64)>;

impl Query {
    /// Reads a query as people type it. Only two things are hard constraints. A query that is one
    /// `"phrase"` and nothing else must occur in a hit exactly. A `-word` or `-"phrase"` after a
    /// space must not occur in one.
    ///
    /// Everything else is words. That includes quotes around a part of the query, a minus between
    /// words or at its start, and the flags `--flag`, `-k` and `-DNAME=value`. Stop words count
    /// only when there is nothing else. Text beyond the length limits is not read; see
    /// [`Self::is_cut`].
    pub fn parse(text: &str) -> Self {
        Self::read(text, Manner::Lenient)
    }

    /// Reads a query in which each `"phrase"`, and each minus before a letter at the start of a
    /// word, is a hard constraint.
    pub fn strict(text: &str) -> Self {
        Self::read(text, Manner::Strict)
    }

    /// Reads a text as plain words: its quotes and minuses are not constraints.
    pub fn plain(text: &str) -> Self {
        Self::read(text, Manner::Plain)
    }

    /// Makes the words mean only themselves: one that no document has is not replaced by one near
    /// it, which would compare all indexed words.
    #[must_use]
    pub fn literally(self) -> Self {
        Self { literal: true, ..self }
    }

    fn read(text: &str, manner: Manner) -> Self {
        let end = text.char_indices().nth(QUERY_CHARS_MAX).map(|(end, _)| end);
        let mut rest = end.map_or(text, |end| &text[..end]).trim();
        let mut query = Self { cut: end.is_some(), ..Self::default() };
        let is_one_phrase = is_one_phrase(rest);
        let mut is_first = true;
        while !rest.is_empty() {
            let (mut clause, after) = Clause::take(rest);
            match manner {
                Manner::Strict => {}
                Manner::Lenient => {
                    clause.unwanted &= !is_first && !clause.is_flag();
                    clause.quoted &= clause.unwanted || is_one_phrase;
                }
                Manner::Plain => (clause.quoted, clause.unwanted) = (false, false),
            }
            query.add(&clause);
            (rest, is_first) = (after, false);
        }
        if query.wanted.iter().any(|wanted| !wanted.stop) {
            query.wanted.retain(|wanted| !wanted.stop);
        }
        query.cut |= query.wanted.len() > QUERY_TERMS_MAX;
        query.wanted.truncate(QUERY_TERMS_MAX);
        query
    }

    /// Whether hits must contain a phrase, or must not contain a word.
    pub fn is_constrained(&self) -> bool {
        !self.phrases.is_empty() || !self.unwanted.is_empty()
    }

    /// Whether part of the query was not read. It may have more than [`QUERY_CHARS_MAX`]
    /// characters, or more than [`QUERY_TERMS_MAX`] words. The same limit applies to words in
    /// phrases and after minuses.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether no term could raise a score.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Removes the words for which `is` holds, unless those are all. `is` gets each word as
    /// written.
    #[must_use]
    pub fn without(mut self, is: impl Fn(&str) -> bool) -> Self {
        if self.wanted.iter().any(|wanted| !is(&wanted.asked)) {
            self.wanted.retain(|wanted| !is(&wanted.asked));
        }
        self
    }

    /// Adds the words of another text after the query's own.
    #[must_use]
    pub fn with(mut self, text: &str) -> Self {
        let more = Self::plain(text).wanted.into_iter().filter(|wanted| !wanted.stop);
        for wanted in more {
            if self.wanted.iter().all(|known| known.hash != wanted.hash) {
                self.wanted.push(wanted);
            }
        }
        self.wanted.truncate(QUERY_TERMS_MAX);
        self
    }

    /// Returns the number of wanted terms.
    pub fn len(&self) -> usize {
        self.wanted.len()
    }

    /// Returns the terms that occur in a text.
    pub fn terms_in(&self, text: &str) -> Terms {
        let mut terms = Terms::default();
        words(text, 0, &mut |word| {
            let hash = term(word.raw).hash;
            terms.add(self.wanted.iter().position(|wanted| wanted.hash == hash));
        });
        terms
    }

    /// Returns the terms for which `is` holds. `is` gets each term as written.
    pub(super) fn terms_where(&self, is: impl Fn(&str) -> bool) -> Terms {
        let mut terms = Terms::default();
        for (at, wanted) in self.wanted.iter().enumerate() {
            terms.add(Some(at).filter(|_| is(&wanted.asked)));
        }
        terms
    }

    /// Returns the terms as written, in their order.
    pub fn asked(&self) -> impl Iterator<Item = &str> {
        self.wanted.iter().map(|wanted| wanted.asked.as_str())
    }

    /// Replaces a term that no document has by another.
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

    /// Requires a phrase in each hit, or in none. A phrase that is already required is not added
    /// again.
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
            // A character of a longer run is indexed only for queries of that character alone.
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

/// Returns the terms of a phrase. An identifier in it must match as a whole.
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

/// The quotes and minuses of a query that are hard constraints.
#[derive(Clone, Copy)]
enum Manner {
    /// None of them.
    Plain,
    /// Those that are clearly meant as such.
    Lenient,
    /// All of them.
    Strict,
}

/// Whether a text is one phrase in quotation marks and nothing else.
fn is_one_phrase(text: &str) -> bool {
    let inner = text.strip_prefix(is_quote).and_then(|rest| rest.strip_suffix(is_quote));
    inner.is_some_and(|inner| !inner.contains(is_quote))
}

struct Clause<'t> {
    text: &'t str,
    quoted: bool,
    unwanted: bool,
}

impl<'t> Clause<'t> {
    /// Splits off the next clause; returns it with the rest.
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

    /// Whether the text after a minus is an option of a command rather than a word: `-k`,
    /// `-DNAME=value`.
    fn is_flag(&self) -> bool {
        let is_letter = self.text.len() == 1;
        !self.quoted && (is_letter || self.text.contains('='))
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”')
}
