//! Keeps the open memories of teams up to date: fetches what others wrote and folds what waits.
//! Also brings copies into agreement that differ from the database.
//!
//! A notice of the database brings others' commits at once. Each pass of the jobs also asks, for
//! connections that carry no notices.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anchord_memory::Timestamp;
use anchord_team::{Database, ProjectInfo};
use tokio::task::JoinHandle;

use crate::blocking::{join_or_resume_panic, run_blocking};
use crate::clock;
use crate::config::Config;
use crate::limits;
use crate::project::{BudgetKeeper, ClosedStore, OpenProject, ProjectService};
use crate::projects::ProjectId;
use crate::team::{self, TeamConfig};
use crate::team_copy;

/// The open memories of teams.
#[derive(Debug)]
pub(crate) struct TeamUpkeep {
    projects: Arc<ProjectService>,
    config: Arc<Config>,
    /// The tasks that hear notices, by database.
    listeners: HashMap<String, JoinHandle<()>>,
    /// Folds and comparisons that are under way, by project.
    work: HashMap<ProjectId, JoinHandle<()>>,
    /// The last time that all memories of teams were opened. Something may wait in them, or be
    /// purged elsewhere.
    opened: Option<Instant>,
}

impl TeamUpkeep {
    pub(crate) fn new(projects: Arc<ProjectService>, config: Arc<Config>) -> Self {
        Self { projects, config, listeners: HashMap::new(), work: HashMap::new(), opened: None }
    }

    /// Makes one pass over the open memories. Waits for no network.
    pub(crate) async fn update(&mut self) {
        self.work.retain(|_, work| !work.is_finished());
        let is_open = |opened: Instant| opened.elapsed() < limits::TEAM_OPEN_AGAIN_AFTER;
        if !self.opened.is_some_and(is_open) {
            self.opened = Some(clock::start());
            // Opening may take a while, and no pass waits for it.
            tokio::spawn(open_all(Arc::clone(&self.projects)));
        }
        let mut databases = HashMap::new();
        for project in self.projects.open.all() {
            let Some(status) = project.owner.team() else { continue };
            let directory = self.projects.open.directory(project.id);
            let barred = status.barred();
            let looked = run_blocking(move || look(&directory, barred, clock::now())).await;
            let Looked { config, is_barred } = looked;
            if is_barred {
                continue;
            }
            let work = self.work.entry(project.id);
            if status.is_apart {
                let projects = Arc::clone(&self.projects);
                work.or_insert_with(|| tokio::spawn(agree(projects, project.id)));
            } else {
                project.owner.follow_team();
                if project.memory().held().next().is_some() {
                    let (project, config) = (Arc::clone(&project), Arc::clone(&self.config));
                    work.or_insert_with(|| tokio::spawn(fold(project, config)));
                }
            }
            if let Some(config) = config {
                databases.insert(config.database(), config);
            }
        }
        self.listeners.retain(|database, listener| {
            let is_used = databases.contains_key(database);
            if !is_used {
                listener.abort();
            }
            is_used && !listener.is_finished()
        });
        for (key, config) in databases {
            if !self.listeners.contains_key(&key) {
                let listener = tokio::spawn(listen(Arc::clone(&self.projects), config));
                self.listeners.insert(key, listener);
            }
        }
    }
}

impl Drop for TeamUpkeep {
    fn drop(&mut self) {
        self.listeners.values().for_each(JoinHandle::abort);
    }
}

/// The team of a memory, and whether its database is left alone.
struct Looked {
    config: Option<TeamConfig>,
    is_barred: bool,
}

/// Reads the team of the memory in this directory. A database that a person has to mend first is
/// asked only once in a while. When the team's file or the password's has changed, it is asked at
/// once. `barred` is the time of the last attempt, if it was in vain for that reason.
fn look(directory: &Path, barred: Option<Timestamp>, now: Timestamp) -> Looked {
    // Where the file cannot be read, the writer's own status says so.
    let config = team::read(directory).ok().flatten();
    let is_barred = barred.is_some_and(|since| {
        let waited = now.0.saturating_sub(since.0).unsigned_abs();
        u128::from(waited) < limits::TEAM_BARRED_AGAIN_AFTER.as_millis()
            && !team::has_changed(directory, config.as_ref(), since)
    });
    Looked { config, is_barred }
}

/// Opens the memories of teams, which then follow. Those in which nothing waits are closed again
/// when they are idle.
async fn open_all(projects: Arc<ProjectService>) {
    let registry = projects.registry.snapshot();
    for id in registry.projects().map(|record| record.id) {
        let directory = projects.open.directory(id);
        let config = run_blocking(move || team::read(&directory)).await;
        if !matches!(config, Ok(None))
            && let Err(error) = projects.open_known(id).await
        {
            tracing::warn!(project = %id, %error, "the memory of a team cannot be opened");
        }
    }
}

/// Brings a copy into agreement with the database.
async fn agree(projects: Arc<ProjectService>, id: ProjectId) {
    if let Err(error) = team_copy::agree(&projects, id).await {
        tracing::warn!(project = %id, error, "a copy of a team's journal still differs from it");
        // The memory may be open and differ still. No pass begins again meanwhile.
        tokio::time::sleep(limits::TEAM_AGREE_AGAIN_AFTER).await;
    }
}

/// Folds what waits in a memory, and keeps it to its budget.
async fn fold(project: Arc<OpenProject>, config: Arc<Config>) {
    match project.release(|_| true).await {
        Ok(written) => {
            for write_set in written {
                BudgetKeeper::of_daemon(&config).keep(&project, write_set).await;
            }
        }
        Err(error) => tracing::debug!(project = %project.id, %error, "a save still waits"),
    }
}

/// Hears the notices of a database until its connection ends.
async fn listen(projects: Arc<ProjectService>, config: TeamConfig) {
    let database = match projects.open.teams().database(&config.url, &config.secret) {
        Ok(database) => database,
        Err(error) => return tracing::warn!(error, "the address of a team's database is wrong"),
    };
    if let Err(error) = hear(&projects, &database, &config.database()).await {
        tracing::debug!(%error, "notices of a team's database are not heard");
    }
    // The next pass begins again. A database that is away is not asked all the time.
    tokio::time::sleep(limits::TEAM_LISTEN_AGAIN_AFTER).await;
}

/// Hears the notices of the database that is known here under this key.
async fn hear(
    projects: &Arc<ProjectService>,
    database: &Database,
    key: &str,
) -> Result<(), anchord_team::Error> {
    let mut listener = database.listen().await?;
    let follow = |wanted: Option<String>| {
        for project in projects.open.all() {
            let memory = project.memory();
            if wanted.as_deref().is_none_or(|wanted| memory.team() == Some(wanted)) {
                project.owner.follow_team();
            }
        }
    };
    // Something may have come while nobody listened.
    follow(None);
    match database.projects().await {
        Ok(found) => rename_members(Arc::clone(projects), found, key.to_owned()).await,
        Err(error) => tracing::debug!(%error, "the members' names are not refreshed"),
    }
    loop {
        let notice = listener.next().await?;
        follow(Some(notice.project.to_string()));
    }
}

/// Gives this machine's members the names that the database of this key has for them. A memory
/// reads its member's name when it is opened, so each one that has another name is opened again.
/// Continues when the caller is cancelled, as a listener may be. Half-way it would leave a memory
/// closed.
async fn rename_members(projects: Arc<ProjectService>, found: Vec<ProjectInfo>, key: String) {
    join_or_resume_panic(tokio::spawn(async move {
        let registry = projects.registry.snapshot();
        for id in registry.projects().map(|record| record.id) {
            let directory = projects.open.directory(id);
            let from = directory.clone();
            // Where the file cannot be read, the writer's own status says so.
            let Ok(Some(config)) = run_blocking(move || team::read(&from)).await else { continue };
            let project = config.project;
            let named = found.iter().find(|it| it.id == project && config.database() == key);
            let Some(name) = named.map(|it| it.member.clone()) else { continue };
            if config.member.as_ref() == Some(&name) {
                continue;
            }
            // Joining and leaving write the file with the store closed, too.
            let rename = move |_: &ClosedStore| team::rename_member(&directory, project, &name);
            if let Err(error) = projects.open.close_and(id, rename).await {
                tracing::warn!(project = %id, %error, "the member's new name is not kept");
            }
            if let Err(error) = projects.open_known(id).await {
                tracing::warn!(project = %id, %error, "the memory of a team cannot be opened");
            }
        }
    }))
    .await;
}

#[cfg(test)]
mod tests {
    use anchord_team::{Role, Secret};
    use futures::FutureExt as _;
    use serde_json::json;

    use super::*;
    use crate::private_file;
    use crate::testing::{World, poll, team_config};

    #[tokio::test]
    async fn a_renaming_continues_when_its_listener_is_aborted() {
        let world = World::new().await;
        world.shim().await.call("memory_note", json!({ "content": "The port is 1." })).await;
        let projects = &world.daemon.projects;
        let id = projects.registry.snapshot().projects().next().unwrap().id;
        let directory = projects.open.directory(id);
        let config = team_config();
        team::write(&directory, &config).unwrap();
        let (key, project) = (config.database(), config.project);
        let (name, member) = (config.name, "Ada L.".to_owned());
        let found = ProjectInfo { id: project, name, head: 0, member, role: Role::Writer };
        let renaming = rename_members(Arc::clone(projects), vec![found], key);
        assert!(renaming.now_or_never().is_none(), "it takes a while");
        // The memory had no team when it was opened first.
        let again = poll(|| projects.open.get(id).filter(|open| open.owner.team().is_some()));
        again.await;
        let renamed = team::read(&directory).unwrap().unwrap();
        assert_eq!(renamed.member.as_deref(), Some("Ada L."));
    }

    /// Otherwise a server whose password changed would see an attempt every 2 s for ever.
    #[tokio::test]
    async fn a_database_that_needs_a_person_is_left_alone_until_its_files_change() {
        let world = World::new().await;
        world.shim().await.call("memory_note", json!({ "content": "The port is 1." })).await;
        let projects = &world.daemon.projects;
        let id = projects.registry.snapshot().projects().next().unwrap().id;
        let directory = projects.open.directory(id);
        let password = world.directory("demo").join("password");
        let config = TeamConfig { secret: Secret::File(password.clone()), ..team_config() };
        team::write(&directory, &config).unwrap();
        projects.open.close_and(id, |_| ()).await;
        let open = projects.open_known(id).await.unwrap().unwrap();
        let barred = || open.owner.team().and_then(|status| status.barred());
        let since = poll(barred).await;
        let mut upkeep =
            TeamUpkeep::new(Arc::clone(projects), Arc::clone(&world.daemon.sessions.config));
        upkeep.update().await;
        let count = |upkeep: &TeamUpkeep| upkeep.listeners.len();
        assert_eq!(count(&upkeep), 0, "the attempt was a moment ago");

        let again = Timestamp(since.0 + 60_000);
        let is_barred = |now| look(&directory, Some(since), now).is_barred;
        assert_eq!((is_barred(since), is_barred(again)), (true, false));
        // The time of a file may lag behind the clock.
        poll(|| {
            private_file::replace(&password, b"another\n").unwrap();
            (!is_barred(since)).then_some(())
        })
        .await;
        upkeep.update().await;
        assert_eq!(count(&upkeep), 1);
        poll(|| barred().is_none().then_some(())).await;
    }
}
