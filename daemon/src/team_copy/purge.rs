//! Purges from a team's journal and from this machine's copy of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anchord_memory::{Change, Memory, RecordId, Revision, Seq};
use anchord_team::Role;
use uuid::Uuid;

use super::compare::{Compared, TeamReader};
use super::{Shared, agree_closed, catch_up, failed, no_file};
use crate::clock;
use crate::limits::TEAM_PURGE_TRIES_MAX;
use crate::project::{ClosedStore, ProjectService};
use crate::projects::ProjectId;
use crate::purging::{PurgeError, PurgeScope, RedactionReport, Survey};
use crate::store::{Entry, EntryKey, Opened, StateMachine as _, Store, TeamEntry};
use crate::team::{self, TeamReplacement};

/// Returns whether this machine's member may take away what the team shares.
///
/// # Errors
/// Fails if the database does not say so now.
pub(crate) async fn may_purge(
    projects: &ProjectService,
    id: ProjectId,
) -> Result<bool, PurgeError> {
    let config = team::read(&projects.open.directory(id))?;
    let config = config.ok_or_else(no_file)?;
    let database = projects.open.teams().database(&config.url, &config.secret);
    let known = database.map_err(PurgeError::Team)?.projects().await;
    let known = known.map_err(|error| failed(&format!("failed to {error}")))?;
    match known.iter().find(|known| known.id == config.project) {
        Some(known) => Ok(known.role == Role::Maintainer),
        None => Err(failed(&format!("failed to {}", anchord_team::Error::NotAMember))),
    }
}

/// Purges records from a team's journal, and from this machine's copy. Other machines follow when
/// they hear of it.
///
/// # Errors
/// Fails if the database does not take it. Then nothing was purged there, or the same call finishes
/// what is left.
pub(crate) async fn purge(
    projects: &ProjectService,
    id: ProjectId,
    wanted: PurgeScope,
    directories: Vec<PathBuf>,
) -> Result<(Survey, RedactionReport), PurgeError> {
    let purged = purge_open(projects, id, wanted, directories).await;
    // A memory that is closed does not hear of others' purges.
    projects.open_project(id).await?;
    purged
}

async fn purge_open(
    projects: &ProjectService,
    id: ProjectId,
    wanted: PurgeScope,
    directories: Vec<PathBuf>,
) -> Result<(Survey, RedactionReport), PurgeError> {
    let shared = Shared::of(projects, id)?;
    for _ in 0..TEAM_PURGE_TRIES_MAX {
        catch_up(projects, id).await.map_err(PurgeError::Team)?;
        let (shared, directories, wanted) = (shared.clone(), directories.clone(), wanted.clone());
        let closed =
            move |closed: &ClosedStore| purge_closed(closed, &shared, &directories, wanted);
        if let Some(done) = projects.open.close_and(id, closed).await? {
            // The commit of the purge comes from the database, as on every machine.
            catch_up(projects, id).await.map_err(PurgeError::Team)?;
            return Ok(done);
        }
    }
    Err(failed("others write all the time, and a purge begins at the last commit"))
}

/// Purges in the database and then in a closed store. Returns `None` if another machine has written
/// meanwhile; then nothing was changed.
fn purge_closed(
    closed: &ClosedStore,
    shared: &Shared,
    directories: &[PathBuf],
    wanted: PurgeScope,
) -> Result<Option<(Survey, RedactionReport)>, PurgeError> {
    let Opened { store, state, .. } = closed.open()?;
    let purged = purge_in_database(&*store, &state, shared, &wanted);
    store.close();
    if !purged? {
        return Ok(None);
    }
    // The copy agreed just before, so hardly anything is lost.
    let erased = agree_closed(closed, shared, directories, wanted)?;
    erased.map(Some).ok_or_else(|| failed("the purge left nothing to remove here"))
}

/// Replaces in the team's journal what is purged. Returns false if another machine has written
/// meanwhile.
fn purge_in_database(
    store: &dyn Store<Memory>,
    state: &Memory,
    shared: &Shared,
    wanted: &PurgeScope,
) -> Result<bool, PurgeError> {
    let reading = store.reading();
    let surveyed = Survey::of(&reading, state, wanted.clone())?;
    // What stays on this machine is not in the database, and neither are digests of it.
    let leaves = surveyed.purge.records().filter(|gone| !gone.newest.is_private());
    let ids: BTreeSet<RecordId> = leaves.map(|gone| gone.id).collect();
    if ids.is_empty() {
        return Ok(true);
    }
    let mut surveyed = Survey::of(&reading, state, PurgeScope { ids, query: None })?;
    let mut replacements = Vec::new();
    let mut theirs = TeamReader::new(shared);
    while let Some(arrived) = theirs.next()? {
        let TeamEntry { revision, mut changes, mut reply, .. } = arrived.entry;
        if surveyed.purge.edit(&mut changes, &mut reply) {
            replacements.push(TeamReplacement { revision, changes, reply });
        }
    }
    if theirs.point.revision != state.revision() {
        return Ok(false);
    }
    let last = TeamEntry {
        revision: Revision(state.revision().0 + 1),
        key: EntryKey { instance: Uuid::new_v4().to_string().into(), number: 1 },
        is_own: true,
        time: clock::now(),
        session: None,
        operation: "purge".to_owned(),
        changes: vec![surveyed.purge.tombstones()],
        reply: None,
    };
    let rewritten = shared.journal.rewrite(&theirs.point, replacements, last);
    shared.runtime.block_on(rewritten).map_err(|error| PurgeError::Team(error.to_string()))
}

/// Removes from a copy what is purged in the team's journal, and `wanted`. Returns what that was,
/// if there is anything.
pub(super) fn follow(
    store: Box<dyn Store<Memory>>,
    state: &Memory,
    mut compared: Compared,
    directories: &[PathBuf],
    mut wanted: PurgeScope,
) -> Result<Option<(Survey, RedactionReport)>, PurgeError> {
    let is_followed = state.copy_mark().as_ref() == Some(&compared.mark);
    wanted.ids.append(&mut compared.purged);
    if is_followed && wanted.ids.is_empty() && wanted.query.is_none() {
        store.close();
        return Ok(None);
    }
    let mut surveyed = match Survey::of(&store.reading(), state, wanted) {
        Ok(surveyed) => surveyed,
        Err(error) => {
            store.close();
            return Err(error);
        }
    };
    let last = Entry {
        seq: Seq(state.seq().0 + 1),
        revision: None,
        time: clock::now(),
        session: None,
        call: None,
        operation: "follow purge".into(),
        changes: vec![Change::Copied(compared.mark.clone().into())],
        reply: None,
    };
    let found = surveyed.erase(store, directories, &mut |entry| compared.mend(entry), &last)?;
    Ok(Some((surveyed, found)))
}
