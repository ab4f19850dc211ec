//! The session row: one for each session, written by the daemon alone. Each write adds an entry to
//! its trail, unless it repeats the newest entry word for word or rewrites it.

use crate::activity::SessionActivity;
use crate::change::{Notice, NoticeCause};
use crate::draft::Draft;
use crate::ids::{RecordId, SessionId, Timestamp};
use crate::kinds::MergeKey;
use crate::limits::{ROW_EARLIER_BYTES_MAX, ROW_ENTRIES_MAX};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::record::{Body, Record, RecordState, SessionRow, TrailEntry};
use crate::staged::Counts;
use std::sync::Arc;

/// A new entry of a session's row, whether or not there is a row yet.
pub(crate) struct Row {
    pub(crate) session: SessionId,
    pub(crate) started: Timestamp,
    pub(crate) ended: Timestamp,
    pub(crate) summary: String,
    pub(crate) on_behalf: bool,
    pub(crate) captured: Option<Box<SessionActivity>>,
    /// Entries before this one, for a row that is imported.
    pub(crate) earlier: Vec<TrailEntry>,
    /// Whether it replaces the newest entry, since it covers the same conversation from its start.
    pub(crate) rewrites: bool,
    pub(crate) added: Counts,
}

impl Row {
    /// Makes the entry of a session that ended without a save, at the origin's time.
    pub(crate) fn of_end(
        origin: &Provenance,
        started: Timestamp,
        summary: String,
        added: Counts,
    ) -> Self {
        Self {
            session: origin.session.clone(),
            started,
            ended: origin.time,
            summary,
            on_behalf: true,
            captured: None,
            earlier: Vec::new(),
            rewrites: false,
            added,
        }
    }
}

/// Makes the notice about a session that ended without a save, at the origin's time. In a team it
/// stays on this machine, as its row does.
pub(crate) fn notice_of_end(
    memory: &Memory,
    row: RecordId,
    origin: &Provenance,
    cause: NoticeCause,
    kept: Counts,
) -> Notice {
    Notice {
        id: memory.next_notice(),
        time: origin.time,
        session: origin.session.clone(),
        row,
        cause,
        kept,
        files_unseen: false,
        private: memory.team().is_some(),
    }
}

/// Adds an entry to a session's row, and adds up the counts of new records.
pub(crate) fn put_row(draft: &mut Draft<'_>, row: Row, origin: &Provenance) -> RecordId {
    let is_private = row.on_behalf || row.captured.is_some();
    let stored = stored_row_of(draft, &row.session, is_private);
    let before = stored.as_ref().map(|(_, before)| before);
    let add = |before: Option<u32>, added: u32| before.unwrap_or(0).saturating_add(added);
    let mut earlier = row.earlier;
    if let Some(before) = before {
        earlier.extend(before.earlier.iter().cloned());
        let repeats = (&before.summary, before.on_behalf) == (&row.summary, row.on_behalf);
        earlier.extend((!row.rewrites && !repeats).then(|| before.newest()));
    }
    fold_oldest(&mut earlier);
    let body = Body::SessionRow(SessionRow {
        number: before.map_or_else(|| draft.head().session_rows() + 1, |before| before.number),
        session: row.session,
        started: before.map_or(row.started, |before| before.started.min(row.started)),
        ended: row.ended,
        summary: row.summary,
        on_behalf: row.on_behalf,
        captured: row.captured,
        earlier,
        blueprints_added: add(before.map(|b| b.blueprints_added), row.added.blueprints),
        anchors_added: add(before.map(|b| b.anchors_added), row.added.anchors),
        lessons_added: add(before.map(|b| b.lessons_added), row.added.lessons),
        folded: 0,
    });
    match stored {
        Some((id, _)) => {
            draft.change(id, body, RecordState::Active, origin);
            id
        }
        None => draft.create(body, origin),
    }
}

/// Adds the entries that a session's row lacks, by their times. A row that a team shares gets no
/// entry that was written on the session's behalf.
pub(crate) fn add_entries(
    draft: &mut Draft<'_>,
    (id, before): (RecordId, SessionRow),
    entries: impl Iterator<Item = TrailEntry>,
    origin: &Provenance,
) {
    let mut all = before.earlier.clone();
    all.push(before.newest());
    let has = all.len();
    let is_in_team = draft.head().team().is_some();
    for entry in entries.filter(|it| !is_in_team || it.on_behalf == before.on_behalf) {
        let is_it = |here: &TrailEntry| here.time == entry.time || here.summary == entry.summary;
        if !all.iter().any(is_it) {
            all.push(entry);
        }
    }
    if all.len() == has {
        return;
    }
    all.sort_by_key(|entry| entry.time);
    let Some(newest) = all.pop() else { return };
    fold_oldest(&mut all);
    let row = SessionRow {
        ended: newest.time,
        summary: newest.summary,
        on_behalf: newest.on_behalf,
        earlier: all,
        ..before
    };
    draft.change(id, Body::SessionRow(row), RecordState::Active, origin);
}

/// Folds the oldest entries into one line if the trail, with its newest entry, exceeds its limits.
fn fold_oldest(earlier: &mut Vec<TrailEntry>) {
    let bytes = |entries: &[TrailEntry]| entries.iter().map(|it| it.summary.len()).sum::<usize>();
    if earlier.len() < ROW_ENTRIES_MAX && bytes(earlier) <= ROW_EARLIER_BYTES_MAX {
        return;
    }
    // The newest entry and the line itself take a place each.
    let mut from = (earlier.len() + 2).saturating_sub(ROW_ENTRIES_MAX);
    while from < earlier.len()
        && bytes(earlier.get(from..).unwrap_or_default()) > ROW_EARLIER_BYTES_MAX
    {
        from += 1;
    }
    let oldest: Vec<TrailEntry> = earlier.drain(..from).collect();
    let Some(last) = oldest.last() else { return };
    let folded = oldest.iter().map(|entry| entry.folded.max(1)).fold(0, u32::saturating_add);
    let entries = if folded == 1 { "entry" } else { "entries" };
    let line = TrailEntry {
        time: last.time,
        summary: format!("{folded} {entries} folded: earlier versions of this row have them."),
        on_behalf: false,
        folded,
    };
    earlier.insert(0, line);
}

/// Returns the row of a session's own saves.
pub(crate) fn stored_row(draft: &Draft<'_>, session: &SessionId) -> Option<(RecordId, SessionRow)> {
    stored_row_of(draft, session, false)
}

/// Returns a session's row. In a team it has two. All see that of its saves, and that of what was
/// written on its behalf stays on this machine.
pub(crate) fn stored_row_of(
    draft: &Draft<'_>,
    session: &SessionId,
    on_behalf: bool,
) -> Option<(RecordId, SessionRow)> {
    let (head, key) = (draft.head(), MergeKey::SessionRow(session.clone()));
    let is_it = |record: &&Arc<Record>| head.team().is_none() || record.is_private() == on_behalf;
    let record = head.keyed(&key).find(is_it)?;
    match &record.body {
        Body::SessionRow(row) => Some((record.id, row.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
