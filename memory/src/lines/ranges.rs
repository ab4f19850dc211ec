//! The ranges of one file, ordered by position. The ranges that a new one meets are found without a
//! scan of all.

use std::collections::BTreeMap;

use super::LineRange;

/// Ranges of which no two meet, each with its values.
#[derive(Clone, Debug)]
pub(crate) struct Ranges<T> {
    /// The last line and the values of each range, by its first line.
    spans: BTreeMap<u32, (u32, Vec<T>)>,
    texts: BTreeMap<String, Vec<T>>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self { spans: BTreeMap::new(), texts: BTreeMap::new() }
    }
}

impl<T> Ranges<T> {
    /// Removes the ranges that `lines` meets with this reach, and those that their union meets in
    /// turn. Returns the union and the removed values.
    pub(crate) fn take(&mut self, lines: &LineRange, reach: u32) -> (LineRange, Vec<T>) {
        let (mut first, mut last) = match lines {
            LineRange::Span { first, last } => (*first, *last),
            LineRange::Text(text) => {
                return (lines.clone(), self.texts.remove(text).unwrap_or_default());
            }
        };
        let mut taken = Vec::new();
        // No two ranges meet, so none that begins this early ends later than the last of them.
        while let Some((&begin, (end, _))) =
            self.spans.range(..=last.saturating_add(reach)).next_back()
            && first <= end.saturating_add(reach)
            && let Some((end, there)) = self.spans.remove(&begin)
        {
            (first, last) = (first.min(begin), last.max(end));
            taken.extend(there);
        }
        (LineRange::Span { first, last }, taken)
    }

    /// Adds values at the range that [`Self::take`] returned, which no other range meets.
    pub(crate) fn put(&mut self, lines: LineRange, there: Vec<T>) {
        match lines {
            LineRange::Span { first, last } => {
                self.spans.insert(first, (last, there));
            }
            LineRange::Text(text) => {
                self.texts.insert(text, there);
            }
        }
    }
}
