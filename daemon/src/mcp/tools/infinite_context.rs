//! `--tools infinite-context`: that system's tool names, parameters and replies over the brief, the
//! topic `main`.
//!
//! A checkpoint is one commit. Checkpoints are found again by their operation, in the versions of
//! the brief's record.

use std::ops::ControlFlow;
use std::sync::Arc;

use anchord_memory::brief::Brief;
use anchord_memory::render::StateCall;
use anchord_memory::render::infinite_context::{self as form, Checkpointed, StatusView};
use anchord_memory::{
    BriefOutcome, LaterChanges, MAIN, Memory, Provenance, Record, RecordId, Revision, Staged,
    Timestamp, UndoOutcome, UndoTarget, Undone, Version, import, limits, plan_bind, plan_brief,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::brief::{BriefCall, WHOLE_CHARS, brief};
use super::history::read_journal;
use super::rollback::{Undo, take_back};
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::project::Reply;
use crate::project::history::{HistoryError, HistoryReader};
use crate::sessions::{View, session_key};

/// The operation of a checkpoint, by which a rollback finds it.
const CHECKPOINT: &str = "checkpoint brief";
/// The operation of a rollback.
const ROLLBACK: &str = "roll back brief";

#[derive(Debug, Deserialize, JsonSchema)]
struct CheckpointParams {
    /// What happened, was decided and is open. Headings and labels such as Task:, Files:,
    /// Decisions:, Done: go into the brief
    #[schemars(required)]
    context: Option<String>,
    /// Tokens of your context now
    #[schemars(required)]
    token_count: Option<f64>,
    /// Only if a reply asked for it
    #[schemars(with = "Option<Map<String, Value>>")]
    state: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NoParams {}

#[derive(Debug, Deserialize, JsonSchema)]
struct RollbackParams {
    /// Checkpoints to go back
    steps: Option<i64>,
    /// Or this version, earlier or later
    to_version: Option<u32>,
}

pub(super) fn specs() -> Vec<ToolSpec> {
    let specs = vec![
        ToolSpec::new(
            "checkpoint",
            "Save what happened to the project's brief: when a piece of work is done, before /clear, and before \
             your context is full.",
            Effect::Adds,
            checkpoint,
        )
        .needed_first(),
        ToolSpec::new(
            "resume",
            "Call first in every session, and after /clear: the project's overview, architecture, task, files, \
             changes and decisions.",
            Effect::Reads,
            resume,
        )
        .needed_first(),
        ToolSpec::new(
            "status",
            "The brief's version, token budget, files, decisions and checkpoints.",
            Effect::Reads,
            status,
        ),
        ToolSpec::new(
            "rollback",
            "Go back to an earlier checkpoint. It is a version of its own, so it can be taken back.",
            Effect::Removes,
            rollback,
        ),
    ];
    specs.into_iter().map(ToolSpec::silent_about_unknown).collect()
}

async fn checkpoint(context: Context, params: CheckpointParams) -> Result<ToolAnswer, ToolError> {
    let CheckpointParams { context: text, token_count, state } = params;
    if text.is_none() && state.is_none() {
        return Err(ToolError::caller("context is missing: say what was done and what is open"));
    }
    if token_count.is_some_and(|tokens| !(0.0..=1e15).contains(&tokens)) {
        return Err(ToolError::caller("token_count is not a number, 0 or more"));
    }
    let call =
        BriefCall::read(&context, CHECKPOINT, Some(MAIN), text.as_deref(), state.as_ref()).await?;
    if call.is_refused() {
        return Err(ToolError::caller(call.refusal()));
    }
    let mut part = Staged::default();
    call.add_to(&mut part);
    let (key, merge) = (session_key(&context.session), call.merge.clone());
    let plan = move |memory: &Memory, by: &Provenance, part| {
        let plan = plan_brief(memory, by, part, merge.as_deref())?;
        Ok(plan.and(plan_bind(memory, &key, Some(MAIN))?.changes))
    };
    let written = context.commit(CHECKPOINT, part, plan).await?;
    if let Some(project) = context.view().await?.project {
        let tokens = token_count.map(|tokens| format!("{tokens:.0}"));
        project.mark_soft(TOKENS, tokens).await;
    }
    let outcome = match &written.outcome {
        Reply::Outcome(outcome) => Some(BriefOutcome::clone(outcome)),
        Reply::Words(_) => None,
    };
    let rest = match &outcome {
        Some(outcome) => {
            let (notes, end) = (&outcome.notes, outcome.merge);
            call.end(&context, notes, end, StateCall::Checkpoint, WHOLE_CHARS).await?
        }
        None => String::new(),
    };
    let words = |outcome: &BriefOutcome| form::checkpoint(outcome.topic.version) + &rest;
    context.answer(written, words).await
}

async fn resume(context: Context, _: NoParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let shown = brief(&view, MAIN).await;
    if let Some(project) = &view.project {
        project.mark_soft(ACCESSED, Some(clock::now().0.to_string())).await;
    }
    let records: Vec<RecordId> = view.memory.topic(MAIN).iter().map(|record| record.id).collect();
    Ok(ToolAnswer::from(form::resume(&shown)).with_newest(&view.memory, &records))
}

/// The soft mark of the last `resume`, in milliseconds.
const ACCESSED: &str = "brief/accessed";
/// The soft mark of the last token count.
const TOKENS: &str = "brief/tokens";

async fn status(context: Context, _: NoParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let shown: Brief = brief(&view, MAIN).await;
    let checkpoints = reachable(&view).await?.checkpoints;
    let (mut accessed, mut tokens) = (None, None);
    if let Some(project) = &view.project {
        accessed = project.soft_mark(ACCESSED).await.and_then(|time| time.parse().ok());
        tokens = project.soft_mark(TOKENS).await.and_then(|tokens| tokens.parse().ok());
    }
    let live = context.others_live(&view);
    let text = form::status(
        &shown,
        &StatusView {
            last_access: accessed.map(Timestamp),
            tokens: tokens.unwrap_or_default(),
            checkpoints_total: checkpoints.len(),
            checkpoints: checkpoints
                .get(..limits::INFINITE_CONTEXT_NAMED_MAX)
                .unwrap_or(&checkpoints),
            live: live.iter().map(|live| &*live.client).collect(),
        },
    );
    Ok(ToolAnswer::from(text))
}

async fn rollback(context: Context, params: RollbackParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let Some(id) = view.memory.topic(MAIN).map(|record| record.id) else {
        return Ok(form::NO_HISTORY.to_owned().into());
    };
    let reach = reachable(&view).await?;
    // A repeated call goes no further back.
    if let Some(reply) = context.answered::<UndoOutcome>().await? {
        let now = version(&view);
        return Ok(reply.in_words(|outcome| words(outcome, &reach, None, now)).into());
    }
    let target = match (params.steps, params.to_version) {
        (Some(_), Some(_)) => {
            return Err(ToolError::caller("steps and to_version are two ways; give one of them"));
        }
        (None, Some(version)) => {
            let wanted = Version(version);
            let found = reach.checkpoints.iter().find(|known| known.version == wanted);
            *found.ok_or_else(|| {
                let known: Vec<String> =
                    reach.checkpoints.iter().map(|known| known.version.0.to_string()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                ToolError::caller(format!("there is no checkpoint {version}; there are: {known}"))
            })?
        }
        (steps, None) => {
            let steps = u64::try_from(steps.unwrap_or(1)).ok().filter(|steps| *steps > 0);
            let missing = || ToolError::caller("steps is not a whole number, 1 or more");
            let steps = steps.ok_or_else(missing)?;
            let earlier = reach.earlier();
            match earlier.get(usize::try_from(steps - 1).unwrap_or(usize::MAX)) {
                Some(target) => *target,
                None if earlier.is_empty() => return Ok(form::NO_HISTORY.to_owned().into()),
                None => return Ok(form::too_far(earlier.len() as u64, steps).into()),
            }
        }
    };
    let revision = reach.revision(target.version).ok_or_else(|| {
        ToolError::caller(format!("version {} is not in the journal any more", target.version.0))
    })?;
    let undo = Undo { operation: ROLLBACK, later: LaterChanges::TakeBack, expected: None };
    let written = take_back(&context, &UndoTarget::Record(id, revision), undo).await?;
    let now = version(&context.view().await?);
    context.answer(written, |outcome| words(outcome, &reach, Some(target), now)).await
}

/// Returns the version of the brief.
fn version(view: &View) -> Version {
    view.memory.topic(MAIN).map_or(Version(0), |record| record.version)
}

/// Words a rollback. If its target is not known any more, the outcome names it.
fn words(
    outcome: &UndoOutcome,
    reach: &Reachable,
    target: Option<Checkpointed>,
    now: Version,
) -> String {
    let back_to = outcome.records.iter().find_map(|record| match record.done {
        Undone::BackTo(version) => Some(version),
        _ => None,
    });
    let known = || reach.checkpoints.iter().find(|known| Some(known.version) == back_to).copied();
    match target.or_else(known).filter(|_| outcome.left.is_empty()) {
        Some(target) => form::rolled_back(target, now),
        None => "What that version had was purged, and does not come back.\n".to_owned(),
    }
}

/// The checkpoints in the journal.
#[derive(Clone, Debug, Default)]
struct Reachable {
    /// The checkpoints, newest first.
    checkpoints: Vec<Checkpointed>,
    /// The commits that wrote them.
    revisions: Vec<Revision>,
    /// The version that the newest entry of this set has the content of.
    position: Option<Version>,
}

impl Reachable {
    /// Returns the checkpoints before the one whose content is current.
    fn earlier(&self) -> &[Checkpointed] {
        let is_earlier = |known: &Checkpointed| Some(known.version) < self.position;
        let at = self.checkpoints.iter().position(is_earlier);
        at.and_then(|at| self.checkpoints.get(at..)).unwrap_or_default()
    }

    fn revision(&self, version: Version) -> Option<Revision> {
        let at = self.checkpoints.iter().position(|known| known.version == version)?;
        self.revisions.get(at).copied()
    }
}

/// Finds the checkpoints of the brief.
async fn reachable(view: &View) -> Result<Reachable, ToolError> {
    let memory = Arc::clone(&view.memory);
    let read = move |history: &HistoryReader| find(history, &memory);
    Ok(read_journal(view, read).await?.unwrap_or_default())
}

fn find(history: &HistoryReader, memory: &Memory) -> Result<Reachable, HistoryError> {
    let mut found = Reachable::default();
    let Some(id) = memory.topic(MAIN).map(|record| record.id) else { return Ok(found) };
    // The content that the newest rollback brought back.
    let mut wanted = None;
    history.each_version(memory, id, |stored| {
        let Some(record) = stored.content.record() else { return ControlFlow::Continue(()) };
        let is_checkpoint = is_checkpoint(&stored.operation, record);
        let is_first = found.position.is_none() && wanted.is_none();
        if is_checkpoint && is_first {
            found.position = Some(record.version);
        } else if stored.operation == ROLLBACK && is_first {
            wanted = Some(record.body.clone());
        } else if is_checkpoint && found.position.is_none() && wanted.as_ref() == Some(&record.body)
        {
            found.position = Some(record.version);
        }
        if let Some(revision) = stored.revision.filter(|_| is_checkpoint) {
            found
                .checkpoints
                .push(Checkpointed { version: record.version, time: record.updated.time });
            found.revisions.push(revision);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Returns whether an operation left a version that a rollback can reach: a checkpoint, or a
/// version that an import brought.
fn is_checkpoint(operation: &str, record: &Record) -> bool {
    let is_imported = || &*record.updated.client == import::INFINITE_CONTEXT;
    operation == CHECKPOINT || operation == import::IMPORTED && is_imported()
}

#[cfg(test)]
mod tests;
