//! Changes since a revision, one line each.

use super::title;
use crate::ids::{Revision, SessionId, Timestamp, Version};
use crate::limits::CHANGES_SHOWN_MAX;
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

#[cfg(test)]
mod tests;
