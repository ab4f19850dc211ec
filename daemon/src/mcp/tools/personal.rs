//! The tools' access to the user's own notes: which memory answers a call, and which memory an id
//! or a key leads to.
//!
//! An id says which memory its record is in. A key leads to the project's fact before the user's
//! fact of the same name. Outside any project only the user's own memory is available.

use std::sync::Arc;

use anchord_memory::{
    Memories, Memory, ParseIdError, Plan, Provenance, Reader, RecordId, Refusal, Staged, Timestamp,
    find_fact,
};
use serde::{Deserialize, Serialize};

use super::params::ScopeParams;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::project::{Outcome, Reply};
use crate::sessions::{BindError, View, WritePlan};

/// The memories that an answer comes from.
pub(super) struct Reading {
    /// The call, made in the memory of `view`.
    pub(super) context: Context,
    /// The project's memory, or the user's own if the answer is only about that.
    pub(super) view: View,
    /// The user's own memory next to a project's. `None` if nothing was ever written to it.
    pub(super) personal: Option<View>,
    /// A remark before the answer that says why one of the two is missing.
    pub(super) remark: String,
}

impl Reading {
    pub(super) fn memories(&self) -> Memories<'_> {
        let personal = self.personal.as_ref().map(|view| &*view.memory);
        Memories { first: &self.view.memory, personal }
    }

    /// Counts records of either memory as read.
    pub(super) fn accessed(&self, ids: &[RecordId], now: Timestamp) {
        let is_personal = |id: &RecordId| self.personal.is_some() && id.is_personal();
        let (personal, first): (Vec<RecordId>, Vec<RecordId>) =
            ids.iter().partition(|id| is_personal(id));
        let views = [(Some(&self.view), first), (self.personal.as_ref(), personal)];
        for (view, ids) in views {
            if let Some(project) = view.and_then(|view| view.project.as_ref()) {
                project.accessed(&ids, now);
            }
        }
    }
}

/// Limits a scope to some of a project's notes: only private ones (`true`), only shared ones
/// (`false`), or all.
pub(super) fn own(scope: Option<ScopeParams>) -> Option<bool> {
    match scope {
        Some(ScopeParams::Session) => Some(true),
        Some(ScopeParams::Project) => Some(false),
        Some(ScopeParams::User) | None => None,
    }
}

/// Finds the memories that a scope allows for an answer. Without a scope, one memory answers alone
/// if the other cannot be used.
pub(super) async fn reading(
    context: &Context,
    scope: Option<ScopeParams>,
) -> Result<Reading, ToolError> {
    let alone = |context: Context, view: View, remark: &str| {
        Ok(Reading { context, view, personal: None, remark: remark.to_owned() })
    };
    let (context, view, remark) = match scope {
        Some(ScopeParams::User) => {
            let personal = context.personal();
            let view = personal.view().await?;
            (personal, view, "")
        }
        Some(ScopeParams::Session | ScopeParams::Project) => {
            (context.clone(), context.view().await?, "")
        }
        None => here(context).await?,
    };
    // Beside an earlier memory, the user's own notes would be those of now.
    if scope.is_some() || view.is_past() || context.session.is_in_personal() {
        return alone(context, view, remark);
    }
    match context.personal().view().await {
        Ok(own) => {
            let personal = Some(own).filter(|view| view.project.is_some());
            Ok(Reading { context, view, personal, remark: String::new() })
        }
        Err(error) => alone(
            context,
            view,
            &format!("The user's own notes are left out, since they cannot be read: {error}\n"),
        ),
    }
}

/// Returns the call in the memory of its place: the project's, or outside any project the user's
/// own. A remark says the latter.
pub(super) async fn here(context: &Context) -> Result<(Context, View, &'static str), ToolError> {
    match context.session.view(&context.sessions).await {
        Err(error) if is_nowhere(&error) => {
            let personal = context.personal();
            let view = personal.view().await.ok().filter(|view| view.project.is_some());
            let Some(view) = view else { return Err(error.into()) };
            Ok((personal, view, "Not in a project: only the user's own notes.\n"))
        }
        view => Ok((context.clone(), view?, "")),
    }
}

/// Returns whether the session is in no project.
fn is_nowhere(error: &BindError) -> bool {
    matches!(error, BindError::NotAProject(_) | BindError::Foreign)
}

/// Returns whether the session is in the user's home directory, and in no project.
pub(super) async fn is_at_home(context: &Context) -> bool {
    let place = context.session.place(&context.sessions).await;
    matches!(place, Err(BindError::NotAProject(error)) if error.is_home())
}

/// A fact that was found by its key.
pub(super) struct FoundFact {
    /// The call, made in the fact's memory.
    pub(super) context: Context,
    /// The fact's memory.
    pub(super) view: View,
    /// The id of the fact.
    pub(super) id: RecordId,
    /// The user's fact of the same key, if the project's was found first.
    hidden: Option<RecordId>,
}

impl FoundFact {
    /// Returns a line that names the fact that was passed over, or an empty text.
    pub(super) fn hidden(&self) -> String {
        self.hidden.map(hides).unwrap_or_default()
    }
}

fn hides(id: RecordId) -> String {
    format!("{id}, the user's own, has this key too; the project's comes first.\n")
}

/// Finds a fact by its key within a scope, in the project before the user's own memory. The inner
/// error names similar keys.
pub(super) async fn of_key(
    context: &Context,
    scope: Option<ScopeParams>,
    reader: fn(&Context) -> Reader,
    key: &str,
) -> Result<Result<FoundFact, String>, ToolError> {
    let Reading { context, view, personal, .. } = reading(context, scope).await?;
    let find = |context: &Context, view: &View| {
        find_fact(&view.memory, &reader(context), key).map(|record| record.id)
    };
    let personal = personal.map(|view| (context.personal(), view));
    let personal = personal.and_then(|(context, view)| {
        let id = find(&context, &view).ok()?;
        Some((context, view, id))
    });
    Ok(match (find(&context, &view), personal) {
        (Ok(id), personal) => {
            let hidden = personal.map(|(_, _, id)| id);
            Ok(FoundFact { context, view, id, hidden })
        }
        (Err(_), Some((context, view, id))) => Ok(FoundFact { context, view, id, hidden: None }),
        (Err(refusal), None) => Err(refusal.worded(&context.audience)),
    })
}

/// A function that plans a change of one record.
pub(super) trait PlanChange<O>:
    Fn(&Memory, &Reader, RecordId, &Provenance) -> Result<Plan<O>, Refusal>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<O, P> PlanChange<O> for P where
    P: Fn(&Memory, &Reader, RecordId, &Provenance) -> Result<Plan<O>, Refusal>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Changes the record that an id or a key leads to, in the memory that has it. `words` renders the
/// outcome.
pub(super) async fn change<O: Outcome>(
    context: &Context,
    operation: &'static str,
    name: &str,
    reader: fn(&Context) -> Reader,
    plan: impl PlanChange<O>,
    words: fn(&O) -> String,
) -> Result<ToolAnswer, ToolError> {
    match name.parse::<RecordId>() {
        Ok(id) => {
            let context = if id.is_personal() { context.personal() } else { context.clone() };
            let reader = reader(&context);
            let change = move |memory: &Memory, by: &Provenance, _| plan(memory, &reader, id, by);
            context.write(operation, Staged::default(), change, words).await
        }
        Err(not_an_id) => {
            change_fact(context, operation, (name, not_an_id), reader, plan, words).await
        }
    }
}

/// Changes the fact with a key. Writes to the project first, and to the user's own memory if the
/// project has no such key. A repeated call gets its first answer, whichever memory has the key
/// then.
async fn change_fact<O: Outcome>(
    context: &Context,
    operation: &'static str,
    (key, not_an_id): (&str, ParseIdError),
    reader: fn(&Context) -> Reader,
    plan: impl PlanChange<O>,
    words: fn(&O) -> String,
) -> Result<ToolAnswer, ToolError> {
    let personal = context.personal();
    if let Some(reply) = personal.answered::<ChangedFact<O>>().await? {
        return Ok(reply.in_words(|changed| changed.in_words(words)).into());
    }
    let by_key = |reader: Reader| {
        let (plan, key) = (plan.clone(), key.to_owned());
        let audience = Arc::clone(&context.audience);
        move |memory: &Memory, by: &Provenance, _: Staged| {
            let found = match find_fact(memory, &reader, &key) {
                Ok(record) => record.id,
                Err(missing) => {
                    let outcome = ChangedFact::Missing(missing.worded(&audience));
                    return Ok(Plan { changes: Vec::new(), outcome });
                }
            };
            let Plan { changes, outcome } = plan(memory, &reader, found, by)?;
            Ok(Plan { changes, outcome: ChangedFact::Done(outcome) })
        }
    };
    let is_nowhere = match context.session.view(&context.sessions).await {
        Err(error) if is_nowhere(&error) => Some(error),
        _ => None,
    };
    let of_user = of_user(&personal, key).await;
    let refused = if let Some(error) = is_nowhere {
        ToolError::from(error)
    } else {
        match try_change(context, operation, by_key(reader(context)), words).await? {
            Ok(answer) => {
                let text = answer.text + &of_user.map(hides).unwrap_or_default();
                return Ok(ToolAnswer { text, ..answer });
            }
            Err(missing) => ToolError::failed(operation, format!("{not_an_id}, and {missing}")),
        }
    };
    if of_user.is_none() {
        return Err(refused);
    }
    let changed = try_change(&personal, operation, by_key(reader(&personal)), words).await?;
    changed.map_err(|missing| ToolError::failed(operation, missing))
}

/// Changes a fact in one memory. The inner error says that the memory has no such fact.
async fn try_change<O: Outcome>(
    context: &Context,
    operation: &'static str,
    change: impl WritePlan<ChangedFact<O>>,
    words: fn(&O) -> String,
) -> Result<Result<ToolAnswer, String>, ToolError> {
    let written = context.commit(operation, Staged::default(), change).await?;
    if let Reply::Outcome(ChangedFact::Missing(why)) = written.outcome {
        return Ok(Err(why));
    }
    Ok(Ok(context.answer(written, |changed| changed.in_words(words)).await?))
}

/// The outcome of changing the fact with a key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChangedFact<O> {
    /// There is no such fact, so nothing was written. The text says so and names similar keys.
    Missing(String),
    /// The outcome of the change.
    #[serde(untagged)]
    Done(O),
}

impl<O> ChangedFact<O> {
    fn in_words(&self, words: fn(&O) -> String) -> String {
        match self {
            Self::Missing(why) => why.clone(),
            Self::Done(outcome) => words(outcome),
        }
    }
}

/// Finds the user's own fact with a key.
async fn of_user(personal: &Context, key: &str) -> Option<RecordId> {
    let view = personal.view().await.ok()?;
    find_fact(&view.memory, &Reader::anyone(), key).ok().map(|record| record.id)
}
