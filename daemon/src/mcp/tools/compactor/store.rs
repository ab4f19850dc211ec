//! Tools that add: `store` and `bulk_store`.

use anchord_memory::render::compactor as form;
use anchord_memory::{
    FailedNote, Memory, NewNote, NotesOutcome, Plan, Provenance, Refusal, WhyNot, plan_notes,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Caller, Tags, importance};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::input;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with content and, if need be, summary, tags, importance")]
struct ItemParams {
    /// What you want to have again, verbatim
    content: String,
    /// Stands for a long content when the budget is tight
    #[serde(default)]
    summary: String,
    /// Comma-separated; found in the content when left out
    #[serde(default)]
    #[schemars(with = "String")]
    tags: Tags,
    /// 1 (may go first) to 10
    #[serde(default, deserialize_with = "importance")]
    #[schemars(with = "Option<u8>")]
    importance: Option<u8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct BulkParams {
    /// A JSON array of objects with content, summary, tags, importance
    #[schemars(with = "String")]
    items: Value,
}

impl ItemParams {
    fn into_note(self) -> NewNote {
        NewNote {
            content: self.content,
            summary: self.summary,
            tags: self.tags.given(),
            importance: self.importance,
            private: true,
            ..NewNote::default()
        }
    }
}

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec::new(
            "store",
            "Keep something outside of your context: a decision, an error and its cause, a requirement, output you \
             may need again. On disk when it answers.",
            Effect::Adds,
            store,
        )
        .needed_first(),
        ToolSpec::new(
            "bulk_store",
            "Store many items at once; one that cannot be stored fails alone and is named.",
            Effect::Adds,
            bulk_store,
        ),
    ]
}

async fn store(context: Context, params: ItemParams) -> Result<ToolAnswer, ToolError> {
    let caller = Caller::of(&context);
    let notes = vec![Ok(params.into_note())];
    let plan = move |memory: &Memory, by: &Provenance, _| plan_notes(memory, by, notes.clone());
    caller.write(&context, "store", plan, form::store).await
}

async fn bulk_store(context: Context, params: BulkParams) -> Result<ToolAnswer, ToolError> {
    let items = match params.items {
        Value::String(text) => serde_json::from_str::<Value>(&text)
            .map_err(|error| ToolError::caller(format!("Invalid JSON: {error}")))?,
        items => items,
    };
    let Value::Array(items) = items else {
        return Err(ToolError::caller("items is not a JSON array".to_owned()));
    };
    if items.is_empty() {
        return Err(ToolError::caller("No items provided".to_owned()));
    }
    let notes: Vec<Result<NewNote, Refusal>> = items.into_iter().enumerate().map(note).collect();
    let caller = Caller::of(&context);
    let plan = move |memory: &Memory, by: &Provenance, _| {
        plan_notes(memory, by, notes.clone()).or_else(|refusal| {
            let outcome = all_failed(memory, by, &notes).ok_or(refusal)?;
            Ok(Plan { changes: Vec::new(), outcome })
        })
    };
    caller.write(&context, "bulk_store", plan, form::bulk_store).await
}

fn note((at, item): (usize, Value)) -> Result<NewNote, Refusal> {
    let (params, _ignored) = input::read::<ItemParams>(item, &format!("items[{at}]"));
    params.map(ItemParams::into_note).map_err(|error| Refusal::from(error).of_item("items", at))
}

/// Returns why each item fails. `None` if one does not: then the call was refused for another
/// reason.
fn all_failed(
    memory: &Memory,
    by: &Provenance,
    notes: &[Result<NewNote, Refusal>],
) -> Option<NotesOutcome> {
    let alone = |(at, note): (usize, &Result<NewNote, Refusal>)| {
        let refusal = plan_notes(memory, by, vec![note.clone()]).err()?;
        Some(FailedNote { at, why: WhyNot::Refused(refusal.of_call()) })
    };
    let failed = notes.iter().enumerate().map(alone).collect::<Option<Vec<_>>>()?;
    Some(NotesOutcome { failed, ..NotesOutcome::default() })
}
