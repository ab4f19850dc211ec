//! A memory being written: changes are made on a private head and come out as one commit.
//!
//! However often a record is touched on the way, it comes out as one new version, or not at all when it
//! ends as it began; that makes a repeated write change nothing.

use std::collections::BTreeSet;

use crate::change::{Change, Counts};
use crate::ids::{Kind, RecordId, Revision, Version};
use crate::index::MergeKey;
use crate::memory::Memory;
use crate::merge::{Verdict, judge};
use crate::plan::KeptBlueprint;
use crate::record::{Anchor, Blueprint, Body, Lesson, Provenance, Record, Standing};
use crate::staged::{Staged, count};

pub(crate) struct Draft<'a> {
    base: &'a Memory,
    head: Memory,
    touched: BTreeSet<RecordId>,
    merged: u32,
    kept: Vec<KeptBlueprint>,
}

/// What came of a draft.
pub(crate) struct Written {
    /// One `Put` for each record that is not as it was.
    pub(crate) changes: Vec<Change>,
    /// The memory after them, but for its counters.
    pub(crate) head: Memory,
    /// New records.
    pub(crate) added: Counts,
    /// Items that went into records that were there.
    pub(crate) merged: u32,
    /// Immutable blueprints that stayed as they were.
    pub(crate) kept: Vec<KeptBlueprint>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(base: &'a Memory) -> Self {
        let head = base.clone();
        Self { base, head, touched: BTreeSet::new(), merged: 0, kept: Vec::new() }
    }

    pub(crate) fn head(&self) -> &Memory {
        &self.head
    }

    pub(crate) fn fold(&mut self, staged: &Staged, origin: &Provenance) {
        for blueprint in &staged.blueprints {
            self.blueprint(blueprint, origin);
        }
        for anchor in &staged.anchors {
            self.anchor(anchor, origin);
        }
        for lesson in &staged.lessons {
            self.lesson(lesson, origin);
        }
    }

    pub(crate) fn blueprint(&mut self, new: &Blueprint, origin: &Provenance) {
        let body = Body::Blueprint(new.clone());
        let Some((id, Body::Blueprint(stored))) = self.twin(&body) else {
            self.create(body, origin);
            return;
        };
        match judge(&stored, new) {
            Verdict::Replaced => self.merge(id, body, origin),
            Verdict::Same => self.merge(id, Body::Blueprint(stored), origin),
            Verdict::Kept => self.keep(id, origin),
        }
    }

    /// Leaves a blueprint as it is, which its caller will want to know.
    pub(crate) fn keep(&mut self, id: RecordId, origin: &Provenance) {
        self.stand(id, Standing::Active, origin);
        if let Some(Body::Blueprint(kept)) = self.head.record(id).map(|record| &record.body) {
            self.kept.push(KeptBlueprint { id: Some(id), title: kept.title.clone() });
        }
    }

    /// One anchor over everything it meets, and over what that meets in turn. The lowest id survives.
    pub(crate) fn anchor(&mut self, new: &Anchor, origin: &Provenance) {
        let key = MergeKey::Anchor(new.file.as_str().into());
        let mut apart: Vec<(RecordId, Anchor)> = self
            .head
            .keyed(&key)
            .filter_map(|record| match &record.body {
                Body::Anchor(anchor) => Some((record.id, anchor.clone())),
                _ => None,
            })
            .collect();
        let mut union = new.clone();
        let mut met = BTreeSet::new();
        while let Some(at) = apart.iter().position(|(_, stored)| stored.meets(&union)) {
            let (id, stored) = apart.remove(at);
            union.lines = stored.lines.union(&union.lines);
            met.insert(id);
        }
        let Some(survivor) = met.pop_first() else {
            self.create(Body::Anchor(union), origin);
            return;
        };
        for swallowed in met {
            self.stand(swallowed, Standing::Forgotten, origin);
        }
        self.merge(survivor, Body::Anchor(union), origin);
    }

    pub(crate) fn lesson(&mut self, new: &Lesson, origin: &Provenance) {
        let body = Body::Lesson(new.clone());
        match self.twin(&body) {
            Some((id, Body::Lesson(mut stored))) => {
                stored.unite(new);
                self.merge(id, Body::Lesson(stored), origin);
            }
            _ => {
                self.create(body, origin);
            }
        }
    }

    pub(crate) fn create(&mut self, body: Body, origin: &Provenance) -> RecordId {
        let id = RecordId { kind: body.kind(), number: self.head.last_number() + 1 };
        self.head.put(Record {
            id,
            version: Version::FIRST,
            revision: self.revision(),
            created: origin.clone(),
            updated: origin.clone(),
            standing: Standing::Active,
            body,
        });
        self.touched.insert(id);
        id
    }

    /// Writes a record's body and standing, unless both are as they are.
    pub(crate) fn change(
        &mut self,
        id: RecordId,
        body: Body,
        standing: Standing,
        origin: &Provenance,
    ) {
        let Some(stored) = self.head.record(id) else { return };
        if stored.body == body && stored.standing == standing {
            return;
        }
        // What is imported may be older than what it merges into.
        let time = origin.time.max(stored.updated.time);
        let record = Record {
            id,
            version: self.base.record(id).map_or(Version::FIRST, |before| before.version.next()),
            revision: self.revision(),
            created: stored.created.clone(),
            updated: Provenance { time, ..origin.clone() },
            standing,
            body,
        };
        self.head.put(record);
        self.touched.insert(id);
    }

    pub(crate) fn stand(&mut self, id: RecordId, standing: Standing, origin: &Provenance) {
        if let Some(body) = self.head.record(id).map(|record| record.body.clone()) {
            self.change(id, body, standing, origin);
        }
    }

    /// New records so far.
    pub(crate) fn added(&self) -> Counts {
        let of = |kind: Kind| {
            let new = self
                .changed()
                .filter(|record| record.kind() == kind && record.version == Version::FIRST);
            count(new.count())
        };
        Counts {
            blueprints: of(Kind::Blueprint),
            anchors: of(Kind::Anchor),
            lessons: of(Kind::Lesson),
        }
    }

    pub(crate) fn finish(self) -> Written {
        let changes = self.changed().map(|record| Change::Put(Box::new(record.clone()))).collect();
        Written {
            changes,
            added: self.added(),
            head: self.head,
            merged: self.merged,
            kept: self.kept,
        }
    }

    /// The records that are not as they were. One that was made and swallowed by the same write never was.
    fn changed(&self) -> impl Iterator<Item = &Record> {
        self.touched.iter().filter_map(|id| {
            let record = self.head.record(*id)?;
            let changed = match self.base.record(*id) {
                None => record.standing != Standing::Forgotten,
                Some(before) => (&before.body, before.standing) != (&record.body, record.standing),
            };
            changed.then_some(&**record)
        })
    }

    /// The commit that this draft becomes.
    fn revision(&self) -> Revision {
        Revision(self.base.revision().0 + 1)
    }

    /// The stored record that a body merges with, when it takes but its key to tell.
    fn twin(&self, body: &Body) -> Option<(RecordId, Body)> {
        let twin = self.head.keyed(&MergeKey::of(body)?).next()?;
        Some((twin.id, twin.body.clone()))
    }

    fn merge(&mut self, id: RecordId, body: Body, origin: &Provenance) {
        self.merged += 1;
        self.change(id, body, Standing::Active, origin);
    }
}
