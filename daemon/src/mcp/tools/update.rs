//! `memory_update`: changes the given fields of one record.

use anchord_memory::render::UpdateReply;
use anchord_memory::{Memory, Provenance, Reader, RecordId, Update, Version, plan_update, render};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{ScopeParams, expires, importance};
use super::personal::change;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    id: String,
    summary: Option<String>,
    content: Option<String>,
    tags: Option<Vec<String>>,
    #[serde(default, deserialize_with = "importance")]
    #[schemars(with = "Option<u8>")]
    importance: Option<u8>,
    pinned: Option<bool>,
    /// or never
    expires: Option<String>,
    /// project: share yours
    #[schemars(with = "Option<String>")]
    scope: Option<ScopeParams>,
    expected_version: Option<u32>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_update",
        "Change a note, pin or tag any record, by id or key. Only what is given changes.",
        Effect::Adds,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let caller = |error: &dyn std::fmt::Display| ToolError::failed("update", error);
    let is_personal = params.id.parse().is_ok_and(RecordId::is_personal);
    if params.scope == Some(ScopeParams::User) || (is_personal && params.scope.is_some()) {
        return Err(caller(
            &"a note stays in the memory that it is in; note it again with the scope you want, and forget this one",
        ));
    }
    if params.scope == Some(ScopeParams::Session) {
        return Err(caller(
            &"scope goes from session to project alone; note it again with scope session",
        ));
    }
    let update = Update {
        summary: params.summary,
        content: params.content,
        tags: params.tags,
        importance: params.importance,
        pinned: params.pinned,
        expires: expires(params.expires.as_deref(), clock::now())
            .map_err(|refusal| caller(&refusal))?,
        share: params.scope == Some(ScopeParams::Project),
    };
    let expected = params.expected_version.map(Version);
    let plan = move |memory: &Memory, reader: &Reader, id: RecordId, by: &Provenance| {
        let plan = plan_update(memory, reader, id, &update, expected, by)?;
        Ok(plan.map(|outcome| UpdateReply::of(&outcome, by.time)))
    };
    change(&context, "update", &params.id, Context::reader, plan, render::update).await
}
