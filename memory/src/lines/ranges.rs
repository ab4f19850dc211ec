//! The ranges of one file by where they are, so that those which a new one meets are found without a look at all.

use std::collections::BTreeMap;

use super::LineRange;

/// Ranges of which none meets another, each with what is there.
#[derive(Clone, Debug)]
pub(crate) struct Ranges<T> {
    /// By first line: the last, and what is there.
    spans: BTreeMap<u32, (u32, Vec<T>)>,
    texts: BTreeMap<String, Vec<T>>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self { spans: BTreeMap::new(), texts: BTreeMap::new() }
    }
}

impl<T> Ranges<T> {
    /// Takes out what a range meets, and what that meets in turn. Gives the range over it all, and what was there.
    pub(crate) fn take(&mut self, lines: &LineRange) -> (LineRange, Vec<T>) {
        let (mut first, mut last) = match lines {
            LineRange::Span { first, last } => (*first, *last),
            LineRange::Text(text) => {
                return (lines.clone(), self.texts.remove(text).unwrap_or_default());
            }
        };
        let mut taken = Vec::new();
        // No other that begins so early ends later than the last of them.
        while let Some((&begin, (end, _))) = self.spans.range(..=last.saturating_add(1)).next_back()
            && first <= end.saturating_add(1)
            && let Some((end, there)) = self.spans.remove(&begin)
        {
            (first, last) = (first.min(begin), last.max(end));
            taken.extend(there);
        }
        (LineRange::Span { first, last }, taken)
    }

    /// Puts something where nothing is that meets it: at the range that [`Self::take`] gave.
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
