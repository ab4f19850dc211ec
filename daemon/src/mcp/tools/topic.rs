//! `memory_topic`: lists the project's topics, reads one, or binds this session to one.

use anchord_memory::render::{self, BoundSession};
use anchord_memory::{
    MAIN, Memory, Provenance, Staged, find_topic, plan_bind, plan_use, topic_name,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::sessions::session_key;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    #[serde(default)]
    action: Action,
    /// To read: default yours. To bind: none lets go
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    List,
    Read,
    Bind,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_topic",
        "Threads of work: list them with who is on them now, read one whole, bind this session to one.",
        Effect::Adds,
        run,
    )
    .reading_when(|params: &Params| !matches!(params.action, Action::Bind))
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    match params.action {
        Action::List => list(&context).await,
        Action::Read => read(&context, params.name.as_deref()).await,
        Action::Bind => bind(&context, params.name).await,
    }
}

async fn list(context: &Context) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let mut live: Vec<BoundSession> = context
        .others_live(&view)
        .into_iter()
        .map(|live| BoundSession { key: live.key, client: live.client.to_string(), own: false })
        .collect();
    live.push(BoundSession {
        key: session_key(&context.session),
        client: context.session.client().to_string(),
        own: true,
    });
    let records: Vec<_> = view.memory.topics().map(|(record, _)| record.id).collect();
    let text = ToolAnswer::from(render::topics(&view.memory, &live));
    Ok(text.with_newest(&view.memory, &records))
}

/// Returns the topic as it will be once this session saves.
async fn read(context: &Context, name: Option<&str>) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let memory = &view.memory;
    let key = session_key(&context.session);
    let name = name.or_else(|| memory.bound(&key)).unwrap_or(MAIN);
    let refused = |refusal| ToolError::failed("read", refusal);
    let name = topic_name(name).map_err(refused)?;
    let Some(topic) = memory.topic_as_staged(&name, &context.session.id) else {
        return Err(match find_topic(memory, &name) {
            Err(refusal) => refused(refusal),
            Ok(_) => ToolError::Internal("a topic is found and not there".to_owned()),
        });
    };
    let record = memory.topic(&name).map(|record| record.id);
    let gone = view.absent(topic.files.clone()).await;
    let mut text = render::topic(record, &topic, &gone);
    if memory.topic(&name).and_then(|record| record.topic()) != Some(&topic) {
        text.push_str("With what you staged and did not save yet.\n");
    }
    Ok(ToolAnswer::from(text).with_newest(memory, record.as_slice()))
}

async fn bind(context: &Context, name: Option<String>) -> Result<ToolAnswer, ToolError> {
    let key = session_key(&context.session);
    let plan = move |memory: &Memory, by: &Provenance, _| {
        let plan = plan_bind(memory, &key, name.as_deref())?;
        // An archived topic is active again.
        let topic = plan.outcome.topic.as_deref().and_then(|name| memory.topic(name));
        let back = topic.and_then(|record| plan_use(memory, record.id, by));
        Ok(plan.and(back.map(|back| back.changes).unwrap_or_default()))
    };
    let written = context.commit("bind", Staged::default(), plan).await?;
    let memory = context.view().await?.memory;
    context.answer(written, |bound| render::bind(&memory, bound)).await
}
