//! Around a compaction: what the session has becomes durable before it, and comes back after it.

use anchord_memory::Captured;
use anchord_memory::Reader;
use anchord_memory::render::hooks::{Conversation, compaction_instructions, restored};

use super::ready::{answer_not_open, ready_load};
use super::{Call, HookError, Said, threads};
use crate::{clock, secrets};

/// What is noted is staged, and a conversation without a topic gets one, since it is long; the summary is told what it
/// must keep.
pub(super) async fn begins(call: &Call<'_>, messages: Option<u32>) -> Result<Said, HookError> {
    call.stage_noted().await?;
    call.stage_history(None, true).await?;
    // What the context held goes: it may be shown again, and a load has to give all of it.
    call.session.set_injected(None);
    call.threads().with(&call.name, |thread| {
        thread.forget_given();
        thread.messages = messages;
    });
    let view = call.session.view(call.daemon).await?;
    let (noted, reader) = (call.noted(), call.session.reader(call.daemon));
    let context = compaction_instructions(&view.memory, &conversation(call, &noted, &reader));
    Ok(Said::instructions(context))
}

/// The client's own summary is kept as what the client said, never as fact.
pub(super) async fn ended(
    call: &Call<'_>,
    summary: Option<&str>,
    messages: Option<u32>,
) -> Result<Said, HookError> {
    let before = call.threads().with(&call.name, |thread| {
        thread.rebuilt.clear();
        thread.messages.take()
    });
    let counts = match (before, messages) {
        (Some(before), Some(after)) => format!(" {before}→{after} messages"),
        (None, Some(after)) => format!(" to {after} messages"),
        (_, None) => String::new(),
    };
    let said = match summary.map(secrets::keepable) {
        Some(summary) if !summary.trim().is_empty() => {
            format!(", in the client's words: {}", summary.trim())
        }
        _ => String::new(),
    };
    if !(counts.is_empty() && said.is_empty()) {
        call.stage_history(Some(format!("Compacted{counts}{said}")), true).await?;
    }
    Ok(Said::default())
}

/// Gives back what a compaction removed: the load, and what the conversation has under way.
pub(super) async fn restore(call: &Call<'_>) -> Result<Said, HookError> {
    // Some clients report a compaction only after it, so nothing was forgotten at its beginning.
    call.threads().with(&call.name, threads::Thread::forget_given);
    let (noted, reader) = (call.noted(), call.session.reader(call.daemon));
    let session = call.session.id.clone();
    let load = ready_load(call, None, move |memory, load| {
        let noted = Some(&noted);
        let view = Conversation { reader: &reader, session: &session, noted, now: clock::now() };
        restored(memory, &view, load)
    });
    Ok(match load.await? {
        Some(load) => load.answer(call),
        None => answer_not_open(call),
    })
}

fn conversation<'a>(
    call: &'a Call<'_>,
    noted: &'a Captured,
    reader: &'a Reader,
) -> Conversation<'a> {
    Conversation { reader, session: &call.session.id, noted: Some(noted), now: clock::now() }
}
