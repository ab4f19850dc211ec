//! The two memories that one answer can be made from: a project's, and the user's own.

use std::sync::Arc;

use crate::ids::{RecordId, Revision};
use crate::memory::Memory;
use crate::record::Record;

/// A project's memory and, where an answer shows them too, the notes that belong to the user.
#[derive(Clone, Copy, Debug)]
pub struct Memories<'a> {
    /// The project's, or the user's own where an answer is about nothing else.
    pub first: &'a Memory,
    /// The user's own, where `first` is a project's.
    pub personal: Option<&'a Memory>,
}

impl<'a> Memories<'a> {
    /// A record of either; its id says of which.
    pub fn record(&self, id: RecordId) -> Option<&'a Arc<Record>> {
        let beside = self.personal.filter(|_| id.is_personal());
        beside.unwrap_or(self.first).record(id)
    }

    /// A number that grows with each commit to either.
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
