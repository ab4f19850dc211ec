//! Imports snap-memory's folder: a file for each topic, and the map from conversations to topics.
//! Text that has no place in a topic becomes a note that is tagged with the topic's name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::judged::{EarlierTexts, Forgotten};
use super::source::{Candidate, ImportError, ImportStep, NamedText, Parts, Source};
use super::zipmem::object;
use super::{ImportOutcome, is_here, remembered, word_refusal};
use crate::change::Change;
use crate::draft::Draft;
use crate::fold::{clip, fold, one_line};
use crate::ids::{Kind, SessionId, Timestamp};
use crate::intake::WriteLimits;
use crate::kinds::MergeKey;
use crate::kinds::note::{NewNote, Scope, accept_note};
use crate::kinds::topic::{Topic, TopicPart, topic_name};
use crate::limits::{
    BINDING_KEY_CHARS_MAX, BINDINGS_MAX, SNAP_NAME_CHARS_MAX, TOPIC_NAME_CHARS_MAX,
};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::{Plan, file_of, snap_record};
use crate::provenance::Provenance;
use crate::record::{Body, RecordState};
use crate::refusal::Refusal;
use crate::room::check_items;
use crate::staged::{Staged, accept, count};
use crate::topic_file::{TopicFile, WrittenHere, distinct, given_name, snap_topic};

/// The source name under which imports of snap-memory's folders are remembered. It is also the
/// client of their topics.
pub const SNAP_MEMORY: &str = "snap-memory";
/// The name of the file with the topics of conversations.
pub const SNAP_MAP: &str = "context-session-map.json";
/// The beginning of the key of a conversation of OpenClaw.
pub const SNAP_KEY: &str = "openclaw:";

/// The content of a folder of snap-memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SnapMemory {
    /// The topics, by the names of their files.
    pub topics: Vec<SnapTopic>,
    /// Topics, as named there, by session keys.
    pub bindings: BTreeMap<String, String>,
    /// One line for each thing that could not be used as it was.
    pub notes: Vec<String>,
    /// The earlier texts of notes that were corrected here.
    pub earlier: Arc<EarlierTexts>,
}

/// A topic there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SnapTopic {
    /// The name, any text.
    pub given: String,
    /// The content of its file.
    pub file: TopicFile,
}

impl SnapTopic {
    /// Returns the texts that have no place in a topic.
    fn texts(&self) -> Vec<String> {
        let session = SessionId::new("");
        let by = Provenance::new(session, SNAP_MEMORY.into(), Timestamp::default());
        self.file.additions(&self.given, None, WrittenHere::default(), &by).1
    }
}

/// snap-memory.
pub(super) const SOURCE: Source = Source {
    name: SNAP_MEMORY,
    takes: "a folder of snap-memory (context-*.md, context-session-map.json) or one such file",
    files: &["context-*.md", SNAP_MAP],
    recognises,
    read: |texts| Ok(vec![Box::new(parse(texts)?)]),
    kinds: &[Kind::Topic, Kind::Note],
    // The names of topics depend on each other, and conversations on them.
    parts: Parts::One,
    tables: &[],
};

fn recognises(candidate: &Candidate<'_>) -> bool {
    let is_of = |text: &NamedText| text.name == SNAP_MAP || given_name(&text.name, "").is_some();
    candidate.texts.iter().any(is_of)
}

impl ImportStep for SnapMemory {
    fn found(&self) -> PerKind<usize> {
        let texts = self.topics.iter().map(|topic| topic.texts().len()).sum();
        PerKind { topics: self.topics.len(), notes: texts, ..PerKind::default() }
    }

    fn set_earlier(&mut self, earlier: &Arc<EarlierTexts>) {
        self.earlier = Arc::clone(earlier);
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        plan_import(memory, self, digest, by)
    }
}

/// Reads a folder's files. Other files than topics and the map are ignored.
///
/// # Errors
/// Fails if the map is not a JSON object, or if there is neither a topic nor a map.
fn parse(files: &[NamedText]) -> Result<SnapMemory, ImportError> {
    let mut snap = SnapMemory::default();
    let mut is_any = false;
    for NamedText { name, text } in files {
        if name == SNAP_MAP {
            is_any = true;
            let map = object(&NamedText::new(name, text))?;
            let entry = |(key, topic): (String, Value)| Some((key, topic.as_str()?.to_owned()));
            let all = map.len();
            snap.bindings = map.into_iter().filter_map(entry).collect();
            let odd = all - snap.bindings.len();
            if odd > 0 {
                snap.notes.push(format!("{odd} of its bindings name no topic and are left out"));
            }
            continue;
        }
        let file = TopicFile::parse(text);
        let Some(given) = given_name(name, &file.title).map(one_line) else { continue };
        is_any = true;
        let named = |what: String| format!("{name}: {what}");
        if given.is_empty() || given.chars().count() > SNAP_NAME_CHARS_MAX {
            snap.notes.push(named("its name is empty or too long; left out".to_owned()));
            continue;
        }
        if !file.title.is_empty() && file.title != given {
            snap.notes
                .push(named(format!("its title is `{}`; its name stays", clip(&file.title, 80))));
        }
        let other = file.meta.iter().filter(|(key, _)| key != "session");
        let other: Vec<&str> = other.map(|(key, _)| key.as_str()).collect();
        if !other.is_empty() {
            snap.notes
                .push(named(format!("{} of its Meta is left out", clip(&other.join(", "), 80))));
        }
        snap.topics.push(SnapTopic { given, file });
    }
    if !is_any {
        return Err(ImportError::Empty);
    }
    Ok(snap)
}

/// Plans an import of snap-memory's topics and bindings. Topics keep the days of their originals.
/// A newer status here stays, and the one from there becomes a line of the history. So does the
/// topic of a conversation that has one here. `digest` identifies the source.
fn plan_import(
    memory: &Memory,
    source: &SnapMemory,
    digest: &str,
    origin: &Provenance,
) -> Plan<ImportOutcome> {
    if let Some(before) = memory.imported(SNAP_MEMORY, digest) {
        let outcome = ImportOutcome::known(before, &source.found());
        return Plan { changes: Vec::new(), outcome };
    }
    let mut draft = Draft::new(memory);
    let forgotten = Forgotten::of(memory);
    let mut notes = source.notes.clone();
    let (mut is_whole, mut here) = (true, 0);
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    // Of two names that differ in case, the one written first keeps it.
    let mut topics: Vec<&SnapTopic> = source.topics.iter().collect();
    topics.sort_by_key(|topic| topic.file.updated);
    for topic in topics {
        let file = file_of(&topic.given);
        if is_automatic(&topic.file) {
            notes.push(format!("{file} has only lines that were written by rule; left out"));
            continue;
        }
        let name = name_for(memory, &topic.given, &taken);
        if name != topic.given {
            notes.push(format!("{file} is the topic `{name}` here"));
        }
        match put(&mut draft, topic, &name, (&forgotten, source.earlier.as_ref()), origin) {
            Ok(put) => {
                here += put.here;
                notes.extend(put.remarks);
                taken.insert(fold(&name));
                if put.is_taken {
                    names.insert(&topic.given, name);
                }
            }
            Err(refusal) => {
                is_whole &= !matches!(refusal, Refusal::Full { .. });
                notes.push(word_refusal(&file, &refusal));
            }
        }
    }
    let bindings = bindings(memory, source, &names, &mut notes);
    let written = draft.finish();
    let outcome =
        ImportOutcome { added: written.added, merged: here, notes, ..ImportOutcome::default() };
    let changes = remembered(memory, written.changes, bindings, (SNAP_MEMORY, digest), is_whole);
    Plan { changes, outcome }
}

/// Returns the name here of a topic there. `taken` has the names that this import gave, folded.
fn name_for(memory: &Memory, given: &str, taken: &BTreeSet<String>) -> String {
    let is_free = |name: &str| !taken.contains(&fold(name));
    if let Some((_, topic)) = snap_record(memory, given).filter(|(_, topic)| is_free(&topic.name)) {
        return topic.name.clone();
    }
    let name = snap_topic(given);
    // Only a name with other signs may be that of another topic here.
    let is_other = name != given && memory.topic(&name).is_some();
    let name = if is_other { distinct(&name, given) } else { name };
    let mut numbered = name.clone();
    for number in 2.. {
        if is_free(&numbered) {
            break;
        }
        let kept: String = name.chars().take(TOPIC_NAME_CHARS_MAX - 6).collect();
        numbered = format!("{}-{number}", kept.trim_end());
    }
    numbered
}

/// The texts that were judged here after an earlier import.
type Judged<'j> = (&'j Forgotten, &'j EarlierTexts);

/// The result for a topic that was not refused.
struct Put {
    /// Whether the topic is here now. One that was forgotten here may stay so.
    is_taken: bool,
    /// The number of its parts that are here: itself, and texts that become notes.
    here: u32,
    /// One line for each part of it that is left out.
    remarks: Vec<String>,
}

/// The result for the texts of a file that become notes.
#[derive(Default)]
struct PutTexts {
    /// The number of texts that are here already, or stay as they were judged here.
    here: u32,
    /// One line for each text that is left out.
    remarks: Vec<String>,
}

/// Stores a topic and its notes, unless they were forgotten here.
fn put(
    draft: &mut Draft<'_>,
    source: &SnapTopic,
    name: &str,
    judged: Judged<'_>,
    origin: &Provenance,
) -> Result<Put, Refusal> {
    let file = &source.file;
    let at = |day: Option<Timestamp>| Provenance {
        client: SNAP_MEMORY.into(),
        time: day.filter(|day| *day < origin.time).unwrap_or(origin.time),
        ..origin.clone()
    };
    let updated = at(file.updated.or(file.created));
    let created = at(file.created.or(file.updated));
    let here = draft.head().topic(name).cloned();
    let body = Body::Topic(Topic { name: name.to_owned(), ..Topic::default() });
    let written = file.updated.or(file.created);
    if judged.0.keeps_out(draft.head(), &body, written) {
        let (_, texts) = file.additions(name, None, WrittenHere::default(), &updated);
        let PutTexts { here, mut remarks } = put_texts(draft, name, texts, Some(judged), &updated);
        if written.is_none() {
            remarks.push(format!("{} was forgotten here and stays so", file_of(&source.given)));
        }
        let here = here + u32::from(written.is_some());
        return Ok(Put { is_taken: false, here, remarks });
    }
    if here.is_none() {
        // It began on its own day.
        let begun = TopicPart { name: Some(name.to_owned()), ..TopicPart::default() };
        draft.keyed(&begun, &created);
    }
    // A topic that this import wrote last is not newer than a file that has grown.
    let is_newer = here.as_ref().is_some_and(|here| {
        here.updated.time >= updated.time && *here.updated.client != *SNAP_MEMORY
    });
    let written_here = WrittenHere::all(is_newer);
    let texts = put_file(draft, file, name, written_here, Some(judged), &updated);
    let id = draft.head().topic(name).map(|record| record.id).filter(|_| here.is_none());
    if let (Some(begun), Err(_)) = (id, &texts) {
        // Nothing of a topic that is refused stays.
        draft.set_state(begun, RecordState::Forgotten, &updated);
    }
    let texts = texts?;
    if let Some(id) = id.filter(|_| name != source.given) {
        draft.mark(id, vec![file_of(&source.given)], false, &updated);
    }
    let here = texts.here + u32::from(here.is_some());
    Ok(Put { is_taken: true, here, remarks: texts.remarks })
}

/// Plans to take in a file of a topic that a person has edited. Lists unite, and nothing leaves
/// the topic. A status or description of the file that is older than the one here becomes a line of
/// the history. A file of no topic begins one, also without the form of one. The outcome has a
/// remark for each text that was refused.
///
/// # Errors
/// Fails if the name is not a topic's, or if the topic refuses what the file adds.
pub fn plan_edited_topic(
    memory: &Memory,
    name: &str,
    edited: &TopicFile,
    written_here: WrittenHere,
    origin: &Provenance,
) -> Result<Plan<Vec<String>>, Refusal> {
    let (mut draft, name) = (Draft::new(memory), topic_name(name)?);
    let new = memory.topic(&name).is_none().then(|| edited.begun(&name));
    let edited = new.as_ref().unwrap_or(edited);
    let outcome = put_file(&mut draft, edited, &name, written_here, None, origin)?.remarks;
    if draft.head().topic(&name).is_none() {
        let begun = TopicPart { name: Some(name), ..TopicPart::default() };
        let part = Staged { topics: vec![begun.clone()], ..Staged::default() };
        draft.head().tombstones().refuse(&part)?;
        check_items(draft.head(), &part, &part, origin)?;
        draft.keyed(&begun, origin);
    }
    let mut changes = draft.finish().changes;
    changes.retain(|change| !is_here(memory, change));
    Ok(Plan { changes, outcome })
}

/// Stores what a file adds to a topic, and the texts that have no place in one as notes.
fn put_file(
    draft: &mut Draft<'_>,
    file: &TopicFile,
    name: &str,
    written_here: WrittenHere,
    judged: Option<Judged<'_>>,
    origin: &Provenance,
) -> Result<PutTexts, Refusal> {
    let here = draft.head().topic(name).cloned();
    let known = here.as_ref().and_then(|record| record.topic());
    let (part, rest) = file.additions(name, known, written_here, origin);
    // A text that is too long was noted when the topic got its beginning.
    let (_, all) = file.additions(name, None, WrittenHere::default(), origin);
    let noted = count(all.iter().filter(|text| !rest.contains(text)).count());
    if !part.is_empty() {
        let part = Staged { topics: vec![part], ..Staged::default() };
        draft.head().tombstones().refuse(&part)?;
        let mut part = accept(part, &WriteLimits::WIDE)?;
        part.topics.iter_mut().for_each(|topic| topic.stamp(origin));
        check_items(draft.head(), &part, &part, origin)?;
        for topic in &part.topics {
            draft.keyed(topic, origin);
        }
    }
    let texts = put_texts(draft, name, rest, judged, origin);
    Ok(PutTexts { here: texts.here + noted, ..texts })
}

/// Stores texts as notes.
fn put_texts(
    draft: &mut Draft<'_>,
    topic: &str,
    texts: Vec<String>,
    judged: Option<Judged<'_>>,
    origin: &Provenance,
) -> PutTexts {
    let mut put = PutTexts::default();
    for text in texts {
        match note(draft, topic, text, judged, origin) {
            Ok(is_new) => put.here += u32::from(!is_new),
            Err(refusal) => {
                put.remarks.push(word_refusal(&format!("a text of `{topic}`"), &refusal));
            }
        }
    }
    put
}

/// Stores a text as a note, unless it is here already, or was forgotten or corrected here. It has
/// no time of its own: the file's changes with any other part of it. Returns whether it is new.
fn note(
    draft: &mut Draft<'_>,
    topic: &str,
    content: String,
    judged: Option<Judged<'_>>,
    origin: &Provenance,
) -> Result<bool, Refusal> {
    let tags = vec![topic.to_lowercase()];
    let note = accept_note(NewNote { content, tags, ..NewNote::default() })?;
    let part = Staged { notes: vec![note.clone()], ..Staged::default() };
    draft.head().tombstones().refuse(&part)?;
    let key = MergeKey::note(&Scope::Project, None, &note.content);
    let is_here = draft
        .head()
        .keyed(&key)
        .any(|record| record.note().is_some_and(|kept| kept.content == note.content));
    let body = Body::Note(note.note(&origin.session));
    let is_judged = judged.is_some_and(|(forgotten, earlier)| {
        forgotten.has(&body, None) || earlier.has(&note.content, None)
    });
    let is_new = !is_here && !is_judged;
    if is_new {
        check_items(draft.head(), &part, &part, origin)?;
        draft.note(&note, origin);
    }
    Ok(is_new)
}

/// Returns the bindings of conversations that have no topic here. Names what is left out.
fn bindings(
    memory: &Memory,
    source: &SnapMemory,
    names: &BTreeMap<&str, String>,
    notes: &mut Vec<String>,
) -> Vec<Change> {
    let mut wanted = source.bindings.clone();
    for topic in &source.topics {
        let sessions = topic.file.meta.iter().filter(|(key, _)| key == "session");
        for (_, session) in sessions.filter(|(_, session)| !session.is_empty()) {
            wanted.entry(session.clone()).or_insert_with(|| topic.given.clone());
        }
    }
    let (mut long, mut without) = (0, 0);
    let mut changes = Vec::new();
    for (session, given) in wanted {
        let key = format!("{SNAP_KEY}{session}");
        let known = || snap_record(memory, &given).map(|(_, topic)| topic.name.clone());
        if memory.bound(&key).is_some() {
            continue;
        }
        if session.chars().count() > BINDING_KEY_CHARS_MAX
            || key.chars().count() > BINDING_KEY_CHARS_MAX
        {
            long += 1;
        } else if let Some(name) = names.get(one_line(&given).as_str()).cloned().or_else(known) {
            changes.push(Change::Bind { key, topic: Some(name) });
        } else {
            without += 1;
        }
    }
    let room = BINDINGS_MAX.saturating_sub(memory.bindings().count());
    let full = changes.len().saturating_sub(room);
    changes.truncate(room);
    for (many, why) in [
        (long, "has a key that is too long"),
        (without, "has a topic that was not brought over"),
        (full, "has no room here"),
    ] {
        if many > 0 {
            notes.push(format!("left out: {many} × a conversation that {why}"));
        }
    }
    if !changes.is_empty() {
        notes.push(format!("conversations that have their topic again: {}", changes.len()));
    }
    changes
}

/// Returns whether a file has nothing but lines that snap-memory wrote by rule.
fn is_automatic(file: &TopicFile) -> bool {
    let by_rule = ["Context created", "Auto-saved before ", "Compaction completed ("];
    let is = |text: &str| by_rule.iter().any(|begin| text.starts_with(begin));
    file.status.is_none()
        && file.decisions.is_empty()
        && file.others.is_empty()
        && file.history.iter().all(|line| is(&line.text))
}

#[cfg(test)]
mod tests;
