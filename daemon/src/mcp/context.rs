//! The context of a tool's run: the calling session and the tools' operations on its project.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anchord_memory::brief::BriefMerge;
use anchord_memory::{
    Accesses, ArchivePlan, Audience, Change, CheckpointOutcome, Formula, Held, HeldKey, Memory,
    NewNote, NotesOutcome, Plan, Provenance, Reader, Record, RecordId, Refusal, RetentionParts,
    Revision, Save, SaveOutcome, Staged, Timestamp, WriteLimits, archive, in_thread,
    plan_checkpoint_within, plan_hold, plan_notes, plan_save, plan_use, refuse_rule_changes,
    render,
};

use super::answer::ToolAnswer;
use super::error::ToolError;
use crate::anchors::capture;
use crate::budgets::{self, InForce};
use crate::clock;
use crate::config::Config;
use crate::merging::MergeService;
use crate::outlines::OutlineService;
use crate::project::{
    Operation, Outcome, Reply, Transition, WriteCommand, WriteError, releasing, waits_for_team,
};
use crate::rules::RuleService;
use crate::sessions::{
    BindError, LiveSession, Session, SessionService, View, WriteOutcome, session_key,
};
use crate::store::Call;
use uuid::Uuid;

/// One call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The sessions, and the parts below them.
    pub(crate) sessions: Arc<SessionService>,
    /// Merges texts by a model, if that is configured.
    pub(crate) merging: Arc<MergeService>,
    /// Checks actions.
    pub(crate) rules: Arc<RuleService>,
    /// Makes outlines of files.
    pub(crate) outlines: Arc<OutlineService>,
    /// The calling session.
    pub(crate) session: Arc<Session>,
    /// The line of the call, if a shim sent it. A write is applied once for each line.
    pub(crate) call: Option<Call>,
    /// The reader of the answer.
    pub(crate) audience: Arc<Audience>,
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

fn failed(operation: &'static str, error: BindError) -> ToolError {
    match error {
        BindError::Write(WriteError::Refused(why)) => ToolError::failed(operation, why),
        error => error.into(),
    }
}

/// The budgets that apply to a call's notes.
#[derive(Clone, Debug)]
pub(crate) struct Budgets {
    pub(crate) project: InForce,
    /// The budget of the session's private notes.
    pub(crate) session: InForce,
}

impl Budgets {
    pub(crate) fn new(memory: &Memory, config: &Config, holder: &budgets::Holder) -> Self {
        Self {
            project: budgets::project(memory, config),
            session: budgets::session(memory, config, holder),
        }
    }
}

/// Retention at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    pub(crate) accesses: Accesses,
    pub(crate) now: Timestamp,
    /// The factor by which the project's shared records fade more slowly.
    pub(crate) factor: u32,
}

impl Ranking {
    pub(crate) fn parts(&self, record: &Record) -> RetentionParts {
        RetentionParts::of(record, &self.accesses, self.now, self.factor)
    }

    /// Returns the factor for a hit's score in a search, in (0, 1].
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
    pub(crate) fn prior(&self, record: &Record) -> f32 {
        self.parts(record).prior(record) as f32
    }

    /// Returns the score by a formula.
    pub(crate) fn score_by(&self, record: &Record, formula: Formula) -> f64 {
        self.parts(record).score_by(formula)
    }

    /// Returns the factor for a hit's score like [`Ranking::prior`], by a formula.
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
    pub(crate) fn prior_by(&self, record: &Record, formula: Formula) -> f32 {
        self.parts(record).prior_by(record, formula) as f32
    }

    /// Explains a record's retention score in words.
    pub(crate) fn explain(&self, record: &Record) -> String {
        self.parts(record).to_string()
    }
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

impl Context {
    /// Returns this call in the user's own memory. That needs no project.
    pub(crate) fn personal(&self) -> Self {
        if self.session.is_in_personal() {
            return self.clone();
        }
        Self { session: Arc::new(self.session.in_personal()), ..self.clone() }
    }

    /// Words the refusal of an operation.
    pub(crate) fn refused(&self, operation: &str, refusal: &Refusal) -> ToolError {
        ToolError::failed(operation, refusal.worded(&self.audience))
    }

    /// Returns the memory that the session reads.
    pub(crate) async fn view(&self) -> Result<View, ToolError> {
        Ok(self.session.view(&self.sessions).await?)
    }

    /// Returns the memory that the session reads, without waiting for its search index.
    pub(crate) async fn view_without_index(&self) -> Result<View, ToolError> {
        Ok(self.session.view_without_index(&self.sessions).await?)
    }

    /// Decides on the newest memory and makes the result durable. Returns the outcome in words,
    /// including what was set aside to stay within the budgets of notes.
    pub(crate) async fn write<O: Outcome>(
        &self,
        operation: impl Into<Operation>,
        part: Staged,
        plan: impl WritePlan<O>,
        words: impl FnOnce(&O) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        self.answer(self.commit(operation, part, plan).await?, words).await
    }

    /// Answers a write: the outcome in words, then what was set aside to stay within the budgets.
    pub(crate) async fn answer<O>(
        &self,
        written: WriteOutcome<Reply<O>>,
        words: impl FnOnce(&O) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let WriteOutcome { outcome, records, append, compacted } = written;
        let text = outcome.in_words(words) + &self.gave_up(&compacted).await?;
        Ok(ToolAnswer { text, records, append, ..ToolAnswer::default() })
    }

    /// Decides on the newest memory and makes the result durable. Paths beneath the project's root
    /// are relative to it in the `part` that `plan` gets.
    pub(crate) async fn commit<O: Outcome>(
        &self,
        operation: impl Into<Operation>,
        part: Staged,
        plan: impl WritePlan<O>,
    ) -> Result<WriteOutcome<Reply<O>>, ToolError> {
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
        let call = self.call.as_ref();
        let written = self.commit_as(call, operation, part.clone(), in_order).await;
        if !waits.load(Ordering::SeqCst) {
            return written;
        }
        // What the session saved before and the team's database does not have yet comes first.
        let earlier = self.release_earlier(|_| true).await;
        earlier.map_err(|error| failed(operation.name(), error.into()))?;
        let plan = move |memory: &Memory, by: &Provenance, part: Staged| plan(memory, by, part);
        self.commit_as(call, operation, part, plan).await
    }

    /// Commits like [`Context::commit`], as the line of this call or as none.
    async fn commit_as<O: Outcome>(
        &self,
        call: Option<&Call>,
        operation: Operation,
        part: Staged,
        plan: impl WritePlan<O>,
    ) -> Result<WriteOutcome<Reply<O>>, ToolError> {
        let place = self.session.place(&self.sessions).await?;
        let part = match place.root().and_then(|root| root.to_str()) {
            Some(root) => part.relative_to(root),
            None => part,
        };
        let part = match place.root() {
            Some(root) => capture(root, part).await,
            None => part,
        };
        let audience = Arc::clone(&self.audience);
        let is_person = matches!(*audience, Audience::Person(_));
        let worded = move |refusal: Refusal| refusal.worded(&audience);
        if self.session.project_id().is_none() && self.view().await?.project.is_none() {
            // The write would create the project. A call that changes nothing must not do that.
            let by = self.session.provenance(clock::now());
            let plan = plan(&Memory::default(), &by, part.clone())
                .map_err(|refusal| self.refused(operation.name(), &refusal))?;
            if plan.changes.is_empty() {
                return Ok(WriteOutcome::nothing(Reply::Outcome(plan.outcome)));
            }
        }
        let session = Arc::clone(&self.session);
        let command: WriteCommand<Memory, Reply<O>> = Arc::new(move |memory, now| {
            let Plan { changes, outcome } =
                plan(memory, &session.provenance(now), part.clone()).map_err(&worded)?;
            if !is_person {
                refuse_rule_changes(memory, &changes).map_err(&worded)?;
            }
            Ok(Transition { changes, outcome: Reply::Outcome(outcome) })
        });
        let written = self.session.write(&self.sessions, call, operation, command);
        written.await.map_err(|error| failed(operation.name(), error))
    }

    /// Returns the answer that this memory gave to the same call before, if it did.
    pub(crate) async fn answered<O: Outcome>(&self) -> Result<Option<Reply<O>>, ToolError> {
        let (Some(call), Some(project)) = (&self.call, self.view().await?.project) else {
            return Ok(None);
        };
        // This decision refuses to write, so only a stored answer comes back.
        let command: WriteCommand<Memory, Reply<O>> = Arc::new(|_, _| Err(String::new()));
        let session = Some(self.session.id.clone());
        match project
            .owner
            .write(session, Some(call.clone()), Operation::staying("ask"), command)
            .await
        {
            Ok(written) => Ok(Some(written.outcome)),
            Err(WriteError::Refused(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Stages a part within a tool set's limits. `words` renders the outcome for the tool set.
    pub(crate) async fn checkpoint(
        &self,
        part: Staged,
        limits: WriteLimits,
        words: fn(&CheckpointOutcome) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let key = session_key(&self.session);
        let plan = move |memory: &Memory, by: &Provenance, part| {
            let (part, bound) = in_thread(memory, &key, part)?;
            Ok(plan_checkpoint_within(memory, by, part, &limits)?.and(bound))
        };
        self.write(Operation::staying("checkpoint"), part, plan, words).await
    }

    /// Folds staged work and `part` into shared memory.
    pub(crate) async fn save(
        &self,
        part: Staged,
        save: SaveCall,
    ) -> Result<WriteOutcome<Reply<SaveOutcome>>, ToolError> {
        let archive = self.archive_plan().await?;
        let (started, key) = (self.session.started, session_key(&self.session));
        if self.view().await?.memory.team().is_some() {
            return self.save_in_team(part, save, archive).await;
        }
        let plan = move |memory: &Memory, by: &Provenance, part| {
            let (part, bound) = in_thread(memory, &key, part)?;
            let save = save.with(part, started, archive.as_ref());
            Ok(plan_save(memory, by, save)?.and(bound))
        };
        self.commit("save", part, plan).await
    }

    /// Saves into a memory that a team shares. The save is held on this machine first, which needs
    /// no database, and then folded, which does.
    async fn save_in_team(
        &self,
        part: Staged,
        save: SaveCall,
        archive: Option<ArchivePlan>,
    ) -> Result<WriteOutcome<Reply<SaveOutcome>>, ToolError> {
        if let Some(answered) = self.answered().await? {
            return Ok(WriteOutcome::nothing(answered));
        }
        let key = match &self.call {
            Some(call) => HeldKey { instance: Arc::clone(&call.instance), number: call.number },
            None => HeldKey { instance: Uuid::new_v4().to_string().into(), number: 1 },
        };
        let (started, thread) = (self.session.started, session_key(&self.session));
        let waits = key.clone();
        let hold = move |memory: &Memory, by: &Provenance, part| {
            let (part, bound) = in_thread(memory, &thread, part)?;
            Ok(plan_hold(memory, by, &waits, save.with(part, started, None))?.and(bound))
        };
        self.commit_as(None, Operation::staying("hold"), part, hold).await?;
        let fold = releasing(key.clone(), archive);
        let folded = match self.release_earlier(|earlier| *earlier != key).await {
            Ok(()) => self.session.write(&self.sessions, self.call.as_ref(), "save", fold).await,
            Err(error) => Err(error.into()),
        };
        let error = match folded {
            Err(BindError::Write(error)) => error,
            written => return written.map_err(|error| failed("save", error)),
        };
        if let Some(why) = waits_for_team(&error) {
            tracing::info!(session = %self.session.id, why, "a save waits for the team");
            return Ok(WriteOutcome::nothing(Reply::Words(render::save_waits(why))));
        }
        if let (WriteError::Refused(_), Some(project)) = (&error, self.session.project()) {
            let restaged = project.restage(&key).await;
            restaged.map_err(|error| failed("save", error.into()))?;
        }
        Err(failed("save", error.into()))
    }

    /// Folds what this session saved before and the team's database does not have yet.
    async fn release_earlier(&self, wanted: impl Fn(&HeldKey) -> bool) -> Result<(), WriteError> {
        let Some(project) = self.session.project() else { return Ok(()) };
        let earlier = |held: &Held| held.session == self.session.id && wanted(&held.key);
        project.release(earlier).await.map(drop)
    }

    /// Plans what a save should archive, if memory is too large. This reads files, so it is not
    /// part of the decision.
    async fn archive_plan(&self) -> Result<Option<ArchivePlan>, ToolError> {
        let view = self.view().await?;
        let now = clock::now();
        let gone = view.absent(archive::candidates(&view.memory, now)).await;
        let topic = |session: &Session| view.memory.bound(&session_key(session)).map(str::to_owned);
        let sessions = self.sessions.table.all();
        let bound = sessions.iter().filter_map(|status| topic(&status.session)).collect();
        let plan = archive::plan(&view.memory, now, &gone, &bound);
        Ok((!plan.is_empty()).then_some(plan))
    }

    /// Words what this conversation has staged but not saved.
    pub(crate) fn staged(&self, view: &View) -> Option<String> {
        self.session.staged(&self.sessions, view)
    }

    /// Stores notes. `words` renders the outcome for the tool set.
    pub(crate) async fn note(
        &self,
        notes: Vec<Result<NewNote, Refusal>>,
        words: fn(&NotesOutcome, &Budgets) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let plan = move |memory: &Memory, by: &Provenance, _| plan_notes(memory, by, notes.clone());
        let written = self.commit("note", Staged::default(), plan).await?;
        let view = self.view().await?;
        let budgets = Budgets::new(&view.memory, &self.sessions.config, &self.holder());
        self.answer(written, |outcome| words(outcome, &budgets)).await
    }

    /// Returns the data by which retention ranks records now.
    pub(crate) fn ranking(&self, view: &View, now: Timestamp) -> Ranking {
        let settings = budgets::project_settings(&view.memory, &self.sessions.config);
        Ranking { accesses: view.accesses(), now, factor: settings.half_life_factor() }
    }

    /// Returns the holder of the budget for the session's private notes.
    pub(crate) fn holder(&self) -> budgets::Holder {
        self.session.holder()
    }

    /// Reactivates a record that was read, and words what was set aside to make room for it. A
    /// failure does not stop the read: at worst the record stays archived.
    pub(crate) async fn used(&self, id: RecordId) -> String {
        let session = Arc::clone(&self.session);
        let command: WriteCommand<Memory> = Arc::new(move |memory, now| {
            let plan = plan_use(memory, id, &session.provenance(now));
            Ok(Transition::silent(plan.map(|plan| plan.changes).unwrap_or_default()))
        });
        match self.session.write(&self.sessions, None, Operation::staying("use"), command).await {
            Ok(wrote) => {
                // The answer may have room only for the record itself.
                let outcomes = wrote.compacted.iter().map(|compacted| &compacted.outcome);
                outcomes.filter(|outcome| !outcome.is_nothing()).map(render::made_room).collect()
            }
            Err(error) => {
                tracing::debug!(%error, %id, "a record that was used stays archived");
                String::new()
            }
        }
    }

    /// Returns this session as a reader of records.
    pub(crate) fn reader(&self) -> Reader {
        self.session.reader(&self.sessions)
    }

    /// Returns this session as a reader for operations on single records.
    pub(crate) fn keeper(&self) -> Reader {
        self.session.keeper(&self.sessions)
    }

    /// Returns the other live sessions in this project, oldest first.
    pub(crate) fn others_live(&self, view: &View) -> Vec<LiveSession> {
        self.session.others_live(&self.sessions, view)
    }
}
