//! The two memories that an answer can draw on: a project's, and the user's own.

use std::sync::Arc;

use crate::ids::{RecordId, Revision};
use crate::memory::Memory;
use crate::record::Record;

/// A project's memory and, if the answer shows them too, the notes that belong to the user.
#[derive(Clone, Copy, Debug)]
pub struct Memories<'a> {
    /// The project's memory, or the user's own if the answer is only about that.
    pub first: &'a Memory,
    /// The user's own memory, if `first` is a project's and the answer shows both.
    pub personal: Option<&'a Memory>,
}

impl<'a> Memories<'a> {
    /// Finds a record in the memory that its id belongs to.
    pub fn record(&self, id: RecordId) -> Option<&'a Arc<Record>> {
        let personal = self.personal.filter(|_| id.is_personal());
        personal.unwrap_or(self.first).record(id)
    }

    /// Returns a number that grows with each commit to either memory.
    pub fn revision(&self) -> Revision {
        let personal = self.personal.map_or(0, |personal| personal.revision().0);
        Revision(self.first.revision().0 + personal)
    }
}

impl<'a> From<&'a Memory> for Memories<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self { first: memory, personal: None }
    }
}

impl<'a> From<&'a Arc<Memory>> for Memories<'a> {
    fn from(memory: &'a Arc<Memory>) -> Self {
        Self::from(memory.as_ref())
    }
}
