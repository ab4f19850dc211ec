//! Sizes of records, in bytes of their text. They do not depend on how a record is shown.

use crate::per_kind::PerKind;
use crate::record::{Record, RecordState};

/// A number of records and the bytes of their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The number of records.
    pub records: u64,
    /// The bytes of their text, including tags.
    pub bytes: u64,
}

impl Size {
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
        self.body.fields().text_bytes() + self.tags.iter().map(String::len).sum::<usize>()
    }
}
