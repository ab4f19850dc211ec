//! infinite-context's state and history, as `redis-cli` prints them.
//!
//! Each entry of the history becomes a version of the brief, in a commit of its own, so that a
//! rollback reaches it. The state is the last. An entry that was imported before is left out, so a
//! source that has grown brings only what is new. If the last one was, the brief that is here
//! becomes the last version again.

mod reading;

pub use reading::{InfiniteContext, StateEntry, parse_infinite_context};

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::judged::Forgotten;
use super::source::{ImportStep, Parts, Source};
use super::{ImportOutcome, not_again, word_refusal};
use crate::brief::StateForm;
use crate::change::Change;
use crate::draft::{self, Draft};
use crate::files::{is_inside, normalise, relative};
use crate::fold::{clip, one_line};
use crate::ids::{Kind, SessionId, Timestamp};
use crate::intake::WriteLimits;
use crate::kinds::topic::{HistoryLine, MAIN, Topic, TopicDecision, TopicPart, topic_key};
use crate::kinds::{Fields, NewNote, StagedItem};
use crate::limits::{
    BINDING_KEY_CHARS_MAX, IMPORT_FILES_NAMED_MAX, LINE_CHARS_MAX, TOPIC_ARCHITECTURE_CHARS_MAX,
    TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_LINE_WRITTEN_CHARS_MAX, TOPIC_OVERVIEW_CHARS_MAX,
    TOPIC_STATUS_CHARS_MAX,
};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Body, RecordState};
use crate::room::has_room;
use crate::size::Size;
use crate::staged::{Staged, accept, count};

/// The source name under which imports of infinite-context's entries are remembered. It is also
/// the client of their versions.
pub const INFINITE_CONTEXT: &str = "infinite-context";

/// infinite-context.
pub(super) const SOURCE: Source = Source {
    name: INFINITE_CONTEXT,
    takes: "infinite-context's state and history as `redis-cli` prints them",
    files: &["state.json", "history.jsonl", "history.json", ".*_session_id"],
    recognises: |candidate| parse_infinite_context(candidate.texts).is_ok(),
    read: |texts| {
        let source = Arc::new(parse_infinite_context(texts)?);
        let here = Arc::new(OnceLock::new());
        let step = |at| -> Box<dyn ImportStep> {
            let (source, here) = (Arc::clone(&source), Arc::clone(&here));
            Box::new(BriefStep { source, at, root: None, here })
        };
        Ok((0..source.entries.len()).map(step).collect())
    },
    kinds: &[Kind::Topic, Kind::Note],
    parts: Parts::One,
    tables: &[],
};

/// One version of the brief that an import brings.
#[derive(Debug)]
struct BriefStep {
    source: Arc<InfiniteContext>,
    /// The place of its entry.
    at: usize,
    /// The project's directory.
    root: Option<String>,
    /// The brief as it was before the first step; `None` if there was none.
    here: Arc<OnceLock<Option<(Timestamp, Topic)>>>,
}

impl ImportStep for BriefStep {
    fn found(&self) -> PerKind<usize> {
        let topics = usize::from(self.at == 0);
        PerKind { topics, notes: self.texts(), ..PerKind::default() }
    }

    fn set_root(&mut self, root: &str) {
        self.root = Some(root.to_owned());
    }

    /// An entry is remembered by what it says, so that a source that has grown brings only what is
    /// new in it.
    fn plan(&self, memory: &Memory, _: &str, by: &Provenance) -> Plan<ImportOutcome> {
        let brief = memory.topic(MAIN);
        let here = self.here.get_or_init(|| {
            brief.and_then(|record| {
                let topic = record.topic()?.clone();
                let written = self.time_there(memory, &topic).unwrap_or(record.updated.time);
                Some((written, topic))
            })
        });
        let is_last = self.at + 1 == self.source.entries.len();
        let mut outcome = ImportOutcome::default();
        let nothing = |outcome| Plan { changes: Vec::new(), outcome };
        let Some(entry) = self.source.entries.get(self.at) else { return nothing(outcome) };
        if self.at == 0 {
            outcome.notes = self.source.remarks();
        }
        let digest = entry.digest();
        if let Some(before) = memory.imported(INFINITE_CONTEXT, &digest) {
            return self.known(memory, before, here.as_ref().filter(|_| is_last));
        }
        let (mut read, origin) = self.read(entry, by);
        let forgotten = Forgotten::of(memory);
        if forgotten.keeps_out(memory, &Body::Topic(read.topic.clone()), entry.time) {
            let stays = || "the topic main was forgotten here and stays so".to_owned();
            outcome.notes.extend(is_last.then(stays));
            outcome.merged = count(read.notes.len());
            return nothing(outcome);
        }
        let mut dated = origin.clone();
        if is_last && let Some((written, here)) = here {
            let is_newer = *written >= origin.time;
            // The next state is compared with that.
            dated.time = dated.time.max(*written);
            read.topic = joined(here, &read.topic, is_newer, (entry.version(), origin.time));
        }
        if let Some(why) = why_left_out(memory, &read.topic, entry) {
            outcome.notes.push(why);
            return nothing(outcome);
        }
        // Once for all entries.
        outcome.notes.extend(Some(read.outside).filter(|_| is_last).and_then(outside));
        let mut draft = Draft::new(memory);
        put(&mut draft, Body::Topic(read.topic), &dated);
        let mut stayed = 0;
        for note in &read.notes {
            if forgotten.has(&Body::Note(note.note(&origin.session)), entry.time) {
                stayed += 1;
            } else {
                draft.note(note, &origin);
            }
        }
        let written = draft.finish();
        outcome.added = written.added;
        // The topic counts once for all entries.
        outcome.merged = written.merged + stayed + u32::from(is_last && here.is_some());
        let mut changes = written.changes;
        // A state that says what is here is not an import, as long as that is so.
        if is_last && changes.is_empty() {
            return nothing(outcome);
        }
        let records = count(changes.len());
        let source = INFINITE_CONTEXT.to_owned();
        changes.push(Change::Imported { source, digest, records, undone: false });
        Plan { changes, outcome }
    }
}

impl BriefStep {
    /// Plans the step of an entry that was imported before. `here` is the brief before the first
    /// step, if this is the last one.
    fn known(
        &self,
        memory: &Memory,
        before: u32,
        here: Option<&(Timestamp, Topic)>,
    ) -> Plan<ImportOutcome> {
        let merged = count(self.texts()) + u32::from(here.is_some());
        let outcome = ImportOutcome { before: Some(before), merged, ..ImportOutcome::default() };
        let changes = here.map(|(written, here)| brought_back(memory, here, *written));
        Plan { changes: changes.unwrap_or_default(), outcome }
    }

    /// Counts the entry's texts that are too long for a topic.
    fn texts(&self) -> usize {
        let session = SessionId::new("");
        let by = Provenance::new(session, INFINITE_CONTEXT.into(), Timestamp::default());
        let entry = self.source.entries.get(self.at);
        entry.map_or(0, |entry| read(&entry.state, self.root.as_deref(), &by).notes.len())
    }

    /// Returns the time of the newest entry that was imported, if the brief says what that entry
    /// does. An undo of later entries dates the brief anew, but nobody wrote it since.
    fn time_there(&self, memory: &Memory, brief: &Topic) -> Option<Timestamp> {
        let mut entries = self.source.entries.iter().rev();
        let entry = entries.find(|it| memory.imported(INFINITE_CONTEXT, &it.digest()).is_some())?;
        let session = SessionId::new("");
        let by = Provenance::new(session, INFINITE_CONTEXT.into(), Timestamp::default());
        let there = read(&entry.state, self.root.as_deref(), &by).topic;
        entry.time.filter(|_| is_same(brief, &there))
    }

    /// Reads an entry. Adds the changes of the brief that was here and of earlier entries, and the
    /// files that all of these leave out. A decision has the time of the first entry that has it.
    fn read(&self, entry: &StateEntry, by: &Provenance) -> (ReadState, Provenance) {
        let session = match &self.source.session {
            Some(id) => clip(&format!("{INFINITE_CONTEXT}:{id}"), BINDING_KEY_CHARS_MAX),
            None => by.session.0.to_string(),
        };
        let origin = |entry: &StateEntry| {
            Provenance::new(
                SessionId::new(session.clone()),
                INFINITE_CONTEXT.into(),
                entry.time.filter(|time| *time <= by.time).unwrap_or(by.time),
            )
        };
        let root = self.root.as_deref();
        let mut lines: Vec<HistoryLine> =
            self.here.get().into_iter().flatten().flat_map(|(_, it)| it.history.clone()).collect();
        // An export does not say which client wrote a line.
        let by_others = lines.iter().filter(|line| *line.client != *INFINITE_CONTEXT);
        let here: BTreeSet<(Timestamp, String)> =
            by_others.map(|line| (line.time, line.text.clone())).collect();
        let is_new = |line: &HistoryLine| !here.contains(&(line.time, line.text.clone()));
        let (mut outside, mut decided) = (Vec::new(), Topic::default());
        let decisions = |topic: &Topic| TopicPart {
            decisions: topic.decisions.clone(),
            ..TopicPart::default()
        };
        for earlier in self.source.entries.iter().take(self.at) {
            let mut earlier = read(&earlier.state, root, &origin(earlier));
            decided.take_in(&decisions(&earlier.topic));
            lines.extend(earlier.topic.history.into_iter().filter(is_new));
            outside.append(&mut earlier.outside);
        }
        let origin = origin(entry);
        let mut read = read(&entry.state, root, &origin);
        decided.take_in(&decisions(&read.topic));
        for decision in &mut read.topic.decisions {
            let key = topic_key(&decision.question);
            let is_it = |it: &&TopicDecision| {
                it.decided == decision.decided && topic_key(&it.question) == key
            };
            let time = decided.decisions.iter().find(is_it).map(|it| it.time);
            decision.time = time.unwrap_or(decision.time);
        }
        lines.extend(std::mem::take(&mut read.topic.history).into_iter().filter(is_new));
        read.outside.append(&mut outside);
        // Sorts the lines, and drops the oldest of too many.
        read.topic.take_in(&TopicPart { history: lines, ..TopicPart::default() });
        (read, origin)
    }
}

/// Words why the brief of an entry is not written: it was purged here, or there is no room.
fn why_left_out(memory: &Memory, brief: &Topic, entry: &StateEntry) -> Option<String> {
    let version = format!("version {}", entry.version());
    let texts = brief.own_texts();
    if let Some(purged) = texts.iter().find_map(|text| memory.tombstones().of(text)) {
        return Some(not_again(&version, purged));
    }
    let records = u64::from(memory.topic(MAIN).is_none());
    let more = Size { records, bytes: brief.text_bytes() as u64 };
    let refusal = has_room(&memory.totals().kept, Kind::Topic, more).err()?;
    Some(word_refusal(&version, &refusal))
}

/// Writes the brief as of this origin, even if what is here is newer.
fn put(draft: &mut Draft<'_>, body: Body, origin: &Provenance) {
    let stored = draft.head().topic(MAIN);
    match stored.map(|record| (record.id, record.tags.clone(), record.pinned)) {
        Some((id, tags, pinned)) => {
            let state = RecordState::Active;
            draft.put(draft::RecordFields { id, body, state, tags, pinned }, origin.clone());
        }
        None => {
            draft.create(body, origin);
        }
    }
}

/// Brings back the brief that was here before earlier entries were written over it, with the lines
/// of their history. This is for a source whose last entry was imported before.
fn brought_back(memory: &Memory, here: &Topic, written: Timestamp) -> Vec<Change> {
    let Some(record) = memory.topic(MAIN) else { return Vec::new() };
    let Some(now) = record.topic() else { return Vec::new() };
    // Otherwise a session wrote the brief meanwhile, or no entry was written.
    if *record.updated.client != *INFINITE_CONTEXT || now == here {
        return Vec::new();
    }
    let mut topic = here.clone();
    topic.take_in(&TopicPart { history: now.history.clone(), ..TopicPart::default() });
    let session = record.updated.session.clone();
    let origin = Provenance::new(session, INFINITE_CONTEXT.into(), written);
    let mut draft = Draft::new(memory);
    put(&mut draft, Body::Topic(topic), &origin);
    draft.finish().changes
}

/// A state in the terms of a topic.
struct ReadState {
    topic: Topic,
    notes: Vec<NewNote>,
    /// Files that are not beneath the root.
    outside: Vec<String>,
}

fn read(state: &StateForm, root: Option<&str>, origin: &Provenance) -> ReadState {
    let mut read = ReadState {
        topic: Topic { name: MAIN.to_owned(), ..Topic::default() },
        notes: Vec::new(),
        outside: Vec::new(),
    };
    let (context, active) = (&state.project_context, &state.active_context);
    let fit = |read: &mut ReadState, text: &str, chars_max: usize| {
        let text = text.trim();
        if text.chars().count() > chars_max {
            read.keep(text);
        }
        clip(text, chars_max)
    };
    read.topic.overview = fit(&mut read, &context.overview, TOPIC_OVERVIEW_CHARS_MAX);
    read.topic.architecture = fit(&mut read, &context.architecture, TOPIC_ARCHITECTURE_CHARS_MAX);
    read.topic.status = fit(&mut read, &active.current_task, TOPIC_STATUS_CHARS_MAX);
    for change in &context.recent_changes {
        let text = fit(&mut read, &one_line(&change.summary), TOPIC_LINE_WRITTEN_CHARS_MAX);
        let files = read.files(&change.files, root);
        read.topic.history.push(HistoryLine {
            time: change.time().unwrap_or(origin.time),
            client: origin.client.clone(),
            files,
            ..HistoryLine::written(text)
        });
    }
    read.topic.history.retain(|line| !line.text.is_empty());
    let files = read.files(&active.active_files, root);
    read.topic.files = files;
    let mut decisions: Vec<TopicDecision> = Vec::new();
    for decision in &active.active_decisions {
        let mut decision = decision.decision();
        decision.question = fit(&mut read, &one_line(&decision.question), LINE_CHARS_MAX);
        let answer = decision.decided.take();
        decision.decided = answer.map(|answer| fit(&mut read, &one_line(&answer), LINE_CHARS_MAX));
        decision.time = origin.time;
        decisions.push(decision);
    }
    decisions.retain(|decision| !decision.question.is_empty());
    decisions.drain(..decisions.len().saturating_sub(TOPIC_DECISIONS_MAX));
    let part = TopicPart { decisions, ..TopicPart::default() };
    read.topic.take_in(&part);
    read
}

impl ReadState {
    /// Keeps a text that is too long, whole.
    fn keep(&mut self, text: &str) {
        let note = NewNote {
            content: text.to_owned(),
            tags: vec![INFINITE_CONTEXT.to_owned()],
            ..NewNote::default()
        };
        let part = Staged { notes: vec![note], ..Staged::default() };
        self.notes.extend(
            accept(part, &WriteLimits::default()).map(|part| part.notes).unwrap_or_default(),
        );
    }

    /// Returns the files beneath the root, relative to it.
    fn files(&mut self, files: &[String], root: Option<&str>) -> Vec<String> {
        let mut kept: Vec<String> = Vec::new();
        for file in files.iter().filter(|file| !file.trim().is_empty()) {
            let file = root.map_or_else(|| normalise(file), |root| relative(file, root));
            let part = TopicPart { files: vec![file.clone()], ..TopicPart::default() };
            if !is_inside(&file) || TopicPart::accept(vec![part], &WriteLimits::default()).is_err()
            {
                self.outside.push(file);
            } else if !kept.contains(&file) {
                kept.push(file);
            }
        }
        kept.drain(..kept.len().saturating_sub(TOPIC_FILES_MAX));
        kept
    }
}

/// Returns whether two briefs say the same now. Neither times nor histories count.
fn is_same(one: &Topic, other: &Topic) -> bool {
    let decisions = |topic: &Topic| -> Vec<(String, Option<String>)> {
        let all = topic.decisions.iter();
        all.map(|it| (it.question.clone(), it.decided.clone())).collect()
    };
    (&one.status, &one.overview, &one.architecture, &one.files)
        == (&other.status, &other.overview, &other.architecture, &other.files)
        && decisions(one) == decisions(other)
}

/// Joins the newest state, of this version and time, with the brief that is here. The newer texts
/// and answers stay. A state that brings nothing leaves the brief as it is.
fn joined(here: &Topic, there: &Topic, is_newer: bool, (version, time): (u32, Timestamp)) -> Topic {
    let (older, newer) = if is_newer { (there, here) } else { (here, there) };
    let text = |older: &str, newer: &str| if newer.is_empty() { older } else { newer }.to_owned();
    let mut joined = Topic {
        name: here.name.clone(),
        status: text(&older.status, &newer.status),
        overview: text(&older.overview, &newer.overview),
        architecture: text(&older.architecture, &newer.architecture),
        ..older.clone()
    };
    joined.take_in(&TopicPart {
        decisions: newer.decisions.clone(),
        history: newer.history.clone(),
        files: newer.files.clone(),
        ..TopicPart::default()
    });
    if is_same(&joined, here) && joined.history == here.history {
        return here.clone();
    }
    let line = format!("Imported version {version} of infinite-context's state.");
    joined.take_in(&TopicPart {
        history: vec![HistoryLine {
            time,
            client: INFINITE_CONTEXT.into(),
            ..HistoryLine::new(&line)
        }],
        ..TopicPart::default()
    });
    joined
}

/// Names the files that are not beneath the root.
fn outside(mut files: Vec<String>) -> Option<String> {
    files.sort_unstable();
    files.dedup();
    let more = match files.len().saturating_sub(IMPORT_FILES_NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    files.truncate(IMPORT_FILES_NAMED_MAX);
    let named = files.join(", ");
    (!files.is_empty()).then(|| format!("files outside of the project are left out: {named}{more}"))
}

impl InfiniteContext {
    /// Returns the remarks on the whole source.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.notes.clone();
        let versions = match self.entries.len() {
            1 => "1 version of the topic main".to_owned(),
            versions => format!("{versions} versions of the topic main"),
        };
        remarks.push(format!(
            "{versions}; `anchord history` lists each, `anchord restore --to` and the tool \
             `rollback` bring it back"
        ));
        remarks.push(
            "version numbers, last access, token counts and times of merging are not kept"
                .to_owned(),
        );
        if let (Some(there), Some(known)) = (&self.session, &self.session_file)
            && there != known
        {
            remarks.push(format!("the state is of session {there}, the file names {known}"));
        }
        remarks
    }
}

impl StateEntry {
    /// Returns the digest of what it says.
    fn digest(&self) -> String {
        let text = format!("{:?} {:?}", self.time, self.state);
        base16ct::lower::encode_string(&Sha256::digest(text))
    }

    fn version(&self) -> u32 {
        self.state.meta.version.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
