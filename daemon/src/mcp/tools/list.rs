//! `memory_list`: pages through records, newest first.

use anchord_memory::render::{self, ListView};
use anchord_memory::{Kind, Refusal, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{KindParams, ScopeParams, limit, tokens_max, wanted_tags};
use super::personal::{own, reading};
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    #[serde(default)]
    kinds: Vec<KindParams>,
    /// With all of these
    #[serde(default)]
    tags: Vec<String>,
    scope: Option<ScopeParams>,
    limit: Option<usize>,
    max_tokens: Option<u32>,
    cursor: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_list",
        "Page through records, newest first, a line each; archived and expired ones are marked.",
        Effect::Reads,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let caller = |refusal: Refusal| context.refused("list", &refusal);
    let tokens_max = tokens_max(params.max_tokens).map_err(caller)?;
    let limit = limit(params.limit, limits::LIST_RECORDS, limits::LIST_RECORDS_MAX);
    let limit = limit.map_err(caller)?;
    let reading = reading(&context, params.scope).await?;
    let reader = reading.context.keeper();
    let kinds: Vec<Kind> = params.kinds.into_iter().map(|kind| kind.0).collect();
    let tags: Vec<String> = wanted_tags(&params.tags);
    let list = ListView {
        reader: &reader,
        kinds: &kinds,
        tags: &tags,
        own: own(params.scope),
        limit,
        tokens_max,
        cursor: params.cursor.as_deref(),
        now: clock::now(),
        audience: &context.audience,
    };
    let list = render::list(reading.memories(), &list).map_err(caller)?;
    let text = ToolAnswer::from(reading.remark.clone() + &list.text);
    let shown = text.with_newest(reading.memories(), &list.shown);
    Ok(shown.truncated(list.next.is_some()).with_rest(list.next, Some(list.left_out)))
}
