//! The answer to a load that a hook has given before: records about the task, and changes.

use std::collections::BTreeSet;

use super::RenderedContext;
use super::prompt::on_task;
use crate::fold::clip_words;
use crate::ids::{Kind, Revision, SessionId, Timestamp};
use crate::limits::CHANGE_CHARS_MAX;
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::PromptQuery;
use crate::render::{append, changes_since};

/// A load that a hook has already put into the model's context.
#[derive(Clone, Copy, Debug)]
pub struct LoadedBefore<'a> {
    /// The revision that it showed.
    pub injected: Revision,
    /// The revision after which changes are reported.
    pub since: Revision,
    /// The session.
    pub session: &'a SessionId,
    /// The reader.
    pub reader: &'a Reader,
    /// The reader's task, which the hook may not have known.
    pub task: Option<&'a str>,
    /// The current time.
    pub now: Timestamp,
}

/// Renders the reply to a load if a hook has given it before. It has the records that the task
/// recalls, lists the changes since, and says how to load a part again.
pub fn already_loaded(memory: &Memory, of: &LoadedBefore<'_>) -> RenderedContext {
    let LoadedBefore { injected, since, session, reader, task, now } = *of;
    let mut text = format!(
        "Memory is already loaded in your context, at revision {}: the anchord-memory block.",
        injected.0
    );
    let totals = memory.totals().active;
    if let Some(kind) = Kind::ALL.into_iter().find(|kind| totals.of(*kind) > 0) {
        let section = kind.plural();
        let again = format!("memory_load {{\"sections\":[\"{section}\"]}}");
        append(&mut text, format_args!(" For a part again in full: {again}."));
    }
    text.push('\n');
    let given = BTreeSet::new();
    let on_task =
        task.map(|prompt| on_task(memory, &PromptQuery { reader, prompt, given: &given, now }));
    let on_task = on_task.unwrap_or_default();
    text.push_str(&on_task.text);
    let lines = changes_since(memory, since, Some(session), now);
    if lines.is_empty() {
        append(&mut text, format_args!("Nothing changed by others since revision {}.\n", since.0));
    } else {
        append(&mut text, format_args!("Changed by others since revision {}:\n", since.0));
    }
    for line in lines {
        append(&mut text, format_args!("- {}\n", clip_words(&line, CHANGE_CHARS_MAX)));
    }
    RenderedContext { text, ..on_task }
}
