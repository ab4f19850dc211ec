//! The context of a tool's run: the calling session and the tools' operations on its project.

use std::sync::Arc;

use anchord_memory::{
    Accesses, Audience, CheckpointOutcome, Formula, Memory, NewNote, NotesOutcome, Provenance,
    Reader, Record, RecordId, Refusal, RetentionParts, SaveOutcome, Staged, Timestamp, WriteLimits,
    plan_notes, render,
};

use super::answer::ToolAnswer;
use super::error::ToolError;
use crate::budgets::{self, InForce};
use crate::config::Config;
use crate::merging::MergeService;
use crate::outlines::OutlineService;
use crate::project::{Operation, Outcome, Reply, WriteError};
use crate::sessions::{
    BindError, LiveSession, SaveCall, Saved, Session, SessionCall, SessionService, View, Waits,
    WriteOutcome, WritePlan,
};
use crate::store::{Away, Call, StoreError};
use crate::zipmem_files::ZipmemMirror;

/// One call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The sessions, and the parts below them.
    pub(crate) sessions: Arc<SessionService>,
    /// Merges texts by a model, if that is configured.
    pub(crate) merging: Arc<MergeService>,
    /// Makes outlines of files.
    pub(crate) outlines: Arc<OutlineService>,
    /// Writes zipmem's files, if that is configured.
    pub(crate) zipmem: Arc<ZipmemMirror>,
    /// The calling session.
    pub(crate) session: Arc<Session>,
    /// The line of the call, if a shim sent it. A write is applied once for each line.
    pub(crate) call: Option<Call>,
    /// The reader of the answer.
    pub(crate) audience: Arc<Audience>,
}

/// Words the failure of an operation. An agent is told what needs no database of a team.
fn failed(operation: &'static str, error: BindError, audience: &Audience) -> ToolError {
    match error {
        BindError::Write(WriteError::Refused(why)) => {
            ToolError::failed(operation, why.worded(audience))
        }
        BindError::Write(WriteError::NotSaved(why))
            if *audience == Audience::Agent && matches!(*why, StoreError::TeamAway(_)) =>
        {
            ToolError::caller(format!(
                "{why}; stage the work with `memory_checkpoint`, which needs no database"
            ))
        }
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

    /// Returns the memory that the session reads, once it can be searched without a wait.
    pub(crate) async fn searchable_view(&self) -> Result<View, ToolError> {
        Ok(self.session.searchable_view(&self.sessions).await?)
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
        let text = outcome.in_words(words) + &self.word_set_aside(&compacted).await?;
        Ok(ToolAnswer { text, records, append, ..ToolAnswer::default() })
    }

    /// Returns this call to the session, for its writes.
    fn session_call(&self) -> SessionCall<'_> {
        SessionCall {
            service: &self.sessions,
            session: &self.session,
            line: self.call.as_ref(),
            audience: &self.audience,
        }
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
        let written = self.session_call().commit(operation, part, plan).await;
        written.map_err(|error| failed(operation.name(), error, &self.audience))
    }

    /// Returns the answer that this memory gave to the same call before, if it did.
    pub(crate) async fn answered<O: Outcome>(&self) -> Result<Option<Reply<O>>, ToolError> {
        Ok(self.session_call().answered().await?)
    }

    /// Stages a part within a tool set's limits. `words` renders the outcome for the tool set.
    pub(crate) async fn checkpoint(
        &self,
        part: Staged,
        limits: WriteLimits,
        words: fn(&CheckpointOutcome) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let staged = self.session_call().checkpoint(part, limits).await;
        let staged = staged.map_err(|error| failed("checkpoint", error, &self.audience));
        self.answer(staged?, words).await
    }

    /// Folds staged work and `part` into shared memory.
    pub(crate) async fn save(
        &self,
        part: Staged,
        save: SaveCall,
    ) -> Result<WriteOutcome<Reply<SaveOutcome>>, ToolError> {
        match self.session_call().save(part, save).await {
            Ok(Saved::Folded(written)) => Ok(*written),
            Ok(Saved::Held(waits)) => {
                let waits = match waits {
                    Waits::Here => render::SAVE_WAITS_HERE.to_owned(),
                    Waits::Team(fault) => {
                        let once = match fault.away {
                            Away::Unreached | Away::Slow => render::SharedOnce::Back,
                            Away::Refused => render::SharedOnce::Taken,
                            Away::Barred => render::SharedOnce::Mended,
                        };
                        render::save_waits(&fault.why, once)
                    }
                };
                Ok(WriteOutcome::nothing(Reply::Words(waits)))
            }
            Err(error) => Err(failed("save", error, &self.audience)),
        }
    }

    /// Words what this conversation has staged but not saved.
    pub(crate) fn staged(&self, view: &View) -> Option<String> {
        self.session.staged(&self.sessions, view)
    }

    /// Stores notes. `words` renders the outcome for the tool set. `as_called` words a refusal in
    /// the terms of the call.
    pub(crate) async fn note(
        &self,
        notes: Vec<Result<NewNote, Refusal>>,
        as_called: impl Fn(Refusal) -> Refusal + Clone + Send + Sync + 'static,
        words: impl FnOnce(&NotesOutcome, &Budgets) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let plan = move |memory: &Memory, by: &Provenance, _| {
            plan_notes(memory, by, notes.clone()).map_err(&as_called)
        };
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
        match self.session.reactivate(&self.sessions, id).await {
            Ok(compacted) => {
                // The answer may have room only for the record itself.
                let outcomes = compacted.iter().map(|compacted| &compacted.outcome);
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

#[cfg(test)]
mod tests {
    use anchord_memory::Shell;

    use super::*;
    use crate::store::TeamFault;

    #[test]
    fn an_agent_alone_is_told_of_a_tool_when_the_teams_database_is_away() {
        let said = |audience| {
            let why = "failed to reach the database".to_owned();
            let away = StoreError::TeamAway(TeamFault { away: Away::Unreached, why });
            let error = BindError::Write(WriteError::NotSaved(Arc::new(away)));
            failed("note", error, &audience).to_string()
        };
        let to_agent = said(Audience::Agent);
        assert!(to_agent.ends_with("`memory_checkpoint`, which needs no database"), "{to_agent}");
        let to_person = said(Audience::Person(Shell::default()));
        assert!(to_person.ends_with("failed to reach the database"), "{to_person}");
    }

    #[test]
    fn after_an_unknown_outcome_a_search_is_advised_only_once_the_database_answers() {
        let (away, why) = (Away::Slow, "it is slow".to_owned());
        let silent = StoreError::TeamSilent(TeamFault { away, why });
        let error = BindError::Write(WriteError::NotSaved(Arc::new(silent)));
        let said = failed("note", error, &Audience::Agent).to_string();
        let (before, after) = said.split_once("before it answers, which `memory_status`").unwrap();
        assert!(before.contains("outcome unknown: ") && after.contains("search then"), "{said}");
    }
}
