//! The session row: one for each session, written by the daemon alone.

use crate::captured::Captured;
use crate::change::Counts;
use crate::draft::Draft;
use crate::ids::{RecordId, SessionId, Timestamp};
use crate::index::MergeKey;
use crate::record::{Body, Provenance, SessionRow, Standing};

/// What a session's row is to say, whether or not there is one yet.
pub(crate) struct Row {
    pub(crate) session: SessionId,
    pub(crate) started: Timestamp,
    pub(crate) ended: Timestamp,
    pub(crate) summary: String,
    pub(crate) on_behalf: bool,
    pub(crate) captured: Option<Box<Captured>>,
    pub(crate) added: Counts,
}

/// Writes a session's row in place of the one it has; what the session added adds up.
pub(crate) fn put_row(draft: &mut Draft<'_>, row: Row, origin: &Provenance) -> RecordId {
    let stored = stored_row(draft, &row.session);
    let before = stored.as_ref().map(|(_, before)| before);
    let add = |before: Option<u32>, added: u32| before.unwrap_or(0).saturating_add(added);
    let body = Body::SessionRow(SessionRow {
        number: before.map_or_else(|| draft.head().session_rows() + 1, |before| before.number),
        session: row.session,
        started: before.map_or(row.started, |before| before.started.min(row.started)),
        ended: row.ended,
        summary: row.summary,
        on_behalf: row.on_behalf,
        captured: row.captured,
        blueprints_added: add(before.map(|b| b.blueprints_added), row.added.blueprints),
        anchors_added: add(before.map(|b| b.anchors_added), row.added.anchors),
        lessons_added: add(before.map(|b| b.lessons_added), row.added.lessons),
        folded: 0,
    });
    match stored {
        Some((id, _)) => {
            draft.change(id, body, Standing::Active, origin);
            id
        }
        None => draft.create(body, origin),
    }
}

/// A session's own row as it stands.
pub(crate) fn stored_row(draft: &Draft<'_>, session: &SessionId) -> Option<(RecordId, SessionRow)> {
    let record = draft.head().keyed(&MergeKey::SessionRow(session.clone())).next()?;
    match &record.body {
        Body::SessionRow(row) => Some((record.id, row.clone())),
        _ => None,
    }
}
