//! What becomes of staged work whose session is gone: kept on its behalf, or handed to its successor.

use super::{Plan, Row, put_row, stored_row};
use crate::change::{Change, Notice, NoticeCause};
use crate::draft::Draft;
use crate::ids::SessionId;
use crate::memory::Memory;
use crate::note::{Note, Scope};
use crate::record::{Body, Provenance};

/// Folds a gone session's staged work into memory on its behalf and leaves a notice for the next load.
/// Nothing when it has staged nothing. `origin` gives the time, and the client when the work names none.
pub fn plan_keep(
    memory: &Memory,
    session: &SessionId,
    origin: &Provenance,
    cause: NoticeCause,
) -> Option<Plan<()>> {
    let staged = memory.staged_by(session)?;
    let client = if staged.client.is_empty() { &origin.client } else { &staged.client };
    let origin = Provenance { session: session.clone(), client: client.clone(), time: origin.time };

    let mut draft = Draft::new(memory);
    draft.fold(staged, &origin);
    let kept = staged.counts();
    let before = stored_row(&draft, session).map(|(_, row)| row);
    let own = before.as_ref().filter(|row| !row.on_behalf);
    let summary = match (&staged.summary, own, &before) {
        (Some(last), Some(own), _) => format!("{}\nAfter that, not saved: {last}", own.summary),
        (Some(last), None, _) => last.clone(),
        (None, _, Some(before)) => before.summary.clone(),
        (None, _, None) => format!("Staged {kept}."),
    };
    let row = Row {
        session: session.clone(),
        started: staged.first,
        ended: origin.time,
        summary,
        on_behalf: own.is_none(),
        added: draft.added(),
    };
    let row = put_row(&mut draft, row, &origin);
    let mut changes = draft.finish().changes;
    changes.push(Change::Unstage { session: session.clone() });
    changes.push(Change::Notify(Box::new(Notice {
        id: memory.next_notice(),
        time: origin.time,
        session: session.clone(),
        row,
        cause,
        kept,
    })));
    Some(Plan { changes, outcome: () })
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
