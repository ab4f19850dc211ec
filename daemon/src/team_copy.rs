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

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anchord_memory::Revision;
use tokio::runtime::Handle;

pub(crate) use missing::{Missing, count_missing};
pub(crate) use purge::{may_purge, purge};
pub(crate) use step_back::{missing_in, take_missing};

use compare::{TeamReader, compare};

use crate::clock;
use crate::limits::{TEAM_ANSWER_MAX, TEAM_POLL};
use crate::project::{ClosedStore, ProjectService};
use crate::projects::ProjectId;
use crate::purging::{PurgeError, PurgeScope, RedactionReport, Survey, asked_in};
use crate::store::Opened;
use crate::team::{self, CommitJournal};

/// A project in a team, and where it is.
#[derive(Clone)]
struct Shared {
    journal: CommitJournal,
    directory: PathBuf,
    runtime: Handle,
}

impl Shared {
    fn of(projects: &ProjectService, id: ProjectId) -> Result<Self, PurgeError> {
        let directory = projects.open.directory(id);
        let config = team::read(&directory)?;
        let config = config.ok_or_else(no_file)?;
        let journal = projects.open.teams().journal(&config).map_err(PurgeError::Team)?;
        Ok(Self { journal, directory, runtime: Handle::current() })
    }
}

/// Brings a project's copy into agreement with the team's journal, and opens the project again.
///
/// # Errors
/// Fails if the database cannot be read as a whole now, or the store fails. A later call continues.
pub(crate) async fn agree(projects: &ProjectService, id: ProjectId) -> Result<(), String> {
    let agreed = async {
        let shared = Shared::of(projects, id)?;
        let directories = asked_in(projects, id);
        let wanted = PurgeScope::default();
        let closed =
            move |closed: &ClosedStore| agree_closed(closed, &shared, &directories, wanted);
        let agreed = projects.open.close_and(id, closed).await;
        if let Ok(Some((surveyed, _))) = &agreed {
            forget_retrievals(projects, id, surveyed).await?;
        }
        if agreed.is_ok() {
            projects.open_known(id).await?;
        }
        agreed.map(drop)
    };
    let agreed = agreed.await;
    projects.open.note_agreement(id, agreed.is_ok());
    agreed.map_err(worded)
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
    let (mut has_agreed, mut progress) = (false, Progress::new(clock::start()));
    loop {
        let open = projects.open_project(id).await.map_err(|error| error.to_string())?;
        let left = || "the memory left its team meanwhile".to_owned();
        let status = open.owner.team().ok_or_else(left)?;
        if status.is_apart && !has_agreed {
            agree(projects, id).await?;
            (has_agreed, progress) = (true, Progress::new(clock::start()));
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
    surveyed: &Survey,
) -> Result<(), PurgeError> {
    for directory in asked_in(projects, id) {
        let forgotten = projects.open.retrievals().forget(directory, surveyed.ids()).await;
        forgotten.map_err(PurgeError::Team)?;
    }
    Ok(())
}

/// Brings the copy in a closed store into agreement. Also purges `wanted` from it. Returns what was
/// purged, if anything was.
fn agree_closed(
    closed: &ClosedStore,
    shared: &Shared,
    directories: &[PathBuf],
    wanted: PurgeScope,
) -> Result<Option<(Survey, RedactionReport)>, PurgeError> {
    loop {
        let Opened { store, state, .. } = closed.open()?;
        let compared = match compare(&store.reading(), TeamReader::new(shared)) {
            Ok(compared) => compared,
            Err(error) => {
                store.close();
                return Err(error);
            }
        };
        let (common, last) = (compared.common, state.revision());
        if common == last {
            return purge::follow(store, &state, compared, directories, wanted);
        }
        let file = step_back::step_back(closed, store, common, &shared.directory)?;
        tracing::warn!(
            first = common.0 + 1,
            last = last.0,
            file = ?file,
            "the team's database has lost commits, and this machine's copy follows it"
        );
        // A purge may have come as well.
    }
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
    }
}

#[cfg(test)]
mod tests;
