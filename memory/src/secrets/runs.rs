//! Runs of characters that tokens are made of. Each is looked at once, however many tokens seem to begin in it:
//! a long text of nothing but beginnings would be looked through for each of them otherwise.

use super::tokens::{ALPHABETS, Alphabet};
use super::values::{Tally, is_random_as, last_cross, says_little};

/// The run that was looked at last, of each alphabet. Places are asked for in the order of the text.
pub(super) struct Runs<'a> {
    pub(super) text: &'a str,
    last: [Option<Run<'a>>; ALPHABETS],
}

/// The longest run of an alphabet's characters from where it was first asked for.
pub(super) struct Run<'a> {
    text: &'a str,
    start: usize,
    /// Where the alphabet's characters end; what is found ends at `end`, without the signs that end a sentence.
    stop: usize,
    pub(super) end: usize,
    /// Where in it the last crosses begin.
    cross: Option<usize>,
    all: Tally,
    /// What stands before `passed`.
    front: Tally,
    passed: usize,
    /// How sure the surest find in this run was. They all end where it ends, so that a later one which is no surer
    /// says nothing new.
    pub(super) sure: usize,
    /// Where its dots are, once asked for.
    dots: Option<Vec<usize>>,
    /// The dot before the signature that was judged last.
    pub(super) signed: Option<usize>,
}

impl<'a> Runs<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, last: [const { None }; ALPHABETS] }
    }

    /// The run in which `at` is.
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

    /// Whether what stands from `at` to the run's end is filler.
    pub(super) fn is_filler_from(&mut self, at: usize) -> bool {
        self.cross.is_some_and(|cross| cross >= at)
            || says_little(self.rest(at).distinct(), self.end.saturating_sub(at))
    }

    /// Whether it has no meaning.
    pub(super) fn is_random_from(&mut self, at: usize) -> bool {
        let rest = self.rest(at);
        self.text.get(at..self.end).is_some_and(|value| is_random_as(value, &rest))
    }

    /// The tally of what stands from `at` to the end.
    fn rest(&mut self, at: usize) -> Tally {
        let at = at.min(self.end);
        self.front.take(self.text.get(self.passed..at).unwrap_or_default());
        self.passed = self.passed.max(at);
        self.all.without(&self.front, self.text.get(self.passed..self.end).unwrap_or_default())
    }

    /// Its dots from `at` on, and then its end.
    pub(super) fn dots_from(&mut self, at: usize) -> impl Iterator<Item = usize> {
        let run = self.text.get(self.start..self.end).unwrap_or_default();
        let all = || run.match_indices('.').map(|(dot, _)| self.start + dot).collect();
        let dots = self.dots.get_or_insert_with(all);
        let first = dots.partition_point(|dot| *dot < at);
        let rest = dots.get(first..).unwrap_or_default().iter().copied();
        rest.chain([self.end])
    }
}
