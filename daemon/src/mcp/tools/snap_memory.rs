//! `--tools snap-memory`: that system's tool, its parameters and replies over the same memory.

use anchord_memory::render::snap_memory as form;
use anchord_memory::{Memory, Provenance, SnapCheckpoint, Staged, plan_snap};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::sessions::session_key;

/// The operation of a checkpoint, in history.
const CHECKPOINT: &str = "checkpoint topic";

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// checkpoint, list or read
    action: String,
    /// For checkpoint and read
    topic: Option<String>,
    /// Replaces the status
    status: Option<String>,
    /// To add, each as YYYY-MM-DD: text. Lasting choices, not progress
    #[serde(default)]
    decisions: Vec<String>,
    /// To add, as YYYY-MM-DD: text
    #[serde(rename = "historyLine")]
    history_line: Option<String>,
    /// Default and only choice: this conversation
    #[serde(rename = "sessionId")]
    session_id: Option<String>,
}

pub(super) fn specs() -> Vec<ToolSpec> {
    let spec = ToolSpec::new(
        "context_snap",
        "Save, list or read the context of a topic. Call checkpoint when asked to save context or to \
         checkpoint (存一下), at a key decision and at a milestone; read before you go on with a topic.",
        Effect::Adds,
        run,
    );
    let spec = spec.reading_when(|params: &Params| params.action != "checkpoint");
    vec![spec.needed_first().silent_about_unknown()]
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let topic = params.topic.clone().filter(|topic| !topic.trim().is_empty());
    let without_topic =
        || ToolError::caller(format!("Error: 'topic' required for {} action.", params.action));
    match params.action.as_str() {
        "checkpoint" => checkpoint(&context, topic.ok_or_else(without_topic)?, params).await,
        "list" => {
            let view = context.view().await.map_err(thrown)?;
            Ok(ToolAnswer::from(form::list(&view.memory)))
        }
        "read" => read(&context, &topic.ok_or_else(without_topic)?).await,
        other => Err(ToolError::caller(format!("Unknown action: {other}"))),
    }
}

async fn checkpoint(
    context: &Context,
    topic: String,
    params: Params,
) -> Result<ToolAnswer, ToolError> {
    let key = session_key(&context.session);
    if let Some(named) = params.session_id.as_deref().filter(|named| !is_own(context, named)) {
        return Err(ToolError::caller(format!(
            "Error: sessionId {named} is not this conversation, and only its own topic can be \
             bound; nothing was saved. Leave it out here. To bind that one, have it call \
             context_snap, or memory_topic with action bind."
        )));
    }
    let checkpoint = SnapCheckpoint {
        topic,
        status: params.status,
        decisions: params.decisions,
        line: params.history_line,
    };
    let plan = move |memory: &Memory, by: &Provenance, _| plan_snap(memory, by, &key, &checkpoint);
    context.write(CHECKPOINT, Staged::default(), plan, form::saved).await.map_err(thrown)
}

/// Marks an error as one that the original would throw, so that it is worded like those.
fn thrown(error: ToolError) -> ToolError {
    match error {
        ToolError::Caller(mistake) => ToolError::failed(CHECKPOINT, mistake.why),
        error => error,
    }
}

/// Returns whether a name is that of the calling conversation.
fn is_own(context: &Context, named: &str) -> bool {
    let session = &context.session;
    let named = named.trim();
    named.is_empty()
        || session.agent_session.as_deref() == Some(named)
        || *session.id.0 == *named
        || session_key(session) == named
}

async fn read(context: &Context, topic: &str) -> Result<ToolAnswer, ToolError> {
    let memory = context.view().await.map_err(thrown)?.memory;
    let text =
        form::read(&memory, topic).ok_or_else(|| ToolError::caller(form::not_found(topic)))?;
    let record = anchord_memory::snap_record(&memory, topic).map(|(record, _)| record.id);
    Ok(ToolAnswer::from(text).with_newest(&*memory, record.as_slice()))
}

#[cfg(test)]
mod tests;
