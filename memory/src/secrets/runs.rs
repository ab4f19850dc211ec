//! Runs of token characters. Each run is scanned once, however many tokens may begin in it.
//! Otherwise a long text of nothing but prefixes would be scanned again for each of them.

use super::alphabet::{ALPHABETS, Alphabet};
use super::values::{Tally, is_random_as, last_cross, says_little};

/// The last run of each alphabet. Positions must be requested in the order of the text.
pub(super) struct Runs<'a> {
    pub(super) text: &'a str,
    last: [Option<Run<'a>>; ALPHABETS],
}

/// The longest run of an alphabet's characters, from the position first requested.
pub(super) struct Run<'a> {
    text: &'a str,
    start: usize,
    /// The end of the alphabet's characters. A match ends at `end`, which excludes the punctuation
    /// that ends a sentence.
    stop: usize,
    pub(super) end: usize,
    /// The position of the last filler characters in it.
    cross: Option<usize>,
    all: Tally,
    /// The tally of the part before `passed`.
    front: Tally,
    passed: usize,
    /// The confidence of the best match in this run. All matches end where it ends, so a later one
    /// without more confidence adds nothing.
    pub(super) sure: usize,
    /// The positions of its dots, once requested.
    dots: Option<Vec<usize>>,
    /// The dot before the signature that was judged last.
    pub(super) signed: Option<usize>,
}

impl<'a> Runs<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, last: [const { None }; ALPHABETS] }
    }

    /// Returns the run that contains `at`.
    pub(super) fn at(&mut self, alphabet: Alphabet, at: usize) -> Option<&mut Run<'a>> {
        let last = self.last.get_mut(alphabet as usize)?;
        if last.as_ref().is_none_or(|run| !(run.start..=run.stop).contains(&at)) {
            *last = Some(Run::from(self.text, alphabet, at)?);
        }
        last.as_mut()
    }
}

impl<'a> Run<'a> {
    fn from(text: &'a str, alphabet: Alphabet, start: usize) -> Option<Self> {
        let rest = text.get(start..)?;
        let length = rest.bytes().position(|byte| !alphabet.has(byte)).unwrap_or(rest.len());
        let run = rest.get(..length)?;
        let value = run.trim_end_matches(['.', '-', '/']);
        let mut all = Tally::default();
        all.take(value);
        Some(Self {
            text,
            start,
            stop: start + length,
            end: start + value.len(),
            cross: last_cross(value).map(|cross| start + cross),
            all,
            front: Tally::default(),
            passed: start,
            sure: 0,
            dots: None,
            signed: None,
        })
    }

    /// Whether the rest of the run from `at` is filler.
    pub(super) fn is_filler_from(&mut self, at: usize) -> bool {
        self.cross.is_some_and(|cross| cross >= at)
            || says_little(self.rest(at).distinct(), self.end.saturating_sub(at))
    }

    /// Whether the rest of the run from `at` looks random.
    pub(super) fn is_random_from(&mut self, at: usize) -> bool {
        let rest = self.rest(at);
        self.text.get(at..self.end).is_some_and(|value| is_random_as(value, &rest))
    }

    /// Returns the tally of the run from `at` on.
    fn rest(&mut self, at: usize) -> Tally {
        let at = at.min(self.end);
        self.front.take(self.text.get(self.passed..at).unwrap_or_default());
        self.passed = self.passed.max(at);
        self.all.without(&self.front, self.text.get(self.passed..self.end).unwrap_or_default())
    }

    /// Returns its dots from `at` on, and then its end.
    pub(super) fn dots_from(&mut self, at: usize) -> impl Iterator<Item = usize> {
        let run = self.text.get(self.start..self.end).unwrap_or_default();
        let all = || run.match_indices('.').map(|(dot, _)| self.start + dot).collect();
        let dots = self.dots.get_or_insert_with(all);
        let first = dots.partition_point(|dot| *dot < at);
        let rest = dots.get(first..).unwrap_or_default().iter().copied();
        rest.chain([self.end])
    }
}
