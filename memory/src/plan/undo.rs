//! Takes commits back: an undo of one or several, and a rollback of a record or a project.
//!
//! All of these are one plan. Each record goes back to what it was before the commits that are
//! taken back, without the changes of other commits (`history/merge.rs`). Where a later commit has
//! changed the same again, the plan is a conflict. It writes nothing unless it is forced to take
//! back the later change as well.
//!
//! Purged content stays purged. A private note that was shared stays shared. Settings, bindings,
//! notices and staged work are not touched.

mod basis;
mod outcome;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use basis::UndoBasis;
pub use outcome::{
    LeftRecord, UndoConflict, UndoEnd, UndoOutcome, UndoTarget, Undone, UndoneRecord, WhyLeft,
};

use self::basis::Run;
use super::{Plan, conflict};
use crate::change::Change;
use crate::draft::{Draft, RecordFields};
use crate::history::{Content, StoredVersion, VersionContent, name, take_back};
use crate::ids::{Kind, RecordId, Revision, Timestamp, Version};
use crate::import::{EXPORTED, IMPORTED, MERGED};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::purge::Tombstones;
use crate::record::{Body, Record, RecordState};
use crate::refusal::Refusal;

/// Plans what takes the commits of a basis back. The plan has no changes if the records have
/// changed since the basis was read. It has none either if later commits are in the way and are to
/// stay.
///
/// # Errors
/// Fails if memory is not at the expected revision.
pub fn plan_undo(
    memory: &Memory,
    basis: &UndoBasis,
    later: LaterChanges,
    expected_revision: Option<Revision>,
    origin: &Provenance,
) -> Result<Plan<UndoOutcome>, Refusal> {
    let current = memory.revision();
    if let Some(expected) = expected_revision.filter(|expected| *expected != current) {
        return Err(conflict(memory, expected, origin.time));
    }
    let mut outcome = UndoOutcome::new(basis, current);
    if !basis.is_current(memory) {
        outcome.end = UndoEnd::Moved;
        return Ok(Plan { changes: Vec::new(), outcome });
    }
    let (draft, sources) = (Draft::new(memory), BTreeSet::new());
    let mut undo = Undo { memory, basis, later, origin, draft, sources, outcome };
    for id in basis.ids() {
        undo.record(id);
    }
    undo.forget_rivals();
    Ok(undo.finish())
}

/// The fate of later changes of the same records in an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaterChanges {
    /// They are conflicts, and nothing is taken back.
    Keep,
    /// They are taken back too.
    TakeBack,
}

struct Undo<'a> {
    memory: &'a Memory,
    basis: &'a UndoBasis,
    later: LaterChanges,
    origin: &'a Provenance,
    draft: Draft<'a>,
    /// The sources of which later imports may be among the later changes that are taken back.
    sources: BTreeSet<Arc<str>>,
    outcome: UndoOutcome,
}

impl Undo<'_> {
    /// Takes the changes of one record back.
    fn record(&mut self, id: RecordId) {
        let Some(now) = self.basis.now(self.memory, id) else {
            let time = self.memory.purged(id).map_or(Timestamp::default(), |it| it.time);
            return self.leave(id, "", WhyLeft::Purged(time));
        };
        let (mut target, mut is_conflict, mut is_dated) = (now.clone(), false, false);
        let (mut back_to, mut is_creation) = (None, false);
        for run in self.basis.runs(id) {
            let Some((before, after)) = self.sides(&now, run) else {
                return self.leave(id, &name(&now), WhyLeft::Missing);
            };
            is_creation |= before.is_none();
            is_dated |= before.as_ref().is_none_or(|before| before.updated != after.updated);
            let content = match take_back(before.as_deref(), &after, &target) {
                Ok(content) => content,
                Err(_) if self.later == LaterChanges::TakeBack => {
                    is_conflict = true;
                    self.add_sources(&now, run.last);
                    let hidden =
                        || Content { state: RecordState::Forgotten, ..Content::of(&after) };
                    before.as_ref().map_or_else(hidden, |before| Content::of(before))
                }
                Err(_) => {
                    let later = self.basis.later(self.memory, id, run.last);
                    return self.outcome.conflicts.push(UndoConflict::new(&now, later));
                }
            };
            back_to = before.filter(|before| Content::of(before) == content).map(|it| it.version);
            target = Record {
                body: content.body,
                state: content.state,
                tags: content.tags,
                pinned: content.pinned,
                ..target
            };
        }
        if Content::of(&target) == Content::of(&now) {
            return;
        }
        if now.owner().is_none() && target.owner().is_some() {
            return self.leave(id, &name(&now), WhyLeft::Shared);
        }
        // A record that has the text all the time may be forgotten.
        let returns = target.body != now.body || now.state == RecordState::Forgotten;
        let purged = || purged_text(self.memory.tombstones(), &target);
        if let Some(time) = returns.then(purged).flatten() {
            return self.leave(id, &name(&now), WhyLeft::Purged(time));
        }
        let time = if is_creation && target.state == RecordState::Forgotten {
            // Tells it from a record that somebody forgot: see `Record::is_taken_back`.
            now.created.time
        } else {
            self.origin.time.max(now.updated.time)
        };
        let dated = Provenance { time, ..self.draft.by(self.origin) };
        // A compaction dates nothing, and neither does taking it back.
        let updated = if is_dated { dated } else { now.updated.clone() };
        let done = Undone::between(&now, &target, back_to);
        self.outcome.records.push(UndoneRecord { id, name: name(&target), done, is_conflict });
        let Record { body, state, tags, pinned, .. } = target;
        self.draft.put(RecordFields { id, body, state, tags, pinned }, updated);
    }

    /// Adds the sources from which versions of a record after this one may have come.
    fn add_sources(&mut self, now: &Record, after: Version) {
        let basis = self.basis;
        let later = (after.0 + 1..=now.version.0).map(Version);
        let stored: Vec<&StoredVersion> =
            later.filter_map(|version| basis.version(now.id, version)).collect();
        let mut operations = stored.iter().map(|it| it.operation.as_str());
        let is_imported = operations.any(|it| [IMPORTED, MERGED].contains(&it));
        // The sources of imports are the clients of their records, but that of exports is not.
        let clients = stored.iter().filter_map(|it| it.content.record());
        let clients = clients.map(|record| &record.updated.client);
        self.sources.extend(clients.chain([&now.updated.client]).cloned());
        self.sources.extend(is_imported.then(|| Arc::from(EXPORTED)));
    }

    /// Returns the record before and after a run of its versions. The outer `None` says that the
    /// journal no longer has one of them.
    fn sides(&self, now: &Record, run: Run) -> Option<(Option<Arc<Record>>, Arc<Record>)> {
        let whole = |version| {
            let stored = self.basis.version(now.id, version).map(|stored| &stored.content);
            stored.and_then(VersionContent::record).cloned()
        };
        let before = match run.before() {
            Some(version) => Some(whole(version)?),
            None => None,
        };
        let after = if run.last == now.version { Arc::new(now.clone()) } else { whole(run.last)? };
        Some((before, after))
    }

    /// Looks for other records that took the place of those that come back. Two records must not
    /// merge with the same write.
    fn forget_rivals(&mut self) {
        let back: Vec<Arc<Record>> = self
            .outcome
            .records
            .iter()
            .filter_map(|it| self.draft.head().record(it.id))
            .filter(|record| record.state != RecordState::Forgotten)
            .cloned()
            .collect();
        for record in back {
            let rivals: Vec<Arc<Record>> = rivals(self.draft.head(), &record).cloned().collect();
            for rival in rivals {
                // Both were there before, so neither took the other's place.
                if self.were_rivals(&record, &rival) {
                    continue;
                }
                if record.kind() == Kind::SessionRow {
                    // The session has another row by now, which is its account.
                    self.outcome.records.retain(|it| it.id != record.id);
                    self.draft.set_state(record.id, RecordState::Forgotten, self.origin);
                    continue;
                }
                if self.later == LaterChanges::TakeBack {
                    let name = name(&rival);
                    let (id, done) = (rival.id, Undone::Forgotten);
                    self.add_sources(&rival, Version(0));
                    self.outcome.records.retain(|it| it.id != id);
                    self.outcome.records.push(UndoneRecord { id, name, done, is_conflict: true });
                    self.draft.set_state(rival.id, RecordState::Forgotten, self.origin);
                } else {
                    let later = vec![rival.revision];
                    self.outcome.conflicts.push(UndoConflict::rival(&record, rival.id, later));
                }
            }
        }
    }

    fn were_rivals(&self, record: &Record, rival: &Record) -> bool {
        let known = |id| self.memory.record(id).filter(|it| it.state != RecordState::Forgotten);
        match (known(record.id), known(rival.id)) {
            (Some(record), Some(rival)) => rivals(self.memory, record).any(|it| it.id == rival.id),
            _ => false,
        }
    }

    fn leave(&mut self, id: RecordId, name: &str, why: WhyLeft) {
        self.outcome.left.push(LeftRecord { id, name: name.to_owned(), why });
    }

    fn finish(self) -> Plan<UndoOutcome> {
        let Self { memory, basis, mut outcome, draft, sources, .. } = self;
        let mut changes = draft.finish().changes;
        for (source, digest, before) in basis.imports() {
            let there = memory.imported(source, digest);
            if there.is_some() != before.is_some() {
                changes.push(Change::Imported {
                    source: source.to_owned(),
                    digest: digest.to_owned(),
                    records: before.or(there).unwrap_or_default(),
                    undone: before.is_none(),
                });
                outcome.imports += 1;
            }
        }
        // Later commits are not in the basis, so it is not known which import is gone. The content
        // of one that is not merges with itself. A split finds its records by its import.
        let named: BTreeSet<(&str, &str)> =
            basis.imports().map(|(source, digest, _)| (source, digest)).collect();
        for ((source, digest), records) in memory.imports() {
            let is_named = named.contains(&(source.as_str(), digest.as_str()));
            if is_named || digest.contains('@') || !sources.contains(source.as_str()) {
                continue;
            }
            changes.push(Change::Imported {
                source: source.clone(),
                digest: digest.clone(),
                records: *records,
                undone: true,
            });
            outcome.imports += 1;
        }
        outcome.end = if !outcome.conflicts.is_empty() {
            UndoEnd::Conflicts
        } else if changes.is_empty() {
            UndoEnd::Nothing
        } else {
            let is_commit = changes.iter().any(Change::is_shared);
            UndoEnd::Done { revision: is_commit.then(|| Revision(memory.revision().0 + 1)) }
        };
        if outcome.end == UndoEnd::Conflicts {
            changes.clear();
        }
        Plan { changes, outcome: outcome.cut() }
    }
}

/// Returns the time at which a text of the record was purged, if one was.
fn purged_text(tombstones: &Tombstones, record: &Record) -> Option<Timestamp> {
    let fields = record.body.fields();
    let texts = fields.tombstone_texts();
    let summary = record.note().map(|note| note.summary.as_str()).filter(|it| !it.is_empty());
    texts.iter().map(String::as_str).chain(summary).find_map(|text| tombstones.of(text))
}

/// Returns the other records that the same write would merge with.
pub(super) fn rivals<'m>(
    memory: &'m Memory,
    record: &Record,
) -> impl Iterator<Item = &'m Arc<Record>> {
    let (id, body) = (record.id, record.body.clone());
    let same = record.body.key();
    let keyed = same.map(|key| memory.keyed(&key).collect::<Vec<_>>()).unwrap_or_default();
    keyed.into_iter().filter(move |rival| {
        rival.id != id
            && rival.is_private() == record.is_private()
            && match (&rival.body, &body) {
                (Body::Anchor(one), Body::Anchor(other)) => one.is_same_place(other),
                (Body::Blueprint(one), Body::Blueprint(other)) => !one.may_coexist_with(other),
                (Body::Note(one), Body::Note(other)) => {
                    one.key.is_some() || one.content == other.content
                }
                _ => true,
            }
    })
}

#[cfg(test)]
mod tests;
