//! What becomes of staged work whose session is gone: kept on its behalf, or handed to its successor.

use super::{Plan, Row, put_row, stored_row};
use crate::captured::Captured;
use crate::change::{Change, Counts, Notice, NoticeCause};
use crate::draft::Draft;
use crate::fold::keep_end;
use crate::ids::SessionId;
use crate::limits::TEXT_BYTES_MAX;
use crate::memory::Memory;
use crate::note::{Note, Scope};
use crate::record::{Body, Provenance, SessionRow};
use crate::staged::{Staged, count};

/// Folds a gone session's staged work into memory on its behalf and leaves a notice for the next load.
/// Nothing when it has staged nothing. `origin` gives the time, and the client when the work names none; `files_unseen`
/// goes into the notice as it is.
///
/// What was noted of the session by rule makes its row where neither the agent nor a checkpoint says what it did. A
/// session of which nothing else is left, or lines of a topic's history, or notes for itself, has no notice: there is
/// nothing to look at again.
pub fn plan_keep(
    memory: &Memory,
    session: &SessionId,
    origin: &Provenance,
    cause: NoticeCause,
    files_unseen: bool,
) -> Option<Plan<()>> {
    let staged = memory.staged_by(session)?;
    let client = if staged.client.is_empty() { &origin.client } else { &staged.client };
    let origin = Provenance { session: session.clone(), client: client.clone(), time: origin.time };

    let mut draft = Draft::new(memory);
    let before = stored_row(&draft, session).map(|(_, row)| row);
    let captured = captured(staged, before.as_ref());
    if !staged.has_work() {
        // A topic's history may have been told by rule, too.
        draft.fold(staged, &origin);
        if let Some(captured) = captured {
            let (started, ended) = captured.times();
            let row = Row {
                session: session.clone(),
                started,
                ended,
                summary: captured.row_summary(),
                on_behalf: true,
                captured: Some(captured),
                earlier: Vec::new(),
                rewrites: true,
                added: Counts::default(),
            };
            put_row(&mut draft, row, &origin);
        }
        let mut changes = draft.finish().changes;
        changes.push(Change::Unstage { session: session.clone() });
        return Some(Plan { changes, outcome: () });
    }
    draft.fold(staged, &origin);
    let own = before.as_ref().filter(|row| !row.on_behalf);
    let mut made_by_rule = None;
    let summary = match (&staged.summary, own, &before, captured) {
        (Some(last), Some(own), ..) => format!("{}\nAfter that, not saved: {last}", own.summary),
        (Some(last), None, ..) => last.clone(),
        (None, _, _, Some(captured)) => made_by_rule.insert(captured).row_summary(),
        (None, _, Some(before), None) => before.summary.clone(),
        (None, _, None, None) => format!("Staged {}.", staged.counts()),
    };
    let row = Row {
        session: session.clone(),
        started: staged.first,
        ended: origin.time,
        summary: keep_end(summary, TEXT_BYTES_MAX),
        on_behalf: own.is_none(),
        captured: made_by_rule,
        earlier: Vec::new(),
        rewrites: own.is_some(),
        added: draft.added(),
    };
    let row = put_row(&mut draft, row, &origin);
    let mut changes = draft.finish().changes;
    changes.push(Change::Unstage { session: session.clone() });
    // What a session kept for itself is for nobody who reads the notice.
    let shared = staged.notes.iter().filter(|note| !note.private).count();
    let kept = Counts { notes: count(shared), ..staged.counts() };
    let nothing_shared = kept == Counts::default() && staged.summary.is_none();
    if staged.has_history_alone() || nothing_shared && cause == NoticeCause::Ended {
        return Some(Plan { changes, outcome: () });
    }
    changes.push(Change::Notify(Box::new(Notice {
        id: memory.next_notice(),
        time: origin.time,
        session: session.clone(),
        row,
        cause,
        kept,
        files_unseen,
    })));
    Some(Plan { changes, outcome: () })
}

/// What was noted of a session over all its runs, where its row is to be made from that: nobody wrote one yet, and
/// there is something to say.
fn captured(staged: &Staged, before: Option<&SessionRow>) -> Option<Box<Captured>> {
    let earlier = match before {
        Some(row) => Some(row.captured.as_ref()?),
        None => None,
    };
    let mut all = earlier.cloned().unwrap_or_default();
    all.absorb(staged.captured.as_ref()?);
    all.leaves_row().then_some(all)
}

/// Hands what a dead session staged, and what it kept for itself, to the one that goes on in its place. Nothing
/// when there is neither.
pub fn plan_adopt(
    memory: &Memory,
    from: &SessionId,
    to: &SessionId,
    origin: &Provenance,
) -> Option<Plan<()>> {
    if from == to {
        return None;
    }
    let mut draft = Draft::new(memory);
    for record in memory.private_of(from) {
        if let Body::Note(note) = &record.body {
            let note = Note { scope: Scope::Session(to.clone()), ..note.clone() };
            draft.take_over(record, note, origin);
        }
    }
    let mut changes = draft.finish().changes;
    if memory.staged_by(from).is_some() {
        changes.insert(0, Change::Adopt { from: from.clone(), to: to.clone() });
    }
    (!changes.is_empty()).then_some(Plan { changes, outcome: () })
}
