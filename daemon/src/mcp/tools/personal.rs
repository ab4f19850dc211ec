//! The tools' access to the user's own notes: which memory answers a call, and which memory an id
//! or a key leads to.
//!
//! An id says which memory its record is in. A key leads to the project's fact before the user's
//! fact of the same name. Outside any project only the user's own memory is available.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anchord_memory::{
    Change, Memories, Memory, ParseIdError, Provenance, Reader, RecordId, Refusal, Staged,
    Timestamp, find_fact,
};

use super::params::ScopeParams;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::sessions::{BindError, View};

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
        let beside = |id: &RecordId| self.personal.is_some() && id.is_personal();
        let (personal, first): (Vec<RecordId>, Vec<RecordId>) =
            ids.iter().partition(|id| beside(id));
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
    let personal = context.personal();
    if scope == Some(ScopeParams::User) || context.session.is_in_personal() {
        let view = personal.view().await?;
        return alone(personal, view, "");
    }
    let view = match context.session.view(&context.daemon).await {
        Err(error) if scope.is_none() && is_nowhere(&error) => {
            let view = personal.view().await.ok().filter(|view| view.project.is_some());
            let Some(view) = view else { return Err(error.into()) };
            return alone(personal, view, "Not in a project: only the user's own notes.\n");
        }
        view => view?,
    };
    if scope.is_some() {
        return alone(context.clone(), view, "");
    }
    match personal.view().await {
        Ok(beside) => {
            let personal = Some(beside).filter(|view| view.project.is_some());
            Ok(Reading { context: context.clone(), view, personal, remark: String::new() })
        }
        Err(error) => alone(
            context.clone(),
            view,
            &format!("The user's own notes are left out, since they cannot be read: {error}\n"),
        ),
    }
}

/// Returns whether the session is in no project.
fn is_nowhere(error: &BindError) -> bool {
    matches!(error, BindError::NotAProject(_) | BindError::Foreign)
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
    let beside = personal.map(|view| (context.personal(), view));
    let beside = beside.and_then(|(context, view)| {
        let id = find(&context, &view).ok()?;
        Some((context, view, id))
    });
    Ok(match (find(&context, &view), beside) {
        (Ok(id), beside) => {
            let hidden = beside.map(|(_, _, id)| id);
            Ok(FoundFact { context, view, id, hidden })
        }
        (Err(_), Some((context, view, id))) => Ok(FoundFact { context, view, id, hidden: None }),
        (Err(refusal), None) => Err(refusal.to_string()),
    })
}

/// A function that plans a change of one record and words the answer.
pub(super) trait PlanChange:
    Fn(&Memory, &Reader, RecordId, &Provenance) -> Result<(Vec<Change>, String), Refusal>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<P> PlanChange for P where
    P: Fn(&Memory, &Reader, RecordId, &Provenance) -> Result<(Vec<Change>, String), Refusal>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Changes the record that an id or a key leads to, in the memory that has it.
pub(super) async fn change(
    context: &Context,
    operation: &'static str,
    name: &str,
    reader: fn(&Context) -> Reader,
    plan: impl PlanChange,
) -> Result<String, ToolError> {
    match name.parse::<RecordId>() {
        Ok(id) => {
            let context = if id.is_personal() { context.personal() } else { context.clone() };
            let reader = reader(&context);
            let change = move |memory: &Memory, by: &Provenance, _| plan(memory, &reader, id, by);
            context.write(operation, Staged::default(), change).await
        }
        Err(not_an_id) => change_fact(context, operation, (name, not_an_id), reader, plan).await,
    }
}

/// Changes the fact with a key. Writes to the project first, and to the user's own memory if the
/// project has no such key. A repeated call gets its first answer, whichever memory has the key
/// then.
async fn change_fact(
    context: &Context,
    operation: &'static str,
    (key, not_an_id): (&str, ParseIdError),
    reader: fn(&Context) -> Reader,
    plan: impl PlanChange,
) -> Result<String, ToolError> {
    let personal = context.personal();
    if let Some(reply) = personal.answered().await? {
        return Ok(reply);
    }
    let missing = Arc::new(AtomicBool::new(false));
    let by_key = |reader: Reader| {
        let (plan, key, missing) = (plan.clone(), key.to_owned(), Arc::clone(&missing));
        move |memory: &Memory, by: &Provenance, _: Staged| {
            let found = find_fact(memory, &reader, &key).map(|record| record.id);
            missing.store(found.is_err(), Ordering::SeqCst);
            plan(memory, &reader, found?, by)
        }
    };
    let is_nowhere = match context.session.view(&context.daemon).await {
        Err(error) if is_nowhere(&error) => Some(error),
        _ => None,
    };
    let of_user = of_user(&personal, key).await;
    let refused = if let Some(error) = is_nowhere {
        ToolError::from(error)
    } else {
        let change = by_key(reader(context));
        match context.write(operation, Staged::default(), change).await {
            Err(error) if missing.load(Ordering::SeqCst) => error,
            done => return done.map(|reply| reply + &of_user.map(hides).unwrap_or_default()),
        }
    };
    if of_user.is_none() {
        return Err(match refused {
            ToolError::Caller(why) if missing.load(Ordering::SeqCst) => {
                let why = why.strip_prefix(&format!("failed to {operation}: ")).unwrap_or(&why);
                ToolError::Caller(format!("failed to {operation}: {not_an_id}, and {why}"))
            }
            refused => refused,
        });
    }
    personal.write(operation, Staged::default(), by_key(reader(&personal))).await
}

/// Finds the user's own fact with a key.
async fn of_user(personal: &Context, key: &str) -> Option<RecordId> {
    let view = personal.view().await.ok()?;
    find_fact(&view.memory, &Reader::anyone(), key).ok().map(|record| record.id)
}
