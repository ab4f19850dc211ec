//! Sizes of records, in bytes of their text. They do not depend on how a record is shown.

use crate::note::NewNote;
use crate::per_kind::PerKind;
use crate::record::{Anchor, Blueprint, Body, Lesson, Record, RecordState, SessionRow};
use crate::staged::Staged;
use crate::topic::TopicPart;

/// A number of records and the bytes of their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The number of records.
    pub records: u64,
    /// The bytes of their text, including tags.
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

/// A size for each kind. Notes include those of sessions.
pub type Sizes = PerKind<Size>;

impl Sizes {
    /// Adds a record, unless it is forgotten.
    pub(crate) fn count_in(&mut self, record: &Record) {
        let size = self.of_mut(record.kind());
        *size = size.plus(size_of(record));
    }

    /// Subtracts a record that was added.
    pub(crate) fn count_out(&mut self, record: &Record) {
        let size = self.of_mut(record.kind());
        *size = size.minus(size_of(record));
    }
}

fn size_of(record: &Record) -> Size {
    match record.state {
        RecordState::Active | RecordState::Archived => {
            Size { records: 1, bytes: record.text_bytes() as u64 }
        }
        RecordState::Forgotten => Size::default(),
    }
}

impl Record {
    /// Returns the bytes of all text, including tags.
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
    /// Returns the bytes that it adds to the stored notes, unless it merges.
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
    /// Returns the size of the items if each becomes a record of its own.
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
