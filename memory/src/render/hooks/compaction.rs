//! Context around a compaction: the content that the summary must keep, and the content that
//! returns after it.

use super::{Page, RenderedContext, framed, load_within, pinned};
use crate::activity::SessionActivity;
use crate::fold::{clip, clip_words, one_line};
use crate::ids::{Kind, RecordId, SessionId, Timestamp};
use crate::injected::FRAME_CHARS;
use crate::kinds::topic::{MAIN, Topic, TopicPart, topic_key};
use crate::limits::{
    COMPACTION_CHARS_MAX, COMPACTION_DECIDED_MAX, HELD_CHARS_MAX, RESTORED_CHARS_MAX,
    RESTORED_LOAD_CHARS, TITLE_CHARS_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Body, Category, Record};
use crate::render::{FileRulesView, LoadText, LoadView, append, kinds, topic};
use crate::shell::bare;
use crate::staged::Staged;

/// A conversation that is about to lose its context or has lost it.
#[derive(Clone, Copy, Debug)]
pub struct CompactionView<'a> {
    /// The reader.
    pub reader: &'a Reader,
    /// The session.
    pub session: &'a SessionId,
    /// The session's pending activity.
    pub activity: Option<&'a SessionActivity>,
    /// The current time, which decides what has expired.
    pub now: Timestamp,
}

/// Renders an instruction on what a compaction must keep, and beneath it, framed, the content to
/// keep. Empty if there is nothing to keep.
pub fn compaction_instructions(
    memory: &Memory,
    view: &CompactionView<'_>,
    file_rules: &FileRulesView<'_>,
) -> RenderedContext {
    const ASK: &str = "Keep these in the summary, names and commands as they are:\n";
    let mut page = Page::of(COMPACTION_CHARS_MAX - ASK.chars().count()).with_sections();
    let work = Work::of(memory, view);
    if let Some(topic) = &work.topic {
        let head = format!("Topic {}:", topic.name);
        for line in current_state(topic) {
            if !page.line(&head, &line) {
                page.missing_kinds.insert(Kind::Topic);
            }
        }
    }
    page.file_rules(file_rules, view.now, page.left / 4);
    page.pinned(pinned(memory, view.reader, view.now).into_iter(), page.left / 4);
    for line in work.lines(&[], page.left, Bodies::WhereTheyFit) {
        page.line("", &line);
    }
    page.records("Decided:", decisions(memory, view.reader), 0);
    let context = page.finished();
    let ask = if context.text.is_empty() { "" } else { ASK };
    RenderedContext { text: format!("{ask}{}", context.text), ..context }
}

/// Renders the text that follows a compaction: the load again, with the conversation's topic. Below
/// it come the session's staged work, its prompt, its edits and its commands.
///
/// Rules, pinned records and open questions are always given. If they do not fit beside the staged
/// work, its longer texts yield to them: first to the questions, then to the records.
pub fn restored(memory: &Memory, view: &CompactionView<'_>, load: &LoadView<'_>) -> LoadText {
    const HEAD: &str = "Your context was compacted. This is the project's memory again, and \
                        the work that this conversation had in progress.\n";
    let work = Work::of(memory, view);
    let room = RESTORED_CHARS_MAX.saturating_sub(HEAD.chars().count());
    let own_max = room.saturating_sub(FRAME_CHARS + RESTORED_LOAD_CHARS);
    let topic = bound(memory, work.activity.key()).or(load.topic);
    // The staged work follows below.
    let load = LoadView { topic, last: "", ..*load };
    let open = work.open();
    let rules = memory.active_of(Kind::Rule).map(|record| record.id);
    let pinned = pinned(memory, view.reader, view.now).into_iter().map(|record| record.id);
    let wanted: Vec<RecordId> = rules.chain(pinned).collect();
    let with = |open: &[String], bodies| {
        let lines = work.lines(open, own_max.saturating_sub(SECTION_CHARS), bodies);
        let own = section(&lines, own_max);
        // The load takes the frame's characters off its own.
        let load = load_within(memory, &load, room.saturating_sub(own.chars().count()));
        (load, own)
    };
    let asks = |(load, own): &(LoadText, String)| {
        open.iter().skip(1).all(|line| load.text.contains(line.trim()) || own.contains(line.trim()))
    };
    let gives = |(load, _): &(LoadText, String)| wanted.iter().all(|id| load.whole.contains(id));
    let mut given = with(&[], Bodies::WhereTheyFit);
    if !asks(&given) {
        given = with(&open, Bodies::WhereTheyFit);
    }
    if !gives(&given) {
        let shorter = with(&open, Bodies::None);
        given = if gives(&shorter) { shorter } else { given };
    }
    let (mut load, own) = given;
    load.text = framed(&format!("{HEAD}{}{own}", load.text), RESTORED_CHARS_MAX);
    load
}

/// The characters of a section's heading and of the line that counts what is left out.
const SECTION_CHARS: usize = 120;

/// Whether staged items are shown with more than their first lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bodies {
    WhereTheyFit,
    None,
}

/// Renders lines under a heading in at most `chars_max` characters. Cuts the first line that does
/// not fit and counts the rest.
fn section(lines: &[String], chars_max: usize) -> String {
    const HEAD: &str = "\n## This conversation\n";
    const REST: usize = 80;
    if lines.is_empty() {
        return String::new();
    }
    let mut text = HEAD.to_owned();
    for (at, line) in lines.iter().enumerate() {
        let left = chars_max.saturating_sub(text.chars().count() + REST);
        if line.chars().count() < left {
            append(&mut text, format_args!("{line}\n"));
            continue;
        }
        append(&mut text, format_args!("{}\n", clip(line, left)));
        let rest = lines.len() - at;
        append(
            &mut text,
            format_args!("The rest is left out ({rest} more); memory_status has the counts.\n"),
        );
        break;
    }
    text
}

/// Lists the decisions that the reader has stored and not pinned, the newest first. Those of others
/// come back with the load.
fn decisions<'a>(memory: &'a Memory, reader: &Reader) -> Vec<&'a Record> {
    let is_decision = |record: &&Record| matches!(&record.body, Body::Blueprint(blueprint) if blueprint.category == Category::Decision);
    memory
        .active_of(Kind::Blueprint)
        .rev()
        .map(|record| &**record)
        .filter(|record| is_decision(record) && !record.pinned)
        .filter(|record| reader.owns(&record.updated.session))
        .collect()
}

/// Work that a conversation has under way.
struct Work<'a> {
    /// Its saves that wait for the team's database.
    saved: Vec<String>,
    /// Its staged work, if there is any.
    staged: Option<&'a Staged>,
    /// All of its activity.
    activity: SessionActivity,
    /// Its topic as it will be when the session saves.
    topic: Option<Topic>,
}

impl<'a> Work<'a> {
    fn of(memory: &'a Memory, view: &CompactionView<'_>) -> Self {
        let staged = memory.staged_by(view.session).map(|staged| &**staged);
        let mut activity = SessionActivity::default();
        for part in
            staged.and_then(|staged| staged.captured.as_deref()).into_iter().chain(view.activity)
        {
            activity.absorb(part);
        }
        let name = bound(memory, activity.key()).unwrap_or(MAIN);
        let topic = memory.topic_as_staged(name, view.session);
        let staged = staged.filter(|staged| staged.has_work());
        Self { saved: held_items(memory, view.session), staged, activity, topic }
    }

    /// Lists the given lines, the staged work, then the session's prompts and edits, and the
    /// commands that worked. The staged work takes the room of `chars_max` that the others leave.
    /// At most a fifth is left for commands.
    fn lines(&self, first: &[String], chars_max: usize, bodies: Bodies) -> Vec<String> {
        let size = |lines: &[String]| lines.iter().map(|line| line.chars().count() + 1).sum();
        let mut lines = first.to_vec();
        let asked = self.activity.asked_and_edited();
        let mut commands = self.commands();
        if !commands.is_empty() {
            commands.insert(0, "Commands that worked:".to_owned());
        }
        if !self.saved.is_empty() {
            lines.push("Saved by you, and waiting for the team's database:".to_owned());
            lines.extend(fitted(&self.saved, chars_max / 3, bodies));
        }
        if let Some(staged) = self.staged {
            lines.push("Staged by you and not saved yet; memory_save keeps it:".to_owned());
            let shown = self.topic.as_ref().map(|topic| topic_key(&topic.name));
            let other = |part: &&TopicPart| shown != Some(topic_key(part.topic()));
            let mut items = staged_items(staged);
            items.extend(staged.topics.iter().filter(other).filter_map(staged_topic));
            let (others, for_commands): (usize, usize) =
                (size(&lines) + size(&asked), size(&commands));
            let room = chars_max.saturating_sub(others + for_commands.min(chars_max / 5));
            lines.extend(fitted(&items, room, bodies));
        }
        lines.extend(asked);
        lines.extend(commands);
        lines
    }

    /// Lists the topic's open questions under a heading; empty if there are none.
    fn open(&self) -> Vec<String> {
        let Some(topic) = &self.topic else { return Vec::new() };
        let question = |text: &str| clip_words(&one_line(text), TITLE_CHARS_MAX);
        let open = topic.pending().map(|open| format!("  open: {}", question(&open.question)));
        let mut lines: Vec<String> = open.collect();
        if !lines.is_empty() {
            lines.insert(0, format!("Topic {}:", topic.name));
        }
        lines
    }

    /// Lists the commands that failed and then passed, then the others that passed last, each once.
    fn commands(&self) -> Vec<String> {
        let worked = || self.activity.worked().iter().map(String::as_str);
        // Fixed commands are known without the directory that they ran in.
        let as_run = |command| worked().rev().find(|line| bare(line) == command).unwrap_or(command);
        let mut commands: Vec<String> = Vec::new();
        for command in self.activity.fixed().map(as_run).chain(worked()) {
            let line = format!("- {command}");
            if !commands.contains(&line) {
                commands.push(line);
            }
        }
        commands
    }
}

/// Shows items in at most `chars_max` characters: all of them by their first lines, and in full
/// where there is room. A last line counts those that are shortened or not named.
fn fitted(items: &[String], chars_max: usize, bodies: Bodies) -> Vec<String> {
    const REMARK_CHARS: usize = 120;
    let size = |text: &str| text.chars().count() + 1;
    if bodies != Bodies::None && items.iter().map(|item| size(item)).sum::<usize>() <= chars_max {
        return items.to_vec();
    }
    let mut left = chars_max.saturating_sub(REMARK_CHARS);
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let line = head(item);
        let Some(rest) = left.checked_sub(size(&line)) else { break };
        left = rest;
        lines.push(line);
    }
    let mut shortened = 0_usize;
    for (line, item) in lines.iter_mut().zip(items) {
        let more = size(item).saturating_sub(size(line));
        if line == item {
            continue;
        }
        match left.checked_sub(more).filter(|_| bodies != Bodies::None) {
            Some(rest) => {
                left = rest;
                line.clone_from(item);
            }
            None => shortened += 1,
        }
    }
    let unnamed = items.len() - lines.len();
    let counted = [(shortened, "shortened to a line that ends in …"), (unnamed, "not named")];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let counted: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    if !counted.is_empty() {
        lines.push(format!("Here {}; memory_save keeps them whole.", counted.join(", ")));
    }
    lines
}

/// Returns an item's first line, with a mark if there is more of it.
fn head(item: &str) -> String {
    let first = item.lines().next().unwrap_or_default();
    let head = clip_words(first, TITLE_CHARS_MAX);
    if head == item || head.ends_with('…') { head } else { format!("{head} …") }
}

/// Renders staged work in full, one item each, without topics.
fn staged_items(staged: &Staged) -> Vec<String> {
    let mut lines: Vec<String> = staged.summary.iter().map(|text| format!("- {text}")).collect();
    let items = kinds::staged_items(staged).into_iter();
    let others = items.filter(|(kind, _)| *kind != Kind::Topic);
    lines.extend(others.map(|(_, item)| item.resumed()));
    lines
}

/// Renders what a session has saved and the team's database does not have yet, one text for each
/// item. The memory has no records of it.
fn held_items(memory: &Memory, session: &SessionId) -> Vec<String> {
    let mut items = Vec::new();
    for held in memory.held_of(session) {
        items.extend(held.summary.iter().map(|text| format!("- {text}")));
        items.extend(staged_items(&held.staged));
        items.extend(held.staged.topics.iter().filter_map(staged_topic));
    }
    items
}

/// Renders the same for the session's load.
pub(in crate::render) fn held_at_load(memory: &Memory, session: &SessionId) -> Vec<String> {
    fitted(&held_items(memory, session), HELD_CHARS_MAX, Bodies::WhereTheyFit)
}

/// Renders what a session has staged and not saved, one text for each item.
pub fn staged_work(staged: &Staged) -> Vec<String> {
    let mut lines = staged_items(staged);
    lines.extend(staged.topics.iter().filter_map(staged_topic));
    lines.iter().map(|line| line.strip_prefix("- ").unwrap_or(line).to_owned()).collect()
}

/// Renders the staged part of a topic. Returns `None` if it was noted by rule.
fn staged_topic(part: &TopicPart) -> Option<String> {
    let status = part.status.as_deref().unwrap_or_default();
    let mut text = format!("- topic {}: {status}", part.topic());
    for (name, told) in [("overview", &part.overview), ("architecture", &part.architecture)] {
        if let Some(told) = told {
            append(&mut text, format_args!("\n  {name}: {told}"));
        }
    }
    for decision in &part.decisions {
        let line = match decision.decided {
            Some(_) => format!("\n  decided: {}", topic::decided(decision)),
            None => format!("\n  open: {}", decision.question),
        };
        text.push_str(&line);
    }
    part.is_work().then_some(text)
}

/// Returns the topic that a conversation is bound to. If no binding has the same key, one with the
/// same conversation id counts, because hooks and tools may name a client differently.
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

/// Renders a topic's state in lines: its status, its open questions, and the latest decisions.
fn current_state(topic: &Topic) -> Vec<String> {
    let line = |text: &str| clip_words(&one_line(text), TITLE_CHARS_MAX);
    let status = Some(line(&topic.status)).filter(|status| !status.is_empty());
    let open = topic.pending().map(|open| format!("open: {}", line(&open.question)));
    let decided = topic.decisions.iter().rev().filter(|decision| decision.decided.is_some());
    let decided = decided.map(|decision| format!("decided: {}", line(&topic::decided(decision))));
    status.into_iter().chain(open).chain(decided.take(COMPACTION_DECIDED_MAX)).collect()
}
