//! The parts of a load that are not the project's saved records. They are what the session staged,
//! the user's own notes, and the text after the records.

use super::rules::file_rules;
use super::{Inner, LoadText, LoadView, frame_room, within};
use crate::audience::Audience;
use crate::fold::clip;
use crate::ids::Kind;
use crate::kinds::topic::{MAIN, Topic};
use crate::limits::{ENDED_CHARS_MAX, LOAD_TOKENS_MIN, PERSONAL_SHARE, PERSONAL_TOKENS_MAX};
use crate::memory::Memory;
use crate::refusal::Refusal;
use crate::render::ended::ended;
use crate::render::personal::{PersonalText, personal};
use crate::render::room::Room;
use crate::render::topic::{self, Detail};

/// The parts of a load that are not the project's saved records.
pub(super) struct Around {
    /// The topic in view with the session's staged work.
    staged: Option<Topic>,
    personal: PersonalText,
    /// The rules of the project's file.
    rules: String,
    /// The room that the first line, the headings, the file's rules and the user's own notes leave.
    pub(super) framed: Room,
    /// The text after the records.
    pub(super) last: String,
    /// Whether [`LoadView::last`] did not fit whole.
    last_is_cut: bool,
}

impl Around {
    /// Renders the parts for a load that takes at most `whole`.
    pub(super) fn of(memory: &Memory, view: &LoadView<'_>, whole: Room) -> Self {
        let staged = staged_topic(memory, view);
        let personal = personal_section(view, whole);
        let framed = whole.without(frame_room(memory, view)).without(Room::of(&personal.text));
        let rules = file_rules(view, framed.percent(50));
        let framed = if rules.is_empty() { framed } else { framed.without(Room::of(&rules)) };
        let mut last = String::new();
        if let Some(topic) = staged.as_ref().filter(|_| view.focus(memory).is_none()) {
            // None of it is saved, so it has no place among the records.
            let text = topic::full(None, topic, view.gone, Detail::Loaded) + topic::STAGED + "\n";
            let text = format!("\n## Your topic\n{text}");
            if framed.percent(25).holds(Room::of(&text)) {
                last = text;
            }
        }
        if view.cursor.is_none() {
            let room = framed.percent(25);
            let (chars, tokens) = (room.chars.min(ENDED_CHARS_MAX), room.tokens.saturating_sub(1));
            let ended = ended(view.just_ended, chars, tokens, view.audience);
            last.push_str(if ended.text.is_empty() { "" } else { "\n" });
            last.push_str(&ended.text);
        }
        let fitting = cut_to(view.last, framed.percent(50), view.audience);
        last.push_str(&fitting);
        last.push_str(if view.part { PART } else { "" });
        Self { staged, personal, rules, framed, last, last_is_cut: fitting != view.last }
    }

    /// Renders a load whose records take at most `room`.
    pub(super) fn filled(
        &self,
        memory: &Memory,
        view: &LoadView<'_>,
        room: Room,
        room_max: Room,
    ) -> Result<LoadText, Refusal> {
        let inner = Inner {
            staged: self.staged.as_ref(),
            personal: &self.personal.text,
            rules: &self.rules,
        };
        let mut load = within(memory, view, inner, room, room_max)?;
        load.text.push_str(&self.last);
        load.last_is_cut = self.last_is_cut;
        load.shown.extend(self.personal.shown.iter().copied());
        load.whole.extend(self.personal.in_full.iter().copied());
        Ok(load)
    }
}

/// Returns the topic in view as a save would leave it, if that differs from the stored one.
fn staged_topic(memory: &Memory, view: &LoadView<'_>) -> Option<Topic> {
    if view.cursor.is_some() || !view.sections.contains(&Kind::Topic) {
        return None;
    }
    let name = view.topic.unwrap_or(MAIN);
    let topic = memory.topic_as_staged(name, view.session)?;
    let stored = memory.topic(name).and_then(|record| record.topic());
    (stored != Some(&topic)).then_some(topic)
}

/// The end of a load that had no time to consider all records. Only hooks give such a load.
pub(super) const PART: &str =
    "This is only a part: there was no time for the whole memory. memory_load {} shows it.\n";

/// Renders the user's own notes, in at most [`PERSONAL_TOKENS_MAX`] tokens. Only the first page of
/// a whole load has them, and a small load has less.
fn personal_section(view: &LoadView<'_>, whole: Room) -> PersonalText {
    let is_whole = Kind::ALL.iter().all(|kind| view.sections.contains(kind));
    let Some(memory) = view.personal.filter(|_| is_whole && view.cursor.is_none()) else {
        return PersonalText::default();
    };
    let tokens = u32::try_from(whole.tokens).unwrap_or(u32::MAX);
    let room = tokens.saturating_sub(LOAD_TOKENS_MIN);
    let tokens_max = PERSONAL_TOKENS_MAX.min(tokens / PERSONAL_SHARE).min(room);
    let mut section = personal(memory, tokens_max, view.now, view.audience);
    if !section.text.is_empty() {
        section.text.insert(0, '\n');
    }
    section
}

/// Cuts a text to the room there is, and says how to see the rest.
pub(super) fn cut_to(text: &str, room: Room, audience: &Audience) -> String {
    let rest = match audience {
        Audience::Agent | Audience::Compactor => "\nCut to fit. The rest: memory_status {}.\n",
        // No command shows these remarks.
        Audience::Person(_) => "\nCut to fit.\n",
    };
    if room.holds(Room::of(text)) {
        return text.to_owned();
    }
    let mut chars = room.chars.saturating_sub(rest.chars().count() + 1);
    loop {
        let cut = clip(text, chars) + rest;
        let takes = Room::of(&cut);
        if takes.tokens <= room.tokens || chars == 0 {
            return cut;
        }
        chars = chars.min(takes.chars) * room.tokens / takes.tokens;
    }
}
