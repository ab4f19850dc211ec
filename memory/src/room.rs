//! Room: how much a project keeps of each kind, and whether a write still fits.
//!
//! All text of an open project is in the daemon's memory, so each kind has a limit. Limits apply to
//! what is new. Nothing that was accepted is dropped or refused later: staged work is folded even
//! if the project has filled up in the meantime. The limit on staged work bounds that excess.

use crate::draft::Draft;
use crate::ids::Kind;
use crate::limits::{
    ANCHORS_BYTES_MAX, ANCHORS_MAX, BLUEPRINTS_BYTES_MAX, BLUEPRINTS_MAX, LESSONS_BYTES_MAX,
    LESSONS_MAX, NOTES_BYTES_MAX, NOTES_MAX, SESSION_ROWS_BYTES_MAX, SESSION_ROWS_MAX,
    TOPICS_BYTES_MAX, TOPICS_MAX,
};
use crate::memory::Memory;
use crate::note::NewNote;
use crate::record::{Anchor, Blueprint, Body, Lesson, Provenance, Record, SessionRow, Standing};
use crate::refusal::Refusal;
use crate::staged::Staged;
use crate::topic::TopicPart;

/// A number of records and the bytes of their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Number of records.
    pub records: u64,
    /// Bytes of their text, tags included.
    pub bytes: u64,
}

impl Size {
    /// Sums up items, given the bytes of each.
    pub(crate) fn of(items: impl Iterator<Item = usize>) -> Self {
        items.fold(Self::default(), |size, bytes| Self {
            records: size.records + 1,
            bytes: size.bytes + bytes as u64,
        })
    }

    pub(crate) fn plus(self, more: Self) -> Self {
        Self {
            records: self.records.saturating_add(more.records),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    pub(crate) fn minus(self, less: Self) -> Self {
        Self {
            records: self.records.saturating_sub(less.records),
            bytes: self.bytes.saturating_sub(less.bytes),
        }
    }
}

/// A size for each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Blueprints.
    pub blueprints: Size,
    /// Anchors.
    pub anchors: Size,
    /// Lessons.
    pub lessons: Size,
    /// Notes of the project and of sessions.
    pub notes: Size,
    /// Topics.
    pub topics: Size,
    /// Session rows.
    pub rows: Size,
}

impl Sizes {
    /// Returns the size of one kind.
    pub fn of(&self, kind: Kind) -> Size {
        match kind {
            Kind::Blueprint => self.blueprints,
            Kind::Anchor => self.anchors,
            Kind::Lesson => self.lessons,
            Kind::Note => self.notes,
            Kind::Topic => self.topics,
            Kind::SessionRow => self.rows,
        }
    }

    fn of_mut(&mut self, kind: Kind) -> &mut Size {
        match kind {
            Kind::Blueprint => &mut self.blueprints,
            Kind::Anchor => &mut self.anchors,
            Kind::Lesson => &mut self.lessons,
            Kind::Note => &mut self.notes,
            Kind::Topic => &mut self.topics,
            Kind::SessionRow => &mut self.rows,
        }
    }

    /// Adds a record, unless it is forgotten.
    pub(crate) fn count_in(&mut self, record: &Record) {
        let size = self.of_mut(record.kind());
        *size = size.plus(size_of(record));
    }

    /// Takes out a record that was added.
    pub(crate) fn count_out(&mut self, record: &Record) {
        let size = self.of_mut(record.kind());
        *size = size.minus(size_of(record));
    }
}

fn size_of(record: &Record) -> Size {
    match record.standing {
        Standing::Active | Standing::Archived => {
            Size { records: 1, bytes: record.text_bytes() as u64 }
        }
        Standing::Forgotten => Size::default(),
    }
}

/// Returns the most that a project keeps of a kind, archived records included.
pub fn limit(kind: Kind) -> Size {
    let (records, bytes) = match kind {
        Kind::Blueprint => (BLUEPRINTS_MAX, BLUEPRINTS_BYTES_MAX),
        Kind::Anchor => (ANCHORS_MAX, ANCHORS_BYTES_MAX),
        Kind::Lesson => (LESSONS_MAX, LESSONS_BYTES_MAX),
        Kind::Note => (NOTES_MAX, NOTES_BYTES_MAX),
        Kind::Topic => (TOPICS_MAX, TOPICS_BYTES_MAX),
        Kind::SessionRow => (SESSION_ROWS_MAX, SESSION_ROWS_BYTES_MAX),
    };
    Size { records, bytes }
}

const FORGET: &str = "memory_forget records that no longer hold, archived ones too";
/// A session's own notes count even when it has ended, and no other session can forget them.
const FORGET_NOTES: &str = "memory_forget records that no longer hold; a person at a shell can also \
                            `anchord forget` what past sessions kept for themselves";

/// Refuses `more` records of a kind, or more bytes of their text, if the limit does not allow them.
pub(crate) fn has_room(kept: &Sizes, kind: Kind, more: Size) -> Result<(), Refusal> {
    let (kept, most) = (kept.of(kind), limit(kind));
    let (kinds, advice) = match kind {
        Kind::Note => ("notes", FORGET_NOTES),
        Kind::SessionRow => ("session rows", FORGET),
        kind => (kind.plural(), FORGET),
    };
    let full = |unit, kept, more, most| Refusal::Full { kinds, unit, kept, more, most, advice };
    if more.records > 0 && kept.plus(more).records > most.records {
        return Err(full("records", kept.records, more.records, most.records));
    }
    if more.bytes > 0 && kept.plus(more).bytes > most.bytes {
        return Err(full("bytes", kept.bytes, more.bytes, most.bytes));
    }
    Ok(())
}

/// Refuses a write if the kinds of `items` grow beyond their limits by it.
pub(crate) fn check_growth(before: &Memory, after: &Memory, items: &Staged) -> Result<(), Refusal> {
    let (before, after, items) = (before.totals().kept, after.totals().kept, items.sizes());
    let written = Kind::ALL.into_iter().filter(|kind| items.of(*kind).records > 0);
    for kind in written {
        has_room(&before, kind, after.of(kind).minus(before.of(kind)))?;
    }
    Ok(())
}

/// Refuses `items` if the project has no room for their kinds once `staged` is folded, which
/// contains them.
pub(crate) fn check_items(
    memory: &Memory,
    staged: &Staged,
    items: &Staged,
    origin: &Provenance,
) -> Result<(), Refusal> {
    let (kept, most) = (memory.totals().kept, staged.sizes());
    // Counts every item as a new record. Only close to a limit does it matter what merges.
    if Kind::ALL.into_iter().all(|kind| has_room(&kept, kind, most.of(kind)).is_ok()) {
        return Ok(());
    }
    let mut draft = Draft::new(memory);
    draft.fold(staged, origin);
    check_growth(memory, draft.head(), items)
}

impl Record {
    /// Bytes of all text, tags included.
    pub(crate) fn text_bytes(&self) -> usize {
        let body = match &self.body {
            Body::Blueprint(blueprint) => blueprint.text_bytes(),
            Body::Anchor(anchor) => anchor.text_bytes(),
            Body::Lesson(lesson) => lesson.text_bytes(),
            Body::Note(note) => note.text_bytes() + note.key.as_ref().map_or(0, String::len),
            Body::Topic(topic) => topic.text_bytes(),
            Body::SessionRow(row) => row.text_bytes(),
        };
        body + bytes(&self.tags)
    }
}

impl Blueprint {
    fn text_bytes(&self) -> usize {
        self.title.len() + self.content.len()
    }
}

impl Anchor {
    fn text_bytes(&self) -> usize {
        self.file.len() + self.concept.len() + self.lines.text_bytes()
    }
}

impl Lesson {
    fn text_bytes(&self) -> usize {
        self.summary.len() + self.detail.len() + bytes(&self.files)
    }
}

impl NewNote {
    /// Bytes that it adds to the notes kept, unless it merges.
    pub(crate) fn record_bytes(&self) -> usize {
        self.text_bytes() + self.key.as_ref().map_or(0, String::len) + bytes(&self.tags)
    }
}

impl SessionRow {
    fn text_bytes(&self) -> usize {
        let captured = self.captured.as_ref().map_or(0, |captured| captured.text_bytes());
        self.summaries().map(str::len).sum::<usize>() + captured
    }
}

impl Staged {
    /// Size of the items if each becomes a record of its own.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            blueprints: Size::of(self.blueprints.iter().map(Blueprint::text_bytes)),
            anchors: Size::of(self.anchors.iter().map(Anchor::text_bytes)),
            lessons: Size::of(self.lessons.iter().map(Lesson::text_bytes)),
            notes: Size::of(self.notes.iter().map(NewNote::record_bytes)),
            topics: Size::of(self.topics.iter().map(TopicPart::text_bytes)),
            rows: Size::default(),
        }
    }
}

fn bytes(texts: &[String]) -> usize {
    texts.iter().map(String::len).sum()
}

#[cfg(test)]
mod tests;
