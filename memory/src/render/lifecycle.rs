//! What anchord says in a conversation unasked: at its start, at a prompt, around a compaction, to a subagent.
//!
//! All of it is framed as reference that holds no instructions, so that it is known again and never stored because it
//! was shown. Each text has a limit, frame included, and says what it left out. What changes least stands first, and the
//! same memory begins with the same bytes, since clients cache what does not change. Where there is nothing to say the
//! text is empty.

use std::collections::BTreeSet;

use super::list::EXPIRED;
use super::load::{self, LoadText, LoadView};
use super::page::Room;
use super::{append, changes, item, topic};
use crate::captured::Captured;
use crate::change::Counts;
use crate::fold::{clip, one_line};
use crate::ids::{Kind, RecordId, Revision, SessionId, Timestamp};
use crate::injected::{FRAME_CHARS, frame};
use crate::limits::{
    CHANGE_CHARS_MAX, COMPACTION_CHARS_MAX, COMPACTION_DECIDED_MAX, PROMPT_CHANGES_MAX,
    PROMPT_NEWS_CHARS_MAX, PROMPT_RECORD_CHARS_MAX, PROMPT_RECORDS_MAX, RESTORED_CHARS_MAX,
    RESTORED_TOPIC_CHARS_MAX, SESSION_START_CHARS_MAX, SUBAGENT_CHARS_MAX, TITLE_CHARS_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::{About, about};
use crate::record::{Body, Category, Record};
use crate::search::Query;
use crate::staged::Staged;
use crate::tokens;
use crate::topic::{MAIN, Topic};

/// What a prompt is to be told.
#[derive(Clone, Copy, Debug)]
pub struct PromptView<'a> {
    /// Who reads.
    pub reader: &'a Reader,
    /// The session, whose own changes are no news.
    pub session: &'a SessionId,
    /// What the person wrote; `None` when nothing is to be recalled by it.
    pub prompt: Option<&'a str>,
    /// Tell what others changed since this revision; `None` to tell nothing of that.
    pub since: Option<Revision>,
    /// Records that this session was shown before.
    pub shown: &'a BTreeSet<RecordId>,
    /// Tells what has expired.
    pub now: Timestamp,
}

/// What a session is about to lose or has lost, and who it is.
#[derive(Clone, Copy, Debug)]
pub struct SessionView<'a> {
    /// Who reads.
    pub reader: &'a Reader,
    /// The session.
    pub session: &'a SessionId,
    /// What was noted of the session and is not staged yet.
    pub noted: Option<&'a Captured>,
    /// Messages in the context before a compaction and after it, where the client counts them.
    pub messages: (Option<u32>, Option<u32>),
    /// Tells what has expired.
    pub now: Timestamp,
}

/// A text for a model's context, and what it gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The text, framed; empty when there is nothing to say.
    pub text: String,
    /// The records that it shows, in its order.
    pub shown: Vec<RecordId>,
    /// Whether there was more to say than it has room for.
    pub truncated: bool,
}

/// A session's start: the load, framed, of at most [`SESSION_START_CHARS_MAX`] characters, whatever the view allows.
/// The view's cursor is not used.
pub fn session_start(memory: &Memory, view: &LoadView<'_>) -> LoadText {
    let outer = Room {
        chars: view.chars_max.unwrap_or(usize::MAX).min(SESSION_START_CHARS_MAX),
        tokens: view.tokens_max.map_or(usize::MAX, |tokens| tokens as usize),
    };
    let whole = outer.without(Room::of(&frame("")));
    let view = LoadView { cursor: None, ..*view };
    // Only cursors are refused.
    let mut load = load::fitted(memory, &view, whole).unwrap_or_default();
    load.text = framed(&load.text);
    load
}

/// What a prompt is told: what others changed, a line each, and what memory has that is about the prompt so well that
/// it is worth saying unasked. Rows made by rule are no news.
pub fn prompt_news(memory: &Memory, view: &PromptView<'_>) -> Told {
    let mut page = Page::of(PROMPT_NEWS_CHARS_MAX);
    let mut shown = Vec::new();
    if let Some(prompt) = view.prompt {
        let of = About {
            reader: view.reader,
            prompt,
            shown: view.shown,
            now: view.now,
            limit: PROMPT_RECORDS_MAX,
        };
        let query = Query::told(prompt);
        for id in about(memory, &of) {
            let Some(record) = memory.record(id) else { continue };
            let text = clip(
                &item::excerpt(record, &query, PROMPT_RECORD_CHARS_MAX),
                PROMPT_RECORD_CHARS_MAX,
            );
            if page.line("Memory has on this:", &text) {
                shown.push(id);
            }
        }
    }
    let news = view.since.map_or_else(Vec::new, |since| news(memory, since, view.session));
    for record in news.iter().take(PROMPT_CHANGES_MAX) {
        let line = format!("- {}", clip(&changes::change(record, view.now), CHANGE_CHARS_MAX));
        page.line("Changed by other sessions since your last prompt:", &line);
    }
    let rest = news.len().saturating_sub(PROMPT_CHANGES_MAX);
    if rest > 0 {
        page.line("", &format!("- and {rest} more: memory_load shows them"));
    }
    let told = page.told(shown);
    Told { truncated: told.truncated || rest > 0, ..told }
}

/// What a compaction must keep: an instruction, and framed beneath it what it is about. Empty when there is nothing.
pub fn compaction_instructions(memory: &Memory, view: &SessionView<'_>) -> Told {
    const ASK: &str = "Keep these in the summary, names and commands as they are:\n";
    let mut page = Page::of(COMPACTION_CHARS_MAX - ASK.chars().count());
    let mut shown = Vec::new();
    let session = Session::of(memory, view);
    if let Some((_, topic)) = &session.topic {
        let head = format!("Topic {}:", topic.name);
        for line in standing(topic) {
            page.line(&head, &line);
        }
    }
    for (head, records) in [("Pinned:", pinned(memory, view)), ("Decided:", decisions(memory))] {
        page.titles(head, records, &mut shown);
    }
    if let Some(staged) = session.staged {
        for line in work(staged, view.now) {
            page.line("Not saved yet:", &line);
        }
    }
    for command in session.commands() {
        page.line("Commands that worked:", &command);
    }
    let told = page.told(shown);
    let ask = if told.text.is_empty() { "" } else { ASK };
    Told { text: format!("{ask}{}", told.text), ..told }
}

/// What comes back after a compaction: the topic, what is pinned, what the session staged, what it was asked and did; at
/// the end a receipt of that.
pub fn restored(memory: &Memory, view: &SessionView<'_>) -> Told {
    let mut page = Page::of(RESTORED_CHARS_MAX);
    let mut shown = Vec::new();
    let session = Session::of(memory, view);
    let mut receipt: Vec<String> = Vec::new();

    if let Some((id, topic)) = &session.topic {
        let text = topic::full(*id, topic, &BTreeSet::new(), topic::Detail::Loaded);
        if page.line("Topic:", &clip(&text, RESTORED_TOPIC_CHARS_MAX)) {
            shown.extend(*id);
        }
        receipt.push(format!("topic {}", topic.name));
    }
    let records = pinned(memory, view);
    let pinned_count = records.len();
    for record in records {
        let text = clip(&item::short(record), PROMPT_RECORD_CHARS_MAX * 2);
        if page.line("Pinned:", &text) {
            shown.push(record.id);
        }
    }
    if pinned_count > 0 {
        receipt.push(format!("{pinned_count} pinned"));
    }
    if let Some(staged) = session.staged {
        for line in work(staged, view.now) {
            page.line("Staged by you and not saved yet; memory_save keeps it:", &line);
        }
        receipt.push(match staged.counts() {
            counts if counts == Counts::default() => "a staged summary".to_owned(),
            counts => format!("staged: {counts}"),
        });
    }
    for line in session.noted.asked_and_edited() {
        page.line("This session so far:", &clip(&line, PROMPT_RECORD_CHARS_MAX * 2));
    }
    let commands = session.commands();
    for command in &commands {
        page.line("Commands that worked:", command);
    }
    if !commands.is_empty() {
        receipt.push(match commands.len() {
            1 => "1 command".to_owned(),
            many => format!("{many} commands"),
        });
    }
    let messages = match view.messages {
        (Some(before), Some(after)) => format!(" ({before} → {after} messages)"),
        (Some(before), None) => format!(" ({before} messages before)"),
        (None, _) => String::new(),
    };
    if receipt.is_empty() {
        return Told::default();
    }
    page.last(&format!(
        "Restored after the compaction{messages}: {}. The rest: memory_load.",
        receipt.join(", ")
    ));
    page.told(shown)
}

/// What a subagent is given at its start: what is pinned, blueprints and lessons, by title.
pub fn subagent_slice(memory: &Memory, view: &SessionView<'_>) -> Told {
    let mut page = Page::of(SUBAGENT_CHARS_MAX);
    let mut shown = Vec::new();
    let unpinned = |kind: Kind| -> Vec<&Record> {
        memory.active_of(kind).map(|record| &**record).filter(|record| !record.pinned).collect()
    };
    let mut lessons = unpinned(Kind::Lesson);
    lessons.reverse();
    page.titles("Pinned:", pinned(memory, view), &mut shown);
    page.titles("Settled:", unpinned(Kind::Blueprint), &mut shown);
    page.titles("Learned from failures, newest first:", lessons, &mut shown);
    if !shown.is_empty() {
        page.last("One in full: memory_get by its id. More: memory_search.");
    }
    page.told(shown)
}

/// Records that others wrote since a revision, newest first; not those made by rule.
fn news<'a>(memory: &'a Memory, since: Revision, session: &SessionId) -> Vec<&'a Record> {
    let mut news: Vec<&Record> = memory
        .written_since(since)
        .map(|record| &**record)
        .filter(|record| record.updated.session != *session && !record.is_captured())
        .collect();
    news.reverse();
    news
}

/// What the reader has pinned or shares, oldest first.
fn pinned<'a>(memory: &'a Memory, view: &SessionView<'a>) -> Vec<&'a Record> {
    let own = memory.own_notes(view.reader).filter(|record| record.standing.is_active());
    let mut pinned: Vec<&Record> = memory
        .active()
        .chain(own)
        .map(|record| &**record)
        .filter(|record| record.pinned)
        .filter(|record| !record.note().is_some_and(|note| note.is_expired(view.now)))
        .collect();
    pinned.sort_by_key(|record| record.id);
    pinned
}

/// Decisions that are not pinned, the newest first: those are what a conversation was about.
fn decisions(memory: &Memory) -> Vec<&Record> {
    let is_decision = |record: &&Record| matches!(&record.body, Body::Blueprint(blueprint) if blueprint.category == Category::Decision);
    memory
        .active_of(Kind::Blueprint)
        .rev()
        .map(|record| &**record)
        .filter(|record| is_decision(record) && !record.pinned)
        .collect()
}

/// What a session has of its own.
struct Session<'a> {
    /// Its staged work, if there is any.
    staged: Option<&'a Staged>,
    /// All that was noted of it.
    noted: Captured,
    /// The topic of its conversation as it will be when the session saves, and that topic's record.
    topic: Option<(Option<RecordId>, Topic)>,
}

impl<'a> Session<'a> {
    fn of(memory: &'a Memory, view: &SessionView<'_>) -> Self {
        let staged = memory.staged_by(view.session).map(|staged| &**staged);
        let mut noted = Captured::default();
        for part in
            staged.and_then(|staged| staged.captured.as_deref()).into_iter().chain(view.noted)
        {
            noted.absorb(part);
        }
        let name = bound(memory, noted.key()).unwrap_or(MAIN);
        let id = memory.topic(name).map(|record| record.id);
        let topic = memory.topic_as_staged(name, view.session).map(|topic| (id, topic));
        Self { staged: staged.filter(|staged| staged.has_work()), noted, topic }
    }

    /// Commands that were made to pass, then the others that passed last; each once.
    fn commands(&self) -> Vec<String> {
        let mut commands: Vec<String> = Vec::new();
        for command in self.noted.fixed().chain(self.noted.worked().iter().map(String::as_str)) {
            let line = format!("- {command}");
            if !commands.contains(&line) {
                commands.push(line);
            }
        }
        commands
    }
}

/// The topic that a conversation is bound to. Hooks and tools may name its client differently, so it is its own id that
/// tells.
fn bound<'a>(memory: &'a Memory, key: &str) -> Option<&'a str> {
    let own =
        |key: &str| key.split_once(':').map(|(_, id)| id.to_owned()).filter(|id| !id.is_empty());
    let id = own(key)?;
    memory.bound(key).or_else(|| {
        let mut bindings = memory.bindings();
        bindings
            .find(|(key, _)| own(key).as_ref() == Some(&id))
            .map(|(_, bound)| bound.topic.as_str())
    })
}

/// How a topic stands, in lines: its status, what is open, what was decided last.
fn standing(topic: &Topic) -> Vec<String> {
    let line = |text: &str| clip(&one_line(text), TITLE_CHARS_MAX);
    let status = Some(line(&topic.status)).filter(|status| !status.is_empty());
    let open = topic.pending().map(|open| format!("open: {}", line(&open.question)));
    let decided = topic.decisions.iter().rev().filter_map(|decision| {
        let answer = decision.decided.as_deref()?;
        Some(format!("decided: {}", line(&format!("{} -> {answer}", decision.question))))
    });
    status.into_iter().chain(open).chain(decided.take(COMPACTION_DECIDED_MAX)).collect()
}

/// Staged work, a line each.
fn work(staged: &Staged, now: Timestamp) -> Vec<String> {
    let line = |kind: Kind, text: &str| {
        format!("- {}: {}", kind.noun(), clip(&one_line(text), TITLE_CHARS_MAX))
    };
    let mut lines: Vec<String> =
        staged.summary.iter().map(|text| clip(&one_line(text), TITLE_CHARS_MAX * 2)).collect();
    lines.extend(staged.blueprints.iter().map(|new| line(Kind::Blueprint, &new.title)));
    lines.extend(staged.lessons.iter().map(|new| line(Kind::Lesson, &new.summary)));
    lines.extend(staged.notes.iter().map(|new| {
        let text = if new.summary.is_empty() { &new.content } else { &new.summary };
        line(Kind::Note, text) + if new.is_expired(now) { EXPIRED } else { "" }
    }));
    lines.extend(staged.anchors.iter().map(|new| {
        let text = format!("{} {} {}", new.file, new.lines, new.concept);
        line(Kind::Anchor, &text)
    }));
    lines
}

/// Text in a frame, and nothing in none.
fn framed(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { frame(text) }
}

/// Lines under headings, as long as there is room. Once a line did not fit no other is taken, and what is missing is
/// counted.
struct Page {
    text: String,
    left: usize,
    head: String,
    missing: usize,
}

/// Room for the line that counts what is missing.
const REST_CHARS: usize = 60;

impl Page {
    /// A page of so many characters, frame included.
    fn of(chars_max: usize) -> Self {
        let left = chars_max.saturating_sub(FRAME_CHARS + REST_CHARS);
        Self { text: String::new(), left, head: String::new(), missing: 0 }
    }

    /// Adds a line, its heading before the first under it; says whether it fitted.
    fn line(&mut self, head: &str, line: &str) -> bool {
        let mut text = String::new();
        if !head.is_empty() && self.head != head {
            append(&mut text, format_args!("{head}\n"));
        }
        append(&mut text, format_args!("{line}\n"));
        let chars = text.chars().count();
        if self.missing > 0 || chars > self.left {
            self.missing += 1;
            return false;
        }
        self.left -= chars;
        self.text.push_str(&text);
        if !head.is_empty() {
            head.clone_into(&mut self.head);
        }
        true
    }

    /// Adds records by their titles.
    fn titles(&mut self, head: &str, records: Vec<&Record>, shown: &mut Vec<RecordId>) {
        for record in records {
            if self.line(head, &item::title(record)) {
                shown.push(record.id);
            }
        }
    }

    /// Ends the page with a line for which room is made where there is none.
    fn last(&mut self, line: &str) {
        let chars = line.chars().count() + 1;
        while chars > self.left {
            let end = self.text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
            if end == self.text.len() {
                return;
            }
            self.left += self.text.get(end..).map_or(0, |cut| cut.chars().count());
            self.text.truncate(end);
            self.missing += 1;
        }
        self.left -= chars;
        append(&mut self.text, format_args!("{line}\n"));
    }

    fn told(mut self, shown: Vec<RecordId>) -> Told {
        let truncated = self.missing > 0;
        if truncated {
            append(
                &mut self.text,
                format_args!("{} more did not fit: memory_load.\n", self.missing),
            );
        }
        Told { text: framed(&self.text), shown, truncated }
    }
}

#[cfg(test)]
mod tests;
