//! Backups: entries for the command that writes one, and restoring one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::{Change, Memory, RecordId, Seq};

use super::{
    AdminService, Answer, ask, bind_error, internal, not_found, of_a_team, opened, purge,
    store_error, write_error,
};
use crate::api::{
    self, BackupContent, BackupQuery, BackupSummary, ErrorCode, ErrorReply, MemoryHere,
    PurgeParams, RestoreParams, RestorePlan, RestoreReply,
};
use crate::blocking::run_blocking;
use crate::project::{ClosedStore, OpenProject};
use crate::projects::ProjectId;
use crate::sessions::SessionService;
use crate::store::{BackupError, Entry, Opened, StoreError, backup_line, read_backup};
use crate::{hooks, limits};

/// Returns entries as the lines of a backup, as many as a page has. The caller continues with the
/// next one. A purge in between is in the later lines only.
pub(crate) async fn backup_lines(service: &SessionService, query: &BackupQuery) -> Answer<String> {
    let (_, open) = opened(service, &query.project).await?;
    let health = open.owner.health();
    if let Some(why) = health.read_only.clone().filter(|_| !health.passes) {
        // What is missing cannot be seen in what is there.
        return Err(store_error(StoreError::ReadOnly { why }));
    }
    let (from, until) = (query.from.max(1), query.until);
    let reading = open.owner.ask(|store, _| store.reading()).await.map_err(write_error)?;
    let read = run_blocking(move || {
        let mut lines = Vec::new();
        let read = reading(Seq(from), &mut |entry| {
            if entry.seq.0 > until {
                return false;
            }
            backup_line(entry, &mut lines);
            lines.len() < limits::JOURNAL_PAGE_BYTES
        });
        read.map(|()| lines)
    });
    let lines = read.await.map_err(store_error)?;
    String::from_utf8(lines).map_err(|error| internal(&error.to_string()))
}

/// A backup that was read and is whole.
struct Backup {
    summary: BackupSummary,
    content: BackupContent,
    first: Option<Entry<Change>>,
    last: Option<Entry<Change>>,
    /// The entry that has the number of the last entry of the memory here.
    same: Option<Entry<Change>>,
}

impl Backup {
    fn read(path: &Path, same: Seq) -> Result<Self, BackupError> {
        let file = std::fs::File::open(path)?;
        let (mut content, mut first, mut found) = (BackupContent::default(), None, None);
        let mut last: Option<Entry<Change>> = None;
        let header = read_backup::<Memory>(file, &mut |entry, _| {
            content.take(&entry);
            first.get_or_insert_with(|| entry.clone());
            if entry.seq == same {
                found = Some(entry.clone());
            }
            last = Some(entry);
            Ok(())
        });
        let summary = content.summary(header?);
        Ok(Self { summary, content, first, last, same: found })
    }
}

/// Whether two entries are the same write. A purge may have changed what one of them holds.
fn is_same(one: &Entry<Change>, other: &Entry<Change>) -> bool {
    let of = |entry: &Entry<Change>| {
        (entry.seq, entry.revision, entry.time, entry.session.clone(), entry.call.clone())
    };
    of(one) == of(other)
}

/// The memory here, and how it relates to a backup.
struct Compared {
    here: MemoryHere,
    /// Whether both began as one memory, so that an id is the same record in both.
    is_related: bool,
}

/// Opens the memory that is here, with all that agents did.
async fn existing(admin: &AdminService, id: Option<ProjectId>) -> Answer<Option<Arc<OpenProject>>> {
    let Some(id) = id else { return Ok(None) };
    let open = match admin.sessions.projects.open_known(id).await {
        // This is what a backup is for.
        Err(StoreError::Missing { .. }) => None,
        opened => opened.map_err(store_error)?,
    };
    if let Some(open) = &open {
        // What agents did and nobody wrote yet belongs to the memory that is here.
        hooks::stage_of(&admin.hooks, open.id).await.map_err(bind_error)?;
    }
    Ok(open)
}

/// Restores a backup, or plans that.
pub(crate) async fn restore_backup(
    admin: &AdminService,
    params: RestoreParams,
) -> Answer<RestoreReply> {
    let service = &admin.sessions;
    let asked = ask(service, &params.project).await?;
    let existing = existing(admin, asked.id).await?;
    let last = existing.as_ref().map_or(Seq(0), |open| open.memory().seq());
    let path = PathBuf::from(&params.file);
    let reading = path.clone();
    let read = run_blocking(move || Backup::read(&reading, last)).await;
    let backup = read.map_err(|error| unusable(&path, &error))?;
    refuse_other_owner(&backup.summary, asked.id)?;
    let compared = match &existing {
        Some(open) if last > Seq(0) || open.owner.health().read_only.is_some() => {
            compare(open, &backup).await?
        }
        _ => Compared { here: MemoryHere::Missing, is_related: false },
    };
    let of_team = existing.as_ref().is_some_and(|open| open.memory().team().is_some());
    if of_team && !matches!(compared.here, MemoryHere::Later { .. }) {
        // A plan that will be refused is not shown, and nobody is asked about it.
        return Err(of_a_team("a restore"));
    }
    let plan = RestorePlan { backup: backup.summary, here: compared.here };
    let project = asked.id.map(|id| asked.reference(service, id));
    let Some(planned) = params.plan else {
        return Ok(RestoreReply { project, plan, applied: false, purged_again: 0 });
    };
    if planned != plan {
        return Err(refused(CHANGED));
    }
    if let MemoryHere::Later { .. } = plan.here {
        return Err(refused("this memory continues the backup; set it back to that revision"));
    }
    let established = asked.establish(service).await?;
    let (id, _) = established.ok_or_else(|| not_found(&params.project))?;
    let before = existing.map(|open| open.memory()).unwrap_or_default();
    replace(service, id, path, last).await?;
    admin.hooks.state.forget_given_of(id);
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    if open.memory().seq() < Seq(plan.backup.entries) {
        return Err(internal("the restored memory has fewer entries than the backup"));
    }
    let project = asked.reference(service, id);
    let mut reply = RestoreReply { project: Some(project), plan, applied: true, purged_again: 0 };
    if compared.is_related {
        let purged = purge_again(admin, &params.project, &before, &backup.content).await;
        reply.purged_again = purged.map_err(|error| ErrorReply {
            error: format!(
                "the backup is restored, but what was purged here is in it again: {}",
                error.error
            ),
            ..error
        })?;
    }
    Ok(reply)
}

/// Puts a backup in the place of a memory whose last entry is still `last`. Otherwise a session has
/// written after the plan was made, and would lose that.
async fn replace(
    service: &SessionService,
    id: ProjectId,
    backup: PathBuf,
    last: Seq,
) -> Answer<()> {
    let restore = move |closed: &ClosedStore| {
        let Opened { store, state, .. } = closed.open()?;
        store.close();
        let is_changed = state.seq() != last;
        if state.team().is_none() && !is_changed {
            closed.restore(&backup)?;
        }
        Ok((is_changed, state.team().is_some()))
    };
    match service.projects.open.close_and(id, restore).await.map_err(store_error)? {
        (_, true) => Err(of_a_team("a restore")),
        (true, false) => Err(refused(CHANGED)),
        (false, false) => Ok(()),
    }
}

const CHANGED: &str = "the memory or the backup has changed since the plan was made";

/// Purges what was purged in a memory, but not in the related backup that has taken its place.
async fn purge_again(
    admin: &AdminService,
    project: &str,
    before: &Memory,
    backup: &BackupContent,
) -> Answer<u64> {
    let is_back = |id: &RecordId| backup.has(*id);
    let ids = before.all_purged().map(|purged| purged.id).filter(is_back);
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    if ids.is_empty() {
        return Ok(0);
    }
    let number = ids.len() as u64;
    let (project, typed) = (project.to_owned(), Vec::new());
    let params = PurgeParams { project, ids, query: None, dry_run: false, typed };
    purge(admin, params).await?;
    Ok(number)
}

async fn compare(open: &Arc<OpenProject>, backup: &Backup) -> Answer<Compared> {
    let memory = open.memory();
    let entries = memory.seq().0;
    let health = open.owner.health();
    let damage = health.read_only.clone().filter(|_| !health.passes);
    let reading = open.owner.ask(|store, _| store.reading()).await.map_err(write_error)?;
    let entry_at = |seq: Option<Seq>| {
        let mut found = None;
        let read = match seq {
            None => Ok(()),
            Some(seq) => reading(seq, &mut |entry| {
                found = Some(entry.clone());
                false
            }),
        };
        read.map(|()| found)
    };
    let both = |ours: Option<Entry<Change>>, theirs: Option<&Entry<Change>>| {
        ours.zip(theirs).is_some_and(|(ours, theirs)| is_same(&ours, theirs))
    };
    let is_related = match entry_at(backup.first.as_ref().map(|first| first.seq)) {
        Ok(first) => both(first, backup.first.as_ref()),
        // What the entry cannot say, the project's id does.
        Err(_) => backup.summary.project == open.id.to_string(),
    };
    if let Some(why) = damage {
        return Ok(Compared { here: MemoryHere::Damaged { why, entries }, is_related });
    }
    let end = |seq: Seq| entry_at(Some(seq)).map_err(store_error);
    let theirs = backup.summary.entries;
    let here = if is_related && entries >= theirs && both(end(Seq(theirs))?, backup.last.as_ref()) {
        MemoryHere::Later { revision: memory.revision() }
    } else if is_related && entries < theirs && both(end(Seq(entries))?, backup.same.as_ref()) {
        MemoryHere::Earlier { entries }
    } else {
        let records = memory.records().filter(|record| record.state.is_active()).count() as u64;
        let staged = memory.staged().count() as u64;
        MemoryHere::Other { entries, records, staged }
    };
    Ok(Compared { here, is_related })
}

/// Keeps the user's own notes and a project's memory apart: their ids differ.
fn refuse_other_owner(backup: &BackupSummary, id: Option<ProjectId>) -> Answer<()> {
    let into_user = id.is_some_and(ProjectId::is_personal);
    match (backup.project == api::USER, into_user) {
        (true, false) => Err(bad("it is a backup of the user's own notes: add --user".to_owned())),
        (false, true) if !backup.project.is_empty() => {
            Err(bad("it is a backup of a project, not of the user's own notes".to_owned()))
        }
        _ => Ok(()),
    }
}

fn bad(error: String) -> ErrorReply {
    ErrorReply { code: ErrorCode::BadRequest, error, action: None }
}

fn refused(why: &str) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::Refused,
        error: format!("nothing was changed: {why}"),
        action: Some("run the command again, which makes a new plan".to_owned()),
    }
}

/// Says why a backup cannot be used. It is not the project that is damaged.
fn unusable(path: &Path, error: &BackupError) -> ErrorReply {
    let code = if error.is_damage() { ErrorCode::Damaged } else { ErrorCode::Failed };
    let error = format!("{} cannot be restored: {error}", path.display());
    ErrorReply { code, error, action: None }
}

#[cfg(test)]
mod tests;
