//! One value for each kind of record.

use crate::ids::Kind;
use serde::{Deserialize, Serialize};

/// A value for each kind of record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerKind<T> {
    /// Blueprints.
    pub blueprints: T,
    /// Anchors.
    pub anchors: T,
    /// Lessons.
    pub lessons: T,
    /// Notes.
    pub notes: T,
    /// Topics.
    pub topics: T,
    /// Session rows.
    pub rows: T,
}

impl<T: Copy> PerKind<T> {
    /// Returns the value of one kind.
    pub fn of(&self, kind: Kind) -> T {
        match kind {
            Kind::Blueprint => self.blueprints,
            Kind::Anchor => self.anchors,
            Kind::Lesson => self.lessons,
            Kind::Note => self.notes,
            Kind::Topic => self.topics,
            Kind::SessionRow => self.rows,
        }
    }

    pub(crate) fn of_mut(&mut self, kind: Kind) -> &mut T {
        match kind {
            Kind::Blueprint => &mut self.blueprints,
            Kind::Anchor => &mut self.anchors,
            Kind::Lesson => &mut self.lessons,
            Kind::Note => &mut self.notes,
            Kind::Topic => &mut self.topics,
            Kind::SessionRow => &mut self.rows,
        }
    }
}
