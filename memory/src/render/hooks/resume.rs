//! Context when a conversation is resumed. The load is in its context already, so only later
//! changes are reported.

use super::{RenderedContext, framed};
use crate::fold::clip;
use crate::ids::{Kind, Revision, SessionId, Timestamp};
use crate::limits::{CHANGE_CHARS_MAX, PROMPT_CHARS_MAX};
use crate::memory::Memory;
use crate::record::{Body, SessionRow};
use crate::render::{append, changes_since};

/// Finds the revision at which a conversation was last seen: that of its newest session row. `key`
/// is the client's name for the conversation.
pub fn last_seen(memory: &Memory, session: &SessionId, key: &str) -> Option<Revision> {
    let is_its_own = |row: &SessionRow| {
        let named = row.captured.as_ref().is_some_and(|captured| captured.key() == key);
        row.session == *session || named
    };
    let rows = memory.active_of(Kind::SessionRow).filter(|record| match &record.body {
        Body::SessionRow(row) => is_its_own(row),
        _ => false,
    });
    rows.map(|record| record.first_said().revision).max()
}

/// Renders what others changed since a revision. Empty if they changed nothing.
pub fn resumed(
    memory: &Memory,
    since: Revision,
    session: &SessionId,
    now: Timestamp,
) -> RenderedContext {
    let mut text = String::new();
    let room = PROMPT_CHARS_MAX - crate::injected::FRAME_CHARS - CHANGE_CHARS_MAX;
    for line in changes_since(memory, since, Some(session), now) {
        if text.is_empty() {
            text.push_str("Changed by other sessions while this conversation was away:\n");
        }
        if text.chars().count() > room {
            text.push_str("- and more: memory_load shows it\n");
            break;
        }
        append(&mut text, format_args!("- {}\n", clip(&line, CHANGE_CHARS_MAX)));
    }
    RenderedContext { text: framed(&text), ..RenderedContext::default() }
}
