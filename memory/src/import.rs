//! Imports another system's memory: reads its files, plans, then applies the plan as one commit.
//!
//! The original is never written. Importing the same source again changes nothing: its digest is
//! remembered, and its content merges with itself. Unusable items are named, not dropped silently.

mod compactor;
mod exported;
mod graph;
mod infinite_context;
mod instructions;
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
pub use sessions::{PastOutcome, PastSession, plan_import_sessions};
pub use snap_memory::{SNAP_KEY, SNAP_MAP, SNAP_MEMORY, plan_edited_topic};
pub use source::{
    Candidate, ImportError, ImportStep, ImportSteps, NamedText, Parts, Source, Table,
};
pub use split::{
    SplitPlan, TakenIn, WrittenIn, last_split, plan_bring_back, plan_give_back, plan_set_aside,
    plan_split, plan_take_in, set_aside_by, split_session,
};
pub use zipmem::{Dated, Pending, SourceRow, Zipmem, parse};

use crate::audience::Audience;
use crate::change::{Change, Notice, NoticeCause};
use crate::draft::{Draft, KeptBlueprint};
use crate::guide::CheckpointMode;
use crate::ids::{Kind, RecordId, SessionId, Timestamp};
use crate::intake::WriteLimits;
use crate::kinds::MergeKey;
use crate::memory::Memory;
use crate::plan::{Plan, Row, put_row, stored_row};
use crate::provenance::Provenance;
use crate::record::{Anchor, Blueprint, Body, RecordState};
use crate::refusal::Refusal;
use crate::room::{check_items, has_room};
use crate::settings::Settings;
use crate::size::Size;
use crate::staged::{Counts, Staged, accept, count};
use serde::{Deserialize, Serialize};

/// The source name under which imports of zipmem's files are remembered. It is also the client of
/// their records.
pub const ZIPMEM: &str = "zipmem";

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
    /// Blueprints that kept their content here.
    pub kept: Vec<KeptBlueprint>,
    /// One line for each item that could not be used as it was.
    pub notes: Vec<String>,
}

impl ImportOutcome {
    /// Adds up the outcomes of two commits of one source. It was imported before only if both were.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        self.before = self.before.zip(next.before).map(|(one, next)| one + next);
        self.added = self.added.and(next.added);
        self.merged += next.merged;
        self.sessions += next.sessions;
        self.pending = self.pending.and(next.pending);
        self.kept.extend(next.kept);
        self.notes.extend(next.notes);
        self
    }
}

/// Plans an import of zipmem's memory. Records keep the times of their originals; newer content
/// here stays. `digest` identifies the source.
pub fn plan_import(
    memory: &Memory,
    source: &Zipmem,
    digest: &str,
    origin: &Provenance,
) -> Plan<ImportOutcome> {
    if let Some(before) = memory.imported(ZIPMEM, digest) {
        let outcome = ImportOutcome { before: Some(before), ..ImportOutcome::default() };
        return Plan { changes: Vec::new(), outcome };
    }
    let mut notes = source.notes.clone();
    let source = &usable(memory, source, &mut notes);
    let mut import = ZipmemImport { draft: Draft::new(memory), origin, no_room: Vec::new() };
    import.items(source);
    let sessions = import.rows(&source.rows);
    let notice = source.pending.as_ref().map(|pending| {
        let origin = import.origin_at(&pending.session, pending.updated);
        keep_pending(&mut import.draft, memory, pending, &origin)
    });

    let is_whole = import.no_room.is_empty();
    notes.append(&mut import.no_room);
    let written = import.draft.finish();
    let outcome = ImportOutcome {
        before: None,
        added: written.added,
        merged: written.merged,
        sessions,
        pending: notice.as_ref().map(|notice| notice.kept).unwrap_or_default(),
        kept: written.kept,
        notes,
    };
    let notice = notice.map(|notice| Change::Notify(Box::new(notice)));
    let others = notice.into_iter().chain(checkpoint_mode(memory, source.mode));
    let changes = remembered(memory, written.changes, others, (ZIPMEM, digest), is_whole);
    Plan { changes, outcome }
}

/// An import of zipmem's memory under way.
struct ZipmemImport<'a> {
    draft: Draft<'a>,
    origin: &'a Provenance,
    /// A line for each item for which there was no room.
    no_room: Vec<String>,
}

impl ZipmemImport<'_> {
    fn items(&mut self, source: &Zipmem) {
        for Dated { time, item } in &source.blueprints {
            let part = Staged { blueprints: vec![item.clone()], ..Staged::default() };
            if let Some(origin) = self.origin_if_room(*time, &item.title, &part) {
                put_blueprint(&mut self.draft, item, &origin);
            }
        }
        for Dated { time, item } in &source.anchors {
            let part = Staged { anchors: vec![item.clone()], ..Staged::default() };
            if let Some(origin) = self.origin_if_room(*time, &item.file, &part) {
                put_anchor(&mut self.draft, item, &origin);
            }
        }
        for Dated { time, item } in &source.lessons {
            let part = Staged { lessons: vec![item.clone()], ..Staged::default() };
            if let Some(origin) = self.origin_if_room(*time, &item.summary, &part) {
                self.draft.keyed(item, &origin);
            }
        }
    }

    /// Adds rows of sessions that have none here. Returns their number.
    fn rows(&mut self, rows: &[SourceRow]) -> u32 {
        let mut added = 0;
        for row in rows {
            if stored_row(&self.draft, &row.session).is_some() {
                continue;
            }
            let more = Size { records: 1, bytes: row.summary.len() as u64 };
            let kept = self.draft.head().totals().kept;
            if let Err(refusal) = has_room(&kept, Kind::SessionRow, more) {
                self.no_room.push(left_out(&row.session.to_string(), &refusal));
                continue;
            }
            let origin = self.origin_at(&row.session, row.ended.or(row.started));
            let row = Row {
                session: row.session.clone(),
                started: row.started.unwrap_or(origin.time),
                ended: origin.time,
                summary: row.summary.clone(),
                on_behalf: false,
                captured: None,
                earlier: Vec::new(),
                rewrites: false,
                added: row.added,
            };
            put_row(&mut self.draft, row, &origin);
            added += 1;
        }
        added
    }

    /// Returns the provenance of an item, or notes that there is no room for it.
    fn origin_if_room(
        &mut self,
        time: Option<Timestamp>,
        name: &str,
        part: &Staged,
    ) -> Option<Provenance> {
        let origin = self.origin_at(&self.origin.session, time);
        match check_items(self.draft.head(), part, part, &origin) {
            Ok(()) => Some(origin),
            Err(refusal) => {
                self.no_room.push(left_out(name, &refusal));
                None
            }
        }
    }

    /// Returns the provenance of something that was written at a time there, if that is past.
    fn origin_at(&self, session: &SessionId, time: Option<Timestamp>) -> Provenance {
        let time = time.filter(|time| *time < self.origin.time).unwrap_or(self.origin.time);
        Provenance::new(session.clone(), ZIPMEM.into(), time)
    }
}

/// Sets the source's checkpoint mode, unless the project has one or it is the default.
fn checkpoint_mode(memory: &Memory, mode: Option<CheckpointMode>) -> Option<Change> {
    let mode = mode.filter(|mode| *mode != CheckpointMode::default())?;
    let known = memory.settings(None).map(|known| Settings::clone(known)).unwrap_or_default();
    let settings = Settings { checkpoint_mode: Some(mode), ..known.clone() };
    let change = Change::Configure { client: None, settings, shared: memory.team().is_some() };
    known.checkpoint_mode.is_none().then_some(change)
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

/// Returns the source's usable items in their stored form. Adds a line for each item that was
/// purged here or is too large.
fn usable(memory: &Memory, source: &Zipmem, notes: &mut Vec<String>) -> Zipmem {
    let mut source = source.clone();
    let mut taken = |what: &str, part: Staged| -> Staged {
        let accepted =
            memory.tombstones().refuse(&part).and_then(|()| accept(part, &WriteLimits::WIDE));
        accepted.unwrap_or_else(|refusal| {
            notes.push(left_out(what, &refusal));
            Staged::default()
        })
    };
    source.blueprints.retain_mut(|Dated { item, .. }| {
        let part = Staged { blueprints: vec![item.clone()], ..Staged::default() };
        replace(item, taken("a blueprint", part).blueprints)
    });
    source.anchors.retain_mut(|Dated { item, .. }| {
        let part = Staged { anchors: vec![item.clone()], ..Staged::default() };
        replace(item, taken("an anchor", part).anchors)
    });
    source.lessons.retain_mut(|Dated { item, .. }| {
        let part = Staged { lessons: vec![item.clone()], ..Staged::default() };
        replace(item, taken("a lesson", part).lessons)
    });
    source.rows.retain_mut(|row| {
        let part = Staged { summary: Some(row.summary.clone()), ..Staged::default() };
        row.summary.is_empty()
            || replace(&mut row.summary, taken("a session's summary", part).summary)
    });
    if let Some(Pending { staged, .. }) = &mut source.pending {
        staged.blueprints.retain_mut(|item| {
            let part = Staged { blueprints: vec![item.clone()], ..Staged::default() };
            replace(item, taken("a staged blueprint", part).blueprints)
        });
        staged.anchors.retain_mut(|item| {
            let part = Staged { anchors: vec![item.clone()], ..Staged::default() };
            replace(item, taken("a staged anchor", part).anchors)
        });
        staged.lessons.retain_mut(|item| {
            let part = Staged { lessons: vec![item.clone()], ..Staged::default() };
            replace(item, taken("a staged lesson", part).lessons)
        });
        if let Some(summary) = staged.summary.take() {
            let part = Staged { summary: Some(summary), ..Staged::default() };
            staged.summary = taken("a staged summary", part).summary;
        }
    }
    source.pending = source.pending.filter(|pending| pending.staged.has_work());
    source
}

/// Words why an item is left out: the fault alone, since no writer could follow advice.
fn left_out(what: &str, refusal: &Refusal) -> String {
    if let Refusal::PurgedText { time, .. } = refusal {
        return not_again(what, *time);
    }
    format!("{what} is left out: {}", refusal.clone().of_call().fault(&Audience::Agent))
}

/// Words that an item is left out because it was purged.
fn not_again(what: &str, purged: Timestamp) -> String {
    format!("{what} was purged on {} and is not taken in again", purged.date())
}

/// Replaces an item with its accepted form. Returns whether there is one.
fn replace<T>(item: &mut T, accepted: impl IntoIterator<Item = T>) -> bool {
    accepted.into_iter().next().map(|accepted| *item = accepted).is_some()
}

/// Stores a blueprint, unless the one here was written after the original. Then that one stays,
/// mutable or not.
fn put_blueprint(draft: &mut Draft<'_>, new: &Blueprint, origin: &Provenance) {
    let stored = draft
        .head()
        .existing_match(&Body::Blueprint(new.clone()))
        .map(|record| (record.id, record.updated.time));
    match stored {
        Some((id, written)) if written > origin.time => draft.keep(id, origin),
        _ => draft.keyed(new, origin),
    }
}

/// Stores an anchor. The newest concept wins, so a newer one here replaces that of an older
/// original.
fn put_anchor(draft: &mut Draft<'_>, new: &Anchor, origin: &Provenance) {
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
    draft.anchor(&Anchor { concept, ..new.clone() }, origin);
}

/// Keeps a session's staged work, as is done here for a session that is gone.
fn keep_pending(
    draft: &mut Draft<'_>,
    memory: &Memory,
    pending: &Pending,
    origin: &Provenance,
) -> Notice {
    let before = draft.added();
    draft.fold(&pending.staged, origin);
    let after = draft.added();
    let kept = pending.staged.counts();
    let summary = pending.staged.summary.clone();
    let row: RecordId = put_row(
        draft,
        Row {
            session: pending.session.clone(),
            started: pending.started.unwrap_or(origin.time),
            ended: origin.time,
            summary: summary.unwrap_or_else(|| format!("Staged {kept}.")),
            on_behalf: true,
            captured: None,
            earlier: Vec::new(),
            rewrites: false,
            added: Counts {
                blueprints: after.blueprints - before.blueprints,
                anchors: after.anchors - before.anchors,
                lessons: after.lessons - before.lessons,
                ..Counts::default()
            },
        },
        origin,
    );
    let cause = if pending.interrupted {
        NoticeCause::Crashed { files: Vec::new(), more: 0 }
    } else {
        NoticeCause::Ended
    };
    Notice {
        id: memory.next_notice(),
        time: origin.time,
        session: pending.session.clone(),
        row,
        cause,
        kept,
        files_unseen: false,
        private: memory.team().is_some(),
    }
}

#[cfg(test)]
mod tests;
