//! What a memory knows about its records without reading them all: who merges with whom, what is
//! active, what was written when, and how large it all renders. Derived from the records alone and kept up
//! to date with each of them, so that a save costs what it writes and not what is stored.

use std::sync::Arc;

use imbl::OrdSet;

use crate::ids::{Kind, RecordId, Revision, SessionId};
use crate::record::{Body, Category, Record, Standing};
use crate::render;

/// What two records that merge have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MergeKey {
    /// Category and folded title.
    Blueprint(Category, Arc<str>),
    /// The file; lines are compared one by one.
    Anchor(Arc<str>),
    /// The summary's words of substance.
    Lesson(Arc<str>),
    /// The session; a row that stands for folded ones has no key.
    SessionRow(SessionId),
}

impl MergeKey {
    pub(crate) fn of(body: &Body) -> Option<Self> {
        match body {
            Body::Blueprint(blueprint) => {
                let (category, title) = blueprint.key();
                Some(Self::Blueprint(category, title.into()))
            }
            Body::Anchor(anchor) => Some(Self::Anchor(anchor.file.as_str().into())),
            Body::Lesson(lesson) => Some(Self::Lesson(lesson.key().into())),
            Body::SessionRow(row) if row.folded > 0 => None,
            Body::SessionRow(row) => Some(Self::SessionRow(row.session.clone())),
        }
    }
}

/// Counts of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Active blueprints.
    pub blueprints: u64,
    /// Active anchors.
    pub anchors: u64,
    /// Active lessons.
    pub lessons: u64,
    /// Active session rows.
    pub rows: u64,
    /// Archived records of any kind.
    pub archived: u64,
    /// Bytes of all active records as a load prints them in full.
    pub rendered_bytes: u64,
}

impl Totals {
    /// Active records of a kind.
    pub fn of(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Blueprint => self.blueprints,
            Kind::Anchor => self.anchors,
            Kind::Lesson => self.lessons,
            Kind::SessionRow => self.rows,
        }
    }

    /// Active records of all kinds.
    pub fn active(&self) -> u64 {
        self.blueprints + self.anchors + self.lessons + self.rows
    }

    fn of_mut(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Blueprint => &mut self.blueprints,
            Kind::Anchor => &mut self.anchors,
            Kind::Lesson => &mut self.lessons,
            Kind::SessionRow => &mut self.rows,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Index {
    keys: OrdSet<(MergeKey, RecordId)>,
    written: OrdSet<(Revision, RecordId)>,
    active: OrdSet<RecordId>,
    totals: Totals,
}

impl Index {
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    pub(crate) fn active(&self) -> impl DoubleEndedIterator<Item = RecordId> {
        self.active.iter().copied()
    }

    pub(crate) fn active_of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = RecordId> {
        let (first, last) = (RecordId { kind, number: 0 }, RecordId { kind, number: u64::MAX });
        self.active.range(first..=last).copied()
    }

    pub(crate) fn written_since(&self, since: Revision) -> impl Iterator<Item = RecordId> {
        let first = (Revision(since.0.saturating_add(1)), LOWEST);
        self.written.range(first..).map(|(_, id)| *id)
    }

    pub(crate) fn last_written(&self) -> Option<RecordId> {
        self.written.get_max().map(|(_, id)| *id)
    }

    pub(crate) fn keyed(&self, key: &MergeKey) -> impl Iterator<Item = RecordId> {
        self.keys
            .range((key.clone(), LOWEST)..)
            .take_while(move |(found, _)| found == key)
            .map(|(_, id)| *id)
    }

    /// Counts a record's newest version in.
    pub(crate) fn insert(&mut self, record: &Record) {
        self.written.insert((record.revision, record.id));
        if let Some(key) = Self::key(record) {
            self.keys.insert((key, record.id));
        }
        match record.standing {
            Standing::Active => {
                self.active.insert(record.id);
                *self.totals.of_mut(record.kind()) += 1;
                self.totals.rendered_bytes += render::record_bytes(record);
            }
            Standing::Archived => self.totals.archived += 1,
            Standing::Forgotten => {}
        }
    }

    /// Counts a version out that is about to be replaced.
    pub(crate) fn remove(&mut self, record: &Record) {
        self.written.remove(&(record.revision, record.id));
        if let Some(key) = Self::key(record) {
            self.keys.remove(&(key, record.id));
        }
        match record.standing {
            Standing::Active => {
                self.active.remove(&record.id);
                *self.totals.of_mut(record.kind()) -= 1;
                self.totals.rendered_bytes -= render::record_bytes(record);
            }
            Standing::Archived => self.totals.archived -= 1,
            Standing::Forgotten => {}
        }
    }

    /// A forgotten record is not merged into.
    fn key(record: &Record) -> Option<MergeKey> {
        match record.standing {
            Standing::Active | Standing::Archived => MergeKey::of(&record.body),
            Standing::Forgotten => None,
        }
    }
}

/// Below every id in use: numbers count from 1.
const LOWEST: RecordId = RecordId { kind: Kind::Blueprint, number: 0 };
