//! The section of a load that shows the notes that belong to the user.
//!
//! Notes are ordered by importance. They are shown in full up to the first that does not fit, and
//! by title after it. So a larger budget never takes a note's text away. Nor does a long note: one
//! of more than [`PERSONAL_NOTE_TOKENS_MAX`] tokens is always shown by title.

use std::cmp::Reverse;

use super::append;
use super::cut::{CUT, clip_within};
use crate::audience::{Audience, Tool};
use crate::fold::{one_line, with_block};
use crate::ids::{Kind, RecordId, Timestamp};
use crate::kinds::note::Note;
use crate::limits::{PERSONAL_NOTE_TOKENS_MAX, PERSONAL_TITLE_TOKENS_MAX, TITLE_CHARS_MAX};
use crate::memory::Memory;
use crate::record::Record;
use crate::tokens;

/// The section, and the notes that it shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonalText {
    /// The section, ending with a line break; empty if the user has no notes or none of them fits.
    pub text: String,
    /// The notes that it shows, in its order.
    pub shown: Vec<RecordId>,
    /// The notes that it shows in full.
    pub in_full: Vec<RecordId>,
    /// The number of notes that it leaves out, as its last line says.
    pub left_out: usize,
}

const HEADING: &str = "## The user's own notes, for every project\n";

/// The notes of the section, before they are joined into a text.
pub(super) struct PersonalNotes {
    /// The notes that it shows, in its order.
    pub(super) shown: Vec<ShownNote>,
    /// The number of notes that it leaves out.
    pub(super) left_out: usize,
}

/// A note of the section.
pub(super) struct ShownNote {
    pub(super) id: RecordId,
    /// The note in full or by title, with a line break at its end.
    pub(super) text: String,
    pub(super) is_in_full: bool,
}

/// Renders the active notes of the user's own memory in at most `tokens_max` tokens, the most
/// important first. Expired notes are left out, and counted with those that do not fit.
pub fn personal(
    memory: &Memory,
    tokens_max: u32,
    now: Timestamp,
    audience: &Audience,
) -> PersonalText {
    let PersonalNotes { shown, left_out } = notes(memory, tokens_max, now);
    let mut section = PersonalText { left_out, ..PersonalText::default() };
    for note in shown {
        section.text.push_str(&note.text);
        section.shown.push(note.id);
        if note.is_in_full {
            section.in_full.push(note.id);
        }
    }
    if left_out > 0 && frame_tokens(memory) <= tokens_max {
        append(&mut section.text, format_args!("{}\n", rest(left_out, audience)));
    }
    if !section.text.is_empty() {
        section.text.insert_str(0, HEADING);
    }
    section
}

/// Renders the notes of a section that has at most `tokens_max` tokens.
pub(super) fn notes(memory: &Memory, tokens_max: u32, now: Timestamp) -> PersonalNotes {
    let mut notes: Vec<(&Record, &Note)> = active(memory).collect();
    let mut left_out = notes.len();
    notes.retain(|(_, note)| !note.is_expired(now));
    notes.sort_by_key(|(record, note)| {
        let (time, number) = (record.updated.time, record.id.number);
        (!record.pinned, Reverse((note.importance, time, number)))
    });
    let mut shown = Vec::new();
    let mut room = tokens_max.saturating_sub(frame_tokens(memory));
    let mut is_full = false;
    for (record, note) in notes {
        let full = full(record, note);
        let takes = tokens::count(&full);
        let fits = takes <= room;
        let is_short = takes <= PERSONAL_NOTE_TOKENS_MAX;
        let is_in_full = is_short && fits && !is_full;
        is_full |= is_short && !fits;
        let text = if is_in_full { full } else { short(record, note) };
        let takes = tokens::count(&text);
        if takes > room {
            is_full = true;
            continue;
        }
        room -= takes;
        left_out -= 1;
        shown.push(ShownNote { id: record.id, text, is_in_full });
    }
    PersonalNotes { shown, left_out }
}

fn active(memory: &Memory) -> impl Iterator<Item = (&Record, &Note)> {
    memory.active_of(Kind::Note).filter_map(|record| Some((&**record, record.note()?)))
}

/// Counts the tokens of the heading and of the last line. Room for the last line is reserved even
/// if it turns out not to be needed: otherwise one more note could take a text away.
fn frame_tokens(memory: &Memory) -> u32 {
    let rest = rest(active(memory).count(), &Audience::Agent);
    tokens::count(HEADING) + tokens::count(&(rest + "\n"))
}

/// Renders the note for a load, without the marks meant for editors.
fn full(record: &Record, note: &Note) -> String {
    if note.condensed {
        return short(record, note);
    }
    let text = note.content.trim();
    match text.split_once('\n') {
        None => format!("{} {text}\n", head(record, note)),
        Some((first, rest)) => {
            with_block(format!("{} {first}", head(record, note)), rest, "  ") + "\n"
        }
    }
}

fn short(record: &Record, note: &Note) -> String {
    let text = if note.summary.is_empty() { note.content.trim() } else { note.summary.trim() };
    let is_whole = note.summary.is_empty() && !text.contains('\n');
    let line =
        format!("{} {}", head(record, note), one_line(text.lines().next().unwrap_or_default()));
    let clipped = clip_within(&line, TITLE_CHARS_MAX, PERSONAL_TITLE_TOKENS_MAX);
    let cut = if is_whole && clipped == line { "" } else { CUT };
    clipped + cut + "\n"
}

fn head(record: &Record, note: &Note) -> String {
    match &note.key {
        Some(key) => format!("{} {key}:", record.id),
        None => format!("{}:", record.id),
    }
}

/// Renders the last line, without a line break.
pub(super) fn rest(left_out: usize, audience: &Audience) -> String {
    let search = audience.call(Tool::Search, &[("scope", "user".into())]);
    format!("The rest: {left_out} more, {search}.")
}

#[cfg(test)]
mod tests;
