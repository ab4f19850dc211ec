//! Open projects, each with one writer. The first call that needs a project opens it; it is closed
//! when nobody uses it.

mod access_counts;
mod batch;
mod budget;
mod flight;
mod held;
pub(crate) mod history;
mod queue;
mod renumbered;
mod service;
mod team_link;
mod write;
mod writer;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anchord_memory::{
    Accesses, Memory, NearDuplicates, NoticeId, RecordId, Revision, SessionId, Timestamp,
};
use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use access_counts::AccessCounts;
pub(crate) use budget::{
    BudgetKeeper, Compacted, OwnNotes, PoolTarget, WriteSet, add_append_times, carry_out, formula,
    plan as plan_within,
};
use held::Told;
pub(crate) use held::{add_told, own_stored, releasing, waits_for_team};
pub use queue::QueuedSession;
use renumbered::Renumbered;
pub(crate) use renumbered::{StepBack, StepBacksSeen, untold};
pub(crate) use service::ProjectService;
pub use team_link::{TeamLink, TeamLook, TeamStatus, Untaken};
pub use write::{
    CommandError, Operation, Outcome, Reply, Transition, WriteCommand, WriteError, Written,
};
pub use writer::WriterHandle;

use crate::blocking::{join_or_resume_panic, run_blocking};
use crate::budgets::Filled;
use crate::projects::ProjectId;
use crate::retrieval_log::RetrievalLog;
use crate::store::{
    OpenReport, Opened, RepairPlan, StateMachine, Store, StoreError, Stores, Usage,
};
use crate::team::TeamLinks;
use crate::{clock, limits};

/// The name of the store of the user's own memory.
const PERSONAL: &str = "user";

/// The prefix of soft marks for notices that a load has shown.
const NOTICE_SHOWN: &str = "notice-shown/";

/// The prefix of soft marks about shared files.
pub(crate) const SHARED: &str = "shared/";

/// A project whose store is open.
#[derive(Debug)]
pub(crate) struct OpenProject {
    pub(crate) id: ProjectId,
    pub(crate) owner: WriterHandle<Memory>,
    pub(crate) report: OpenReport,
    /// Soft marks as they were when the store was opened.
    marks: Marks,
    shown: Mutex<BTreeSet<NoticeId>>,
    /// Texts that go with the next answer to these sessions.
    told: Mutex<BTreeMap<SessionId, Told>>,
    renumbered: Renumbered,
    reads: AccessCounts,
    used: Mutex<std::time::Instant>,
    opened: std::time::Instant,
    /// A turn to bring the project's shared notes down to their budget. One session at a time holds
    /// it.
    compaction: tokio::sync::Mutex<NearDuplicates>,
}

impl OpenProject {
    /// Returns the memory as it is on disk.
    pub(crate) fn memory(&self) -> Arc<Memory> {
        self.owner.snapshot()
    }

    /// Waits for the first look at the team's database since the memory was opened, if there is a
    /// team, but not for long. What is read then says whether the database has answered.
    pub(crate) async fn first_look(&self) {
        let until = self.opened + limits::TEAM_FIRST_LOOK_MAX;
        let _ = tokio::time::timeout_at(until.into(), self.owner.team_looked()).await;
    }

    /// Returns whether the memory was opened a moment ago and differs from the team's journal. It
    /// may have what was purged elsewhere.
    fn begins_apart(&self) -> bool {
        let is_new = self.opened.elapsed() < limits::JOBS_EVERY + limits::TEAM_AGREE_WAIT_MAX;
        is_new && self.owner.team().is_some_and(|status| status.is_apart)
    }

    /// Returns the soft marks about shared files, as they were when the store was opened.
    pub(crate) fn shared_marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the notices that a load has shown.
    pub(crate) fn notices_shown(&self) -> BTreeSet<NoticeId> {
        self.shown.lock().clone()
    }

    /// Records that these notices were shown. The marks are written later. If they are lost, the
    /// notices are shown again.
    pub(crate) fn mark_shown(self: &Arc<Self>, notices: Vec<NoticeId>) {
        if notices.is_empty() {
            return;
        }
        self.shown.lock().extend(&notices);
        let project = Arc::clone(self);
        tokio::spawn(async move {
            project.mark_notices(notices, Some("1")).await;
            project.forget_dropped().await;
        });
    }

    /// Removes the marks of notices that memory no longer keeps.
    async fn forget_dropped(&self) {
        let memory = self.memory();
        let Some(oldest) = memory.notices().next().map(|notice| notice.id) else { return };
        let dropped = {
            let mut shown = self.shown.lock();
            let kept = shown.split_off(&oldest);
            std::mem::replace(&mut *shown, kept)
        };
        if !dropped.is_empty() {
            self.mark_notices(dropped.into_iter().collect(), None).await;
        }
    }

    async fn mark_notices(&self, notices: Vec<NoticeId>, value: Option<&'static str>) {
        let marked = self.owner.ask(move |store, _| {
            for notice in notices {
                store.mark(&format!("{NOTICE_SHOWN}{}", notice.0), value);
            }
        });
        if let Err(error) = marked.await {
            tracing::debug!(%error, "a mark was lost; its notice may be shown again");
        }
    }

    /// Waits until no other session is bringing the project's shared notes down to their budget.
    /// Returns what the last plan compared, or `None` if others take too long.
    pub(crate) async fn compaction_turn(
        &self,
    ) -> Option<tokio::sync::MutexGuard<'_, NearDuplicates>> {
        tokio::time::timeout(limits::COMPACTION_TURN_WAIT_MAX, self.compaction.lock()).await.ok()
    }

    /// Returns how often and when records were read.
    pub(crate) fn accesses(&self) -> Accesses {
        self.reads.accesses()
    }

    /// Counts records as read. The counts are written later, and may be lost.
    pub(crate) fn accessed(&self, records: &[RecordId], now: Timestamp) {
        self.reads.count(records, now);
    }

    /// Hands new access counts to the store, which writes them when it has time.
    pub(crate) async fn keep_reads(&self) {
        let marks = self.reads.unwritten();
        if marks.is_empty() {
            return;
        }
        let marked = self.owner.ask(move |store, _| {
            for (key, value) in &marks {
                store.mark(key, Some(value));
            }
        });
        if let Err(error) = marked.await {
            tracing::debug!(%error, "reads were not counted");
        }
    }

    /// Returns a soft mark.
    pub(crate) async fn soft_mark(&self, key: &'static str) -> Option<String> {
        self.owner.ask(move |store, _| store.marks().get(key).cloned()).await.ok().flatten()
    }

    /// Sets a soft mark, if there is a value. It may be lost.
    pub(crate) async fn mark_soft(&self, key: &'static str, value: Option<String>) {
        let Some(value) = value else { return };
        if let Err(error) = self.owner.ask(move |store, _| store.mark(key, Some(&value))).await {
            tracing::debug!(%error, key, "a mark was lost");
        }
    }

    fn touch(&self) {
        *self.used.lock() = clock::start();
    }

    /// Returns whether the reason that the project is read-only may have passed.
    fn is_to_be_opened_again(&self) -> bool {
        self.owner.health().passes && self.opened.elapsed() >= limits::REOPEN_AFTER
    }
}

/// The open projects. Only this type opens and closes them.
#[derive(Debug)]
pub(crate) struct OpenProjects {
    stores: Arc<dyn Stores<Memory>>,
    teams: Arc<TeamLinks>,
    retrievals: RetrievalLog,
    slots: Mutex<HashMap<ProjectId, Arc<Slot>>>,
    closed: Arc<AtomicBool>,
    /// Is cancelled when the daemon stops.
    stopping: CancellationToken,
}

/// One project's slot. Its gate lets one caller open or close the project while the others wait.
/// Calls to an open project do not pass the gate.
#[derive(Debug, Default)]
struct Slot {
    gate: Arc<tokio::sync::Mutex<()>>,
    /// Lets one caller at a time bring the copy of a team's journal into agreement with it.
    agreeing: Arc<tokio::sync::Mutex<()>>,
    current: ArcSwapOption<OpenProject>,
    /// The budget's use when the project was closed. Nothing changes it until the project is opened
    /// again.
    filled: ArcSwapOption<Filled>,
    /// The last steps back of the copy of a team's journal, for what sessions have seen.
    step_backs: Mutex<Vec<StepBack>>,
    /// The time of the last attempt to bring the copy into agreement with it, if that failed.
    disagreed: Mutex<Option<std::time::Instant>>,
}

impl OpenProjects {
    /// Returns the projects of these stores. Must be called within a runtime.
    pub(crate) fn new(stores: Arc<dyn Stores<Memory>>, teams: Arc<TeamLinks>) -> Self {
        let retrievals = RetrievalLog::start();
        let (slots, closed) = (Mutex::default(), Arc::default());
        let stopping = CancellationToken::new();
        Self { stores, teams, retrievals, slots, closed, stopping }
    }

    /// Returns the way to teams' databases.
    pub(crate) fn teams(&self) -> &Arc<TeamLinks> {
        &self.teams
    }

    /// Returns the log of calls and results.
    pub(crate) fn retrievals(&self) -> &RetrievalLog {
        &self.retrievals
    }

    /// Returns the directory for files next to the store of a project, or of the user's own memory.
    pub(crate) fn directory(&self, id: ProjectId) -> PathBuf {
        self.stores.directory(&store_name(id))
    }

    /// Returns the directories of earlier memories of a project that were set aside.
    pub(crate) async fn asides(&self, id: ProjectId) -> Result<Vec<PathBuf>, StoreError> {
        let stores = Arc::clone(&self.stores);
        run_blocking(move || stores.asides(&store_name(id))).await
    }

    /// Returns the size of a project's data, or of the user's own memory.
    pub(crate) async fn usage(&self, id: ProjectId) -> Usage {
        let stores = Arc::clone(&self.stores);
        run_blocking(move || stores.usage(&store_name(id))).await
    }

    /// Returns whether anything was ever written for this project.
    pub(crate) fn exists(&self, id: ProjectId) -> Result<bool, StoreError> {
        Ok(self.get(id).is_some() || self.stores.exists(&store_name(id))?)
    }

    /// Returns whether any of this project's memory is on disk.
    pub(crate) fn has_data(&self, id: ProjectId) -> Result<bool, StoreError> {
        Ok(self.get(id).is_some() || self.stores.has_data(&store_name(id))?)
    }

    /// Returns the project, which one caller opens if needed while the others wait.
    ///
    /// Opening continues when the caller is cancelled. Half-way it would leave a store that nobody
    /// closes.
    pub(crate) async fn open(&self, id: ProjectId) -> Result<Arc<OpenProject>, StoreError> {
        let slot = Arc::clone(self.slots.lock().entry(id).or_default());
        if let Some(project) = slot.open() {
            project.touch();
            return Ok(project);
        }
        let (stores, closed) = (Arc::clone(&self.stores), Arc::clone(&self.closed));
        let teams = Arc::clone(&self.teams);
        join_or_resume_panic(tokio::spawn(async move {
            let _gate = Arc::clone(&slot.gate).lock_owned().await;
            if let Some(project) = slot.open() {
                return Ok(project);
            }
            if closed.load(Ordering::SeqCst) {
                return Err(StoreError::ShuttingDown);
            }
            if let Some(dead) = slot.current.swap(None) {
                // Its writer panicked, or the reason that it is read-only may have passed.
                // Everything that it acknowledged is on disk. The store is free once the writer has
                // ended.
                dead.owner.close().await;
            }
            let project = open_project(id, stores, &teams).await?;
            slot.current.store(Some(Arc::clone(&project)));
            let memory = project.memory();
            tokio::spawn(async move { make_searchable(&memory).await });
            if project.owner.team().is_some() {
                teams.opened().notify_one();
            }
            Ok(project)
        }))
        .await
    }

    /// Returns the project, if it is open.
    pub(crate) fn get(&self, id: ProjectId) -> Option<Arc<OpenProject>> {
        self.slots.lock().get(&id)?.current.load_full()
    }

    /// Waits for a project's turn to have its copy of a team's journal changed as that differs.
    pub(crate) async fn agreeing(&self, id: ProjectId) -> tokio::sync::OwnedMutexGuard<()> {
        let slot = Arc::clone(self.slots.lock().entry(id).or_default());
        Arc::clone(&slot.agreeing).lock_owned().await
    }

    /// Returns the last steps back of a project's copy of a team's journal, oldest first.
    pub(crate) fn step_backs(&self, id: ProjectId) -> Vec<StepBack> {
        let slot = self.slots.lock().get(&id).cloned();
        slot.map(|slot| slot.step_backs.lock().clone()).unwrap_or_default()
    }

    /// Returns the projects that are open now, and the user's own memory if it is open.
    pub(crate) fn all(&self) -> Vec<Arc<OpenProject>> {
        self.slots.lock().values().filter_map(|slot| slot.current.load_full()).collect()
    }

    /// Returns the budget use of all existing projects that were opened since the daemon started.
    pub(crate) fn filled(&self) -> Vec<Filled> {
        let slots: Vec<(ProjectId, Arc<Slot>)> =
            self.slots.lock().iter().map(|(id, slot)| (*id, Arc::clone(slot))).collect();
        let filled = slots.into_iter().filter_map(|(id, slot)| match slot.current.load_full() {
            Some(project) => Some(Filled::of(&project.memory())),
            // A project that cannot be checked now keeps its last figures.
            None => slot
                .filled
                .load_full()
                .map(|filled| *filled)
                .filter(|_| self.exists(id).unwrap_or(true)),
        });
        filled.collect()
    }

    /// Closes a project after serving its queue, and runs `then` on its closed store before anyone
    /// can open it again. Continues when the caller is cancelled.
    pub(crate) async fn close_and<T: Send + 'static>(
        &self,
        id: ProjectId,
        then: impl FnOnce(&ClosedStore) -> T + Send + 'static,
    ) -> T {
        let slot = Arc::clone(self.slots.lock().entry(id).or_default());
        let stores = Arc::clone(&self.stores);
        let closed = ClosedStore { stores, name: store_name(id), slot: Arc::clone(&slot) };
        let retrievals = self.retrievals.clone();
        join_or_resume_panic(tokio::spawn(async move {
            let _gate = Arc::clone(&slot.gate).lock_owned().await;
            if let Some(project) = slot.current.swap(None) {
                project.keep_reads().await;
                project.owner.close().await;
                slot.filled.store(Some(Arc::new(Filled::of(&project.memory()))));
            }
            retrievals.flush().await;
            run_blocking(move || then(&closed)).await
        }))
        .await
    }

    /// Hands new access counts of all open projects to their stores.
    pub(crate) async fn keep_reads(&self) {
        let projects = self.all();
        at_once(projects.iter().map(|project| project.keep_reads())).await;
    }

    /// Closes projects that are not in `in_use` and that nobody has used for a while. Returns their
    /// number.
    pub(crate) async fn close_idle(&self, in_use: &BTreeSet<ProjectId>) -> usize {
        /// The slot's reference and the one in `idle`. With another, somebody works with it, such
        /// as an import between two of its commits.
        const UNUSED_REFERENCES: usize = 2;
        let mut idle = self.all();
        idle.retain(|project| {
            !in_use.contains(&project.id)
                && Arc::strong_count(project) <= UNUSED_REFERENCES
                && project.owner.waiting() == 0
                // A save that waits for a team's database is folded as soon as that is back.
                && project.memory().held().next().is_none()
                && project.used.lock().elapsed() >= limits::PROJECT_IDLE_AFTER
        });
        let ids = idle.iter().map(|project| project.id);
        at_once(ids.map(|id| self.close_and(id, |_| ()))).await;
        idle.len()
    }

    /// Ends comparisons of copies with teams' journals. They may take long, and decide nothing
    /// before their end.
    pub(crate) fn stop_comparing(&self) {
        self.stopping.cancel();
    }

    /// Returns a token that is cancelled when such a comparison is to end.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// Closes all projects for good, those that are being opened included.
    pub(crate) async fn close_all(&self) {
        self.stop_comparing();
        self.closed.store(true, Ordering::SeqCst);
        for project in self.all() {
            self.close_and(project.id, |_| ()).await;
        }
        // An opening that had begun before puts its project into the slot only now.
        let slots: Vec<(ProjectId, Arc<Slot>)> =
            self.slots.lock().iter().map(|(id, slot)| (*id, Arc::clone(slot))).collect();
        let left = slots.into_iter().filter(|(_, slot)| slot.is_in_use());
        at_once(left.map(|(id, _)| self.close_and(id, |_| ()))).await;
    }
}

impl Slot {
    /// Returns whether the project is open, or is being opened or closed.
    fn is_in_use(&self) -> bool {
        self.gate.try_lock().is_err() || self.current.load().is_some()
    }

    fn open(&self) -> Option<Arc<OpenProject>> {
        self.current
            .load_full()
            .filter(|project| !project.owner.is_closed() && !project.is_to_be_opened_again())
    }
}

/// Awaits all futures, but none longer than [`limits::JOB_TIME_MAX`]: its disk may not respond.
async fn at_once(all: impl Iterator<Item = impl Future<Output = ()>>) {
    let limited = |one| tokio::time::timeout(limits::JOB_TIME_MAX, one);
    futures::future::join_all(all.map(limited)).await;
}

/// Returns the name of the store of a project, or of the user's own memory.
fn store_name(id: ProjectId) -> String {
    if id.is_personal() { PERSONAL.to_owned() } else { format!("projects/{id}") }
}

/// A memory's store that nobody has open.
#[derive(Debug)]
pub(crate) struct ClosedStore {
    stores: Arc<dyn Stores<Memory>>,
    name: String,
    slot: Arc<Slot>,
}

impl ClosedStore {
    /// Notes that the memory goes back to a revision. Sessions may have seen later ones.
    pub(crate) fn note_step_back(&self, to: Revision) {
        let mut step_backs = self.slot.step_backs.lock();
        if step_backs.len() >= limits::STEP_BACKS_KEPT_MAX {
            step_backs.remove(0);
        }
        step_backs.push(StepBack { at: clock::now(), to });
    }

    /// Opens the store without a writer. It must be closed again.
    pub(crate) fn open(&self) -> Result<Opened<Memory, Box<dyn Store<Memory>>>, StoreError> {
        self.stores.open(&self.name)
    }

    /// Removes the store as a whole.
    pub(crate) fn remove(&self) -> Result<(), StoreError> {
        self.stores.remove(&self.name)
    }

    /// Renames the store, so that another can begin in its place. Returns its new place.
    pub(crate) fn set_aside(&self) -> Result<PathBuf, StoreError> {
        self.stores.set_aside(&self.name)
    }

    /// Removes the index and these damaged snapshots.
    pub(crate) fn discard_index(&self, snapshots: &[String]) -> Result<(), StoreError> {
        self.stores.discard_index(&self.name, snapshots)
    }

    /// Plans the repair of the store.
    pub(crate) fn plan_repair(&self) -> Result<RepairPlan, StoreError> {
        self.stores.plan_repair(&self.name)
    }

    /// Makes the entries of a backup the store's journal.
    pub(crate) fn restore(&self, backup: &Path) -> Result<(), StoreError> {
        self.stores.restore(&self.name, backup)
    }

    /// Repairs the store as planned.
    pub(crate) fn repair(&self, plan: &RepairPlan) -> Result<(), StoreError> {
        self.stores.repair(&self.name, plan)
    }
}

async fn open_project(
    id: ProjectId,
    stores: Arc<dyn Stores<Memory>>,
    teams: &TeamLinks,
) -> Result<Arc<OpenProject>, StoreError> {
    let directory = stores.directory(&store_name(id));
    let Opened { store, mut state, replies, report } = open_store(stores, store_name(id)).await?;
    let marks = store.marks().clone();
    let (mut link, mut renumbered) = (None, Renumbered::default());
    if let Some((journal, config)) = teams.of(&directory, state.team()).await {
        state.set_member(config.as_ref().and_then(|config| config.member.as_deref()));
        if let Some(config) = config {
            renumbered = Renumbered::read(config, &directory, &marks).await;
        }
        link = Some(TeamLink { journal, runtime: Handle::current() });
    }
    let owner = WriterHandle::start(store, state, replies, link)
        .map_err(StoreError::io("start a thread for", directory))?;
    // Others may have written while the project was closed.
    owner.follow_team();
    report.log(&if id.is_personal() {
        "the user's own memory".to_owned()
    } else {
        format!("project {id}")
    });
    let shown = marks
        .keys()
        .filter_map(|key| key.strip_prefix(NOTICE_SHOWN)?.parse().ok().map(NoticeId))
        .collect();
    let project = OpenProject {
        id,
        owner,
        report,
        shown: Mutex::new(shown),
        told: Mutex::default(),
        renumbered,
        reads: AccessCounts::of_marks(&marks),
        marks: marks.into_iter().filter(|(key, _)| key.starts_with(SHARED)).collect(),
        used: Mutex::new(clock::start()),
        opened: clock::start(),
        compaction: tokio::sync::Mutex::default(),
    };
    project.forget_dropped().await;
    Ok(Arc::new(project))
}

/// Builds a memory's search index, if that is still to do, off the runtime's threads.
pub(crate) async fn make_searchable(memory: &Arc<Memory>) {
    if memory.is_searchable() {
        return;
    }
    let memory = Arc::clone(memory);
    run_blocking(move || {
        memory.search();
    })
    .await;
}

/// Soft marks by key.
pub(crate) type Marks = BTreeMap<String, String>;

/// Opens a store that is this machine's own, and starts its writer. Also returns its soft marks.
pub(crate) async fn open_owner<M: StateMachine>(
    stores: Arc<dyn Stores<M>>,
    name: String,
) -> Result<(WriterHandle<M>, OpenReport, Marks), StoreError> {
    let directory = stores.directory(&name);
    let Opened { store, state, replies, report } = open_store(stores, name).await?;
    let marks = store.marks().clone();
    let owner = WriterHandle::start(store, state, replies, None)
        .map_err(StoreError::io("start a thread for", directory))?;
    Ok((owner, report, marks))
}

/// Opens a store on a separate thread, since that reads and may rebuild.
async fn open_store<M: StateMachine>(
    stores: Arc<dyn Stores<M>>,
    name: String,
) -> Result<Opened<M, Box<dyn Store<M>>>, StoreError> {
    run_blocking(move || stores.open(&name)).await
}

#[cfg(test)]
mod tests;
