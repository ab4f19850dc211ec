//! Changes since a revision, one line each.

use super::{append, title};
use crate::fold::clip_words;
use crate::ids::{Kind, Revision, SessionId, Timestamp, Version};
use crate::limits::{CHANGE_CHARS_MAX, CHANGES_SHOWN_MAX};
use crate::memory::Memory;
use crate::record::{Record, RecordState};

/// Renders the records that others wrote since a revision, one line each, newest first. The last
/// line counts those beyond [`CHANGES_SHOWN_MAX`].
pub fn changes_since(
    memory: &Memory,
    since: Revision,
    except: Option<&SessionId>,
    now: Timestamp,
) -> Vec<String> {
    change_lines(written_by_others(memory, since, except).into_iter(), now)
}

/// Renders written records, one line each. The last line counts those beyond
/// [`CHANGES_SHOWN_MAX`].
pub(super) fn change_lines<'a>(
    records: impl ExactSizeIterator<Item = &'a Record>,
    now: Timestamp,
) -> Vec<String> {
    let more = records.len().saturating_sub(CHANGES_SHOWN_MAX);
    let mut lines: Vec<String> =
        records.take(CHANGES_SHOWN_MAX).map(|record| change(record, now)).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Lists the records written since a revision by sessions other than `except`, newest first.
pub(super) fn written_by_others<'a>(
    memory: &'a Memory,
    since: Revision,
    except: Option<&SessionId>,
) -> Vec<&'a Record> {
    let written = memory.written_since(since).map(|record| &**record);
    let mut others: Vec<&Record> =
        written.filter(|record| except != Some(&record.updated.session)).collect();
    others.reverse();
    others
}

pub(super) fn change(record: &Record, now: Timestamp) -> String {
    let verb = match record.state {
        RecordState::Forgotten => "forgotten",
        RecordState::Archived => "archived",
        RecordState::Active if record.content_version().version == Version::FIRST => "new",
        RecordState::Active => "changed",
    };
    format!("{verb} {}", title(record, now))
}

/// Renders the reply to a load if a hook has already put the memory at revision `injected` into the
/// model's context. It lists the changes after `since` and says how to load a part again.
pub fn already_loaded(
    memory: &Memory,
    injected: Revision,
    since: Revision,
    session: &SessionId,
    now: Timestamp,
) -> String {
    let mut text = format!(
        "Memory is already loaded in your context, at revision {}: the anchord-memory block.",
        injected.0
    );
    let totals = memory.totals().active;
    if let Some(kind) = Kind::ALL.into_iter().find(|kind| totals.of(*kind) > 0) {
        let section = kind.plural();
        let again = format!("memory_load {{\"sections\":[\"{section}\"]}}");
        append(&mut text, format_args!(" For a part again in full: {again}."));
    }
    text.push('\n');
    let lines = changes_since(memory, since, Some(session), now);
    if lines.is_empty() {
        append(&mut text, format_args!("Nothing changed since revision {}.\n", since.0));
        return text;
    }
    append(&mut text, format_args!("Changed by others since revision {}:\n", since.0));
    for line in lines {
        append(&mut text, format_args!("- {}\n", clip_words(&line, CHANGE_CHARS_MAX)));
    }
    text
}

#[cfg(test)]
mod tests;
