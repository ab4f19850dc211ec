//! Words about a text that was checkpointed: the brief to work it into, and what became of it.

use super::append;
use crate::brief::{Brief, Loss};
use crate::defuse::defuse_json;
use crate::ids::RecordId;
use crate::limits::LOSSES_NAMED_MAX;

/// The outcome of a text and a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEnd<'a> {
    /// The notes that have the text; empty if there was no new text.
    pub notes: &'a [RecordId],
    /// The fields that the text's form names.
    pub fields: &'a [&'static str],
    /// Whether a state was written.
    pub is_merged: bool,
    /// The one who merges the rest of the text.
    pub rest: Rest,
}

/// The one who works into the brief what a text says besides its form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// Nobody; there is no rest, or it stays in the note.
    #[default]
    Nobody,
    /// The agent, which is asked for a state.
    Agent,
    /// A model, after the reply.
    Model,
}

/// Renders the last line of a reply: the steps that applied, and the one that is asked for.
pub fn text_end(end: &TextEnd<'_>) -> String {
    let mut steps = Vec::new();
    if !end.notes.is_empty() {
        let ids: Vec<String> = end.notes.iter().map(ToString::to_string).collect();
        steps.push(format!("the text was appended ({})", ids.join(", ")));
    }
    if !end.fields.is_empty() {
        steps.push(format!("its form gave {}", end.fields.join(", ")));
    }
    if end.is_merged {
        steps.push("your state was merged".to_owned());
    }
    if steps.is_empty() {
        steps.push("nothing was merged".to_owned());
    }
    let asked = match end.rest {
        Rest::Nobody => "",
        Rest::Agent => " The rest waits for your state.",
        Rest::Model => " A model merges the rest next.",
    };
    let mut line = steps.join("; ");
    if let Some(first) = line.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{line}.{asked}\n")
}

/// A call that takes a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateCall {
    /// `checkpoint` of infinite-context.
    Checkpoint,
    /// `memory_save`.
    Save,
}

/// Asks for a state: shows the brief, and the call that takes the result. `chars_max` is the room
/// for the answer.
pub fn ask_for_state(brief: &Brief, call: StateCall, chars_max: usize) -> String {
    let (call, other) = match call {
        StateCall::Checkpoint => ("checkpoint", "checkpoint, with labels such as `Task:`"),
        StateCall::Save => ("memory_save", "memory_checkpoint with a topic"),
    };
    let state = brief.state().to_string();
    let state = defuse_json(&state);
    let text = format!(
        "\nStill to do: work the text into the brief. Call {call} with `state`, this object changed. Keep every \
         question, answer, file and recent change unless the text says otherwise; `replaces`: true allows a \
         much shorter description.\n{state}\n"
    );
    if text.chars().count() <= chars_max {
        return text;
    }
    format!("\nThe brief is too long to be shown here. Write what the text changes: {other}.\n")
}

/// Renders why a state was not taken.
pub fn state_refused(losses: &[Loss]) -> String {
    let mut text = "The state was not taken:\n".to_owned();
    for loss in losses.iter().take(LOSSES_NAMED_MAX) {
        append(&mut text, format_args!("- {loss}\n"));
    }
    match losses.len().saturating_sub(LOSSES_NAMED_MAX) {
        0 => {}
        more => append(&mut text, format_args!("- and {more} more\n")),
    }
    text
}

#[cfg(test)]
mod tests;
