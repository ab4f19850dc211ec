//! Holds a save on this machine, and folds it once the team's database takes it.
//!
//! A hold writes all that stays on this machine, and needs no database. The fold writes nothing but
//! shared records, so another machine's copy of its entry lacks nothing.

use super::save::{Accepted, Work, accept_save, refuse_unexpected};
use super::{Plan, Row, Save, SaveOutcome, notice_of_end, put_fixes, put_row};
use crate::archive::ArchivePlan;
use crate::change::{Change, NoticeCause};
use crate::draft::Draft;
use crate::held::{Held, HeldKey};
use crate::ids::{Seq, SessionId};
use crate::limits::HELD_MAX;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::refusal::Refusal;
use crate::room::check_growth;
use crate::staged::{Counts, Staged};

/// Holds a save with the session's staged work, under the key of its entry. Changes nothing if it
/// is held already.
///
/// # Errors
/// Fails like [`plan_save`](super::plan_save), and if too much waits already.
pub fn plan_hold(
    memory: &Memory,
    origin: &Provenance,
    key: &HeldKey,
    save: Save<'_>,
) -> Result<Plan<()>, Refusal> {
    if memory.held_as(key).is_some() {
        return Ok(Plan { changes: Vec::new(), outcome: () });
    }
    if memory.held().count() >= HELD_MAX {
        let why = format!("waits: {HELD_MAX} saves wait for the team's database already");
        let how = "stage the work with memory_checkpoint, and save once it takes those";
        return Err(Refusal::invalid("save", why).advising(how));
    }
    let expected = save.expected_revision;
    let Accepted { part, work } = accept_save(memory, origin, save)?;
    // As for a save, since nobody is there to be refused when it is folded.
    check_growth(memory, work.folded(memory, origin).head(), &part)?;
    let Work { summary, started, staged, merge, merge_end, left_out, unseen } = work;
    let mut draft = Draft::new(memory);
    if let Some(captured) = &staged.captured {
        put_fixes(&mut draft, captured, origin);
    }
    let staged = hold(&mut draft, staged, origin).unwrap_or_default();
    let mut changes = draft.finish().changes;
    if memory.staged_by(&origin.session).is_some() {
        changes.push(Change::Unstage { session: origin.session.clone() });
    }
    changes.push(Change::Hold(Box::new(Held {
        key: key.clone(),
        session: origin.session.clone(),
        client: origin.client.clone(),
        time: origin.time,
        started,
        summary: Some(summary),
        expected,
        staged,
        merge: merge.map(Box::new),
        merge_end,
        left_out,
        unseen,
    })));
    Ok(Plan { changes, outcome: () })
}

/// Folds the staged notes that stay on this machine, and returns the rest without the recorded
/// activity; `None` if nothing is left.
pub(super) fn hold(
    draft: &mut Draft<'_>,
    mut staged: Staged,
    origin: &Provenance,
) -> Option<Staged> {
    let (private, shared) = staged.notes.drain(..).partition(|note| note.private);
    let (first, last) = (staged.first, staged.last);
    draft.fold(&Staged { notes: private, first, last, ..Staged::default() }, origin);
    staged.notes = shared;
    (staged.captured, staged.summary) = (None, None);
    (!staged.is_empty()).then_some(staged)
}

/// The result of a fold of what waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// The outcome of a save.
    Save(Box<SaveOutcome>),
    /// Lines about what was not taken of the work of a session that ended without a save. Its row
    /// stays on this machine, so [`plan_say_left`] adds them.
    End(String),
}

/// The place where a fold says what it did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    /// The reply to the call, which waits for it.
    Reply,
    /// The row of the save, since its call was answered long ago.
    Row,
}

/// Folds what waits under a key into shared memory.
///
/// # Errors
/// Fails if nothing waits under the key, and if the save expects another revision.
/// [`plan_restage`] is for the latter.
pub fn plan_release(
    memory: &Memory,
    key: &HeldKey,
    archive: Option<&ArchivePlan>,
    told_by: ToldBy,
) -> Result<Plan<Released>, Refusal> {
    let Some(held) = memory.held_as(key) else {
        return Err(Refusal::invalid("save", "no longer waits; it was folded before"));
    };
    let held = Held::clone(held);
    let origin = Provenance::new(held.session, held.client, held.time);
    refuse_unexpected(memory, held.expected, &origin)?;
    let is_save = held.summary.is_some();
    let mut work = Work {
        summary: held.summary.unwrap_or_default(),
        started: held.started,
        staged: held.staged,
        merge: held.merge.map(|merge| *merge),
        merge_end: held.merge_end,
        left_out: held.left_out,
        unseen: held.unseen,
    };
    let draft = work.folded(memory, &origin);
    let left = draft.not_taken().join("\n");
    let (mut changes, outcome) = if is_save {
        if told_by == ToldBy::Row && !left.is_empty() {
            work.summary = format!("{}\n{left}", work.summary);
        }
        let (changes, outcome) = work.finish(memory, draft, archive, &origin);
        (changes, Released::Save(Box::new(outcome)))
    } else {
        (draft.finish().changes, Released::End(left))
    };
    changes.push(Change::Release(key.clone()));
    Ok(Plan { changes, outcome })
}

/// Returns the memory as this session's waiting saves leave it, as far as is known now. The session
/// wrote them before what it stages next.
pub(super) fn as_saved(memory: &Memory, session: &SessionId) -> Memory {
    let mut after = memory.clone();
    // Nobody searches this copy.
    after.drop_search_index();
    for held in memory.held_of(session) {
        // The database may refuse one later, too. Then it is staged again.
        if let Ok(plan) = plan_release(&after, &held.key, None, ToldBy::Row) {
            after.apply(Seq(after.seq().0 + 1), &plan.changes);
        }
    }
    after
}

/// Adds lines about what was not taken to the row of a session that ended without a save. Leaves a
/// notice for the next load.
pub fn plan_say_left(memory: &Memory, held: &Held, lines: String) -> Plan<()> {
    let origin = Provenance::new(held.session.clone(), held.client.clone(), held.time);
    let mut draft = Draft::new(memory);
    let row = Row::of_end(&origin, held.started, lines, Counts::default());
    let row = put_row(&mut draft, row, &origin);
    let mut changes = draft.finish().changes;
    let notice = notice_of_end(memory, row, &origin, NoticeCause::Ended, Counts::default());
    changes.push(Change::Notify(Box::new(notice)));
    Plan { changes, outcome: () }
}

/// Stages what waits under a key again, since its save expects another revision. The session may
/// save it once more. What was written after that revision stays until then, also if the session
/// ends without it. A merge of the brief has to be made again, which the summary says.
pub fn plan_restage(memory: &Memory, key: &HeldKey) -> Plan<()> {
    let mut changes = Vec::new();
    if let Some(held) = memory.held_as(key) {
        let (session, mut part) = (held.session.clone(), held.staged.clone());
        part.summary = part.summary.or_else(|| held.summary.clone());
        if let Some(expected) = held.expected {
            part.judge_from(expected);
        }
        if let Some(merge) = &held.merge {
            let topic = merge.part.topic();
            let left = format!("What the merge of {topic} takes out is still in it; merge again.");
            let said = part.summary.take().map(|summary| format!("{summary} {left}"));
            part.summary = Some(said.unwrap_or(left));
        }
        changes.push(Change::Stage { session, part: Box::new(part) });
        changes.push(Change::Release(key.clone()));
    }
    Plan { changes, outcome: () }
}

#[cfg(test)]
mod tests;
