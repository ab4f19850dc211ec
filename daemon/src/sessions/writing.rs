//! A session's writes: queued in its project, and kept within the budgets of notes.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Change, Memory, Provenance, Record, RecordId, Timestamp, plan_use};

use super::error::BindError;
use super::service::SessionService;
use super::{Session, end};
use crate::project::{
    Compacted, OpenProject, Operation, Outcome, Transition, WriteCommand, WriteError, WriteSet,
    Written, add_append_times,
};
use crate::store::Call;
use crate::{clock, limits};

/// A session's write that is on disk.
#[derive(Clone, Debug)]
pub(crate) struct WriteOutcome<O> {
    /// The outcome of the decision.
    pub(crate) outcome: O,
    /// The records that it wrote, at their new versions.
    pub(crate) records: Vec<Arc<Record>>,
    /// The time that the journal took for the write and for the compaction after it.
    pub(crate) append: Option<Duration>,
    /// The compactions that kept notes within their budgets.
    pub(crate) compacted: Vec<Compacted>,
}

impl<O> WriteOutcome<O> {
    /// Creates the outcome of a decision that changes nothing.
    pub(crate) fn nothing(outcome: O) -> Self {
        Self { outcome, records: Vec::new(), append: None, compacted: Vec::new() }
    }
}

impl Session {
    /// Queues a write, waits until it is on disk, and then compacts notes that exceed their budget.
    pub(crate) async fn write<O: Outcome>(
        &self,
        service: &SessionService,
        call: Option<&Call>,
        operation: impl Into<Operation>,
        command: WriteCommand<Memory, O>,
    ) -> Result<WriteOutcome<O>, BindError> {
        let written = self.write_alone(service, call, operation, command).await?;
        let records = written.changes.iter().filter_map(Change::record).cloned().collect();
        let (write_set, outcome, append) = WriteSet::split(written);
        let compacted = match self.project() {
            Some(project) => self.keep_to_budget(service, &project, write_set).await,
            None => Vec::new(),
        };
        let append = compacted.iter().fold(append, |all, more| add_append_times(all, more.append));
        Ok(WriteOutcome { outcome, records, append, compacted })
    }

    /// Queues a write and waits until it is on disk, without compacting. Opens the project again if
    /// it was closed in between.
    pub(super) async fn write_alone<O: Outcome>(
        &self,
        service: &SessionService,
        call: Option<&Call>,
        operation: impl Into<Operation>,
        command: WriteCommand<Memory, O>,
    ) -> Result<Written<Memory, O>, BindError> {
        let operation = operation.into();
        let (id, written) = self
            .in_project(service, |project| {
                let (session, call) = (self.id.clone(), call.cloned());
                let command = Arc::clone(&command);
                async move {
                    let written = project.owner.write(Some(session), call, operation, command);
                    Ok((project.id, written.await?))
                }
            })
            .await?;
        if !self.is_ephemeral {
            end::after_write(service, self, id).await;
        }
        Ok(written)
    }

    /// Runs `work` on the session's project, and once more if it was closed in between. If its copy
    /// has to follow a purge first, waits for that as long as a caller may wait.
    pub(super) async fn in_project<T, F: Future<Output = Result<T, WriteError>>>(
        &self,
        service: &SessionService,
        work: impl Fn(Arc<OpenProject>) -> F,
    ) -> Result<T, BindError> {
        let until = clock::start() + limits::TEAM_WAIT_MAX;
        let (mut project, mut was_closed) = (self.bound(service).await?, false);
        let id = project.id;
        loop {
            match work(Arc::clone(&project)).await {
                Err(WriteError::Closed) if !was_closed => was_closed = true,
                Err(error) if error.is_repeatable() && project.is_apart() => {
                    if clock::start() >= until {
                        return Err(error.into());
                    }
                    service.projects.followed(id, until).await?;
                    was_closed = false;
                }
                done => return Ok(done?),
            }
            project = service.projects.open_project(id).await?;
            self.works_in(Some(&project));
        }
    }

    /// Reactivates a record that was read, if it is archived or summarised. Returns what was set
    /// aside to make room for it.
    pub(crate) async fn reactivate(
        self: &Arc<Self>,
        service: &SessionService,
        id: RecordId,
    ) -> Result<Vec<Compacted>, BindError> {
        let session = Arc::clone(self);
        let command: WriteCommand<Memory> = Arc::new(move |memory, now| {
            let plan = plan_use(memory, id, &session.provenance(now));
            Ok(Transition::silent(plan.map(|plan| plan.changes).unwrap_or_default()))
        });
        let using = self.write(service, None, Operation::passing("use"), command);
        if self.project().is_none_or(|project| project.owner.team().is_none()) {
            return Ok(using.await?.compacted);
        }
        // The write continues. The reader does not wait for the team's database.
        match tokio::time::timeout(limits::TEAM_TURN_WAIT_MAX, using).await {
            Ok(written) => Ok(written?.compacted),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Returns whether a write of the session waits for its team's database.
    pub(crate) fn waits_for_team(&self) -> bool {
        self.project().is_some_and(|project| project.owner.waits_for_team(&self.id))
    }

    /// Returns the provenance of this session's records.
    pub(crate) fn provenance(&self, time: Timestamp) -> Provenance {
        Provenance::new(self.id.clone(), self.client(), time)
    }
}
