//! Renders one record: in full, or on a single line if there is no room.

use super::cut::CUT;
use super::kinds::words;
use crate::fold::{clip, with_block};
use crate::record::Record;
use crate::search::{Query, snippet};

/// Renders the record in full. The first line begins with its id. Further lines are indented, so
/// that no content can pass for the frame around it.
pub(crate) fn full(record: &Record) -> String {
    words(record).full(record)
}

/// Renders the record with a note's whole content, even if the note is condensed, and everything of
/// a topic that is in view.
pub(crate) fn whole(record: &Record) -> String {
    words(record).whole(record)
}

/// Renders the record in full if it has at most `chars_max` characters. Otherwise renders the part
/// of its text with most of the query's words.
pub(crate) fn excerpt(record: &Record, query: &Query, chars_max: usize) -> String {
    let full = full(record);
    if full.chars().count() <= chars_max {
        return full;
    }
    let Some((head, text)) = words(record).excerpt(record, chars_max) else {
        return clip(&full, chars_max);
    };
    let room = chars_max.saturating_sub(head.chars().count() + CUT.chars().count()).max(80);
    let excerpt = with_block(head, &snippet(&text, query, room), "  ");
    // A passage that was cut at its end has a mark of its own.
    excerpt.trim_end_matches('…').trim_end().to_owned() + CUT
}

/// Renders the record on one short line. It ends with [`CUT`] if the full text says more.
pub(crate) fn title(record: &Record) -> String {
    words(record).title(record)
}

/// Returns ever shorter forms of the record's line, the last being its id alone. They serve answers
/// without room for more.
pub(super) fn shorter(record: &Record) -> impl Iterator<Item = String> {
    let clipped = [60, 25].into_iter().map(|chars| clip(&title(record), chars));
    clipped.chain(std::iter::once_with(|| record.id.to_string()))
}
