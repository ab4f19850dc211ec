//! Saves a session's staged work, together with the call's own part, as one commit.

use super::topic::{change_topic, fold_into};
use super::{Contradiction, Plan, Row, conflict, contradictions, put_fixes, put_row};
use crate::archive::{ArchivePlan, Archived};
use crate::brief::{BriefMerge, MergeEnd};
use crate::change::Change;
use crate::draft::{Draft, KeptBlueprint};
use crate::ids::{Kind, RecordId, Revision, Timestamp};
use crate::intake::WriteLimits;
use crate::kinds::{Blueprint, UnseenCode};
use crate::limits::SHORT_SUMMARY_BYTES_MAX;
use crate::memory::Memory;
use crate::omit::is_default;
use crate::overtaken::Overtaken;
use crate::per_kind::PerKind;
use crate::provenance::Provenance;
use crate::record::{Body, Category};
use crate::refusal::Refusal;
use crate::room::{check_growth, has_room};
use crate::size::Size;
use crate::staged::{Counts, Staged, accept};
use serde::{Deserialize, Serialize};

/// The arguments of a save.
#[derive(Clone, Debug, Default)]
pub struct Save<'a> {
    /// The time at which the session began.
    pub started: Timestamp,
    /// A description of what the session did; must not be empty.
    pub session_summary: &'a str,
    /// Work that was not staged before.
    pub part: Staged,
    /// The revision that memory must be at.
    pub expected_revision: Option<Revision>,
    /// A merge of a brief.
    pub merge: Option<&'a BriefMerge>,
    /// The limits of the part.
    pub limits: WriteLimits,
    /// Records to archive in the same commit. The plan may be older than this memory.
    pub archive: Option<&'a ArchivePlan>,
}

/// The outcome of a save, for the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaveOutcome {
    /// The session's row.
    pub row: RecordId,
    /// The revision that this save creates.
    pub revision: Revision,
    /// The numbers of active records after the save.
    #[serde(serialize_with = "PerKind::serialize_whole")]
    pub active: PerKind<u64>,
    /// The bytes of their text, without notes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text_bytes: u64,
    /// The number of sessions that have ever written here.
    pub sessions: u64,
    /// The new records of this save, with lessons made by rule.
    #[serde(default, skip_serializing_if = "is_default")]
    pub added: Counts,
    /// The number of items that were merged into existing records.
    #[serde(default, skip_serializing_if = "is_default")]
    pub merged: u32,
    /// The number of facts and blueprints whose text was replaced.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replaced: u32,
    /// The blueprints that were left unchanged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kept: Vec<KeptBlueprint>,
    /// Items that were staged before others wrote the same, and so changed nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub overtaken: Vec<Overtaken>,
    /// Blueprints of this save that contradict stored ones with the same title.
    #[serde(default, skip_serializing_if = "is_default")]
    pub contradicts: Vec<Contradiction>,
    /// The records that this save archived.
    #[serde(default, skip_serializing_if = "is_default")]
    pub archived: Archived,
    /// The end of the merge of a brief, if there was one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub merge: Option<MergeEnd>,
    /// The anchors of the call whose lines could not be read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unseen: Vec<UnseenCode>,
}

/// Folds a session's staged work and this save's part into memory and writes the session's row.
///
/// # Errors
/// Fails if the summary is empty, an item is invalid, or the project has no room for the items.
/// Also fails if memory is not at the expected revision.
pub fn plan_save(
    memory: &Memory,
    origin: &Provenance,
    save: Save<'_>,
) -> Result<Plan<SaveOutcome>, Refusal> {
    let archive = save.archive;
    let Accepted { part, work } = accept_save(memory, origin, save)?;
    let mut draft = work.folded(memory, origin);
    // Work that was staged earlier had room then, and none of it may be lost.
    check_growth(memory, draft.head(), &part)?;
    if let Some(captured) = &work.staged.captured {
        put_fixes(&mut draft, captured, origin);
    }
    let (mut changes, outcome) = work.finish(memory, draft, archive, origin);
    if memory.staged_by(&origin.session).is_some() {
        changes.push(Change::Unstage { session: origin.session.clone() });
    }
    Ok(Plan { changes, outcome })
}

/// A save that may be written.
pub(super) struct Accepted {
    /// The call's own part.
    pub(super) part: Staged,
    pub(super) work: Work,
}

/// The work of a save, which is folded at once or once the team's database takes it.
pub(super) struct Work {
    pub(super) summary: String,
    pub(super) started: Timestamp,
    /// Everything that the session has staged, with the call's part.
    pub(super) staged: Staged,
    /// A merge of a brief that takes something out of it.
    pub(super) merge: Option<BriefMerge>,
    /// The end of that merge.
    pub(super) merge_end: Option<MergeEnd>,
    /// The category and the title of each blueprint that was left out, since another is staged.
    pub(super) left_out: Vec<(Category, String)>,
    /// The anchors of the call whose lines could not be read.
    pub(super) unseen: Vec<UnseenCode>,
}

impl Work {
    /// Folds the work into a draft.
    pub(super) fn folded<'m>(&self, memory: &'m Memory, origin: &Provenance) -> Draft<'m> {
        let mut draft = Draft::new(memory);
        draft.fold(&self.staged, origin);
        take_out(&mut draft, self.merge.as_ref(), origin);
        draft
    }

    /// Ends the draft of a save with the session's row, and with what is archived.
    pub(super) fn finish(
        self,
        memory: &Memory,
        mut draft: Draft<'_>,
        archive: Option<&ArchivePlan>,
        origin: &Provenance,
    ) -> (Vec<Change>, SaveOutcome) {
        let Self { summary, started, staged, merge_end, left_out, unseen, .. } = self;
        let row = put_saved(&mut draft, summary, started, origin);
        let archived =
            archive.map_or_else(Archived::default, |plan| plan.apply(&mut draft, origin));
        let written = draft.finish();
        let mut kept = written.kept;
        for (category, title) in left_out {
            let staged = Blueprint::new(category, title.clone(), String::new());
            let id = written.head.existing_match(&Body::Blueprint(staged)).map(|record| record.id);
            if !kept.iter().any(|known| known.id == id) {
                kept.push(KeptBlueprint { id, title });
            }
        }
        let totals = written.head.totals();
        let outcome = SaveOutcome {
            row,
            revision: Revision(memory.revision().0 + 1),
            active: totals.active,
            text_bytes: totals.text_bytes,
            sessions: written.head.session_rows(),
            added: written.added,
            merged: written.merged.saturating_sub(written.replaced),
            replaced: written.replaced,
            kept,
            overtaken: written.overtaken,
            contradicts: contradictions(memory, Some(&written.head), &staged.blueprints),
            archived,
            merge: merge_end,
            unseen,
        };
        (written.changes, outcome)
    }
}

/// Refuses a save that expects another revision.
pub(super) fn refuse_unexpected(
    memory: &Memory,
    expected: Option<Revision>,
    origin: &Provenance,
) -> Result<(), Refusal> {
    match expected {
        // Records that were only archived or read have the same content.
        Some(expected)
            if expected > memory.revision() || memory.written_since(expected).next().is_some() =>
        {
            Err(conflict(memory, expected, origin.time))
        }
        _ => Ok(()),
    }
}

/// Checks a save, and adds its part to what the session has staged.
pub(super) fn accept_save(
    memory: &Memory,
    origin: &Provenance,
    mut save: Save<'_>,
) -> Result<Accepted, Refusal> {
    let summary = save.limits.text("session_summary", save.session_summary)?;
    if summary.is_empty() {
        return Err(Refusal::invalid("session_summary", "is empty; say what this session did"));
    }
    let unseen = std::mem::take(&mut save.part.unseen);
    let mut part = accept(save.part, &save.limits)?;
    let merge = save.merge;
    let merge_end = merge.map(|merge| fold_into(memory, origin, merge, &mut part)).transpose()?;
    memory.tombstones().refuse(&part)?;
    memory.tombstones().refuse_text("session_summary", &summary)?;
    row_has_room(memory, &summary)?;
    refuse_unexpected(memory, save.expected_revision, origin)?;
    part.stamp(None, origin);
    let stored = memory.staged_by(&origin.session);
    let mut staged = stored.map(|staged| Staged::clone(staged)).unwrap_or_default();
    let left_out = staged.absorb(&part).into_iter().filter_map(|body| match body {
        Body::Blueprint(blueprint) => Some((blueprint.category, blueprint.title)),
        _ => None,
    });
    let work = Work {
        summary,
        started: save.started,
        left_out: left_out.collect(),
        staged,
        merge: merge.filter(|_| merge_end == Some(MergeEnd::Done)).cloned(),
        merge_end,
        unseen,
    };
    Ok(Accepted { part, work })
}

/// Takes out of the brief what a merge that is done takes out.
fn take_out(draft: &mut Draft<'_>, merge: Option<&BriefMerge>, origin: &Provenance) {
    if let Some(merge) = merge {
        change_topic(draft, merge.part.topic(), origin, |topic| merge.take_out(topic));
    }
}

/// Writes the row of a session that saves.
fn put_saved(
    draft: &mut Draft<'_>,
    summary: String,
    started: Timestamp,
    origin: &Provenance,
) -> RecordId {
    let row = Row {
        session: origin.session.clone(),
        started,
        ended: origin.time,
        summary,
        on_behalf: false,
        captured: None,
        earlier: Vec::new(),
        rewrites: false,
        added: draft.added(),
    };
    put_row(draft, row, origin)
}

/// Refuses a long summary if session rows have used up their room. A short one always fits: many
/// sessions must not keep the next one from saving.
fn row_has_room(memory: &Memory, summary: &str) -> Result<(), Refusal> {
    if summary.len() <= SHORT_SUMMARY_BYTES_MAX {
        return Ok(());
    }
    let more = Size { records: 0, bytes: summary.len() as u64 };
    has_room(&memory.totals().kept, Kind::SessionRow, more).map_err(|refusal| {
        let why = format!(
            "has {} bytes, {SHORT_SUMMARY_BYTES_MAX} are allowed now: {refusal}",
            summary.len()
        );
        Refusal::invalid("session_summary", why)
    })
}
