//! infinite-context's state and history, as `redis-cli` prints them.
//!
//! Each entry of the history becomes a version of the brief, in a commit of its own, so that a
//! rollback reaches it. The state is the last. An entry that was imported before is left out, so a
//! source that has grown brings only what is new.

mod source;

pub use source::{InfiniteContext, StateEntry, parse_infinite_context};

use sha2::{Digest, Sha256};

use super::{ImportOutcome, left_out, not_again};
use crate::brief::StateForm;
use crate::change::Change;
use crate::draft::{self, Draft};
use crate::files::{is_inside, normalise, relative};
use crate::fold::{clip, one_line};
use crate::ids::{Kind, SessionId};
use crate::kinds::topic::{HistoryLine, MAIN, Topic, TopicDecision, TopicPart};
use crate::kinds::{Fields, NewNote, StagedItem};
use crate::limits::{
    BINDING_KEY_CHARS_MAX, IMPORT_FILES_NAMED_MAX, LINE_CHARS_MAX, TOPIC_ARCHITECTURE_CHARS_MAX,
    TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_LINE_WRITTEN_CHARS_MAX, TOPIC_OVERVIEW_CHARS_MAX,
    TOPIC_STATUS_CHARS_MAX,
};
use crate::memory::Memory;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Body, RecordState};
use crate::room::has_room;
use crate::size::Size;
use crate::staged::{Staged, accept, count};

/// The source name under which imports of infinite-context's entries are remembered. It is also
/// the client of their versions.
pub const INFINITE_CONTEXT: &str = "infinite-context";

/// One version of the brief that an import brings.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefStep {
    /// The digest under which it is remembered.
    digest: String,
    /// The topic from then on.
    topic: Topic,
    /// Texts that were too long for the topic, whole.
    notes: Vec<NewNote>,
    /// The writer.
    origin: Provenance,
}

/// The versions and the outcome of an import of infinite-context's memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BriefImport {
    /// The versions, oldest first.
    pub steps: Vec<BriefStep>,
    /// The outcome of all steps.
    pub outcome: ImportOutcome,
}

/// Plans an import: the versions that are new here. `root` is the project's directory. What is
/// newer in the brief here stays.
pub fn plan_import_brief(
    memory: &Memory,
    source: &InfiniteContext,
    root: Option<&str>,
    origin: &Provenance,
) -> BriefImport {
    let mut outcome = ImportOutcome { notes: source.notes.clone(), ..ImportOutcome::default() };
    let here = memory.topic(MAIN).map(|record| (record.updated.time, record.topic().cloned()));
    let session = match &source.session {
        Some(id) => clip(&format!("{INFINITE_CONTEXT}:{id}"), BINDING_KEY_CHARS_MAX),
        None => origin.session.0.to_string(),
    };
    let mut steps: Vec<BriefStep> = Vec::new();
    let mut outside = Vec::new();
    let mut history: Vec<HistoryLine> =
        here.iter().flat_map(|(_, topic)| topic).flat_map(|topic| topic.history.clone()).collect();
    let last = source.entries.len().saturating_sub(1);
    for (at, entry) in source.entries.iter().enumerate() {
        let digest = entry.digest();
        if memory.imported(INFINITE_CONTEXT, &digest).is_some() {
            outcome.merged += 1;
            continue;
        }
        let time = entry.time.filter(|time| *time <= origin.time).unwrap_or(origin.time);
        let origin = Provenance {
            session: SessionId::new(session.clone()),
            client: INFINITE_CONTEXT.into(),
            time,
        };
        let mut read = read(&entry.state, root, &origin);
        outside.append(&mut read.outside);
        history.append(&mut read.topic.history);
        read.topic.history.clone_from(&history);
        let is_newer = here.as_ref().is_some_and(|(written, _)| *written >= time);
        if at == last
            && let Some((_, Some(here))) = &here
        {
            read.topic = joined(here, &read.topic, is_newer, entry);
        }
        // Sorts the lines and drops the oldest of too many.
        let lines = std::mem::take(&mut read.topic.history);
        read.topic.take_in(&TopicPart { history: lines, ..TopicPart::default() });
        let texts = read.topic.own_texts();
        if let Some(purged) = texts.iter().find_map(|text| memory.tombstones().of(text)) {
            outcome.notes.push(not_again(&format!("version {}", entry.version()), purged));
            continue;
        }
        let records = u64::from(here.is_none());
        let more = Size { records, bytes: read.topic.text_bytes() as u64 };
        if let Err(refusal) = has_room(&memory.totals().kept, Kind::Topic, more) {
            outcome.notes.push(left_out(&format!("version {}", entry.version()), &refusal));
            continue;
        }
        steps.push(BriefStep { digest, topic: read.topic, notes: read.notes, origin });
    }
    remark(source, &steps, &outside, &mut outcome);
    outcome.added.topics = u32::from(here.is_none() && !steps.is_empty());
    outcome.added.notes = count(steps.iter().map(|step| step.notes.len()).sum());
    if steps.is_empty() && !source.entries.is_empty() && outcome.merged > 0 {
        outcome.before = Some(outcome.merged);
    }
    BriefImport { steps, outcome }
}

/// Plans the commit of one version. Nothing changes if it was imported meanwhile.
pub fn plan_brief_step(memory: &Memory, step: &BriefStep) -> Plan<()> {
    let nothing = Plan { changes: Vec::new(), outcome: () };
    if memory.imported(INFINITE_CONTEXT, &step.digest).is_some() {
        return nothing;
    }
    let mut draft = Draft::new(memory);
    let body = Body::Topic(step.topic.clone());
    match draft.head().topic(MAIN).map(|record| record.id) {
        Some(id) => {
            // Dated as it was there, even if what is here is newer.
            let (tags, pinned) =
                draft.head().record(id).map(|it| (it.tags.clone(), it.pinned)).unwrap_or_default();
            let state = RecordState::Active;
            let fields = draft::Fields { id, body, state, tags, pinned };
            draft.put(fields, step.origin.clone());
        }
        None => {
            draft.create(body, &step.origin);
        }
    }
    for note in &step.notes {
        draft.note(note, &step.origin);
    }
    let mut changes = draft.finish().changes;
    let records = count(changes.len());
    let (source, digest) = (INFINITE_CONTEXT.to_owned(), step.digest.clone());
    changes.push(Change::Imported { source, digest, records, undone: false });
    Plan { changes, outcome: () }
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
        self.notes.extend(accept(part).map(|part| part.notes).unwrap_or_default());
    }

    /// Returns the files beneath the root, relative to it.
    fn files(&mut self, files: &[String], root: Option<&str>) -> Vec<String> {
        let mut kept: Vec<String> = Vec::new();
        for file in files.iter().filter(|file| !file.trim().is_empty()) {
            let file = root.map_or_else(|| normalise(file), |root| relative(file, root));
            let part = TopicPart { files: vec![file.clone()], ..TopicPart::default() };
            if !is_inside(&file) || TopicPart::accept(vec![part]).is_err() {
                self.outside.push(file);
            } else if !kept.contains(&file) {
                kept.push(file);
            }
        }
        kept.drain(..kept.len().saturating_sub(TOPIC_FILES_MAX));
        kept
    }
}

/// Joins the newest state with the brief that is here. The newer texts and answers stay.
fn joined(here: &Topic, there: &Topic, is_newer: bool, entry: &StateEntry) -> Topic {
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
    let time = entry.time.unwrap_or_default();
    let line = format!("Imported version {} of infinite-context's state.", entry.version());
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

fn remark(
    source: &InfiniteContext,
    steps: &[BriefStep],
    outside: &[String],
    outcome: &mut ImportOutcome,
) {
    if !outside.is_empty() {
        let mut files: Vec<&str> = outside.iter().map(String::as_str).collect();
        files.sort_unstable();
        files.dedup();
        let more = files.len().saturating_sub(IMPORT_FILES_NAMED_MAX);
        files.truncate(IMPORT_FILES_NAMED_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let named = files.join(", ");
        outcome.notes.push(format!("files outside of the project are left out: {named}{more}"));
    }
    if steps.is_empty() {
        return;
    }
    let versions = match steps.len() {
        1 => "1 version of the topic main".to_owned(),
        versions => format!("{versions} versions of the topic main"),
    };
    outcome.notes.push(format!("{versions}; `rollback` and `anchord history` reach each"));
    outcome.notes.push(
        "version numbers, last access, token counts and times of merging are not kept".to_owned(),
    );
    if let (Some(there), Some(known)) = (&source.session, &source.session_file)
        && there != known
    {
        outcome.notes.push(format!("the state is of session {there}, the file names {known}"));
    }
}

impl StateEntry {
    /// Returns the digest of what it says.
    fn digest(&self) -> String {
        let text = format!("{:?} {:?}", self.time, self.state);
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn version(&self) -> u32 {
        self.state.meta.version.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
