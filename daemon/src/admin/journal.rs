//! A project's journal, for people: reads it, checks it, repairs it and rebuilds the index.

use anchord_memory::{Change, Memory, Seq, SessionId};

use super::{Answer, internal, not_in_a_team, opened, store_error, target, write_error};
use crate::api::{
    ErrorCode, ErrorReply, IndexState, JournalLine, Problem, RebuildReply, RepairParams,
    RepairPlan, RepairReply, VerifyReply,
};
use crate::blocking::run_blocking;
use crate::project::ClosedStore;
use crate::sessions::SessionService;
use crate::store::{CheckedSnapshot, Entry, StateMachine, StoreError, Uncheckable};
use crate::{clock, limits};

/// Returns a page of journal entries as JSON, one on each line. The page ends after `limit`
/// entries, or earlier if the lines are long. The caller continues with the next entry.
pub(crate) async fn journal(
    service: &SessionService,
    project: &str,
    from: u64,
    limit: u32,
) -> Answer<String> {
    let (_, open) = opened(service, project).await?;
    let limit = limit.min(limits::JOURNAL_PAGE_ENTRIES_MAX);
    let reading = open.owner.ask(|store, _| store.reading()).await.map_err(write_error)?;
    // Meanwhile the writer serves sessions.
    let read = run_blocking(move || {
        let (mut text, mut lines) = (String::new(), 0);
        let read = reading(Seq(from.max(1)), &mut |entry| {
            let line = serde_json::to_string(&line_of(entry));
            text.push_str(&line.expect("what was read as JSON is written as JSON"));
            text.push('\n');
            lines += 1;
            lines < limit && text.len() < limits::JOURNAL_PAGE_BYTES
        });
        read.map(|()| text)
    });
    read.await.map_err(store_error)
}

fn line_of(entry: &Entry<Change>) -> JournalLine {
    let value = |change| serde_json::to_value(change).unwrap_or_default();
    JournalLine {
        seq: entry.seq.0,
        revision: entry.revision.map(|revision| revision.0),
        time: entry.time.0,
        session: entry.session.as_ref().map(SessionId::to_string),
        op: entry.operation.to_string(),
        changes: entry.changes.iter().map(value).collect(),
    }
}

/// Reads a whole journal and checks it.
pub(crate) async fn verify(service: &SessionService, project: &str) -> Answer<VerifyReply> {
    let (target, open) = opened(service, project).await?;
    let asked = open.owner.ask(|store, state| {
        (store.reading(), store.sizes(), store.health(), store.snapshots(), state.clone())
    });
    let (reading, sizes, health, read_snapshots, state) = asked.await.map_err(write_error)?;
    // Meanwhile the writer serves sessions.
    let replaying = run_blocking(move || {
        let mut replayed = Memory::default();
        let mut bad: Vec<Problem> = Vec::new();
        let mut snapshots: Vec<(String, Memory)> = Vec::new();
        for CheckedSnapshot { file, state } in read_snapshots() {
            match state {
                Ok(state) => snapshots.push((file, state)),
                Err(Uncheckable::Damaged(what)) => bad.push(damaged_file(file, what)),
                Err(Uncheckable::Unread(what)) => bad.push(unread_file(file, what)),
            }
        }
        let mut compare = |replayed: &Memory| {
            let here = snapshots.iter().filter(|(_, state)| state.seq() == replayed.seq());
            let other = here.filter(|(_, state)| state != replayed);
            let what = "it is not what the entries lead to";
            bad.extend(other.map(|(file, _)| damaged_file(file.clone(), what.to_owned())));
        };
        let read = reading(Seq(1), &mut |entry| {
            replayed.apply(entry.seq, &entry.changes);
            compare(&replayed);
            true
        });
        (read, replayed == state, replayed.seq().0, bad)
    });
    let (read, is_same, entries, mut problems) = replaying.await;
    if let Err(error) = &read {
        problems.push(problem(error));
    } else if !is_same {
        let what = "the entries do not lead to the memory that is served".to_owned();
        problems.push(damaged_file(String::new(), what));
    }
    let is_cut = read.is_err();
    // A bad place makes the journal read-only. That is no further problem where reading has met it.
    let known = read.err().map(|error| error.to_string());
    if let Some(why) = health.read_only.filter(|why| known.as_ref() != Some(why)) {
        let of_disk = if health.passes { unread_file } else { damaged_file };
        problems.push(of_disk(String::new(), why));
    }
    let index = match health.index {
        Some(reason) => IndexState::OutOfUse { reason },
        None => IndexState::InUse,
    };
    Ok(VerifyReply {
        project: target.reference,
        segments: sizes.segments,
        entries,
        is_cut,
        bytes: sizes.journal_bytes,
        index,
        problems,
    })
}

/// Rebuilds the index from snapshot and journal, without damaged snapshots. Fails if the journal is
/// damaged, because the index may be the last copy of the missing entries. Also fails if a file
/// could not be read.
pub(crate) async fn rebuild(service: &SessionService, project: &str) -> Answer<RebuildReply> {
    let verified = verify(service, project).await?;
    if let Some(unread) = verified.problems.iter().find(|problem| problem.is_unread) {
        return Err(ErrorReply {
            code: ErrorCode::Busy,
            error: format!(
                "nothing was changed, since a file could not be read or written: {}",
                unread.what
            ),
            action: Some("try again; if it stays so, look at the disk".to_owned()),
        });
    }
    let (of_snapshots, others): (Vec<Problem>, Vec<Problem>) =
        verified.problems.into_iter().partition(Problem::is_of_snapshot);
    if let Some(Problem { file, line, what, .. }) = others.first() {
        let place = if *line > 0 { format!("{file}:{line}: ") } else { String::new() };
        return Err(ErrorReply {
            code: ErrorCode::Damaged,
            error: format!("the index is kept, since the journal is not whole: {place}{what}"),
            action: Some("`anchord journal repair` shows what can be restored".to_owned()),
        });
    }
    let target = target(service, project).await?;
    let started = clock::start();
    let snapshots: Vec<String> = of_snapshots.into_iter().map(|problem| problem.file).collect();
    let discard = move |closed: &ClosedStore| closed.discard_index(&snapshots);
    let discarded = service.projects.open.close_and(target.id, discard).await;
    discarded.map_err(|error| internal(&error.to_string()))?;
    let open = service.projects.open_project(target.id).await.map_err(store_error)?;
    Ok(RebuildReply {
        project: target.reference,
        entries: open.report.entries,
        rows: run_blocking(move || open.memory().rows().count() as u64).await,
        took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// Plans the repair of a journal, or carries out a plan and checks the result.
pub(crate) async fn repair(service: &SessionService, params: RepairParams) -> Answer<RepairReply> {
    let target = target(service, &params.project).await?;
    let reply = |read_only, plan: RepairPlan, is_done: bool| RepairReply {
        project: target.reference.clone(),
        read_only,
        is_needed: plan.is_needed() && !is_done,
        plan,
        is_done,
    };
    let read_only = match service.projects.open_project(target.id).await {
        Ok(open) => {
            if params.plan.is_some() {
                not_in_a_team(&open, "a repair")?;
            }
            open.owner.health().read_only.clone()
        }
        // Nothing is created in the place of a missing store, not even by a plan.
        Err(error @ StoreError::Missing { .. }) => return Err(store_error(error)),
        Err(error) => Some(error.to_string()),
    };
    let Some(plan) = params.plan else {
        let planned = service.projects.open.close_and(target.id, ClosedStore::plan_repair).await;
        return Ok(reply(read_only, planned.map_err(store_error)?, false));
    };
    let planned = plan.clone();
    let repair = move |closed: &ClosedStore| closed.repair(&planned);
    service.projects.open.close_and(target.id, repair).await.map_err(store_error)?;
    let verified = verify(service, &params.project).await?;
    if let Some(Problem { file, what, .. }) = verified.problems.first() {
        let why = format!("the repaired journal is not sound: {file} {what}");
        return Err(internal(&why));
    }
    // Sessions that waited for it may have written since.
    if verified.entries < plan.entries {
        let (is, planned) = (verified.entries, plan.entries);
        return Err(internal(&format!("the repaired journal has {is} entries, not {planned}")));
    }
    Ok(reply(None, plan, true))
}

/// Splits an error's place into file and line, as in `journal/000001.jsonl:17`.
fn problem(error: &StoreError) -> Problem {
    let (file, line, what) = match error {
        StoreError::Damaged { at, why } => match at.rsplit_once(':') {
            Some((file, line)) => (file, line.parse().unwrap_or_default(), why.clone()),
            None => (at.as_str(), 0, why.clone()),
        },
        _ => ("", 0, error.to_string()),
    };
    let is_unread = matches!(error, StoreError::Io { .. }) && !error.is_missing();
    Problem { file: file.to_owned(), line, what, is_unread }
}

fn damaged_file(file: String, what: String) -> Problem {
    Problem { file, line: 0, what, is_unread: false }
}

fn unread_file(file: String, what: String) -> Problem {
    Problem { file, line: 0, what, is_unread: true }
}

#[cfg(test)]
mod tests;
