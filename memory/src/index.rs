//! The lookups and totals that a memory keeps so that nobody has to read all its records. They
//! cover merge keys, active records, write order and rendered size. They are derived from the
//! records alone and updated with each record. So the cost of a save depends on what it writes, not
//! on what is stored.

use std::ops::Bound;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use crate::ids::{Kind, RecordId, Revision, SessionId};
use crate::kinds::MergeKey;
use crate::kinds::note::{Note, Scope};
use crate::per_kind::PerKind;
use crate::record::{Record, RecordState};
use crate::size::Sizes;

/// Counts of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Active records of each kind; of notes, those of the project.
    pub active: PerKind<u64>,
    /// Archived records of any kind.
    pub archived: u64,
    /// Bytes of the text of all active records but notes, which have a budget in tokens.
    pub text_bytes: u64,
    /// Tokens of the project's active notes: what its budget bounds.
    pub note_tokens: u64,
    /// Tokens of those that are pinned.
    pub pinned_tokens: u64,
    /// Records of each kind, active or archived, of the project and of sessions.
    pub kept: Sizes,
}

impl Totals {
    /// Returns the number of active records of all kinds.
    pub fn active(&self) -> u64 {
        Kind::ALL.into_iter().map(|kind| self.active.of(kind)).sum()
    }
}

/// Counts of one session's own notes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Owned {
    /// Active or archived notes.
    notes: u64,
    active: u64,
    /// Budget tokens of the active notes.
    tokens: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Index {
    keys: OrdSet<(MergeKey, RecordId)>,
    /// Records by the commit that introduced their current content.
    written: OrdSet<(Revision, RecordId)>,
    active: OrdSet<RecordId>,
    /// Sessions' own notes, except forgotten ones. They are in none of the sets for shared records.
    private: OrdSet<(SessionId, RecordId)>,
    /// Counts of sessions' own notes, by the session and the client that first wrote them.
    owners: OrdMap<(SessionId, Arc<str>), Owned>,
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
        let (first, last) = (RecordId::new(kind, 0), RecordId::new(kind, u64::MAX));
        self.active.range(first..=last).copied()
    }

    pub(crate) fn written_since(&self, since: Revision) -> impl Iterator<Item = RecordId> {
        let first = (Revision(since.0.saturating_add(1)), LOWEST);
        self.written.range(first..).map(|(_, id)| *id)
    }

    /// Returns the same records, newest first, from the one before `before` on.
    pub(crate) fn written_before(
        &self,
        before: Option<(Revision, RecordId)>,
    ) -> impl Iterator<Item = RecordId> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        self.written.range((Bound::Unbounded, end)).rev().map(|(_, id)| *id)
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

    /// Returns the notes of one session alone, oldest first.
    pub(crate) fn private_of(&self, session: &SessionId) -> impl Iterator<Item = RecordId> {
        let first = (session.clone(), LOWEST);
        self.private
            .range(first..)
            .take_while(move |(owner, _)| owner == session)
            .map(|(_, id)| *id)
    }

    /// Returns the sessions that have notes of their own, each with the clients that wrote them.
    pub(crate) fn private_sessions(&self) -> impl Iterator<Item = (&SessionId, &str)> {
        self.owners.keys().map(|(owner, client)| (owner, &**client))
    }

    /// Returns the number of a session's own active notes, and the budget tokens that they take.
    pub(crate) fn private_usage(&self, session: &SessionId) -> (u64, u64) {
        let first = (session.clone(), Arc::from(""));
        let of = self.owners.range(first..).take_while(|((owner, _), _)| owner == session);
        of.fold((0, 0), |(notes, tokens), (_, owned)| (notes + owned.active, tokens + owned.tokens))
    }

    /// Returns the facts of a scope, by key.
    pub(crate) fn facts(&self, scope: &Scope) -> impl Iterator<Item = (&str, RecordId)> {
        let first = (MergeKey::Fact(scope.clone(), Arc::from("")), LOWEST);
        self.keys.range(first..).map_while(move |(key, id)| match key {
            MergeKey::Fact(of, key) if of == scope => Some((&**key, *id)),
            _ => None,
        })
    }

    /// Counts a record's first version in.
    pub(crate) fn insert(&mut self, record: &Record) {
        if let Some(key) = Self::key(record) {
            self.keys.insert((key, record.id));
        }
        self.count_in(record);
    }

    /// Counts a version out and the next one in.
    pub(crate) fn replace(&mut self, before: &Record, record: &Record) {
        if !has_same_key(before, record) {
            if let Some(key) = Self::key(before) {
                self.keys.remove(&(key, before.id));
            }
            if let Some(key) = Self::key(record) {
                self.keys.insert((key, record.id));
            }
        }
        self.count_out(before);
        self.count_in(record);
    }

    fn count_in(&mut self, record: &Record) {
        self.totals.kept.count_in(record);
        if let Some(owner) = record.owner() {
            if record.state != RecordState::Forgotten {
                self.private.insert((owner.clone(), record.id));
                let key = (owner.clone(), Arc::clone(&record.created.client));
                let owned = self.owners.entry(key).or_default();
                let (active, tokens) = active_note(record);
                owned.notes += 1;
                owned.active += active;
                owned.tokens += tokens;
            }
            return;
        }
        self.written.insert((record.content_version().revision, record.id));
        match record.state {
            RecordState::Active => {
                self.active.insert(record.id);
                *self.totals.active.of_mut(record.kind()) += 1;
                match record.note() {
                    Some(note) => {
                        let tokens = u64::from(note.budget_tokens());
                        self.totals.note_tokens += tokens;
                        self.totals.pinned_tokens += if record.pinned { tokens } else { 0 };
                    }
                    None => self.totals.text_bytes += record.text_bytes() as u64,
                }
            }
            RecordState::Archived => self.totals.archived += 1,
            RecordState::Forgotten => {}
        }
    }

    fn count_out(&mut self, record: &Record) {
        self.totals.kept.count_out(record);
        if let Some(owner) = record.owner() {
            if self.private.remove(&(owner.clone(), record.id)).is_some() {
                let key = (owner.clone(), Arc::clone(&record.created.client));
                let owned = self.owners.entry(key.clone()).or_default();
                let (active, tokens) = active_note(record);
                owned.notes -= 1;
                owned.active -= active;
                owned.tokens -= tokens;
                if owned.notes == 0 {
                    self.owners.remove(&key);
                }
            }
            return;
        }
        self.written.remove(&(record.content_version().revision, record.id));
        match record.state {
            RecordState::Active => {
                self.active.remove(&record.id);
                *self.totals.active.of_mut(record.kind()) -= 1;
                match record.note() {
                    Some(note) => {
                        let tokens = u64::from(note.budget_tokens());
                        self.totals.note_tokens -= tokens;
                        self.totals.pinned_tokens -= if record.pinned { tokens } else { 0 };
                    }
                    None => self.totals.text_bytes -= record.text_bytes() as u64,
                }
            }
            RecordState::Archived => self.totals.archived -= 1,
            RecordState::Forgotten => {}
        }
    }

    /// Returns a record's merge key. A forgotten record has none, since nothing merges into it.
    fn key(record: &Record) -> Option<MergeKey> {
        match record.state {
            RecordState::Active | RecordState::Archived => record.body.key(),
            RecordState::Forgotten => None,
        }
    }
}

/// Returns whether two versions of a note surely have the same key, without building it: comparing
/// a text is cheaper than hashing it twice. Compaction leaves a note's key unchanged.
fn has_same_key(before: &Record, record: &Record) -> bool {
    let (Some(one), Some(other)) = (kept_note(before), kept_note(record)) else { return false };
    (&one.scope, &one.key, &one.content) == (&other.scope, &other.key, &other.content)
}

/// Returns the note of a record that is not forgotten.
fn kept_note(record: &Record) -> Option<&Note> {
    record.note().filter(|_| record.state != RecordState::Forgotten)
}

/// Returns one and the note's budget tokens if the note is active, else zeros.
fn active_note(record: &Record) -> (u64, u64) {
    let note = record.note().filter(|_| record.state.is_active());
    note.map_or((0, 0), |note| (1, u64::from(note.budget_tokens())))
}

/// An id below every id in use: numbers count from 1.
const LOWEST: RecordId = RecordId::new(Kind::Blueprint, 0);
