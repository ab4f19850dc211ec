//! Imports another system's memory: reads its files, plans, then applies the plan as one commit.
//!
//! The original is never written. Importing the same source again changes nothing: its digest is
//! remembered, and its content merges with itself. Unusable items are named, not dropped silently.

mod compactor;
mod exported;
mod graph;
mod infinite_context;
mod instructions;
mod judged;
mod markdown;
mod notes;
mod observations;
mod sessions;
mod snap_memory;
mod source;
mod split;
mod zipmem;

pub use compactor::{COMPACTOR, Compactor, parse_compactor, plan_import_compactor};
pub use exported::{EXPORTED, Exported, parse_export, plan_import_export};
pub use infinite_context::{INFINITE_CONTEXT, InfiniteContext, StateEntry, parse_infinite_context};
pub use instructions::INSTRUCTIONS;
pub use judged::EarlierTexts;
pub use sessions::{PastOutcome, PastSession, plan_import_sessions};
pub use snap_memory::{SNAP_KEY, SNAP_MAP, SNAP_MEMORY, plan_edited_topic};
pub use source::{
    Candidate, ImportError, ImportStep, ImportSteps, NamedText, Parts, Source, Table,
};
pub use split::{
    SplitPlan, TakenIn, WrittenIn, last_split, plan_bring_back, plan_give_back, plan_set_aside,
    plan_split, plan_take_in, set_aside_by, split_session,
};
pub use zipmem::{Dated, Pending, SourceRow, Zipmem, parse, plan_import_zipmem};

use crate::audience::Audience;
use crate::change::Change;
use crate::draft::{Draft, KeptBlueprint};
use crate::ids::{Kind, Timestamp};
use crate::kinds::MergeKey;
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::provenance::Provenance;
use crate::record::{Anchor, Blueprint, Body, RecordState};
use crate::refusal::Refusal;
use crate::staged::{Counts, count};
use serde::{Deserialize, Serialize};

/// The source name under which imports of zipmem's files are remembered. It is also the client of
/// their records.
pub const ZIPMEM: &str = "zipmem";

/// The operation of an import.
pub const IMPORTED: &str = "import";

/// The operation of an import by which a machine's memory becomes a part of its team's.
pub const MERGED: &str = "merge";

/// The systems from which anchord imports. The first that recognises a file or folder reads it.
pub const SOURCES: &[Source] = &[
    infinite_context::SOURCE,
    compactor::SOURCE,
    exported::SOURCE,
    zipmem::SOURCE,
    snap_memory::SOURCE,
    observations::SOURCE,
    graph::SOURCE,
    instructions::SOURCE,
    // Takes any folder of notes, so it comes last.
    markdown::SOURCE,
];

/// Returns the system with this name on the wire.
pub fn source(name: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.name == name)
}

/// The outcome of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportOutcome {
    /// The number of records from an earlier import of this very source, in which case nothing
    /// changes.
    pub before: Option<u32>,
    /// The numbers of new records.
    pub added: Counts,
    /// The number of items that were here already, or were merged into existing records.
    pub merged: u32,
    /// The number of new session rows.
    pub sessions: u32,
    /// The numbers of records that were staged and not saved there, kept here on their session's
    /// behalf.
    pub pending: Counts,
    /// The number of records of an export whose text did not come in, for what is here.
    #[serde(default)]
    pub left_out: u32,
    /// Blueprints that kept their content here.
    pub kept: Vec<KeptBlueprint>,
    /// One line for each item that could not be used as it was.
    pub notes: Vec<String>,
}

impl ImportOutcome {
    /// Returns the outcome for a source that was imported before: all that it has is here.
    fn known(before: u32, found: &PerKind<usize>) -> Self {
        let here: usize = Kind::ALL.into_iter().map(|kind| found.of(kind)).sum();
        Self { before: Some(before), merged: count(here), ..Self::default() }
    }

    /// Adds up the outcomes of two commits of one source. It was imported before only if both were.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        self.before = self.before.zip(next.before).map(|(one, next)| one + next);
        self.added = self.added.and(next.added);
        self.merged += next.merged;
        self.sessions += next.sessions;
        self.pending = self.pending.and(next.pending);
        self.left_out += next.left_out;
        self.kept.extend(next.kept);
        self.notes.extend(next.notes);
        self
    }
}

/// Returns the changes of an import: the records, the other changes, and last the import itself.
///
/// An import that changes nothing is not remembered, so it may be tried again. Neither is one that
/// lacked room for some items. A record that brings nothing new keeps its state, since importing it
/// does not use it.
fn remembered(
    memory: &Memory,
    mut records: Vec<Change>,
    others: impl IntoIterator<Item = Change>,
    (source, digest): (&str, &str),
    is_whole: bool,
) -> Vec<Change> {
    records.retain(|change| !is_here(memory, change));
    let count = count(records.len());
    let mut changes = records;
    changes.extend(others);
    if is_whole && !changes.is_empty() {
        let (source, digest) = (source.to_owned(), digest.to_owned());
        changes.push(Change::Imported { source, digest, records: count, undone: false });
    }
    changes
}

/// Returns whether a change only repeats a record's current content.
fn is_here(memory: &Memory, change: &Change) -> bool {
    change.record().is_some_and(|new| {
        let here = memory.record(new.id);
        new.state != RecordState::Forgotten && here.is_some_and(|here| here.content_eq(new))
    })
}

/// Words why an item is left out: the fault alone, since no writer could follow advice.
fn word_refusal(what: &str, refusal: &Refusal) -> String {
    if let Refusal::PurgedText { time, .. } = refusal {
        return not_again(what, *time);
    }
    format!("{what} is left out: {}", refusal.clone().of_call().fault(&Audience::Agent))
}

/// Words that an item is left out because it was purged.
fn not_again(what: &str, purged: Timestamp) -> String {
    format!("{what} was purged on {} and is not taken in again", purged.date())
}

/// Stores a blueprint, unless the one here was written after the original. Then that one stays,
/// mutable or not. If it has the same text, it counts as here already.
fn put_blueprint(draft: &mut Draft<'_>, new: &Blueprint, origin: &Provenance) {
    let stored = draft.head().existing_match(&Body::Blueprint(new.clone())).map(|record| {
        let is_same = matches!(&record.body, Body::Blueprint(it) if it.content == new.content);
        (record.id, record.updated.time, is_same)
    });
    match stored {
        Some((id, written, true)) if written > origin.time => draft.meet(id, origin),
        Some((id, written, false)) if written > origin.time => draft.keep(id, origin),
        _ => {
            draft.keyed(new, origin);
        }
    }
}

/// Stores an anchor. The newest concept wins, so a newer one here replaces that of an older
/// original. Returns whether it did.
fn put_anchor(draft: &mut Draft<'_>, new: &Anchor, origin: &Provenance) -> bool {
    let key = MergeKey::anchor(&new.file);
    let newer = draft
        .head()
        .keyed(&key)
        .filter(|record| record.updated.time > origin.time)
        .filter_map(|record| match &record.body {
            Body::Anchor(anchor) if anchor.is_same_place(new) => {
                Some((record.updated.time, anchor))
            }
            _ => None,
        })
        .max_by_key(|(time, _)| *time)
        .map(|(_, anchor)| anchor.concept.clone());
    let concept = newer.unwrap_or_else(|| new.concept.clone());
    let is_older = concept != new.concept;
    draft.anchor(&Anchor { concept, ..new.clone() }, origin);
    is_older
}
