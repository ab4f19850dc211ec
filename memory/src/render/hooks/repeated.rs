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
use crate::record::Record;
use crate::render::append;
use crate::render::changes::{change_lines, written_by_others};

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
/// recalls, lists the changes since, and says how to load a part again. Shows no record twice.
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
    let changed = written_by_others(memory, since, Some(session)).into_iter();
    let (above, below): (Vec<&Record>, Vec<&Record>) =
        changed.partition(|record| on_task.shown.contains(&record.id));
    let mut lines = change_lines(below.into_iter(), now);
    if !above.is_empty() {
        let above: Vec<String> = above.iter().map(|record| record.id.to_string()).collect();
        lines.insert(0, format!("above: {}", above.join(", ")));
    }
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
