//! Memories shared through git: one file for each shared record, beneath the project's root. Of a
//! topic, each clone that added to it has one.
//!
//! git is never run. A project takes part once its user has agreed; that is in the registry, so no
//! repository can plant a memory. Files change by `git pull` and by editors at any time, so open
//! projects are compared every few seconds and before a session reads.

mod decide;
mod decision;
mod exchange;
mod place;
mod scan;
mod topics;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anchord_memory::RecordId;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

pub(crate) use exchange::{PurgedFiles, SoughtFiles};
pub(crate) use place::{DIRECTORY, count_files, has_shared_files};

use crate::api::{SharedRemark, SharedStatus};
use crate::bounded_fs;
use crate::clock;
use crate::limits;
use crate::project::{OpenProject, ProjectService, Transition, WriteCommand};
use crate::projects::{Located, ProjectId, ProjectRecord, Registry, RegistryChange};
use exchange::Mirror;

/// The shared files of all open projects.
#[derive(Debug)]
pub(crate) struct SharedService {
    projects: Arc<ProjectService>,
    slots: Mutex<HashMap<ProjectId, Arc<Slot>>>,
}

/// One open project's shared files.
#[derive(Debug)]
struct Slot {
    project: Weak<OpenProject>,
    mirror: Arc<tokio::sync::Mutex<Mirror>>,
    status: ArcSwap<SharedStatus>,
    /// The end of the last pass, and whether it failed.
    last: Mutex<Option<(Instant, bool)>>,
}

/// The side that a conflict is decided for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptSide {
    /// The memory's record. The file is written again.
    Memory,
    /// The file. The record takes its content.
    File,
}

/// Keeps a project's files as they are. No pass writes or reads them until this is dropped.
#[derive(Debug)]
pub(crate) struct ExchangeHold {
    _mirror: OwnedMutexGuard<Mirror>,
}

const CLOSED: &str = "the memory was closed meanwhile; try again";
const NOT_A_PROJECT: &str = "only a project's memory can be shared";

impl SharedService {
    pub(crate) fn new(projects: Arc<ProjectService>) -> Self {
        Self { projects, slots: Mutex::default() }
    }

    /// Returns whether the user shares a project's memory through git.
    pub(crate) fn is_on(&self, id: ProjectId) -> bool {
        self.projects.registry.snapshot().project(id).is_some_and(|record| record.shared)
    }

    /// Returns whether the user has stopped sharing a project's memory through git.
    pub(crate) fn was_on(&self, id: ProjectId) -> bool {
        self.projects.registry.snapshot().project(id).is_some_and(|record| record.unshared)
    }

    /// Returns the state as of the last pass; `None` if the memory is not shared, or no pass was
    /// made since it was opened.
    pub(crate) fn status(&self, id: ProjectId) -> Option<Arc<SharedStatus>> {
        if !self.is_on(id) {
            return None;
        }
        Some(self.slots.lock().get(&id)?.status.load_full())
    }

    /// Returns the state as a report shows it; `None` if the memory is not shared.
    pub(crate) fn reported(&self, id: ProjectId) -> Option<SharedStatus> {
        let closed = || SharedStatus { is_unseen: true, ..SharedStatus::default() };
        self.is_on(id).then(|| self.status(id).map_or_else(closed, |it| SharedStatus::clone(&it)))
    }

    /// Compares the files of all open projects with their memories.
    pub(crate) async fn pass_all(self: &Arc<Self>) {
        // A project that was closed reads its files anew once it is open again.
        self.slots.lock().retain(|_, slot| slot.project.strong_count() > 0);
        let registry = self.projects.registry.snapshot();
        let is_shared = |project: &Arc<OpenProject>| {
            registry.project(project.id).is_some_and(|record| record.shared)
        };
        let projects = self.projects.open.all().into_iter().filter(is_shared);
        // A disk that does not answer keeps no other project waiting.
        let passes = projects.map(|it| self.pass_within(it, Duration::ZERO, limits::JOB_TIME_MAX));
        futures::future::join_all(passes).await;
    }

    /// Takes in what changed in the files before a session reads. Waits a moment at most; the rest
    /// is taken in by the next pass.
    pub(crate) async fn before_reading(self: &Arc<Self>, project: &Arc<OpenProject>) {
        if self.is_on(project.id) {
            let (fresh, wait_max) = (limits::SHARED_FRESH, limits::SHARED_WAIT_MAX);
            self.pass_within(Arc::clone(project), fresh, wait_max).await;
        }
    }

    /// Makes a pass and waits for it this long. It continues after that.
    async fn pass_within(
        self: &Arc<Self>,
        project: Arc<OpenProject>,
        fresh: Duration,
        wait_max: Duration,
    ) {
        let service = Arc::clone(self);
        let pass = tokio::spawn(async move { service.pass(&project, fresh).await });
        // What the pass found is in its state, also if it takes longer.
        let _ = tokio::time::timeout(wait_max, pass).await;
    }

    /// Makes memory and files of a project agree now, because a person asks.
    pub(crate) async fn look(&self, project: &Arc<OpenProject>) {
        *self.slot(project).last.lock() = None;
        self.pass(project, Duration::ZERO).await;
    }

    /// Makes memory and files of a project agree, unless that was done within `fresh`.
    async fn pass(&self, project: &Arc<OpenProject>, fresh: Duration) {
        let registry = self.projects.registry.snapshot();
        let Some(record) = registry.project(project.id).filter(|record| record.shared) else {
            return;
        };
        let slot = self.slot(project);
        let is_recent = |last: &(Instant, bool)| {
            let (at, failed) = *last;
            at.elapsed() < if failed { limits::SHARED_RETRY_AFTER.max(fresh) } else { fresh }
        };
        if slot.last.lock().as_ref().is_some_and(is_recent) {
            return;
        }
        let mut mirror = slot.mirror.lock().await;
        // A purge may have had the files until now. This memory still has what was purged.
        if project.owner.is_closed() {
            return;
        }
        let passed = match self.root(record).await {
            Ok(root) => mirror.pass(project, &root).await,
            Err(why) => Err(why),
        };
        *slot.last.lock() = Some((clock::start(), passed.is_err()));
        let paused = passed.err();
        if let Some(why) = &paused {
            tracing::debug!(project = %project.id, %why, "shared files were not exchanged");
        }
        slot.status.store(Arc::new(SharedStatus { paused, ..mirror.status().clone() }));
    }

    /// Decides a conflict for one side and returns the record's file.
    pub(crate) async fn resolve(
        &self,
        project: &Arc<OpenProject>,
        record: RecordId,
        keep: KeptSide,
    ) -> Result<String, String> {
        let registry = self.projects.registry.snapshot();
        let known = registry.project(project.id).filter(|record| record.shared);
        let known = known.ok_or("the memory is not shared through git")?;
        let root = self.root(known).await?;
        let slot = self.slot(project);
        let path = {
            let mut mirror = slot.mirror.lock().await;
            if project.owner.is_closed() {
                return Err(CLOSED.to_owned());
            }
            mirror.resolve(project, &root, record, keep).await?
        };
        self.look(project).await;
        Ok(path)
    }

    /// Shares a memory from now on. Its files are those at `here`, if the worktree that had them is
    /// gone. Returns a remark for the user.
    pub(crate) async fn share(
        &self,
        project: &Arc<OpenProject>,
        here: Option<&Located>,
    ) -> Result<Option<String>, String> {
        let registry = self.projects.registry.snapshot();
        let known = registry.project(project.id).ok_or(NOT_A_PROJECT)?;
        let root = match here {
            Some(here) => here.main_root(),
            None => self.root(known).await?,
        };
        let at = root.clone();
        let prepared = bounded_fs::run(&root, move || place::prepare(&at)).await;
        let prepared = prepared.map_err(|error| error.to_string())?;
        let remark = prepared.map_err(|error| format!("failed to {error}"))?;
        if !known.shared || here.is_some() {
            let slot = self.slot(project);
            slot.mirror.lock().await.begin(project, &root, here.is_some()).await?;
        }
        self.set_shared(project, true, here).await?;
        Ok(remark)
    }

    /// Stops sharing a memory. Files stay as they are.
    pub(crate) async fn unshare(&self, project: &Arc<OpenProject>) -> Result<(), String> {
        self.projects.registry.snapshot().project(project.id).ok_or(NOT_A_PROJECT)?;
        self.set_shared(project, false, None).await
    }

    /// Remembers in the registry whether a memory is shared, and exchanges files accordingly.
    /// `here` is the worktree that has the files from now on.
    async fn set_shared(
        &self,
        project: &Arc<OpenProject>,
        shared: bool,
        here: Option<&Located>,
    ) -> Result<(), String> {
        let id = project.id;
        let place = here.map(|here| (here.main_root(), here.name.clone()));
        let command: WriteCommand<Registry> = Arc::new(move |registry, _| {
            let is_other = |known: &ProjectRecord| known.shared != shared || place.is_some();
            let known = registry.project(id).filter(|known| is_other(known));
            let changed = known.map(|known| {
                let known = ProjectRecord::clone(known);
                let (root, name) = place.clone().unwrap_or((known.root, known.name));
                ProjectRecord { shared, unshared: !shared, root, name, ..known }
            });
            let changed = changed.map(RegistryChange::ProjectSeen);
            Ok(Transition::silent(changed.into_iter().collect()))
        });
        let written = self.projects.registry.write(None, None, "share", command).await;
        written.map_err(|error| error.to_string())?;
        self.look(project).await;
        Ok(())
    }

    /// Finds the files that a purge would remove, whether the memory is shared or not.
    pub(crate) async fn files_to_purge(
        &self,
        project: &Arc<OpenProject>,
        sought: &SoughtFiles,
    ) -> PurgedFiles {
        let registry = self.projects.registry.snapshot();
        let Some(record) = registry.project(project.id) else { return PurgedFiles::default() };
        let slot = self.slot(project);
        let mut mirror = slot.mirror.lock().await;
        let found = match root_if_there(record).await {
            Ok(Some(root)) => mirror.files_to_purge(project, &root, sought).await,
            Ok(None) => Ok(PurgedFiles::default()),
            Err(why) => Err(why),
        };
        found.unwrap_or_else(|why| unknown_files(project.id, &why))
    }

    /// Removes the files that a purge must not leave, whether the memory is shared or not. Returns
    /// them with those that stay, and a hold.
    ///
    /// The purge also loses what records and files last agreed on. A file that was still there
    /// would count as new, and bring its record back. So the caller keeps the hold until the end,
    /// and nothing may be purged if the memory is shared and a file cannot be removed.
    pub(crate) async fn before_purge(
        &self,
        id: ProjectId,
        sought: &SoughtFiles,
    ) -> Result<(Option<ExchangeHold>, PurgedFiles), String> {
        let registry = self.projects.registry.snapshot();
        let Some(record) = registry.project(id) else {
            return Ok((None, PurgedFiles::default()));
        };
        let (project, mut mirror) = loop {
            let opened = self.projects.open_project(id).await;
            let project = opened.map_err(|error| error.to_string())?;
            let mirror = Arc::clone(&self.slot(&project).mirror).lock_owned().await;
            // Another purge had the hold meanwhile, and has closed the memory.
            if !project.owner.is_closed() {
                break (project, mirror);
            }
        };
        let removed = match root_if_there(record).await {
            Ok(Some(root)) => mirror.remove_for_purge(&project, &root, sought).await,
            // The files have gone with their directory.
            Ok(None) => Ok((PurgedFiles::default(), None)),
            Err(why) => Err(why),
        };
        let files = match removed {
            Ok((_, Some(why))) | Err(why) if record.shared => return Err(why),
            Ok((files, _)) => files,
            Err(why) => unknown_files(id, &why),
        };
        Ok((Some(ExchangeHold { _mirror: mirror }), files))
    }

    /// Returns the directory of a project's files, if it is still the one that the registry knows.
    async fn root(&self, record: &ProjectRecord) -> Result<PathBuf, String> {
        let (root, known) = (record.root.clone(), record.clone());
        let looking = bounded_fs::run(&record.root, move || {
            Ok::<_, io::Error>((known.is_there()?, known.root.try_exists()?))
        });
        match looking.await {
            Ok(Ok((true, true))) => Ok(root),
            Ok(Ok((true, false))) => Err(format!(
                "the worktree {} is gone; `anchord init --shared` in another one uses the files \
                 there",
                root.display()
            )),
            Ok(Ok((false, _))) => Err(format!("{} is another directory by now", root.display())),
            Ok(Err(error)) => Err(format!("failed to look at {}: {error}", root.display())),
            Err(error) => Err(error.to_string()),
        }
    }

    fn slot(&self, project: &Arc<OpenProject>) -> Arc<Slot> {
        let mut slots = self.slots.lock();
        let is_same =
            |slot: &&Arc<Slot>| slot.project.upgrade().is_some_and(|it| Arc::ptr_eq(&it, project));
        if let Some(slot) = slots.get(&project.id).filter(is_same) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(Slot {
            project: Arc::downgrade(project),
            mirror: Arc::new(tokio::sync::Mutex::new(Mirror::new(project))),
            status: ArcSwap::default(),
            last: Mutex::default(),
        });
        slots.insert(project.id, Arc::clone(&slot));
        slot
    }
}

/// Returns whether the worktree that has a project's shared files is gone, and this is another one.
/// A bare repository has no main worktree, so the first one that wrote has the files.
pub(crate) async fn is_lost(record: &ProjectRecord, here: &Located) -> bool {
    let is_same = here.directory() == (record.place.path.as_path(), record.place.part.as_deref());
    if !is_same || here.main_root() == record.root {
        return false;
    }
    let root = record.root.clone();
    let looking = bounded_fs::run(&record.root, move || root.try_exists());
    matches!(looking.await, Ok(Ok(false)))
}

/// Returns the directory of a project's files; `None` if it has gone.
async fn root_if_there(record: &ProjectRecord) -> Result<Option<PathBuf>, String> {
    let (root, known) = (&record.root, record.clone());
    let looking = bounded_fs::run(root, move || {
        Ok::<_, io::Error>(known.is_there()? && known.root.try_exists()?)
    });
    match looking.await.map_err(|error| error.to_string())? {
        Ok(is_there) => Ok(is_there.then(|| root.clone())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("failed to look at {}: {error}", root.display())),
    }
}

/// Returns all shared files as those that a purge could not look through.
fn unknown_files(id: ProjectId, why: &str) -> PurgedFiles {
    tracing::warn!(project = %id, why, "shared files were not looked through for a purge");
    PurgedFiles { removed: Vec::new(), stay: vec![DIRECTORY.into()] }
}

impl SharedStatus {
    /// Keeps as many remarks as an answer names, and counts the rest.
    fn with_remarks(mut self, mut remarks: Vec<SharedRemark>) -> Self {
        self.conflicts = remarks.iter().filter(|remark| remark.is_conflict).count();
        remarks.sort_by_key(|remark| !remark.is_conflict);
        self.more = remarks.len().saturating_sub(limits::SHARED_REMARKS_MAX);
        remarks.truncate(limits::SHARED_REMARKS_MAX);
        Self { remarks, ..self }
    }
}

#[cfg(test)]
mod tests;
