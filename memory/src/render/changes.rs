//! What changed since a revision, one line each.

use super::item;
use crate::ids::{Revision, SessionId, Version};
use crate::limits::CHANGES_SHOWN_MAX;
use crate::memory::Memory;
use crate::record::{Record, Standing};

/// Records written since a revision, newest first, but those written by `except`; one line each, the last one
/// counts those there was no room for.
pub fn changes_since(memory: &Memory, since: Revision, except: Option<&SessionId>) -> Vec<String> {
    let others: Vec<&Record> = memory
        .written_since(since)
        .map(|record| &**record)
        .filter(|record| except != Some(&record.updated.session))
        .collect();
    let mut lines: Vec<String> =
        others.iter().rev().take(CHANGES_SHOWN_MAX).map(|record| change(record)).collect();
    if others.len() > CHANGES_SHOWN_MAX {
        lines.push(format!("and {} more", others.len() - CHANGES_SHOWN_MAX));
    }
    lines
}

pub(super) fn change(record: &Record) -> String {
    let verb = match record.standing {
        Standing::Forgotten => "forgotten",
        Standing::Archived => "archived",
        Standing::Active if record.version == Version::FIRST => "new",
        Standing::Active => "changed",
    };
    format!("{verb} {}", item::title(record))
}
