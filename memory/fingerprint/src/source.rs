//! A text as hashes of its lines.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::hash;
use crate::lines::Lines;
use crate::symbols::{Definition, definitions};

/// A text in which lines are looked for. Its lines are hashed once, however many fingerprints are
/// compared with it.
pub struct Source<'a> {
    text: &'a str,
    hashes: Vec<u64>,
    places: OnceCell<HashMap<u32, Vec<u32>>>,
    definitions: OnceCell<Vec<Definition>>,
}

impl<'a> Source<'a> {
    /// Hashes a text's lines.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            hashes: text.lines().map(hash::line).collect(),
            places: OnceCell::new(),
            definitions: OnceCell::new(),
        }
    }

    /// Returns the number of lines.
    pub fn count(&self) -> u32 {
        u32::try_from(self.hashes.len()).unwrap_or(u32::MAX)
    }

    /// Returns the hashes of some lines; `None` if the text does not have all of them.
    pub(crate) fn hashes(&self, lines: Lines) -> Option<&[u64]> {
        let first = usize::try_from(lines.first).ok()?.checked_sub(1)?;
        self.hashes.get(first..usize::try_from(lines.last).ok()?)
    }

    /// Returns the short hash of a line; that of a blank line if there is no such line.
    pub(crate) fn short(&self, line: u32) -> u32 {
        let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        at.and_then(|at| self.hashes.get(at)).map_or(0, |hash| hash::short(*hash))
    }

    /// Returns the lines that have a short hash, in order.
    pub(crate) fn places(&self, short: u32) -> &[u32] {
        let places = self.places.get_or_init(|| {
            let mut places: HashMap<u32, Vec<u32>> = HashMap::new();
            for (line, hash) in (1_u32..).zip(&self.hashes) {
                places.entry(hash::short(*hash)).or_default().push(line);
            }
            places
        });
        places.get(&short).map_or(&[], Vec::as_slice)
    }

    /// Returns the definitions, in the order of their first lines.
    pub(crate) fn definitions(&self) -> &[Definition] {
        self.definitions.get_or_init(|| definitions(self.text))
    }

    /// Returns the definition that lines are about: the first whole one in them that is not inside
    /// another, else the innermost around them.
    pub(crate) fn symbol(&self, lines: Lines) -> Option<&Definition> {
        let all = self.definitions();
        let begun = all.partition_point(|it| it.lines.first < lines.first);
        let inside = all.get(begun..).unwrap_or_default().first();
        let inside = inside.filter(|it| lines.contains(it.lines));
        inside.or_else(|| {
            let upto = all.partition_point(|it| it.lines.first <= lines.first);
            let before = all.get(..upto).unwrap_or_default();
            before.iter().rev().find(|it| it.lines.contains(lines))
        })
    }

    /// Returns the short hashes of the nearest lines with text before some lines, nearest first.
    pub(crate) fn before(&self, first: u32) -> impl Iterator<Item = u32> {
        (1..first).rev().map(|line| self.short(line)).filter(|short| *short != 0)
    }

    /// Returns the short hashes of the nearest lines with text after some lines, nearest first.
    pub(crate) fn after(&self, last: u32) -> impl Iterator<Item = u32> {
        (last..self.count()).map(|line| self.short(line + 1)).filter(|short| *short != 0)
    }
}
