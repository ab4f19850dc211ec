//! `memory_topic`: lists the project's topics, reads one, binds this session to one, or writes one
//! at once.

use anchord_memory::render::{self, BoundSession};
use anchord_memory::{
    MAIN, Memory, Provenance, Staged, TopicPart, Version, find_topic, in_conversation, plan_bind,
    plan_topic, plan_use, topic_name,
};

use schemars::JsonSchema;
use serde::Deserialize;

use super::params::TopicParams;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::input::TextOr;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::project::Operation;
use crate::sessions::session_key;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    action: Option<Action>,
    /// To read or write: default yours. To bind: none lets go
    name: Option<String>,
    /// To write, as in memory_checkpoint
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    topic: Option<TextOr<TopicParams>>,
    /// To write only this version of it; 0: none yet
    expected_version: Option<u32>,
}

impl Params {
    /// Returns what to do. Without an action, what is given says so. A topic that is a text is the
    /// name of one.
    fn action(&self) -> Action {
        self.action.unwrap_or(match (&self.topic, &self.name) {
            (Some(TextOr::Object(_)), _) => Action::Write,
            (Some(TextOr::Text(_)), _) | (None, Some(_)) => Action::Read,
            (None, None) => Action::List,
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Read,
    Bind,
    Write,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_topic",
        "Threads of work: list them and who is on them, read or write one, bind this session to one.",
        Effect::Adds,
        run,
    )
    .reading_when(|params: &Params| matches!(params.action(), Action::List | Action::Read))
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let action = params.action();
    let Params { name, topic, expected_version, .. } = params;
    let (name, topic) = match topic {
        Some(TextOr::Text(text)) => (name.or(Some(text)), None),
        Some(TextOr::Object(topic)) => (name, Some(topic)),
        None => (name, None),
    };
    match action {
        Action::List => list(&context).await,
        Action::Read => read(&context, name.as_deref()).await,
        Action::Bind => bind(&context, name).await,
        Action::Write => write(&context, name, topic, expected_version.map(Version)).await,
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
    let written = context.commit(Operation::staying("bind"), Staged::default(), plan).await?;
    let memory = context.view().await?.memory;
    context.answer(written, |bound| render::bind(&memory, bound)).await
}

/// The operation of a topic that is committed alone, in errors and in history.
const WRITE: &str = "write topic";

/// Commits a topic alone. What this session has staged of it stays staged.
async fn write(
    context: &Context,
    name: Option<String>,
    topic: Option<TopicParams>,
    expected: Option<Version>,
) -> Result<ToolAnswer, ToolError> {
    let missing = || ToolError::failed(WRITE, "topic is missing: say what to write of it");
    let mut topic = TopicPart::from(topic.ok_or_else(missing)?);
    topic.name = topic.name.or(name);
    let part = Staged { topics: vec![topic], ..Staged::default() };
    let key = session_key(&context.session);
    let plan = move |memory: &Memory, by: &Provenance, part| {
        let (part, bound) = in_conversation(memory, &key, part)?;
        Ok(plan_topic(memory, by, part, expected)?.and(bound))
    };
    context.write(WRITE, part, plan, render::topic_written).await
}
