//! The end of a load: notices, what others changed, and who else is here.

use std::collections::BTreeSet;

use super::LoadView;
use crate::fold::{clip, clip_words, one_line};
use crate::ids::{NoticeId, Revision};
use crate::limits::CHANGE_CHARS_MAX;
use crate::memory::Memory;
use crate::render::room::Room;
use crate::render::{append, changes_since, notice};

/// The characters reserved for lines that count omissions.
const LEFT_OUT_CHARS: usize = 120;

#[derive(Default)]
pub(super) struct Tail {
    pub(super) text: String,
    pub(super) notices: Vec<NoticeId>,
}

/// Renders the tail, in fewer characters than `room` has if it does not fit otherwise. Pinned
/// records may leave no room for it. Then it is empty, and its notices wait.
pub(super) fn tail_within(memory: &Memory, view: &LoadView<'_>, room: Room) -> Tail {
    let mut chars = room.chars;
    loop {
        let tail = tail(memory, view, chars);
        let takes = Room::of(&tail.text);
        if room.holds(takes) {
            return tail;
        }
        if chars == 0 {
            return Tail::default();
        }
        chars = if takes.tokens > room.tokens {
            chars.min(takes.chars) * room.tokens / takes.tokens
        } else {
            chars.saturating_sub(takes.chars - room.chars)
        };
    }
}

/// Renders notices, others' changes and who else is here, within `chars` characters.
fn tail(memory: &Memory, view: &LoadView<'_>, chars: usize) -> Tail {
    let mut tail = Tail::default();
    let live = live(view.live, chars.saturating_sub(LEFT_OUT_CHARS));
    let mut left = chars.saturating_sub(live.chars().count() + LEFT_OUT_CHARS);
    let (text, notices, waiting) =
        notice::notices(memory, view.notices_seen, left, |group, files_chars| {
            notice::plain(memory, group, files_chars)
        });
    left = left.saturating_sub(text.chars().count());
    tail.text.push_str(&text);
    tail.notices = notices;
    if waiting > 0 {
        let wait = if waiting == 1 { "notice waits" } else { "notices wait" };
        append(&mut tail.text, format_args!("{waiting} {wait} for the next load.\n"));
    }
    if let Some(since) = view.others_changed {
        tail.text.push_str(&changed(memory, since, view, left));
    }
    tail.text.push_str(&live);
    if !tail.text.is_empty() {
        tail.text.insert(0, '\n');
    }
    tail
}

fn changed(memory: &Memory, since: Revision, view: &LoadView<'_>, chars: usize) -> String {
    let lines = changes_since(memory, since, Some(view.session), view.now);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = format!("- {}\n", clip_words(line, CHANGE_CHARS_MAX));
        let head = if at == 0 {
            format!("Changed by others since revision {}:\n", since.0)
        } else {
            String::new()
        };
        if text.chars().count() + head.chars().count() + line.chars().count() > chars {
            text.push_str("More changes do not fit here.\n");
            break;
        }
        text.push_str(&head);
        text.push_str(&line);
    }
    text
}

/// Renders `Also here now: claude-code ×2, codex.`, or only the number of sessions if their names
/// do not fit.
fn live(live: &[String], chars: usize) -> String {
    let clients: BTreeSet<&str> = live.iter().map(String::as_str).collect();
    let names: Vec<String> = clients
        .into_iter()
        .map(|client| {
            let name = if client.is_empty() { "another agent" } else { client };
            let name = clip(&one_line(name), 40);
            match live.iter().filter(|one| *one == client).count() {
                1 => name,
                more => format!("{name} ×{more}"),
            }
        })
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let named = clip(&format!("Also here now: {}.", names.join(", ")), 160) + "\n";
    if named.chars().count() <= chars {
        return named;
    }
    let sessions = if live.len() == 1 { "session" } else { "sessions" };
    format!("Also here now: {} other {sessions}.\n", live.len())
}
