//! This machine's copy of a team's journal: compares it with the database as a whole, and brings
//! the two into agreement. Also purges from both.
//!
//! They differ after a purge on another machine, and when the database has lost commits. Then it
//! was restored from a backup, or a standby took over that lacked them. After a purge, the copy
//! loses what was purged. After a loss, the copy goes back to the last common commit. Commits that
//! only this machine has are set aside in a file. What stays on this machine remains, and a save
//! whose commit was lost waits again.

mod compare;
mod missing;
mod purge;
mod step_back;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anchord_memory::{Memory, RecordId, Revision};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

pub(crate) use missing::{Missing, count_missing, missing_in, take_missing};
pub(crate) use purge::{OVERTAKEN, may_purge, purge};

use compare::{Compared, TeamReader, compare};

use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::{TEAM_ANSWER_MAX, TEAM_POLL, TEAM_PURGE_TRIES_MAX};
use crate::project::{ClosedStore, ProjectService};
use crate::projects::ProjectId;
use crate::purging::{PurgeError, PurgeScope, RedactionReport, Survey, TextPlaces, asked_in};
use crate::store::{Opened, StateMachine as _, Store};
use crate::team::{self, CommitJournal};

/// The journal that a team shares.
#[derive(Clone)]
struct Shared {
    journal: CommitJournal,
    runtime: Handle,
    /// Is cancelled when the daemon stops.
    stopping: CancellationToken,
}

impl Shared {
    fn of(projects: &ProjectService, id: ProjectId) -> Result<Self, PurgeError> {
        let directory = projects.open.directory(id);
        let config = team::read(&directory)?;
        let config = config.ok_or_else(no_file)?;
        let journal = projects.open.teams().journal(&config).map_err(PurgeError::Team)?;
        let stopping = projects.open.stopping();
        Ok(Self { journal, runtime: Handle::current(), stopping })
    }
}

/// Brings a project's copy into agreement with the team's journal, and opens the project again.
///
/// # Errors
/// Fails if the database cannot be read as a whole now, or the store fails. A later call continues.
pub(crate) async fn agree(projects: &ProjectService, id: ProjectId) -> Result<(), String> {
    let agreed = agree_now(projects, id).await;
    projects.open.note_agreement(id, agreed.is_ok());
    agreed.map_err(worded)
}

async fn agree_now(projects: &ProjectService, id: ProjectId) -> Result<(), PurgeError> {
    let shared = Shared::of(projects, id)?;
    let _agreeing = projects.open.agreeing(id).await;
    for _ in 0..TEAM_PURGE_TRIES_MAX {
        if !is_apart(projects, id).await? {
            // Somebody else has done it meanwhile.
            return Ok(());
        }
        let (wanted, places) = (PurgeScope::default(), TextPlaces::of(projects, id));
        match agree_with(projects, id, TeamReader::new(&shared), wanted, &places).await {
            Err(PurgeError::Rewritten) => {}
            agreed => return agreed.map(drop),
        }
    }
    Err(PurgeError::Rewritten)
}

/// Returns whether a copy differs from the team's journal, as far as its writer knows.
async fn is_apart(projects: &ProjectService, id: ProjectId) -> Result<bool, PurgeError> {
    Ok(projects.open_known(id).await?.is_some_and(|open| open.is_apart()))
}

/// Compares the copy while it is open, since that may take long, and closes it to change it. Also
/// purges `wanted` from it, and from the files in `places`. Returns what was purged, if
/// anything was.
async fn agree_with(
    projects: &ProjectService,
    id: ProjectId,
    theirs: TeamReader,
    wanted: PurgeScope,
    places: &TextPlaces,
) -> Result<Option<Purged>, PurgeError> {
    let Some(open) = projects.open_known(id).await? else { return Ok(None) };
    let asked = open.owner.ask(|store, state| (store.reading(), state.team_point()));
    let (reading, place) = asked.await.map_err(|error| failed(&error.to_string()))?;
    let compared = run_blocking(move || compare(&reading, theirs)).await?;
    drop(open);
    // An interrupted purge begins again, but once the copy has followed nothing would.
    let ids: BTreeSet<String> = compared.purged.iter().map(RecordId::to_string).collect();
    let purges = !ids.is_empty();
    forget_retrievals(projects, id, ids).await?;
    let places = places.clone();
    let closed = move |closed: &ClosedStore| -> Result<Option<Purged>, PurgeError> {
        let opened = closed.open()?;
        if opened.state.team_point() != place {
            // Somebody else has changed the copy meanwhile. The next look says whether it differs.
            opened.store.close();
            return Ok(None);
        }
        follow(closed, opened, compared, &places, wanted)
    };
    let agreed = projects.open.close_and(id, closed).await;
    if purges {
        // The receiver is gone only while the daemon stops, and then nothing is shown.
        let _ = projects.purged.send(id);
    }
    if agreed.is_ok() {
        projects.open_known(id).await?;
    }
    agreed
}

/// Waits until a project has every commit that the team's journal has now.
///
/// # Errors
/// Fails if the database does not answer, and if the copy cannot be brought into agreement. Also
/// fails if no commit has come for [`TEAM_ANSWER_MAX`]. All of them may take longer.
pub(crate) async fn catch_up(projects: &ProjectService, id: ProjectId) -> Result<(), String> {
    let journal = Shared::of(projects, id).map_err(worded)?.journal;
    let head = journal.head().await?;
    let begin = clock::now();
    let (mut agreed, mut progress) = (0, Progress::new(clock::start()));
    loop {
        let open = projects.open_project(id).await.map_err(|error| error.to_string())?;
        let left = || "the memory left its team meanwhile".to_owned();
        let status = open.owner.team().ok_or_else(left)?;
        // Others may purge one after the other.
        if status.is_apart && agreed < TEAM_PURGE_TRIES_MAX {
            agree(projects, id).await?;
            (agreed, progress) = (agreed + 1, Progress::new(clock::start()));
            continue;
        }
        let revision = open.memory().revision();
        // What an earlier call found may have passed.
        if status.ended.is_some_and(|ended| ended > begin) {
            match &status.error {
                Some(fault) => return Err(fault.why.clone()),
                None if revision >= head => return Ok(()),
                None => {}
            }
        }
        if progress.time_without(revision, clock::start()) >= TEAM_ANSWER_MAX {
            let (has, all) = (revision.0, head.0);
            return Err(format!("this machine has {has} of {all} commits, and no more come"));
        }
        open.owner.follow_team();
        tokio::time::sleep(TEAM_POLL).await;
    }
}

/// The last commit that has come, and the time at which it was seen.
struct Progress {
    last: Option<Revision>,
    since: Instant,
}

impl Progress {
    fn new(since: Instant) -> Self {
        Self { last: None, since }
    }

    /// Returns the time for which no commit has come.
    fn time_without(&mut self, newest: Revision, now: Instant) -> Duration {
        if self.last != Some(newest) {
            *self = Self { last: Some(newest), since: now };
        }
        now.saturating_duration_since(self.since)
    }
}

/// Removes from the logs of retrievals what was asked about purged records.
async fn forget_retrievals(
    projects: &ProjectService,
    id: ProjectId,
    ids: BTreeSet<String>,
) -> Result<(), PurgeError> {
    if ids.is_empty() {
        return Ok(());
    }
    for directory in asked_in(projects, id) {
        let forgotten = projects.open.retrievals().forget(directory, ids.clone()).await;
        forgotten.map_err(PurgeError::Team)?;
    }
    Ok(())
}

/// A purge of a copy, and what it changed in other files.
type Purged = (Survey, RedactionReport);

/// Changes the copy in a store just opened as the team's journal differs from it.
fn follow(
    closed: &ClosedStore,
    opened: Opened<Memory, Box<dyn Store<Memory>>>,
    compared: Compared,
    places: &TextPlaces,
    wanted: PurgeScope,
) -> Result<Option<Purged>, PurgeError> {
    let Opened { store, state, .. } = opened;
    let (common, last) = (compared.common, state.revision());
    if common == last {
        return purge::follow(store, &state, compared, places, wanted);
    }
    let file = step_back::step_back(closed, store, common, &places.own)?;
    tracing::warn!(
        first = common.0 + 1,
        last = last.0,
        file = ?file,
        "the team's database has lost commits, and this machine's copy follows it"
    );
    // A purge may have come as well. What was compared holds for the rest of the copy.
    let Opened { store, state, .. } = closed.open()?;
    purge::follow(store, &state, compared, places, wanted)
}

fn no_file() -> PurgeError {
    failed("the file that names the database is gone")
}

fn failed(why: &str) -> PurgeError {
    PurgeError::Team(why.to_owned())
}

fn worded(error: PurgeError) -> String {
    match error {
        PurgeError::Store(error) => error.to_string(),
        PurgeError::TooMuch(why) | PurgeError::Team(why) => why,
        PurgeError::Overtaken | PurgeError::Rewritten => OVERTAKEN.to_owned(),
    }
}

#[cfg(test)]
mod tests;
