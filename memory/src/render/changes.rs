//! What changed since a revision, one line each.

use super::{append, title};
use crate::fold::clip;
use crate::ids::{Revision, SessionId, Timestamp, Version};
use crate::limits::{CHANGE_CHARS_MAX, CHANGES_SHOWN_MAX};
use crate::memory::Memory;
use crate::record::{Record, Standing};

/// Records written since a revision, newest first, but those written by `except`; one line each, the last one
/// counts those there was no room for.
pub fn changes_since(
    memory: &Memory,
    since: Revision,
    except: Option<&SessionId>,
    now: Timestamp,
) -> Vec<String> {
    let others: Vec<&Record> = memory
        .written_since(since)
        .map(|record| &**record)
        .filter(|record| except != Some(&record.updated.session))
        .collect();
    let mut lines: Vec<String> =
        others.iter().rev().take(CHANGES_SHOWN_MAX).map(|record| change(record, now)).collect();
    if others.len() > CHANGES_SHOWN_MAX {
        lines.push(format!("and {} more", others.len() - CHANGES_SHOWN_MAX));
    }
    lines
}

pub(super) fn change(record: &Record, now: Timestamp) -> String {
    let verb = match record.standing {
        Standing::Forgotten => "forgotten",
        Standing::Archived => "archived",
        Standing::Active if record.first_said().version == Version::FIRST => "new",
        Standing::Active => "changed",
    };
    format!("{verb} {}", title(record, now))
}

/// What a load says when a hook has put the memory at revision `injected` into the model's context: what changed
/// after `since`, and how to have all of it again.
pub fn already_loaded(
    memory: &Memory,
    injected: Revision,
    since: Revision,
    session: &SessionId,
    now: Timestamp,
) -> String {
    let mut text = format!(
        "Memory is already loaded in your context, at revision {}: the block that begins with \
         `<anchord-memory`. For a part again in full: memory_load {{\"sections\":[\"blueprints\"]}}.\n",
        injected.0
    );
    let lines = changes_since(memory, since, Some(session), now);
    if lines.is_empty() {
        append(&mut text, format_args!("Nothing changed since revision {}.\n", since.0));
        return text;
    }
    append(&mut text, format_args!("Changed by others since revision {}:\n", since.0));
    for line in lines {
        append(&mut text, format_args!("- {}\n", clip(&line, CHANGE_CHARS_MAX)));
    }
    text
}

#[cfg(test)]
mod tests;
