//! The person sent a prompt: what others changed meanwhile, and what memory has that is about it.

use anchord_memory::render::hooks::{PromptContext, prompt_context};

use super::{Call, HookError, Said};
use crate::{budgets, clock};

pub(super) async fn submitted(call: &Call<'_>, prompt: &str) -> Result<Said, HookError> {
    call.note();
    let view = call.session.view(call.daemon).await?;
    let revision = view.memory.revision();
    let (since, given) = call.threads().with(&call.name, |thread| {
        thread.asked = Some(prompt.to_owned());
        (thread.told, thread.given.clone())
    });
    let settings = budgets::project_settings(&view.memory, &call.daemon.config);
    let context = prompt_context(
        &view.memory,
        &PromptContext {
            reader: &call.session.reader(call.daemon),
            session: &call.session.id,
            prompt: settings.prompt_recall.unwrap_or(true).then_some(prompt),
            since,
            given: &given,
            now: clock::now(),
        },
    );
    call.session.set_revision_seen(Some(revision));
    call.threads().with(&call.name, |thread| {
        thread.told = Some(revision);
        thread.given.extend(context.whole.iter().copied());
    });
    Ok(Said::context(context))
}
