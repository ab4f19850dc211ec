//! Which entries one page has room for: in full, as a title, or not at all.
//!
//! A page is filled twice. First every entry gets its title, in order of priority, as long as there is
//! room; then entries are printed in full, in the same order, until the next one does not fit. So a reader
//! sees what there is before it sees how much of it there is. What follows comes by cursor.

use std::cmp::Reverse;

use super::item;
use crate::ids::RecordId;
use crate::record::{Body, Record};

/// One record, ready to be printed.
pub(super) struct Entry<'a> {
    pub(super) record: &'a Record,
    title: String,
    full: String,
    title_chars: usize,
    full_chars: usize,
}

impl<'a> Entry<'a> {
    pub(super) fn new(record: &'a Record) -> Self {
        let (title, full) = (item::title(record), item::full(record));
        // The line break counts.
        let (title_chars, full_chars) = (title.chars().count() + 1, full.chars().count() + 1);
        Self { record, title, full, title_chars, full_chars }
    }

    pub(super) fn text(&self, shown: Shown) -> &str {
        if shown == Shown::Full { &self.full } else { &self.title }
    }

    /// Whether no page of so many characters has room for all of it.
    pub(super) fn is_oversize(&self, chars_max: usize) -> bool {
        self.full_chars > chars_max
    }

    fn is_title(&self) -> bool {
        self.title == self.full
    }
}

/// How much of an entry is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing, on this page.
    No,
    /// Its title, which says that there is more.
    Title,
    /// All of it.
    Full,
}

/// Where the next page goes on: in full from `from`; what stands before `unnamed` has had its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) from: RecordId,
    pub(super) unnamed: Option<RecordId>,
}

impl Cursor {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (from, unnamed) = match text.trim().split_once(',') {
            Some((from, unnamed)) => (from, Some(unnamed.parse().ok()?)),
            None => (text, None),
        };
        Some(Self { from: from.parse().ok()?, unnamed })
    }

    pub(super) fn print(self) -> String {
        match self.unnamed {
            Some(unnamed) => format!("{},{unnamed}", self.from),
            None => self.from.to_string(),
        }
    }
}

/// What a page shows of each entry, and where the next one goes on.
pub(super) struct Page {
    pub(super) shown: Vec<Shown>,
    pub(super) next: Option<Cursor>,
}

/// Where a record stands in the order in which entries get room.
pub(super) type Priority = (u8, Reverse<i64>, u64, Reverse<u64>);

/// Blueprints as they came, then what is newest first. Rows are few and say where the work stands, so they come
/// second. Nothing that others write moves a record, so a cursor holds while memory changes.
pub(super) fn priority(record: &Record) -> Priority {
    let number = record.id.number;
    match &record.body {
        Body::Blueprint(_) => (0, Reverse(0), number, Reverse(0)),
        Body::SessionRow(row) => (1, Reverse(row.ended.0), 0, Reverse(number)),
        Body::Lesson(_) => (2, Reverse(0), 0, Reverse(number)),
        Body::Anchor(_) => (3, Reverse(0), 0, Reverse(number)),
        Body::Note(_) => (4, Reverse(0), 0, Reverse(number)),
    }
}

/// The first page. `chars` is what this page has room for, `chars_max` what a page without notices has; an
/// entry larger than that is never printed in full.
pub(super) fn first(entries: &[Entry<'_>], chars: usize, chars_max: usize) -> Page {
    let mut shown = vec![Shown::No; entries.len()];
    let mut left = chars;
    let mut unnamed = None;
    for (entry, shown) in entries.iter().zip(&mut shown) {
        if entry.title_chars > left {
            unnamed = Some(entry.record.id);
            break;
        }
        left -= entry.title_chars;
        *shown = if entry.is_title() { Shown::Full } else { Shown::Title };
    }
    let mut cut = None;
    for (entry, shown) in entries.iter().zip(&mut shown) {
        if *shown == Shown::No {
            break;
        }
        if *shown == Shown::Full || entry.is_oversize(chars_max) {
            continue;
        }
        let more = entry.full_chars.saturating_sub(entry.title_chars);
        if more > left {
            cut = Some(entry.record.id);
            break;
        }
        left -= more;
        *shown = Shown::Full;
    }
    let next = cut.or(unnamed).map(|from| Cursor { from, unnamed });
    Page { shown, next }
}

/// A later page: in full what stands at `from` and after it; what stands before `unnamed` was shown by its
/// title already.
pub(super) fn later(
    entries: &[Entry<'_>],
    from: Priority,
    unnamed: Option<(RecordId, Priority)>,
    chars_max: usize,
) -> Page {
    let mut page = Page { shown: vec![Shown::No; entries.len()], next: None };
    let mut left = chars_max;
    for (entry, shown) in entries.iter().zip(&mut page.shown) {
        let at = priority(entry.record);
        if at < from {
            continue;
        }
        let named = unnamed.is_none_or(|(_, unnamed)| at < unnamed);
        let oversize = entry.is_oversize(chars_max);
        if named && (entry.is_title() || oversize) {
            continue;
        }
        let chars = if oversize { entry.title_chars } else { entry.full_chars };
        if chars > left {
            let id = entry.record.id;
            let unnamed = if named { unnamed.map(|(id, _)| id) } else { Some(id) };
            page.next = Some(Cursor { from: id, unnamed });
            break;
        }
        left -= chars;
        *shown = if oversize { Shown::Title } else { Shown::Full };
    }
    page
}
