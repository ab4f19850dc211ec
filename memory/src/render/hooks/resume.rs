//! Context when a conversation is resumed. The load is in its context already, so only later
//! changes are reported.

use super::RenderedContext;
use super::prompt::{news, page_for};
use crate::ids::{Kind, Revision, SessionId, Timestamp};
use crate::limits::CHANGES_SHOWN_MAX;
use crate::memory::Memory;
use crate::record::{Body, SessionRow};

/// Returns the revision at which a conversation was last seen: that of its newest session row.
/// `key` is the client's name for the conversation.
pub fn last_seen(memory: &Memory, session: &SessionId, key: &str) -> Option<Revision> {
    let is_its_own = |row: &SessionRow| {
        let named = row.captured.as_ref().is_some_and(|captured| captured.key() == key);
        row.session == *session || named
    };
    let rows = memory.active_of(Kind::SessionRow).filter(|record| match &record.body {
        Body::SessionRow(row) => is_its_own(row),
        _ => false,
    });
    rows.map(|record| record.content_version().revision).max()
}

/// Renders what others changed since a revision, in at most [`CHANGES_SHOWN_MAX`] lines, and counts
/// the rest. Empty if they changed nothing. Records made by rule are not reported.
pub fn resumed(
    memory: &Memory,
    since: Revision,
    session: &SessionId,
    now: Timestamp,
) -> RenderedContext {
    let others = news(memory, since, session);
    let mut page = page_for(&others);
    for record in others.iter().take(CHANGES_SHOWN_MAX) {
        let head = "Changed by other sessions while this conversation was away:";
        page.change(head, record, session, now);
    }
    page.leave_out(others.len().saturating_sub(CHANGES_SHOWN_MAX));
    page.finished()
}
