//! Purges from a team's journal and from this machine's copy of it.

use std::collections::BTreeSet;

use anchord_memory::{Change, Memory, RecordId, Revision, Seq};
use anchord_team::Role;
use uuid::Uuid;

use super::compare::{Compared, TeamReader};
use super::{Shared, agree_with, catch_up, failed, no_file};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::{TEAM_ANSWER_MAX, TEAM_PURGE_TRIES_MAX};
use crate::project::ProjectService;
use crate::projects::ProjectId;
use crate::purging::{PurgeError, PurgeScope, RedactionReport, Survey, TextPlaces};
use crate::store::{Entry, EntryKey, ReadEntries, StateMachine as _, Store, TeamEntry, TeamError};
use crate::team::{self, TeamReplacement};

/// The reason of a purge that was overtaken by others' writes.
pub(crate) const OVERTAKEN: &str = "others kept writing meanwhile";

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
    places: TextPlaces,
) -> Result<(Survey, RedactionReport), PurgeError> {
    let purged = purge_open(projects, id, wanted, places).await;
    // A memory that is closed does not hear of others' purges.
    projects.open_project(id).await?;
    purged
}

async fn purge_open(
    projects: &ProjectService,
    id: ProjectId,
    wanted: PurgeScope,
    places: TextPlaces,
) -> Result<(Survey, RedactionReport), PurgeError> {
    let shared = Shared::of(projects, id)?;
    for _ in 0..TEAM_PURGE_TRIES_MAX {
        catch_up(projects, id).await.map_err(PurgeError::Team)?;
        let agreeing = projects.open.agreeing(id).await;
        match purge_in_database(projects, id, &shared, &wanted).await {
            Ok(true) => {}
            Ok(false) | Err(PurgeError::Rewritten) => continue,
            Err(error) => return Err(error),
        }
        for _ in 0..TEAM_PURGE_TRIES_MAX {
            let theirs = TeamReader::new(&shared);
            let done = match agree_with(projects, id, theirs, wanted.clone(), &places).await {
                Ok(Some(done)) => done,
                Ok(None) | Err(PurgeError::Rewritten) => continue,
                Err(error) => return Err(error),
            };
            drop(agreeing);
            // The commit of the purge comes from the database, as on every machine.
            catch_up(projects, id).await.map_err(PurgeError::Team)?;
            return Ok(done);
        }
        return Err(failed("it is purged in the database, but this machine's copy kept changing"));
    }
    Err(PurgeError::Overtaken)
}

/// Purges in the database, while the memory is open. Returns false if another machine has written
/// meanwhile what is to be purged; then nothing was changed.
async fn purge_in_database(
    projects: &ProjectService,
    id: ProjectId,
    shared: &Shared,
    wanted: &PurgeScope,
) -> Result<bool, PurgeError> {
    let open = projects.open_project(id).await?;
    if open.owner.team().is_none() {
        return Err(failed("the memory left its team meanwhile"));
    }
    let asked = open.owner.ask(|store, state| (store.reading(), state.clone())).await;
    let (reading, state) = asked.map_err(|error| failed(&error.to_string()))?;
    let (shared, wanted) = (shared.clone(), wanted.clone());
    run_blocking(move || replace_in_database(&reading, &state, &shared, wanted)).await
}

/// Replaces in the team's journal what is purged. Others may write all the time: what they wrote
/// since is read, until nothing has come in between.
fn replace_in_database(
    reading: &ReadEntries<Memory>,
    state: &Memory,
    shared: &Shared,
    wanted: PurgeScope,
) -> Result<bool, PurgeError> {
    let sought = Survey::of(reading, state, wanted)?;
    // What stays on this machine is not in the database, and neither are digests of it.
    let leaves = sought.purge.records().filter(|gone| !gone.newest.is_private());
    let ids: BTreeSet<RecordId> = leaves.map(|gone| gone.id).collect();
    if ids.is_empty() {
        return Ok(true);
    }
    let mut surveyed = Survey::of(reading, state, PurgeScope { ids, query: None })?;
    let (begin, mut replacements) = (clock::start(), Vec::new());
    let mut theirs = TeamReader::new(shared);
    for _ in 0..TEAM_PURGE_TRIES_MAX {
        while let Some(arrived) = theirs.next()? {
            let TeamEntry { revision, mut changes, mut reply, .. } = arrived.entry;
            if revision > state.revision() && sought.purge.is_touched_by(&changes) {
                return Ok(false);
            }
            if surveyed.purge.edit(&mut changes, &mut reply) {
                replacements.push(TeamReplacement { revision, changes, reply });
            }
        }
        if theirs.point.revision < state.revision() {
            return Ok(false);
        }
        let last = TeamEntry {
            revision: Revision(theirs.point.revision.0 + 1),
            key: EntryKey { instance: Uuid::new_v4().to_string().into(), number: 1 },
            is_own: true,
            time: clock::now(),
            session: None,
            operation: "purge".to_owned(),
            changes: vec![surveyed.purge.tombstones()],
            reply: None,
        };
        let rewritten = shared.journal.rewrite(&theirs.point, replacements.clone(), last);
        match shared.runtime.block_on(rewritten) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            // It waited for others' locks in vain. Nothing was written.
            Err(TeamError::Slow) if begin.elapsed() < TEAM_ANSWER_MAX => {}
            Err(error) => return Err(PurgeError::Team(error.to_string())),
        }
    }
    Err(PurgeError::Overtaken)
}

/// Removes from a copy what is purged in the team's journal, and `wanted`. Returns what that was,
/// if there is anything.
pub(super) fn follow(
    store: Box<dyn Store<Memory>>,
    state: &Memory,
    mut compared: Compared,
    places: &TextPlaces,
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
    let found = surveyed.erase(store, places, &mut |entry| compared.mend(entry), &last)?;
    Ok(Some((surveyed, found)))
}
