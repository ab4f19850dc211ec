//! `memory_why`: explains what a hook shows at a prompt or before a file is used. Only commands
//! have it.

use std::collections::BTreeSet;

use anchord_memory::PromptQuery;
use anchord_memory::render::hooks::FileContext;
use anchord_memory::render::{self, why_file, why_prompt};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    prompt: Option<String>,
    file: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new("memory_why", "Explain what a hook gives.", Effect::Reads, run)
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let view = context.searchable_view().await?;
    let (reader, given, now) = (context.reader(), BTreeSet::new(), clock::now());
    let (reader, given) = (&reader, &given);
    let why = match (params.prompt, params.file) {
        (Some(prompt), None) => {
            let of = PromptQuery { reader, prompt: &prompt, given, now };
            why_prompt(&view.memory, &of)
        }
        (None, Some(file)) => {
            let file = view.place.relative(&file);
            why_file(
                &view.memory,
                &FileContext { reader, file: &file, given, is_known: false, now, offer: None },
            )
        }
        _ => return Err(ToolError::failed("explain", "give a prompt or a file")),
    };
    // A person may miss here what a session has from its start.
    let loading = context.session.loading(&context.sessions, &view, None).await;
    let load = render::load(&view.memory, &loading.view());
    let load = load.map_err(|refusal| context.refused("explain", &refusal))?;
    let text = why.text + &render::why_start(&load.shown, &context.audience);
    Ok(ToolAnswer::from(text).with_newest(&*view.memory, &why.shown))
}
