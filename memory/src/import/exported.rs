//! Imports anchord's own export from one project into another. Records come in like agents' writes,
//! so the same merge rules hold. Conversations find their topics again by their bindings.

mod left_out;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use self::left_out::LeftOut;
use super::judged::{EarlierTexts, Forgotten, adds, existing};
use super::source::{ImportError, ImportStep, NamedText, Parts, Source};
use super::zipmem::object;
use super::{ImportOutcome, put_anchor, put_blueprint, remembered, word_refusal};
use crate::activity::{SessionActivity, quoted};
use crate::change::Change;
use crate::draft::Draft;
use crate::fold::{clip, keep_end};
use crate::ids::{Kind, RecordId, SessionId, Timestamp, Version};
use crate::intake::WriteLimits;
use crate::kinds::note::{NewNote, accept_tags};
use crate::kinds::topic::topic_name;
use crate::limits::{BINDING_KEY_CHARS_MAX, BINDINGS_MAX, WIDE_TEXT_BYTES_MAX};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::{Plan, Proposed, Row, add_entries, propose, put_row, stored_row_of};
use crate::provenance::Provenance;
use crate::purge::GONE;
use crate::record::{Body, Record, RecordState, SessionRow, TrailEntry};
use crate::refusal::Refusal;
use crate::room::{check_items, has_room};
use crate::size::Size;
use crate::staged::{Counts, Staged, accept, count};

/// The source name under which imports of exports are remembered.
pub const EXPORTED: &str = "anchord";

/// The content of an export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exported {
    /// The records, by kind and number.
    pub records: Vec<Record>,
    /// Topics by the keys of the conversations that are bound to them.
    pub bindings: BTreeMap<String, String>,
    /// One line for each item that could not be used as it was.
    pub notes: Vec<String>,
    earlier: Arc<EarlierTexts>,
}

/// anchord's own export.
pub(super) const SOURCE: Source = Source {
    name: EXPORTED,
    takes: "what `anchord export --format json` wrote",
    files: &[],
    recognises: |candidate| candidate.has_field("records") && candidate.has_field("revision"),
    read: |texts| Ok(vec![Box::new(parse_export(texts)?)]),
    kinds: &Kind::ALL,
    parts: Parts::Records,
    tables: &[],
};

impl ImportStep for Exported {
    fn found(&self) -> PerKind<usize> {
        let mut found = PerKind::default();
        for record in &self.records {
            *found.of_mut(record.kind()) += 1;
        }
        found
    }

    /// A project takes none of the user's notes, and the user's own memory takes nothing else.
    fn keep_fitting(&mut self, personal: bool) -> bool {
        let all = std::mem::take(self);
        *self = if personal { all.for_user() } else { all.for_project() };
        true
    }

    fn set_earlier(&mut self, earlier: &Arc<EarlierTexts>) {
        self.earlier = Arc::clone(earlier);
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        plan_import_export(memory, self, digest, by)
    }
}

/// Reads an export.
///
/// # Errors
/// Fails if the text is not a JSON object, or if its version is unknown.
pub fn parse_export(texts: &[NamedText]) -> Result<Exported, ImportError> {
    let mut fields = object(texts.first().ok_or(ImportError::Empty)?)?;
    if let Some(version) = fields.get("format").and_then(Value::as_u64).filter(|v| *v != 1) {
        return Err(ImportError::Version(version));
    }
    let mut exported = Exported::default();
    if let Some(Value::Array(records)) = fields.remove("records") {
        for (at, value) in records.into_iter().enumerate() {
            match serde_json::from_value(value) {
                Ok(record) => exported.records.push(record),
                Err(why) => exported.notes.push(format!("records[{at}]: {why}; left out")),
            }
        }
    }
    if let Some(Value::Object(bindings)) = fields.remove("bindings") {
        let topic = |topic: &Value| topic.as_str().map(str::to_owned);
        let named = bindings.iter().filter_map(|(key, name)| Some((key.clone(), topic(name)?)));
        exported.bindings = named.collect();
    }
    if fields.get("staged").and_then(Value::as_object).is_some_and(|staged| !staged.is_empty()) {
        exported.notes.push("what sessions there had staged and not saved is left out".to_owned());
    }
    Ok(exported)
}

impl Exported {
    /// Leaves out the notes that belong to the user, which a project does not import.
    #[must_use]
    pub fn for_project(mut self) -> Self {
        let all = self.records.len();
        self.records.retain(|record| !record.is_personal());
        match all - self.records.len() {
            0 => {}
            1 => self.notes.push(format!("1 note of the user's own is {FOR_USER}")),
            several => self.notes.push(format!("{several} notes of the user's own are {FOR_USER}")),
        }
        self
    }

    /// Leaves out everything but the notes that belong to the user: the user's own memory imports
    /// nothing else.
    #[must_use]
    pub fn for_user(mut self) -> Self {
        let all = self.records.len();
        self.records.retain(Record::is_personal);
        match all - self.records.len() {
            0 => {}
            1 => self.notes.push("1 record of a project is left out".to_owned()),
            several => self.notes.push(format!("{several} records of a project are left out")),
        }
        self.bindings.clear();
        self
    }
}

const FOR_USER: &str = "left out; `anchord import --user` takes in those alone";

/// Plans an import of an export. Records keep the times of their originals. Newer content here
/// stays, and so does the topic of a conversation that has one here. `digest` identifies the
/// source.
pub fn plan_import_export(
    memory: &Memory,
    source: &Exported,
    digest: &str,
    origin: &Provenance,
) -> Plan<ImportOutcome> {
    if let Some(before) = memory.imported(EXPORTED, digest) {
        let outcome = ImportOutcome::known(before, &source.found());
        return Plan { changes: Vec::new(), outcome };
    }
    let mut draft = Draft::new(memory);
    let forgotten = Forgotten::of(memory);
    let mut notes = source.notes.clone();
    let (mut counts, mut is_whole) = (PutCounts::default(), true);
    for record in &source.records {
        if record.state == RecordState::Forgotten {
            counts.forgotten += 1;
            continue;
        }
        if let Some(owner) = record.owner() {
            let is_here = memory.private_of(owner).any(|here| here.body == record.body);
            counts.private += usize::from(!is_here);
            counts.here += usize::from(is_here);
            continue;
        }
        let origin = origin_of(record, origin.time);
        if let Some(stays) =
            judged(memory, (&forgotten, source.earlier.as_ref()), record, origin.time)
        {
            counts.add(&stays, record);
            continue;
        }
        match put(&mut draft, record, &origin) {
            Ok(put) => counts.add(&put, record),
            Err(refusal) => {
                counts.refused += 1;
                is_whole &= !matches!(refusal, Refusal::Full { .. });
                notes.push(word_refusal(&record.id.to_string(), &refusal));
            }
        }
    }
    let bindings = bindings(draft.head(), &source.bindings, &mut counts);
    notes.extend(counts.notes());
    let written = draft.finish();
    let outcome = ImportOutcome {
        added: new_records(&written.changes),
        merged: written.merged + count(counts.here),
        sessions: counts.new_rows,
        pending: Counts::default(),
        left_out: count(counts.left_out_count() + written.kept.len()),
        kept: written.kept,
        notes,
        before: None,
    };
    let changes = remembered(memory, written.changes, bindings, (EXPORTED, digest), is_whole);
    Plan { changes, outcome }
}

/// Returns who wrote a record there, with names cut to the limit, at a time that is past here.
fn origin_of(record: &Record, now: Timestamp) -> Provenance {
    let name = |name: &Arc<str>| clip(name, BINDING_KEY_CHARS_MAX).into();
    Provenance {
        session: bounded(&record.updated.session),
        client: name(&record.updated.client),
        member: record.updated.member.as_ref().map(name),
        time: record.updated.time.min(now),
    }
}

/// Returns the topics of conversations that have none here, and counts them.
fn bindings(
    head: &Memory,
    there: &BTreeMap<String, String>,
    counts: &mut PutCounts,
) -> Vec<Change> {
    let room = BINDINGS_MAX.saturating_sub(head.bindings().count());
    let wanted = there.iter().filter(|(key, _)| head.bound(key).is_none());
    let usable = wanted.clone().filter_map(|(key, topic)| {
        let fits = key.chars().count() <= BINDING_KEY_CHARS_MAX;
        let topic = topic_name(topic).ok().filter(|_| fits)?;
        let known = head.topic(&topic).and_then(|record| record.topic());
        let topic = known.map_or(topic, |known| known.name.clone());
        Some(Change::Bind { key: key.clone(), topic: Some(topic) })
    });
    let bindings: Vec<Change> = usable.take(room).collect();
    (counts.bound, counts.unbound) = (bindings.len(), wanted.count() - bindings.len());
    bindings
}

/// Counts the new records, also those that nobody wrote.
fn new_records(changes: &[Change]) -> Counts {
    let mut new = Counts::default();
    let records = changes.iter().filter_map(Change::record);
    for record in records.filter(|record| record.version == Version::FIRST) {
        if record.kind() != Kind::SessionRow {
            *new.of_mut(record.kind()) += 1;
        }
    }
    new
}

/// The numbers of records and bindings, by what became of them.
#[derive(Default)]
struct PutCounts {
    new_rows: u32,
    here: usize,
    forgotten: usize,
    forgotten_here: LeftOut,
    private: usize,
    other_rules: LeftOut,
    older: LeftOut,
    older_lessons: LeftOut,
    older_concepts: LeftOut,
    refused: usize,
    several_sessions: usize,
    proposed: usize,
    bound: usize,
    unbound: usize,
}

impl PutCounts {
    fn add(&mut self, put: &Put, record: &Record) {
        match put {
            Put::NewRow => self.new_rows += 1,
            Put::Older => self.older.add(record),
            Put::OlderLesson => self.older_lessons.add(record),
            Put::OlderConcept => self.older_concepts.add(record),
            Put::ForgottenHere => self.forgotten_here.add(record),
            Put::SeveralSessions => self.several_sessions += 1,
            Put::Proposed { is_new } => {
                self.proposed += 1;
                self.here += usize::from(!is_new);
            }
            Put::OtherRule => self.other_rules.add(record),
            Put::Here => self.here += 1,
            Put::Done => {}
        }
    }

    /// Returns the number of records whose text did not come in, apart from blueprints.
    fn left_out_count(&self) -> usize {
        let all = [
            &self.forgotten_here,
            &self.other_rules,
            &self.older,
            &self.older_lessons,
            &self.older_concepts,
        ];
        all.iter().map(|it| it.count).sum::<usize>() + self.refused + self.several_sessions
    }

    /// Words what was left out or changed.
    fn notes(&self) -> impl Iterator<Item = String> {
        let all = [
            (
                self.forgotten,
                "record that was forgotten there is left out",
                "records that were forgotten there are left out",
                String::new(),
            ),
            (
                self.forgotten_here.count,
                "record was forgotten here and is",
                "records were forgotten here and are",
                self.forgotten_here.end(),
            ),
            (
                self.private,
                "note that a session kept for itself is left out",
                "notes that sessions kept for themselves are left out",
                String::new(),
            ),
            (
                self.other_rules.count,
                "rule has the title of another one here and is",
                "rules have the titles of others here and are",
                self.other_rules.end(),
            ),
            (
                self.older.count,
                "note is older than what is here and",
                "notes are older than what is here and",
                self.older.end(),
            ),
            (
                self.older_lessons.count,
                "lesson is older than what is here and",
                "lessons are older than what is here and",
                self.older_lessons.end(),
            ),
            (
                self.older_concepts.count,
                "anchor's concept is older than what is here and",
                "anchors' concepts are older than what is here and",
                self.older_concepts.end(),
            ),
            (
                self.several_sessions,
                "row that stands for several sessions is left out",
                "rows that stand for several sessions are left out",
                String::new(),
            ),
            (
                self.unbound,
                "conversation's topic has no room or no name here and is left out",
                "conversations' topics have no room or no name here and are left out",
                String::new(),
            ),
            (
                self.proposed,
                "rule is a proposal here until you accept it",
                "rules are proposals here until you accept them",
                String::new(),
            ),
            (
                self.bound,
                "conversation has its topic again",
                "conversations have their topics again",
                String::new(),
            ),
        ];
        all.into_iter().filter(|(many, ..)| *many > 0).map(|(many, one, several, end)| {
            format!("{many} {}{end}", if many == 1 { one } else { several })
        })
    }
}

/// The result for a record that was not refused.
pub(super) enum Put {
    /// The draft counts what it created, and what it merged into a record.
    Done,
    NewRow,
    /// The record is here already, or its row is.
    Here,
    /// A newer note with this key is here.
    Older,
    /// A newer version of the lesson is here, and lacks something of this one.
    OlderLesson,
    /// The place has a newer concept here.
    OlderConcept,
    /// The record was forgotten here.
    ForgottenHere,
    /// The row covers several sessions and does not name them.
    SeveralSessions,
    /// The rule is proposed, whatever it is there. One that was forgotten here is not new.
    Proposed {
        is_new: bool,
    },
    /// Another rule of this title is here.
    OtherRule,
}

/// Returns the result for a record that was forgotten or written anew here after its last change
/// there.
fn judged(
    memory: &Memory,
    (forgotten, earlier): (&Forgotten, &EarlierTexts),
    record: &Record,
    time: Timestamp,
) -> Option<Put> {
    // A rule is a proposal, which changes nothing until somebody accepts it.
    if record.kind() != Kind::Rule && forgotten.keeps_out(memory, &record.body, Some(time)) {
        return Some(Put::ForgottenHere);
    }
    if let Some(note) = record.note().filter(|note| note.key.is_none()) {
        let was_corrected =
            earlier.has(&note.content, Some(time)) && existing(memory, &record.body).is_none();
        return was_corrected.then_some(Put::Here);
    }
    let Body::Lesson(lesson) = &record.body else { return None };
    let here = memory.existing_match(&record.body)?;
    // One that was recorded by rule unites its counts.
    let is_older = lesson.captured.is_none() && here.updated.time > time && adds(here, lesson);
    is_older.then_some(Put::OlderLesson)
}

/// Stores a record as a write would, then applies its state.
pub(super) fn put(
    draft: &mut Draft<'_>,
    record: &Record,
    origin: &Provenance,
) -> Result<Put, Refusal> {
    let last = (draft.head().last_number(), draft.head().last_private());
    if let Body::Rule(rule) = &record.body {
        return propose(draft, rule, origin).map(|proposed| match proposed {
            Proposed::New => Put::Proposed { is_new: draft.head().last_number() > last.0 },
            Proposed::Here => Put::Here,
            Proposed::Differs => Put::OtherRule,
        });
    }
    let here = draft.head().existing_match(&record.body);
    let mut part = Staged::of_record(record, here.map(AsRef::as_ref), origin);
    if let Body::SessionRow(row) = &record.body {
        part.summary = Some(keep_end(row.summary.clone(), WIDE_TEXT_BYTES_MAX));
    }
    draft.head().tombstones().refuse(&part)?;
    let mut part = accept(part, &WriteLimits::WIDE)?;
    let tags = accept_tags(&record.tags)?;
    // The history now has a line for a status that lacked one.
    part.topics.iter_mut().for_each(|topic| topic.stamp(origin));
    // A note may be older than the one here, in which case it takes no room.
    let items = Staged { notes: Vec::new(), ..part.clone() };
    check_items(draft.head(), &items, &items, origin)?;
    // A topic that is here may lack nothing.
    let mut put = if part.items().is_empty() { Put::Here } else { Put::Done };
    if let Body::SessionRow(row) = &record.body {
        if stored_row_of(draft, &bounded(&row.session), row.on_behalf).is_none() {
            let more = Size { records: 1, bytes: record.text_bytes() as u64 };
            has_room(&draft.head().totals().kept, Kind::SessionRow, more)?;
        }
        put = put_session(draft, row, part.summary.take().unwrap_or_default(), origin);
    }
    for blueprint in std::mem::take(&mut part.blueprints) {
        put_blueprint(draft, &blueprint, origin);
    }
    for anchor in std::mem::take(&mut part.anchors) {
        if put_anchor(draft, &anchor, origin) {
            put = Put::OlderConcept;
        }
    }
    for note in &std::mem::take(&mut part.notes) {
        match put_note(draft, note, origin)? {
            Put::Older => return Ok(Put::Older),
            done => put = done,
        }
    }
    draft.fold(&part, origin);
    let head = draft.head();
    if head.last_number() > last.0 || head.last_private() > last.1 {
        let id = match record {
            record if record.is_personal() => RecordId::personal(last.0 + 1),
            record if head.last_private() > last.1 => RecordId::private(record.id.kind, last.1 + 1),
            record => RecordId::new(record.id.kind, last.0 + 1),
        };
        draft.mark(id, tags, record.pinned, origin);
        draft.set_state(id, record.state, origin);
    }
    Ok(put)
}

/// Stores a note, unless the same or a newer one is here.
fn put_note(draft: &mut Draft<'_>, note: &NewNote, origin: &Provenance) -> Result<Put, Refusal> {
    match draft.existing_note(note, origin).map(|here| (here.updated.time, here.note())) {
        Some((time, Some(here))) if time >= origin.time && here.content == note.content => {
            Ok(Put::Here)
        }
        Some((time, _)) if time > origin.time => Ok(Put::Older),
        _ => {
            has_room(&draft.head().totals().kept, Kind::Note, draft.more(note, origin))?;
            draft.note_from_elsewhere(note, origin);
            Ok(Put::Done)
        }
    }
}

fn put_session(
    draft: &mut Draft<'_>,
    row: &SessionRow,
    summary: String,
    origin: &Provenance,
) -> Put {
    if row.folded > 0 {
        return Put::SeveralSessions;
    }
    let session = bounded(&row.session);
    let tombstones = draft.head().tombstones();
    let is_gone = |text: &str| tombstones.of(text).is_some();
    let kept = |activity: &SessionActivity| activity.clone().without(is_gone).within_limits();
    let captured = row.captured.as_deref().map(kept);
    let activity = row.captured.iter().flat_map(|activity| activity.texts());
    let gone: Vec<&str> = activity.filter(|text| is_gone(text)).collect();
    let summary = match (row.captured.as_deref(), &captured) {
        (Some(activity), Some(kept)) if activity.row_summary() == row.summary => kept.row_summary(),
        _ => without_purged(summary, &gone, is_gone),
    };
    let ended = row.ended.min(origin.time);
    let earlier = trail(row, ended, &gone, is_gone);
    if let Some(stored) = stored_row_of(draft, &session, row.on_behalf) {
        let newest = TrailEntry { time: ended, summary, on_behalf: row.on_behalf, folded: 0 };
        add_entries(draft, stored, earlier.into_iter().chain([newest]), origin);
        return Put::Here;
    }
    let added = Counts {
        blueprints: row.blueprints_added,
        anchors: row.anchors_added,
        lessons: row.lessons_added,
        ..Counts::default()
    };
    let row = Row {
        session,
        started: row.started.min(ended),
        ended,
        summary,
        on_behalf: row.on_behalf,
        captured: captured.map(Box::new),
        earlier,
        rewrites: false,
        added,
    };
    put_row(draft, row, origin);
    Put::NewRow
}

/// Returns the row's earlier entries, none later than its newest. A placeholder replaces an entry
/// whose text was purged here.
fn trail(
    row: &SessionRow,
    ended: Timestamp,
    gone: &[&str],
    is_gone: impl Fn(&str) -> bool + Copy,
) -> Vec<TrailEntry> {
    let entry = |entry: &TrailEntry| {
        let part = Staged { summary: Some(entry.summary.clone()), ..Staged::default() };
        let kept = accept(part, &WriteLimits::WIDE).ok().and_then(|part| part.summary);
        let summary = match kept.filter(|summary| !is_gone(summary)) {
            Some(summary) => keep_end(without_purged(summary, gone, is_gone), WIDE_TEXT_BYTES_MAX),
            None => "An entry was purged here and is not taken in again.".to_owned(),
        };
        TrailEntry { time: entry.time.min(ended), summary, ..*entry }
    };
    row.earlier.iter().map(entry).collect()
}

/// Removes purged texts from an entry: those in `gone`, which come from the session's activity, and
/// a purged prompt or message that the entry quotes. A row's activity is the sum over all its runs,
/// so it lacks some of the quoted texts.
fn without_purged(summary: String, gone: &[&str], is_gone: impl Fn(&str) -> bool) -> String {
    let own: Vec<String> =
        quoted(&summary).filter(|text| is_gone(text)).map(str::to_owned).collect();
    let mut gone: Vec<&str> = gone.iter().copied().chain(own.iter().map(String::as_str)).collect();
    // A text may be part of another.
    gone.sort_unstable_by_key(|text| Reverse(text.len()));
    gone.iter().fold(summary, |summary, text| summary.replace(text, GONE))
}

/// Returns a session's id as its own project named it, cut to the limit.
fn bounded(session: &SessionId) -> SessionId {
    SessionId::new(clip(&session.0, BINDING_KEY_CHARS_MAX))
}

#[cfg(test)]
mod tests;
