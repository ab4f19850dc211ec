//! The places in one file that anchors point at. They may overlap: a class and one of its methods
//! are two places.

use std::collections::BTreeMap;

use super::LineRange;

/// Values by the ranges that they have, found without a scan of all.
#[derive(Clone, Debug)]
pub(crate) struct Places<T> {
    /// The last line and the value of each span, by its first line.
    spans: BTreeMap<u32, Vec<(u32, T)>>,
    texts: BTreeMap<String, Vec<T>>,
    /// The largest number of lines of a span after its first.
    longest: u32,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { spans: BTreeMap::new(), texts: BTreeMap::new(), longest: 0 }
    }
}

impl<T> Places<T> {
    /// Adds a value.
    pub(crate) fn put(&mut self, lines: &LineRange, value: T) {
        match lines {
            LineRange::Span { first, last } => {
                self.longest = self.longest.max(last - first);
                self.spans.entry(*first).or_default().push((*last, value));
            }
            LineRange::Text(text) => self.texts.entry(text.clone()).or_default().push(value),
        }
    }

    /// Removes the values that begin with the same line, or have the same text. Returns them.
    pub(crate) fn take_begun(&mut self, lines: &LineRange) -> Vec<T> {
        match lines {
            LineRange::Span { first, .. } => {
                let taken = self.spans.remove(first).unwrap_or_default();
                taken.into_iter().map(|(_, value)| value).collect()
            }
            LineRange::Text(text) => self.texts.remove(text).unwrap_or_default(),
        }
    }

    /// Removes the values that overlap or touch `lines`, and those that their union meets in turn.
    /// Returns the union and the values.
    pub(crate) fn take_met(&mut self, lines: &LineRange) -> (LineRange, Vec<T>) {
        let LineRange::Span { mut first, mut last } = *lines else {
            return (lines.clone(), self.take_begun(lines));
        };
        let mut taken = Vec::new();
        while let Some((begin, at)) = self.met(first, last) {
            let Some(there) = self.spans.get_mut(&begin) else { break };
            let (end, value) = there.remove(at);
            if there.is_empty() {
                self.spans.remove(&begin);
            }
            (first, last) = (first.min(begin), last.max(end));
            taken.push(value);
        }
        (LineRange::Span { first, last }, taken)
    }

    /// Finds a span that overlaps or touches these lines: its first line, and its place there.
    fn met(&self, first: u32, last: u32) -> Option<(u32, usize)> {
        let earliest = first.saturating_sub(self.longest).saturating_sub(1);
        self.spans.range(earliest..=last.saturating_add(1)).find_map(|(begin, there)| {
            let at = there.iter().position(|(end, _)| first <= end.saturating_add(1))?;
            Some((*begin, at))
        })
    }
}
