//! `memory_rollback`: takes commits back, or sets a record or the project back. It is a commit.

use std::sync::Arc;

use anchord_memory::{
    Audience, HistoryView, LaterChanges, Memory, Provenance, RecordId, Revision, SessionId, Staged,
    UndoBasis, UndoEnd, UndoOutcome, UndoTarget, limits, parse_past_up_to, plan_undo, render,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::history::{Named, named, read_journal};
use crate::clock;
use crate::limits::ROLLBACK_TRIES_MAX;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::project::Reply;
use crate::sessions::{View, WriteOutcome, WritePlan};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// Undo this commit
    undo: Option<u64>,
    /// Undo all of this session
    session: Option<String>,
    /// Undo the newest commits
    last: Option<u64>,
    /// Go back this far; with record, in its versions
    steps: Option<u64>,
    to_revision: Option<u64>,
    /// As 2h or yesterday
    to_time: Option<String>,
    /// Only this record, with steps or to_…: id or key
    record: Option<String>,
    #[serde(default)]
    dry_run: bool,
    /// Take later changes back too
    #[serde(default)]
    force: bool,
    expected_revision: Option<u64>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_rollback",
        "Undo commits, or go back to a revision. A commit itself, so it can be undone.",
        Effect::Removes,
        run,
    )
    .reading_when(|params: &Params| params.dry_run)
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    if !params.dry_run
        && let Some(text) = repeated(&context).await?
    {
        return Ok(text.into());
    }
    let (context, view, record, others) = match &params.record {
        Some(name) => {
            let Named { context, view, id, others } = named(&context, name).await?;
            (context, view, Some(id), others)
        }
        None => (context.clone(), context.view().await?, None, Vec::new()),
    };
    // Nothing is done to the record that had the key last, so another one may be meant.
    let meant = |end: &UndoEnd| match record.filter(|_| *end == UndoEnd::Nothing) {
        Some(id) if !others.is_empty() => {
            let others: Vec<String> = others.iter().map(ToString::to_string).collect();
            let others = others.join(", ");
            Err(failed(format!("{id} stays as it is; {others} had this key before: name it by id")))
        }
        _ => Ok(()),
    };
    let target = target(&params, &view, record, &context.audience).await?;
    let operation = match target {
        UndoTarget::Project(_) | UndoTarget::Record(..) | UndoTarget::Steps(..) => "restore",
        _ => "undo",
    };
    let later = if params.force { LaterChanges::TakeBack } else { LaterChanges::Keep };
    let undo = Undo { operation, later, expected: params.expected_revision.map(Revision) };
    if params.dry_run {
        let plan = undo.plan(basis(&context, &view, &target).await?);
        let by = context.session.provenance(clock::now());
        let planned = plan(&view.memory, &by, Staged::default());
        let outcome = planned.map_err(|refusal| context.refused(operation, &refusal))?.outcome;
        meant(&outcome.end)?;
        return Ok(answered(words_of_plan(&outcome, &context), outcome));
    }
    let written = take_back(&context, &target, undo).await?;
    let outcome = match &written.outcome {
        Reply::Outcome(outcome) => Some(outcome.clone()),
        Reply::Words(_) => None,
    };
    outcome.as_ref().map_or(Ok(()), |outcome| meant(&outcome.end))?;
    if let Some(outcome) = outcome.as_ref().filter(|outcome| outcome.end == UndoEnd::Conflicts) {
        let text = words(outcome, &context);
        let next = "Nothing was written. With force these changes are taken back too.";
        return Err(ToolError::caller(format!("{text}{next}")));
    }
    let mut answer = context.answer(written, |outcome| words(outcome, &context)).await?;
    answer.history = outcome.map(|outcome| Arc::new(HistoryView::Rollback(outcome)));
    answer.records.truncate(limits::ROLLBACK_NAMED_MAX);
    Ok(answer)
}

/// The way in which something is taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The operation in the journal.
    pub(super) operation: &'static str,
    pub(super) later: LaterChanges,
    /// The revision that memory must be at.
    pub(super) expected: Option<Revision>,
}

impl Undo {
    fn plan(self, basis: Arc<UndoBasis>) -> impl WritePlan<UndoOutcome> {
        let Self { later, expected, .. } = self;
        move |memory: &Memory, by: &Provenance, _| plan_undo(memory, &basis, later, expected, by)
    }
}

/// Takes something back as one commit. Tries again if others change the records meanwhile.
pub(super) async fn take_back(
    context: &Context,
    target: &UndoTarget,
    undo: Undo,
) -> Result<WriteOutcome<Reply<UndoOutcome>>, ToolError> {
    for _ in 0..ROLLBACK_TRIES_MAX {
        let basis = basis(context, &context.view().await?, target).await?;
        let written = context.commit(undo.operation, Staged::default(), undo.plan(basis)).await?;
        match &written.outcome {
            Reply::Outcome(outcome) if outcome.end == UndoEnd::Moved => {}
            _ => return Ok(written),
        }
    }
    Err(failed("other sessions are changing these records; try again"))
}

/// Reads what an undo needs.
async fn basis(
    context: &Context,
    view: &View,
    target: &UndoTarget,
) -> Result<Arc<UndoBasis>, ToolError> {
    let (memory, reader, wanted) = (Arc::clone(&view.memory), context.keeper(), target.clone());
    let read = read_journal(view, move |history| history.basis(&memory, wanted, &reader)).await?;
    read.map(Arc::new).ok_or_else(|| failed("nothing is recorded yet"))
}

/// Returns the answer that either memory gave to the same call before. A record's key may lead
/// nowhere by now.
async fn repeated(context: &Context) -> Result<Option<String>, ToolError> {
    for context in [context.personal(), context.clone()] {
        // A memory that cannot be seen from here has answered nothing.
        if context.view().await.is_ok()
            && let Some(reply) = context.answered::<UndoOutcome>().await?
        {
            return Ok(Some(reply.in_words(|outcome| words(outcome, &context))));
        }
    }
    Ok(None)
}

fn failed(why: impl std::fmt::Display) -> ToolError {
    ToolError::failed("roll back", why)
}

fn words(outcome: &UndoOutcome, context: &Context) -> String {
    let lines = render::rollback(outcome, &context.audience);
    render::joined(&lines, limits::ANSWER_CHARS_MAX).0
}

fn words_of_plan(plan: &UndoOutcome, context: &Context) -> String {
    let lines = render::planned_rollback(plan, &context.audience);
    render::joined(&lines, limits::ANSWER_CHARS_MAX).0
}

fn answered(text: String, outcome: UndoOutcome) -> ToolAnswer {
    let history = Some(Arc::new(HistoryView::Rollback(outcome)));
    ToolAnswer { history, ..ToolAnswer::from(text) }
}

/// Reads what is to be taken back. Exactly one way of saying it must be given.
async fn target(
    params: &Params,
    view: &View,
    record: Option<RecordId>,
    audience: &Audience,
) -> Result<UndoTarget, ToolError> {
    let newest = view.memory.revision();
    let known = |revision: u64| match Revision(revision) {
        revision if revision > newest => Err(ToolError::no_revision("roll back", revision, newest)),
        revision => Ok(revision),
    };
    let to = match (&params.to_revision, &params.to_time) {
        (Some(_), Some(_)) => return Err(failed("give to_revision or to_time, not both")),
        (Some(revision), None) => Some(known(*revision)?),
        (None, Some(time)) => {
            let time = parse_past_up_to(time, clock::now());
            let name = if matches!(audience, Audience::Person(_)) { "--to" } else { "to_time" };
            let time = time.map_err(|error| failed(format!("{name} {error}")))?;
            let at = read_journal(view, move |history| Ok(history.at(time)?)).await?;
            Some(at.unwrap_or_default())
        }
        (None, None) => None,
    };
    let ways = [
        params.undo.map(|undo| known(undo).map(UndoTarget::Commit)),
        params.session.as_deref().map(|id| Ok(UndoTarget::Session(SessionId::new(id)))),
        params.last.map(|last| Ok(UndoTarget::Last(last))),
        params.steps.map(|steps| {
            Ok(record.map_or(UndoTarget::Last(steps), |id| UndoTarget::Steps(id, steps)))
        }),
        to.map(|to| Ok(record.map_or(UndoTarget::Project(to), |id| UndoTarget::Record(id, to)))),
    ];
    let mut given = ways.into_iter().flatten();
    let (Some(way), None) = (given.next(), given.next()) else {
        return Err(failed(
            "give one of undo (a commit), session, last, steps, to_revision and to_time",
        ));
    };
    match way? {
        UndoTarget::Last(0) | UndoTarget::Steps(_, 0) => Err(failed("0 steps go nowhere")),
        UndoTarget::Commit(_) | UndoTarget::Session(_) | UndoTarget::Last(_)
            if record.is_some() =>
        {
            Err(failed("record goes with steps, to_revision or to_time"))
        }
        way => Ok(way),
    }
}
