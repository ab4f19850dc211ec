//! Staged work of sessions that have ended and are not folded yet, for the very next load.
//!
//! Folding waits for a grace period, but the next load shows the work at once. A session's private
//! notes are not shown. Work that does not fit is shown by title, and the rest is counted.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::cut::cut;
use super::kinds::staged_items;
use crate::audience::{Audience, Tool};
use crate::fold::{clip, one_line, with_block};
use crate::ids::{Kind, Timestamp};
use crate::limits::{ENDED_ITEMS_MAX, ENDED_SESSIONS_SHOWN_MAX, TITLE_CHARS_MAX};
use crate::staged::Staged;
use crate::tokens;

/// A session that has ended without saving all its work, which is still staged.
#[derive(Clone, Debug)]
pub struct EndedSession {
    /// The client's own name, or empty.
    pub client: Arc<str>,
    /// The time at which it ended. If its end was not seen, the time at which it last staged
    /// something.
    pub ended: Timestamp,
    /// Its staged work.
    pub staged: Arc<Staged>,
}

/// Text about ended sessions, within the room that the caller gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedText {
    /// One block of lines per session, each line with its break; empty if there is nothing to show.
    pub text: String,
    /// Whether anything was cut to a title or left out.
    pub truncated: bool,
}

/// The size of a text, or the space left for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Room {
    chars: usize,
    tokens: usize,
}

impl Room {
    /// Space reserved for the line that counts what was cut.
    const CUT: Self = Self { chars: 240, tokens: 70 };

    fn of(text: &str) -> Self {
        Self { chars: text.chars().count(), tokens: tokens_of(text) }
    }

    fn holds(self, other: Self) -> bool {
        other.chars <= self.chars && other.tokens <= self.tokens
    }

    /// Checks whether a text fits. Counts its tokens only if it has few enough characters.
    fn holds_text(self, text: &str) -> bool {
        text.chars().nth(self.chars).is_none() && tokens_of(text) <= self.tokens
    }

    fn without(self, other: Self) -> Self {
        Self {
            chars: self.chars.saturating_sub(other.chars),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            chars: self.chars.saturating_add(other.chars),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }

    fn at_most(self, other: Self) -> Self {
        Self { chars: self.chars.min(other.chars), tokens: self.tokens.min(other.tokens) }
    }

    fn divided_by(self, parts: usize) -> Self {
        Self { chars: self.chars / parts, tokens: self.tokens / parts }
    }
}

/// Counts a text's tokens, plus one for the joint to the next text.
fn tokens_of(text: &str) -> usize {
    usize::try_from(tokens::count(text)).unwrap_or(usize::MAX).saturating_add(1)
}

/// Renders the staged work of ended sessions in at most `chars_max` characters and `tokens_max`
/// tokens. The session that ended last comes first. Sessions share the room evenly; the next one
/// gets what a session leaves unused.
pub fn ended(
    sessions: &[EndedSession],
    chars_max: usize,
    tokens_max: usize,
    audience: &Audience,
) -> EndedText {
    let mut sessions: Vec<(&EndedSession, Vec<Item>)> = sessions
        .iter()
        .map(|session| (session, items(&session.staged)))
        .filter(|(_, items)| !items.is_empty())
        .collect();
    sessions.sort_by_key(|(session, _)| Reverse(session.ended));
    let mut shown = EndedText::default();
    if sessions.is_empty() {
        return shown;
    }
    let whole = Room { chars: chars_max, tokens: tokens_max };
    let mut left = whole.without(Room::CUT);
    let mut missing = sessions.len().saturating_sub(ENDED_SESSIONS_SHOWN_MAX);
    sessions.truncate(ENDED_SESSIONS_SHOWN_MAX);
    let count = sessions.len();
    for (at, (session, items)) in sessions.iter().enumerate() {
        match block(session, items, left.divided_by(count - at), audience) {
            Some((text, is_cut)) => {
                left = left.without(Room::of(&text));
                shown.text.push_str(&text);
                shown.truncated |= is_cut;
            }
            None => missing += 1,
        }
    }
    if missing > 0 {
        shown.truncated = true;
        let line = more_sessions(missing, shown.text.is_empty(), audience);
        if whole.without(Room::of(&shown.text)).holds_text(&line) {
            shown.text.push_str(&line);
        }
    }
    shown
}

fn more_sessions(missing: usize, alone: bool, audience: &Audience) -> String {
    let more = if alone { "" } else { " more" };
    let sessions = if missing == 1 { "session" } else { "sessions" };
    format!(
        "{missing}{more} {sessions} ended without saving. {} finds the work once it is folded, \
         usually within a minute.\n",
        audience.tool(Tool::Search)
    )
}

/// Renders one session's heading and items, and returns whether any of them is cut. Returns `None`
/// if nothing fits below the heading.
fn block(
    session: &EndedSession,
    items: &[Item],
    room: Room,
    audience: &Audience,
) -> Option<(String, bool)> {
    let client = clip(&one_line(&session.client), 40);
    let comma = if client.is_empty() { "" } else { ", " };
    let when = session.ended.minute();
    let head = format!("Kept from a session that ended without saving ({client}{comma}{when}):\n");
    let everything: String = items.iter().map(|item| item.full.as_str()).collect();
    if room.holds_text(&format!("{head}{everything}")) {
        return Some((head + &everything, false));
    }
    let mut left = room.without(Room::of(&head)).without(Room::CUT);
    let titles: Vec<Room> =
        items.iter().take(ENDED_ITEMS_MAX).map(|item| Room::of(&item.title)).collect();
    let mut rest = titles.iter().fold(Room::default(), |sum, title| sum.with(*title));
    let (mut lines, mut cut) = (String::new(), Cut::default());
    for (at, item) in items.iter().enumerate() {
        let Some(title) = titles.get(at) else {
            cut.missing(item.part);
            continue;
        };
        rest = rest.without(*title);
        // Reserve room for the titles of later items, but no more than half of what is left.
        let kept_free = rest.at_most(left.divided_by(2));
        if left.without(kept_free).holds_text(&item.full) {
            left = left.without(Room::of(&item.full));
            lines.push_str(&item.full);
        } else if left.holds(*title) {
            left = left.without(*title);
            lines.push_str(&item.title);
            if item.title != item.full {
                cut.titled(item.part);
            }
        } else {
            cut.missing(item.part);
        }
    }
    let text = format!("{head}{lines}{}", cut.line(audience));
    let is_cut = !cut.0.is_empty();
    (!lines.is_empty() && room.holds_text(&text)).then_some((text, is_cut))
}

/// The kind of an item. Cut items are counted in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Words about the session: its summary, what it was asked, its last message.
    Words,
    Of(Kind),
}

impl Part {
    fn count(self, count: u64) -> String {
        match self {
            Self::Of(kind) => kind.count(count),
            Self::Words if count == 1 => "1 line about it".to_owned(),
            Self::Words => format!("{count} lines about it"),
        }
    }
}

/// Counts of items that are not shown in full.
#[derive(Debug, Default)]
struct Cut(BTreeMap<Part, (u64, u64)>);

impl Cut {
    fn titled(&mut self, part: Part) {
        self.0.entry(part).or_default().0 += 1;
    }

    fn missing(&mut self, part: Part) {
        self.0.entry(part).or_default().1 += 1;
    }

    fn line(&self, audience: &Audience) -> String {
        let mut parts = Vec::new();
        for (part, (titled, missing)) in &self.0 {
            if *titled > 0 {
                parts.push(format!("{} by title (…)", part.count(*titled)));
            }
            if *missing > 0 {
                parts.push(format!("{} not shown", part.count(*missing)));
            }
        }
        if parts.is_empty() {
            return String::new();
        }
        format!(
            "Cut to fit: {}. {} finds the rest once it is folded, usually within a minute.\n",
            parts.join(", "),
            audience.tool(Tool::Search)
        )
    }
}

/// One piece of staged work, in full and as a single line. Both end with a line break.
#[derive(Debug)]
struct Item {
    part: Part,
    full: String,
    title: String,
}

impl Item {
    /// Creates an item from a head, which is its title, and a text beneath it.
    fn new(part: Part, head: &str, text: &str) -> Self {
        let full = with_block(format!("- {head}"), text, "  ") + "\n";
        let line = format!("- {}", one_line(head));
        let is_whole = text.is_empty() && line.chars().count() <= TITLE_CHARS_MAX;
        let title = if is_whole { line } else { cut(&line, TITLE_CHARS_MAX) };
        Self { part, full, title: title + "\n" }
    }

    /// Creates an item that begins with a label. Its text may have several lines.
    fn labelled(part: Part, label: &str, text: &str) -> Self {
        let text = text.trim();
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        Self::new(part, &format!("{label}: {first}"), rest)
    }
}

/// Lists everything that a session staged except its private notes, the most informative first.
fn items(staged: &Staged) -> Vec<Item> {
    let mut items = Vec::new();
    if let Some(summary) = &staged.summary {
        items.push(Item::labelled(Part::Words, "Its last checkpoint", summary));
    }
    if let Some(captured) = staged.captured.as_deref() {
        if staged.summary.is_none() {
            let lines = captured.asked_and_edited();
            items.extend(lines.iter().map(|line| Item::new(Part::Words, line, "")));
        }
        if let Some(message) = captured.last_message() {
            items.push(Item::labelled(Part::Words, "Said last", message));
        }
    }
    let shown = staged_items(staged).into_iter().filter(|(_, item)| item.is_for_others());
    items.extend(shown.map(|(kind, item)| {
        let (head, text) = item.ended();
        Item::new(Part::Of(kind), &head, &text)
    }));
    items
}

#[cfg(test)]
mod tests;
