//! Records for views.

use std::sync::Arc;

use anchord_memory::{
    Accesses, Kind, Memory, Record, RecordId, RecordState, Revision, Standing, contradicting,
    render,
};

use super::{Answer, ask, store_error};
use crate::api::{ErrorCode, ErrorReply, RecordPick, RecordsParams, RecordsReply, ShownRecord};
use crate::blocking::run_blocking;
use crate::limits::{VIEW_RECORDS_MAX, VIEW_TEXT_BYTES_MAX};
use crate::sessions::SessionService;

/// Returns a page of records.
pub(crate) async fn records(
    service: &SessionService,
    params: RecordsParams,
) -> Answer<RecordsReply> {
    let asked = ask(service, &params.project).await?;
    let known = match asked.id {
        Some(id) => service.projects.open_known(id).await.map_err(store_error)?,
        None => None,
    };
    let Some(open) = known else { return Ok(RecordsReply::default()) };
    let limit = usize::try_from(params.limit).unwrap_or(usize::MAX).clamp(1, VIEW_RECORDS_MAX);
    let cursor = params.cursor.as_deref().map(cursor).transpose()?;
    let (memory, accesses) = (open.memory(), open.accesses());
    let pick = params.pick;
    // A view over all records would hold a runtime's thread up.
    let page = run_blocking(move || {
        let page = picked(&memory, &accesses, &pick, cursor, limit);
        let shown = page.records.iter().map(|record| shown(record, &accesses)).collect();
        RecordsReply {
            revision: memory.revision().0,
            records: shown,
            total: page.total,
            cursor: page.next,
        }
    });
    Ok(page.await)
}

/// Records that were picked.
#[derive(Debug, Default)]
struct Page<'m> {
    records: Vec<&'m Arc<Record>>,
    total: Option<u64>,
    next: Option<String>,
}

fn picked<'m>(
    memory: &'m Memory,
    accesses: &Accesses,
    pick: &RecordPick,
    cursor: Option<(Revision, RecordId)>,
    limit: usize,
) -> Page<'m> {
    let counted = |all: Vec<&'m Arc<Record>>| {
        let total = Some(all.len() as u64);
        Page { records: all.into_iter().take(limit).collect(), total, next: None }
    };
    match pick {
        RecordPick::Newest { kinds, since } => newest(memory, kinds, *since, cursor, limit),
        RecordPick::Ids { ids } => {
            let found = ids.iter().filter_map(|id| memory.record(*id)).take(limit);
            Page { records: found.collect(), ..Page::default() }
        }
        RecordPick::NeverRead { written_before } => {
            let is_unread = |record: &&Arc<Record>| {
                record.updated.time.0 < *written_before && accesses.of(record.id).count == 0
            };
            let notes = memory.active_of(Kind::Note).filter(|note| note.owner().is_none());
            counted(notes.filter(is_unread).collect())
        }
        RecordPick::Contradicting => {
            let pairs = contradicting(memory).into_iter().flat_map(|(one, other)| [one, other]);
            counted(pairs.filter_map(|id| memory.record(id)).collect())
        }
        RecordPick::ProposedRules => {
            let is_proposed = |record: &&Arc<Record>| {
                record.rule().is_some_and(|it| it.standing == Standing::Proposed)
            };
            counted(memory.active_of(Kind::Rule).filter(is_proposed).collect())
        }
    }
}

fn newest<'m>(
    memory: &'m Memory,
    kinds: &[Kind],
    since: Option<i64>,
    cursor: Option<(Revision, RecordId)>,
    limit: usize,
) -> Page<'m> {
    let is_wanted = |record: &&Arc<Record>| {
        record.state != RecordState::Forgotten
            && (kinds.is_empty() || kinds.contains(&record.kind()))
    };
    let is_in_time =
        |record: &&Arc<Record>| since.is_none_or(|since| record.updated.time.0 >= since);
    let mut found: Vec<&Arc<Record>> = memory
        .newest(cursor)
        // The commits of a day are in order, but a record's last change may only be of its state.
        .take_while(|record| is_in_time(record))
        .filter(is_wanted)
        .take(limit + 1)
        .collect();
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| {
        let of = last.content_version().revision;
        format!("{}.{}", of.0, last.id)
    });
    Page { records: found, total: None, next }
}

fn cursor(text: &str) -> Answer<(Revision, RecordId)> {
    let parts = text
        .split_once('.')
        .and_then(|(revision, id)| Some((Revision(revision.parse().ok()?), id.parse().ok()?)));
    parts.ok_or_else(|| ErrorReply {
        code: ErrorCode::BadRequest,
        error: format!("`{text}` is not a cursor of records"),
        action: None,
    })
}

fn shown(record: &Record, accesses: &Accesses) -> ShownRecord {
    let access = accesses.of(record.id);
    let (title, mut text) = render::headed(record);
    if text.len() > VIEW_TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(VIEW_TEXT_BYTES_MAX));
        text.push_str("…\n(cut: `anchord get` shows the whole text)\n");
    }
    ShownRecord {
        title,
        text,
        reads: access.count.into(),
        last_read: (access.count > 0).then_some(access.last.0),
        record: record.clone(),
    }
}

#[cfg(test)]
mod tests;
