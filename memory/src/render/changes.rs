//! Changes since a revision, one line each.

use super::{append, title};
use crate::fold::clip_words;
use crate::ids::{Kind, Revision, SessionId, Timestamp, Version};
use crate::limits::{CHANGE_CHARS_MAX, CHANGES_SHOWN_MAX};
use crate::memory::Memory;
use crate::record::{Record, RecordState};

/// Renders the records that others wrote since a revision, one line each, newest first. The last
/// line counts those beyond [`CHANGES_SHOWN_MAX`], and names the call that lists them.
pub fn changes_since(
    memory: &Memory,
    since: Revision,
    except: Option<&SessionId>,
    now: Timestamp,
) -> Vec<String> {
    change_lines(written_by_others(memory, since, except).into_iter(), now)
}

/// Renders written records, one line each. The last line counts those beyond
/// [`CHANGES_SHOWN_MAX`], and names the call that lists them.
pub(super) fn change_lines<'a>(
    mut records: impl Iterator<Item = &'a Record>,
    now: Timestamp,
) -> Vec<String> {
    let mut lines: Vec<String> =
        records.by_ref().take(CHANGES_SHOWN_MAX).map(|record| change(record, now)).collect();
    let rest: Vec<&Record> = records.collect();
    if !rest.is_empty() {
        lines.push(more(&rest));
    }
    lines
}

/// Counts records that are not named, and names the call that lists them.
pub(super) fn more(rest: &[&Record]) -> String {
    let count = rest.len();
    match listing(rest) {
        Some(listing) => format!("and {count} more; {listing}"),
        None => format!("and {count} more"),
    }
}

/// Says by which call written records are found again. `None` if all are forgotten, since no search
/// finds them.
pub(super) fn listing(records: &[&Record]) -> Option<String> {
    let found = records.iter().filter(|record| record.state != RecordState::Forgotten);
    let since = found.map(|record| record.updated.time).min()?.minute();
    Some(format!(r#"memory_search {{"since":"{since}"}} lists what was written since"#))
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
        append(&mut text, format_args!("Nothing changed by others since revision {}.\n", since.0));
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
