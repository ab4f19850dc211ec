//! The policy of a call's writes: what is planned, in which order, and what waits for a team.
//!
//! In a team's project, a save is held on this machine first, which needs no database, and then
//! folded, which does. A save that still waits is folded before a later shared write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anchord_memory::brief::BriefMerge;
use anchord_memory::{
    ArchivePlan, Audience, Change, CheckpointOutcome, Held, HeldKey, Memory, Plan, Provenance,
    Refusal, Revision, Save, SaveOutcome, Staged, Timestamp, ToldBy, WriteLimits, archive,
    in_conversation, plan_checkpoint_within, plan_hold, plan_save, refuse_rule_changes,
};
use uuid::Uuid;

use super::error::BindError;
use super::service::SessionService;
use super::{Session, WriteOutcome, session_key};
use crate::anchors::capture;
use crate::clock;
use crate::project::{
    CommandError, OpenProject, Operation, Outcome, Reply, Transition, WriteCommand, WriteError,
    own_stored, releasing, waits_for_team,
};
use crate::store::{Call, StateMachine as _, TeamFault};

/// A call of a session that may write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionCall<'a> {
    pub(crate) service: &'a SessionService,
    pub(crate) session: &'a Arc<Session>,
    /// The line of the call, if a shim sent it. A write is applied once for each line.
    pub(crate) line: Option<&'a Call>,
    /// The reader of the answer. Only a person may change rules.
    pub(crate) audience: &'a Arc<Audience>,
}

/// A function that plans a write. It gets the memory at that time, the provenance, and the part
/// that the call stages.
pub(crate) trait WritePlan<O>:
    Fn(&Memory, &Provenance, Staged) -> Result<Plan<O>, Refusal> + Send + Sync + 'static
{
}

impl<O, P> WritePlan<O> for P where
    P: Fn(&Memory, &Provenance, Staged) -> Result<Plan<O>, Refusal> + Send + Sync + 'static
{
}

/// The arguments of a save, besides its items.
#[derive(Clone, Debug, Default)]
pub(crate) struct SaveCall {
    /// The description of the session's work.
    pub(crate) session_summary: String,
    /// The revision that memory must be at.
    pub(crate) expected_revision: Option<Revision>,
    /// The limits of the items.
    pub(crate) limits: WriteLimits,
    /// A merge of a brief.
    pub(crate) merge: Option<Arc<BriefMerge>>,
}

impl SaveCall {
    /// Returns the save of a part.
    fn with<'a>(
        &'a self,
        part: Staged,
        started: Timestamp,
        archive: Option<&'a ArchivePlan>,
    ) -> Save<'a> {
        Save {
            started,
            session_summary: &self.session_summary,
            part,
            expected_revision: self.expected_revision,
            merge: self.merge.as_deref(),
            limits: self.limits,
            archive,
        }
    }
}

/// The end of a save that was not refused.
#[derive(Debug)]
pub(crate) enum Saved {
    /// It is in shared memory.
    Folded(Box<WriteOutcome<Reply<SaveOutcome>>>),
    /// It is held on this machine, and folded later.
    Held(Waits),
}

/// The reason why a held save waits.
#[derive(Debug)]
pub(crate) enum Waits {
    /// The team's database did not take it.
    Team(TeamFault),
    /// This machine could not fold it now.
    Here,
}

impl Waits {
    /// Returns why a save still waits after a failed fold. A refused one does not.
    fn after(error: &BindError) -> Option<Self> {
        match error {
            BindError::Write(WriteError::Refused(_)) => None,
            BindError::Write(error) => Some(waits_for_team(error).map_or(Self::Here, Self::Team)),
            _ => Some(Self::Here),
        }
    }
}

impl Saved {
    fn folded(written: WriteOutcome<Reply<SaveOutcome>>) -> Self {
        Self::Folded(Box::new(written))
    }
}

impl SessionCall<'_> {
    /// Decides on the newest memory and makes the result durable. Paths beneath the project's root
    /// are relative to it in the `part` that `plan` gets.
    pub(crate) async fn commit<O: Outcome>(
        self,
        operation: impl Into<Operation>,
        part: Staged,
        plan: impl WritePlan<O>,
    ) -> Result<WriteOutcome<Reply<O>>, BindError> {
        let operation = operation.into();
        let plan = Arc::new(plan);
        let waits = Arc::new(AtomicBool::new(false));
        let in_order = {
            let (plan, waits, session) =
                (Arc::clone(&plan), Arc::clone(&waits), self.session.id.clone());
            move |memory: &Memory, by: &Provenance, part: Staged| {
                let planned = plan(memory, by, part)?;
                let earlier = memory.held().any(|held| held.session == session);
                if earlier && planned.changes.iter().any(Change::is_shared) {
                    waits.store(true, Ordering::SeqCst);
                    return Err(Refusal::invalid("write", "comes after a save that still waits"));
                }
                Ok(planned)
            }
        };
        // No database is asked whether that refusal is of its newest commit.
        let staying = Operation::staying(operation.name());
        let first = if self.has_earlier() { staying } else { operation };
        let written = self.commit_now(first, part.clone(), in_order).await;
        // It may have been decided again, after the earlier saves were folded.
        if written.is_ok() || !waits.load(Ordering::SeqCst) {
            return written;
        }
        // What the session saved before and the team's database does not have yet comes first.
        match self.release_earlier(|_| true).await {
            Ok(()) => {}
            Err(BindError::Write(error)) => {
                return Err(self.keep_own::<O>(operation, part, plan, error).await.into());
            }
            Err(error) => return Err(error),
        }
        let plan = move |memory: &Memory, by: &Provenance, part: Staged| plan(memory, by, part);
        self.commit_now(operation, part, plan).await
    }

    /// Commits the private part of a write, which need not wait for the team. Returns the failure
    /// of the earlier save, which is also that of the shared part.
    async fn keep_own<O: Outcome>(
        self,
        operation: Operation,
        part: Staged,
        plan: Arc<impl WritePlan<O>>,
        error: WriteError,
    ) -> WriteError {
        if waits_for_team(&error).is_none() {
            return error;
        }
        let own = move |memory: &Memory, by: &Provenance, part: Staged| {
            let Plan { changes, outcome } = plan(memory, by, part)?;
            Ok(Plan { changes: Memory::split(changes).before, outcome })
        };
        // The line is that of the whole write, which was not made.
        let unnumbered = Self { line: None, ..self };
        match unnumbered.commit_now(Operation::staying(operation.name()), part, own).await {
            Ok(written) if written.records.is_empty() => error,
            Ok(_) => own_stored(error),
            Err(refused) => {
                tracing::warn!(session = %self.session.id, %refused, "a part was not stored");
                error
            }
        }
    }

    /// Commits like [`Self::commit`], without regard to earlier saves that wait.
    async fn commit_now<O: Outcome>(
        self,
        operation: Operation,
        part: Staged,
        plan: impl WritePlan<O>,
    ) -> Result<WriteOutcome<Reply<O>>, BindError> {
        let place = self.session.place(self.service).await?;
        let part = match place.root().and_then(|root| root.to_str()) {
            Some(root) => part.relative_to(root),
            None => part,
        };
        let part = match place.root() {
            Some(root) => capture(root, part).await,
            None => part,
        };
        let is_person = matches!(**self.audience, Audience::Person(_));
        if self.session.project_id().is_none()
            && self.session.view(self.service).await?.project.is_none()
        {
            // The write would create the project. A call that changes nothing must not do that.
            let by = self.session.provenance(clock::now());
            let plan = plan(&Memory::default(), &by, part.clone())
                .map_err(|refusal| WriteError::Refused(refusal.into()))?;
            if plan.changes.is_empty() {
                return Ok(WriteOutcome::nothing(Reply::Outcome(plan.outcome)));
            }
        }
        let session = Arc::clone(self.session);
        let command: WriteCommand<Memory, Reply<O>> = Arc::new(move |memory, now| {
            let Plan { changes, outcome } = plan(memory, &session.provenance(now), part.clone())?;
            if !is_person {
                refuse_rule_changes(memory, &changes)?;
            }
            Ok(Transition { changes, outcome: Reply::Outcome(outcome) })
        });
        self.session.write(self.service, self.line, operation, command).await
    }

    /// Stages a part within a tool set's limits.
    pub(crate) async fn checkpoint(
        self,
        part: Staged,
        limits: WriteLimits,
    ) -> Result<WriteOutcome<Reply<CheckpointOutcome>>, BindError> {
        let key = session_key(self.session);
        let plan = move |memory: &Memory, by: &Provenance, part| {
            let (part, bound) = in_conversation(memory, &key, part)?;
            Ok(plan_checkpoint_within(memory, by, part, &limits)?.and(bound))
        };
        self.commit(Operation::staying("checkpoint"), part, plan).await
    }

    /// Folds staged work and `part` into shared memory.
    pub(crate) async fn save(self, part: Staged, save: SaveCall) -> Result<Saved, BindError> {
        let archive = self.archive_plan().await?;
        if self.session.view(self.service).await?.memory.team().is_some() {
            return self.save_in_team(part, save, archive).await;
        }
        let (started, key) = (self.session.started, session_key(self.session));
        let plan = move |memory: &Memory, by: &Provenance, part| {
            let (part, bound) = in_conversation(memory, &key, part)?;
            let save = save.with(part, started, archive.as_ref());
            Ok(plan_save(memory, by, save)?.and(bound))
        };
        self.commit("save", part, plan).await.map(Saved::folded)
    }

    /// Saves into a memory that a team shares: holds the save, and then folds it.
    async fn save_in_team(
        self,
        part: Staged,
        save: SaveCall,
        archive: Option<ArchivePlan>,
    ) -> Result<Saved, BindError> {
        if let Some(answered) = self.answered().await? {
            return Ok(Saved::folded(WriteOutcome::nothing(answered)));
        }
        let key = match self.line {
            Some(line) => HeldKey { instance: Arc::clone(&line.instance), number: line.number },
            None => HeldKey { instance: Uuid::new_v4().to_string().into(), number: 1 },
        };
        let (started, conversation) = (self.session.started, session_key(self.session));
        let held_as = key.clone();
        let hold = move |memory: &Memory, by: &Provenance, part| {
            let (part, bound) = in_conversation(memory, &conversation, part)?;
            Ok(plan_hold(memory, by, &held_as, save.with(part, started, None))?.and(bound))
        };
        // The line is that of the fold.
        let unnumbered = Self { line: None, ..self };
        unnumbered.commit_now(Operation::staying("hold"), part, hold).await?;
        let fold = releasing(key.clone(), archive, ToldBy::Reply);
        let folded = match self.release_earlier(|earlier| *earlier != key).await {
            Ok(()) => {
                let save = Operation::releasing("save");
                self.session.write(self.service, self.line, save, fold).await
            }
            Err(error) => Err(error),
        };
        let error = match folded {
            Ok(folded) => return Ok(Saved::folded(folded)),
            Err(error) => error,
        };
        if let Some(waits) = Waits::after(&error) {
            tracing::info!(session = %self.session.id, why = %error, "a save waits for the team");
            return Ok(Saved::Held(waits));
        }
        let restaged = self.session.in_project(self.service, |project| {
            let key = key.clone();
            async move { project.restage(&key).await }
        });
        restaged.await?;
        Err(error)
    }

    /// Returns the answer that this memory gave to the same call before, if it did.
    pub(crate) async fn answered<O: Outcome>(self) -> Result<Option<Reply<O>>, BindError> {
        let Some(line) = self.line else { return Ok(None) };
        let Some(project) = self.session.view(self.service).await?.project else {
            return Ok(None);
        };
        // Only a stored answer comes back.
        let command: WriteCommand<Memory, Reply<O>> =
            Arc::new(|_, _| Err(CommandError::NotAnswered));
        let session = Some(self.session.id.clone());
        let asked = Operation::staying("ask");
        match project.owner.write(session, Some(line.clone()), asked, command).await {
            Ok(written) => Ok(Some(written.outcome)),
            Err(WriteError::Refused(CommandError::NotAnswered)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the session saved something before that the team's database does not have
    /// yet.
    fn has_earlier(self) -> bool {
        let memory = self.session.project().map(|project| project.memory());
        memory.is_some_and(|memory| memory.held_of(&self.session.id).next().is_some())
    }

    /// Folds what the session saved before and the team's database does not have yet.
    async fn release_earlier(self, wanted: impl Fn(&HeldKey) -> bool) -> Result<(), BindError> {
        let earlier = |held: &Held| held.session == self.session.id && wanted(&held.key);
        let release =
            |project: Arc<OpenProject>| async move { project.release(&earlier).await.map(drop) };
        self.session.in_project(self.service, release).await
    }

    /// Plans what a save should archive, if memory is too large. This reads files, so it is not
    /// part of the decision.
    async fn archive_plan(self) -> Result<Option<ArchivePlan>, BindError> {
        let view = self.session.view(self.service).await?;
        let now = clock::now();
        let gone = view.absent(archive::candidates(&view.memory, now)).await;
        let topic = |session: &Session| view.memory.bound(&session_key(session)).map(str::to_owned);
        let sessions = self.service.table.all();
        let bound = sessions.iter().filter_map(|status| topic(&status.session)).collect();
        let plan = archive::plan(&view.memory, now, &gone, &bound);
        Ok((!plan.is_empty()).then_some(plan))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreError;

    #[test]
    fn a_held_save_waits_whatever_keeps_it_except_a_refusal() {
        let after = |error: WriteError| Waits::after(&error.into());
        let refused = Refusal::invalid("write", "it is refused");
        assert!(after(WriteError::Refused(refused.into())).is_none());
        assert!(matches!(after(WriteError::Closed), Some(Waits::Here)));
        assert!(matches!(after(WriteError::Internal), Some(Waits::Here)));
        let away = StoreError::TeamAway(TeamFault::refused("it is away".to_owned()));
        let away = after(WriteError::NotSaved(Arc::new(away)));
        assert!(matches!(away, Some(Waits::Team(_))), "{away:?}");
        let stopping = Waits::after(&BindError::Store(StoreError::ShuttingDown));
        assert!(matches!(stopping, Some(Waits::Here)), "{stopping:?}");
    }
}
