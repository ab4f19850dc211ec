//! Stages work: durable, and private to the session until it saves.

use super::held::as_saved;
use super::{Contradiction, Plan, contradictions};
use crate::change::Change;
use crate::draft::KeptBlueprint;
use crate::ids::Kind;
use crate::intake::WriteLimits;
use crate::kinds::UnseenCode;
use crate::kinds::blueprint::{Verdict, judge};
use crate::limits::{STAGED_BYTES_MAX, STAGED_PROJECT_BYTES_MAX, STAGED_SHARE_BYTES};
use crate::memory::Memory;
use crate::omit::is_default;
use crate::overtaken::note_concept;
use crate::provenance::Provenance;
use crate::record::{Blueprint, Body};
use crate::refusal::Refusal;
use crate::room::check_items;
use crate::staged::{Counts, Staged, accept};
use serde::{Deserialize, Serialize};

/// The outcome of a checkpoint, for the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointOutcome {
    /// The counts of everything that the session has staged now.
    pub pending: Counts,
    /// Blueprints of this checkpoint that a save will leave unchanged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kept: Vec<KeptBlueprint>,
    /// Blueprints of this checkpoint that contradict stored ones with the same title.
    #[serde(default, skip_serializing_if = "is_default")]
    pub contradicts: Vec<Contradiction>,
    /// The anchors of this checkpoint whose lines could not be read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unseen: Vec<UnseenCode>,
}

/// Stages a part of a session's work, by the limits of anchord's own tools.
///
/// # Errors
/// As [`plan_checkpoint_within`].
pub fn plan_checkpoint(
    memory: &Memory,
    origin: &Provenance,
    part: Staged,
) -> Result<Plan<CheckpointOutcome>, Refusal> {
    plan_checkpoint_within(memory, origin, part, &WriteLimits::default())
}

/// Stages a part of a session's work.
///
/// # Errors
/// Fails if the part is empty and may not be, an item is invalid, or the project has no room for
/// the items. Also fails if the session, or all sessions together, have staged too much.
pub fn plan_checkpoint_within(
    memory: &Memory,
    origin: &Provenance,
    mut part: Staged,
    limits: &WriteLimits,
) -> Result<Plan<CheckpointOutcome>, Refusal> {
    let unseen = std::mem::take(&mut part.unseen);
    let mut part = accept(part, limits)?;
    if part.is_empty() && limits.allows_empty {
        let staged = memory.staged_by(&origin.session);
        let pending = staged.map(|staged| staged.counts()).unwrap_or_default();
        let outcome = CheckpointOutcome { pending, ..CheckpointOutcome::default() };
        return Ok(Plan { changes: Vec::new(), outcome });
    }
    if part.is_empty() {
        // A call has the field of each kind, and one topic.
        let field = |kind: Kind| if kind == Kind::Topic { kind.noun() } else { kind.plural() };
        let staged = Kind::ALL.into_iter().filter(|kind| kind.is_staged());
        let staged: Vec<&str> = staged.map(field).collect();
        let why =
            format!("has nothing in it; give a summary or any of these: {}", staged.join(", "));
        return Err(Refusal::invalid("checkpoint", why));
    }
    memory.tombstones().refuse(&part)?;
    part.stamp(Some(memory.revision()), origin);
    let saved = as_saved(memory, &origin.session);
    for topic in &mut part.topics {
        let stored = saved.topic(topic.topic()).and_then(|record| record.topic());
        topic.note_stored(stored);
    }
    for anchor in &mut part.anchors {
        note_concept(&saved, anchor);
    }
    part.client = origin.client.clone();

    let staged = memory.staged_by(&origin.session);
    let mut pending = staged.map(|staged| Staged::clone(staged)).unwrap_or_default();
    let left_out = pending.absorb(&part);
    can_stage(memory, origin, pending.bytes())?;
    // Checked here and not when the work is folded: no caller hears about work that is kept on a
    // session's behalf.
    check_items(memory, &pending, &part, origin)?;
    let mut kept: Vec<KeptBlueprint> = left_out
        .into_iter()
        .map(|body| KeptBlueprint { id: None, title: body.fields().name() })
        .collect();
    kept.extend(part.blueprints.iter().filter_map(|new| will_keep(memory, &pending, new)));
    let stays = |new: &&Blueprint| will_keep(memory, &pending, new).is_none();
    let contradicts = contradictions(memory, None, part.blueprints.iter().filter(stays));
    let mut counts = pending.counts();
    if counts == Counts::default() && pending.summary.is_none() {
        // Only lines of history, which count as work once an agent has written them.
        counts.topics = u32::try_from(pending.topics.len()).unwrap_or(u32::MAX);
    }
    let outcome = CheckpointOutcome { pending: counts, kept, contradicts, unseen };
    let session = origin.session.clone();
    Ok(Plan { changes: vec![Change::Stage { session, part: Box::new(part) }], outcome })
}

/// Refuses staged work of this size if it exceeds the limit of the session or the project.
fn can_stage(memory: &Memory, origin: &Provenance, bytes: usize) -> Result<(), Refusal> {
    if bytes > STAGED_BYTES_MAX {
        return Err(Refusal::TooLarge {
            what: "what this session has staged".into(),
            bytes,
            bytes_max: STAGED_BYTES_MAX,
            advice: "save first, then go on".into(),
        });
    }
    if bytes <= STAGED_SHARE_BYTES {
        return Ok(());
    }
    let others = memory.staged().filter(|(session, _)| **session != origin.session);
    let all = others.fold(bytes, |all, (_, staged)| all.saturating_add(staged.bytes()));
    if all > STAGED_PROJECT_BYTES_MAX {
        return Err(Refusal::TooLarge {
            what: "what all sessions of this project have staged".into(),
            bytes: all,
            bytes_max: STAGED_PROJECT_BYTES_MAX,
            advice: "save what this session has staged, then go on; what the others have staged \
                     goes with their saves and ends"
                .into(),
        });
    }
    Ok(())
}

/// Returns the stored blueprint that a save of `pending` leaves unchanged in spite of `new`.
fn will_keep(memory: &Memory, pending: &Staged, new: &Blueprint) -> Option<KeptBlueprint> {
    let replaces = |staged: &Blueprint| {
        staged.category_and_title() == new.category_and_title() && !staged.immutable
    };
    if pending.blueprints.iter().any(replaces) {
        return None;
    }
    let record = memory.existing_match(&Body::Blueprint(new.clone()))?;
    match &record.body {
        Body::Blueprint(stored) if judge(stored, new) == Verdict::Kept => {
            Some(KeptBlueprint { id: Some(record.id), title: new.title.clone() })
        }
        _ => None,
    }
}
