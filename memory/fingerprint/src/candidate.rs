//! A place at which the lines of a fingerprint may be, with the evidence for it.

use crate::limits::CONTEXT_LINES_MAX;
use crate::lines::Lines;
use crate::print::Fingerprint;
use crate::source::Source;
use crate::symbols::Definition;

/// The score of a line of the surroundings that is near.
const CONTEXT: u32 = 40;

/// The score of the definition's name.
const NAME: u32 = 300;

/// The score of the names around the definition.
const PATH: u32 = 600;

/// The number of lines that identify something from which a text is hardly there twice.
const TELLING: usize = 4;

/// A place and the evidence for it.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) lines: Lines,
    /// The share of the fingerprint's lines that are there, in thousandths.
    pub(crate) kept: u32,
    /// The number of lines of the surroundings that are near.
    context: u32,
    /// Whether the definition there has the fingerprint's name.
    pub(crate) has_name: bool,
    /// Whether the definitions around it have the fingerprint's names too.
    pub(crate) has_path: bool,
}

impl Candidate {
    pub(crate) fn new(print: &Fingerprint, source: &Source<'_>, lines: Lines, kept: u32) -> Self {
        let near =
            |all: &[u32], there: Vec<u32>| all.iter().filter(|it| there.contains(it)).count();
        let reach = CONTEXT_LINES_MAX + 2;
        let before = near(&print.before, source.before(lines.first).take(reach).collect());
        let after = near(&print.after, source.after(lines.last).take(reach).collect());
        let there = source.symbol(lines);
        let alike = |same: fn(&Definition) -> u32, as_was: Option<u32>| match (there, as_was) {
            (Some(there), Some(as_was)) => same(there) == as_was,
            (None, None) => true,
            _ => false,
        };
        Self {
            lines,
            kept,
            context: u32::try_from(before + after).unwrap_or(u32::MAX),
            has_name: alike(|it| it.name, print.symbol.map(|it| it.name)),
            has_path: alike(|it| it.path, print.symbol.map(|it| it.path)),
        }
    }

    /// Returns a number that is higher for a likelier place.
    pub(crate) fn score(&self) -> u32 {
        let name = if self.has_name { NAME } else { 0 };
        let path = if self.has_path { PATH } else { 0 };
        self.kept + name + path + self.context * CONTEXT
    }

    /// Returns whether all that is known about the surroundings is as it was.
    pub(crate) fn is_as_it_was(&self, print: &Fingerprint) -> bool {
        self.has_path && self.missing(print) == 0
    }

    /// Returns whether the evidence is enough for lines that are as they were, at their old place.
    pub(crate) fn is_certain(&self, print: &Fingerprint) -> bool {
        let named = print.symbol.is_some() && self.has_path;
        let few = if print.symbol.is_some() { 4 } else { 2 };
        let known = self.has_name || self.context >= 2;
        named
            || self.context >= few
            || print.telling() >= TELLING && known
            || print.telling() >= 2 * TELLING
            || self.missing(print) == 0
    }

    /// Returns whether the evidence is enough for lines that are as they were, at another place.
    pub(crate) fn is_certain_elsewhere(&self, print: &Fingerprint) -> bool {
        let telling = print.telling();
        if print.symbol.is_none() {
            return telling >= TELLING || telling > 0 && self.context >= 2 || self.context >= 4;
        }
        self.has_path && telling > 0
            || telling >= 2 * TELLING
            || telling >= TELLING && (self.has_name || self.context > 0)
    }

    /// Returns the number of lines of the surroundings that are not near.
    fn missing(&self, print: &Fingerprint) -> u32 {
        let all = print.before.len() + print.after.len();
        u32::try_from(all).unwrap_or(u32::MAX).saturating_sub(self.context)
    }
}
