//! Purging removes a record's content from every entry that held it. The record's numbers stay.
//!
//! Every other change is undone by a new version; only a purge changes existing entries. A
//! [`Purge`] passes over them three times. First, [`Purge::pick`] finds the records that contain a
//! text. Then [`Purge::learn`] collects the content of all their versions. Last, [`Purge::edit`]
//! removes it. A tombstone, the salted digest of a version's content, keeps the same text from
//! coming back. There is no tombstone for a text so short that the digest would reveal it.

pub(crate) mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::activity::SessionActivity;
use crate::brief::BriefMerge;
use crate::change::{Change, Notice, NoticeCause, Purged};
use crate::fold::one_line;
use crate::held::Held;
use crate::ids::{ItemIds, Kind, RecordId, SessionId, Timestamp};
use crate::kinds::note::{NewNote, Scope};
use crate::kinds::{MergeKey, StagedItem, topic};
use crate::limits::{PURGED_TEXT_BYTES_MIN, PURGED_TEXT_BYTES_SOUGHT};
use crate::per_kind::PerKind;
use crate::record::{Anchor, Body, Record};
use crate::refusal::{Refusal, RefusedField};
use crate::secrets::{SecretKind, scrub_named};
use crate::staged::Staged;

/// The replacement of a purged text, where one is needed.
pub(crate) const GONE: &str = "[purged]";

/// The bytes of a text's beginning that a quote has at least.
const QUOTED_BYTES: usize = PURGED_TEXT_BYTES_MIN * 2;

/// Returns the kinds of secrets found in what a change stores: in records and in staged items.
pub fn secrets_in(change: &Change) -> Vec<SecretKind> {
    let named: Vec<(&str, &str)> = match change {
        Change::Put(record) => {
            let name = record.body.fields().secret_name().unwrap_or_default();
            texts::of_record(record).into_iter().map(|text| (name, text)).collect()
        }
        Change::Stage { part, .. } => texts::of_staged(part),
        Change::Hold(held) => {
            let summary = held.summary.iter().map(|text| ("", text.as_str()));
            let merge = held.merge.iter().flat_map(|merge| texts::of_merge(merge));
            let titles = held.left_out.iter().map(|(_, title)| ("", title.as_str()));
            let texts = texts::of_staged(&held.staged).into_iter();
            texts.chain(summary).chain(merge).chain(titles).collect()
        }
        Change::Bind { topic, .. } => topic.iter().map(|name| ("", name.as_str())).collect(),
        _ => Vec::new(),
    };
    named.into_iter().flat_map(|(name, text)| scrub_named(name, text).removed).collect()
}

/// Salted digests of purged texts, with the times of the purges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstones {
    /// Random, and different in each project: elsewhere the digests reveal nothing.
    salt: String,
    times: BTreeMap<String, Timestamp>,
}

impl Tombstones {
    /// Returns the salt; empty if nothing was purged.
    pub fn salt(&self) -> &str {
        &self.salt
    }

    /// Returns the number of texts that were purged.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks for that")]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the time at which this exact text was purged, if it was.
    pub fn of(&self, text: &str) -> Option<Timestamp> {
        if self.times.is_empty() {
            return None;
        }
        self.times.get(&digest(&self.salt, text)).copied()
    }

    /// Returns the digests that `other` lacks or has with another time.
    pub(crate) fn digests_beyond<'t>(
        &'t self,
        other: &'t Self,
    ) -> impl Iterator<Item = (&'t str, Timestamp)> {
        let new = self.times.iter().filter(|(digest, time)| other.times.get(*digest) != Some(time));
        new.map(|(digest, time)| (digest.as_str(), *time))
    }

    pub(crate) fn add(&mut self, salt: &str, digests: &[String], time: Timestamp) {
        if self.salt.is_empty() {
            salt.clone_into(&mut self.salt);
        }
        self.times.extend(digests.iter().map(|digest| (digest.clone(), time)));
    }

    /// Refuses a text that was purged. `field` names it.
    ///
    /// # Errors
    /// Fails if the text was purged.
    pub(crate) fn refuse_text(&self, field: &'static str, text: &str) -> Result<(), Refusal> {
        match self.of(text) {
            Some(time) => Err(Refusal::PurgedText { field: field.into(), time }),
            None => Ok(()),
        }
    }

    /// Refuses a part with a purged item.
    ///
    /// # Errors
    /// Names the first such item.
    pub(crate) fn refuse(&self, part: &Staged) -> Result<(), Refusal> {
        match self.first_in(part) {
            Some((field, time)) => Err(Refusal::PurgedText { field, time }),
            None => Ok(()),
        }
    }

    /// Returns whether a text of this item was purged.
    pub(crate) fn has_item(&self, item: &dyn StagedItem) -> bool {
        let is_gone = |(_, text): (_, String)| self.of(&text).is_some();
        !self.times.is_empty() && item.whole_texts().into_iter().any(is_gone)
    }

    fn first_in(&self, part: &Staged) -> Option<(RefusedField, Timestamp)> {
        if self.times.is_empty() {
            return None;
        }
        let summary = part.summary.iter().map(|text| ("summary".into(), text.clone()));
        let mut places = PerKind::<usize>::default();
        let items = part.items().into_iter().flat_map(|(kind, item)| {
            let place = places.of_mut(kind);
            let field = item.field(kind.plural(), *place);
            *place += 1;
            let texts = item.whole_texts().into_iter();
            texts.map(move |(name, text)| (field.clone().named(name), text))
        });
        let mut texts = summary.chain(items);
        texts.find_map(|(field, text)| Some((field, self.of(&text)?)))
    }
}

fn has_text(record: &Record, query: &str) -> bool {
    texts::of_record(record).iter().any(|text| text.contains(query))
}

/// Returns the SHA-256 of the salt and the text, in hexadecimal.
pub(crate) fn digest(salt: &str, text: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(salt.as_bytes());
    hasher.update([0]);
    hasher.update(text.trim().as_bytes());
    base16ct::lower::encode_string(&hasher.finalize())
}

/// A purged record.
#[derive(Clone, Debug, PartialEq)]
pub struct PurgedRecord {
    /// The record.
    pub id: RecordId,
    /// The number of its versions in the journal.
    pub versions: u32,
    /// The newest version in the journal.
    pub newest: Arc<Record>,
}

/// A purge in progress.
#[derive(Debug, Default)]
pub struct Purge {
    ids: BTreeSet<RecordId>,
    query: Option<String>,
    salt: String,
    time: Timestamp,
    found: BTreeMap<RecordId, PurgedRecord>,
    /// Texts of the records that are long enough to be specific where they occur elsewhere.
    texts: BTreeSet<String>,
    digests: BTreeSet<String>,
    keys: BTreeSet<MergeKey>,
    anchors: Vec<Anchor>,
    /// Keys of facts, with the session that wrote them and whether they are private.
    facts: BTreeSet<(SessionId, bool, String)>,
    /// Sessions whose rows are purged, and those whose staged work they took over.
    sessions: BTreeSet<SessionId>,
    /// The conversation of each session, if it is known.
    recorded: BTreeSet<(SessionId, String)>,
    /// The conversations of the sessions whose rows are purged.
    conversations: BTreeSet<String>,
    /// Adoptions of staged work, in the order of the journal.
    adopted: Vec<(SessionId, SessionId)>,
    /// Finds the beginnings of the texts, once all are known.
    finder: Option<AhoCorasick>,
    /// Finds the beginnings in quotes.
    quoted: Option<AhoCorasick>,
    /// Ids of the records, in each form that replies use.
    names: BTreeSet<String>,
    staged: u32,
    elsewhere: BTreeSet<RecordId>,
}

impl Purge {
    /// Purges these records, and those that contain `query` literally in any version. `salt` is
    /// that of the project's tombstones, or random if there are none.
    pub fn new(
        ids: BTreeSet<RecordId>,
        query: Option<String>,
        salt: String,
        time: Timestamp,
    ) -> Self {
        Self { ids, query, salt, time, ..Self::default() }
    }

    /// Makes the first pass: finds records that contain the query.
    pub fn pick(&mut self, changes: &[Change]) {
        let Some(query) = &self.query else { return };
        for record in changes.iter().filter_map(Change::record) {
            if has_text(record, query) {
                self.ids.insert(record.id);
            }
        }
    }

    /// Returns whether later changes write a version of a record that is purged.
    pub fn is_touched_by(&self, changes: &[Change]) -> bool {
        let has_query = |record: &Record| {
            let query = self.query.as_deref();
            query.is_some_and(|query| has_text(record, query))
        };
        let mut records = changes.iter().filter_map(Change::record);
        records.any(|record| self.ids.contains(&record.id) || has_query(record))
    }

    /// Makes the second pass: collects the records' content.
    pub fn learn(&mut self, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Adopt { from, to } => self.adopted.push((from.clone(), to.clone())),
                Change::Stage { session, part } => {
                    let keys = part.captured.iter().map(|captured| captured.key());
                    let keys = keys.filter(|key| !key.is_empty());
                    self.recorded.extend(keys.map(|key| (session.clone(), key.to_owned())));
                }
                _ => {}
            }
        }
        for record in changes.iter().filter_map(Change::record) {
            if !self.ids.contains(&record.id) {
                continue;
            }
            let first = PurgedRecord { id: record.id, versions: 0, newest: Arc::clone(record) };
            let found = self.found.entry(record.id).or_insert(first);
            found.versions += 1;
            found.newest = Arc::clone(record);
            let telling = |text: &&str| record.body.fields().is_telling(text);
            let texts = record.body.fields().own_texts().into_iter().filter(telling);
            self.texts.extend(texts.map(str::to_owned));
            let telling = record.body.fields().tombstone_texts().into_iter();
            self.digests.extend(telling.map(|text| digest(&self.salt, &text)));
            if let Body::Note(note) = &record.body {
                // A summary repeats the content.
                if note.summary.len() >= PURGED_TEXT_BYTES_MIN {
                    self.digests.insert(digest(&self.salt, &note.summary));
                }
                // The key and the scope do not matter, since another session may have staged the
                // same.
                self.keys.insert(MergeKey::note(&Scope::Project, None, &note.content));
                let by = record.updated.session.clone();
                self.facts.extend(note.key.clone().map(|key| (by, record.owner().is_some(), key)));
            }
            if let Body::Anchor(anchor) = &record.body {
                self.anchors.push(anchor.clone());
            }
            if let Body::Blueprint(blueprint) = &record.body {
                self.keys.insert(blueprint.spelled_key());
            }
            if let Body::SessionRow(row) = &record.body {
                self.sessions.insert(row.session.clone());
                let recorded = row.captured.iter().map(|captured| captured.key());
                let recorded = recorded.filter(|key| !key.is_empty());
                self.recorded.extend(recorded.map(|key| (row.session.clone(), key.to_owned())));
            }
            self.keys.extend(record.body.key());
        }
    }

    /// Makes the third pass: removes from an entry what must not stay. Returns whether that changed
    /// anything.
    pub fn edit(&mut self, changes: &mut [Change], reply: &mut Option<Value>) -> bool {
        let mut edited = false;
        for change in &mut *changes {
            edited |= self.edit_change(change);
        }
        let reply_goes = reply
            .as_ref()
            .is_some_and(|reply| edited || reply_texts(reply).iter().any(|text| self.quotes(text)));
        if reply_goes {
            *reply = Some(GONE.into());
        }
        edited || reply_goes
    }

    fn edit_change(&mut self, change: &mut Change) -> bool {
        match change {
            Change::Put(record) if self.ids.contains(&record.id) => {
                let row = match &record.body {
                    Body::SessionRow(row) => Some(row.number),
                    _ => None,
                };
                *change = Change::Purged(Box::new(Purged {
                    id: record.id,
                    version: record.version,
                    revision: record.revision,
                    time: self.time,
                    private: record.is_private(),
                    row,
                }));
                return true;
            }
            Change::Put(record) => {
                let holds = |text: &&str| self.holds(text);
                if texts::of_record(record).iter().any(holds) {
                    self.elsewhere.insert(record.id);
                }
            }
            Change::Stage { session, part } => {
                let edited = self.edit_part(session, part);
                self.staged += u32::from(edited);
                return edited;
            }
            Change::Hold(held) => {
                let Held { session, staged, summary, merge, left_out, unseen, .. } = &mut **held;
                let mut edited = self.edit_part(session, staged);
                edited |= self.edit_merge(session, merge);
                let holds = |text: &String| self.holds(text);
                if summary.as_ref().is_some_and(holds) {
                    *summary = Some(GONE.to_owned());
                    edited = true;
                }
                let named = left_out.len() + unseen.len();
                left_out.retain(|(_, title)| !self.holds(title));
                unseen.retain(|anchor| !self.holds(&anchor.file));
                edited |= left_out.len() + unseen.len() != named;
                self.staged += u32::from(edited);
                return edited;
            }
            Change::Bind { topic, .. } => {
                let gone = topic.as_deref().is_some_and(|name| self.topic_goes(name));
                if gone {
                    *topic = None;
                }
                return gone;
            }
            Change::Notify(notice) => return self.edit_notice(notice),
            _ => {}
        }
        false
    }

    /// Redacts names of changed files that contain the query.
    fn edit_notice(&self, notice: &mut Notice) -> bool {
        let (Some(query), NoticeCause::Crashed { files, .. }) = (&self.query, &mut notice.cause)
        else {
            return false;
        };
        let held = files.iter_mut().filter(|file| file.contains(query.as_str()));
        held.map(|file| GONE.clone_into(file)).count() > 0
    }

    /// Removes from staged work the items that became part of a purged record, or would.
    fn edit_part(&self, session: &SessionId, part: &mut Staged) -> bool {
        let before = part.clone();
        let row_goes = self.sessions.contains(session);
        part.anchors.retain(|anchor| !self.anchors.iter().any(|gone| gone.overlaps(anchor)));
        part.notes.retain(|note| !self.fact_goes(session, note));
        part.retain(|item| {
            let texts: Vec<&str> = item.texts().into_iter().map(|(_, text)| text).collect();
            !self.goes(item.purge_key().as_ref(), &texts)
        });
        let summary_goes = part.summary.as_deref().is_some_and(|summary| {
            let within = summary.len() >= PURGED_TEXT_BYTES_MIN
                && self.texts.iter().any(|text| text.contains(summary));
            row_goes || within || self.holds(summary)
        });
        if summary_goes {
            part.summary = Some(GONE.to_owned());
        }
        let captured_goes = |captured: &SessionActivity| row_goes || self.captured_goes(captured);
        if part.captured.as_deref().is_some_and(captured_goes) {
            part.captured = None;
        }
        *part != before
    }

    /// Removes a held merge of the brief if its part of a topic must not stay, and names of files.
    fn edit_merge(&self, session: &SessionId, merge: &mut Option<Box<BriefMerge>>) -> bool {
        let Some(held) = merge else { return false };
        let mut part = Staged { topics: vec![held.part.clone()], ..Staged::default() };
        let files = held.files_left.len();
        held.files_left.retain(|file| !self.holds(file));
        let edited = files != held.files_left.len();
        if self.edit_part(session, &mut part) {
            *merge = None;
            return true;
        }
        edited
    }

    /// Returns whether recorded activity must be removed, which happens as a whole: it is a few
    /// lines about one session. A row has only the last of them. So all activity of the row's
    /// conversation is removed, regardless of its content.
    fn captured_goes(&self, captured: &SessionActivity) -> bool {
        let within = |text: &str| {
            text.len() >= PURGED_TEXT_BYTES_MIN && self.texts.iter().any(|gone| gone.contains(text))
        };
        self.conversations.contains(captured.key())
            || captured.quotable_texts().any(within)
            || captured.texts().any(|text| self.holds(text))
    }

    fn topic_goes(&self, name: &str) -> bool {
        self.goes(Some(&topic::merge_key(name)), &[name])
    }

    /// Returns whether a staged note must be removed because of its key. Another session's note
    /// under the same key stays, since that session may save it.
    fn fact_goes(&self, session: &SessionId, note: &NewNote) -> bool {
        let fact = note.key.clone().map(|key| (session.clone(), note.private, key));
        fact.is_some_and(|fact| self.facts.contains(&fact))
    }

    fn goes(&self, key: Option<&MergeKey>, texts: &[&str]) -> bool {
        key.is_some_and(|key| self.keys.contains(key)) || texts.iter().any(|text| self.holds(text))
    }

    /// Returns whether a text contains one of the purged texts, or the query.
    fn holds(&self, text: &str) -> bool {
        self.query.as_ref().is_some_and(|query| text.contains(query.as_str()))
            || self.finder.as_ref().is_some_and(|finder| finder.is_match(text))
    }

    /// Returns whether a text names a purged record, or quotes the beginning of a purged text.
    /// Quotes are compared on one line, as replies print them.
    fn quotes(&self, reply: &str) -> bool {
        self.holds(reply)
            || self.quoted.as_ref().is_some_and(|quoted| quoted.is_match(&one_line(reply)))
            || reply.split(|c: char| !c.is_alphanumeric()).any(|word| self.names.contains(word))
    }

    /// Prepares for [`Purge::edit`]. Call it after the last [`Purge::learn`].
    ///
    /// # Errors
    /// Fails if the texts do not fit an automaton. Purging fewer records at once helps.
    pub fn ready(&mut self) -> Result<(), String> {
        // Backwards, since adopted work may have been adopted before.
        for (from, to) in self.adopted.iter().rev() {
            if self.sessions.contains(to) {
                self.sessions.insert(from.clone());
            }
            let taken = self.facts.iter().filter(|(by, ..)| by == to);
            let taken = taken.map(|(_, private, key)| (from.clone(), *private, key.clone()));
            self.facts.extend(taken.collect::<Vec<_>>());
        }
        let theirs = self.recorded.iter().filter(|(session, _)| self.sessions.contains(session));
        self.conversations = theirs.map(|(_, key)| key.clone()).collect();
        // The conversation's transcript must not bring it back, regardless of the row's author.
        let known = self.conversations.iter().map(|key| digest(&self.salt, key));
        self.digests.extend(known);
        if !self.texts.is_empty() {
            let beginnings =
                self.texts.iter().map(|text| clip_bytes(text, PURGED_TEXT_BYTES_SOUGHT));
            self.finder = Some(automaton(beginnings)?);
            let folded = self.texts.iter().map(|text| one_line(text));
            let telling = folded.filter(|text| text.len() >= PURGED_TEXT_BYTES_MIN);
            let beginnings = telling.map(|text| clip_bytes(&text, QUOTED_BYTES).to_owned());
            self.quoted = Some(automaton(beginnings)?);
        }
        for id in self.found.keys() {
            self.names.insert(id.to_string());
            if id.kind == Kind::Note {
                // As replies named it that were stored as text.
                self.names.insert(ItemIds::unsalted().show(*id));
            }
        }
        Ok(())
    }

    /// Returns the purged records.
    pub fn records(&self) -> impl Iterator<Item = &PurgedRecord> {
        self.found.values()
    }

    /// Returns the ids that were requested or picked and that do not exist.
    pub fn missing(&self) -> impl Iterator<Item = RecordId> {
        self.ids.iter().copied().filter(|id| !self.found.contains_key(id))
    }

    /// Returns the number of checkpoints that lost content.
    pub fn staged(&self) -> u32 {
        self.staged
    }

    /// Returns other records that contain one of the texts. They stay.
    pub fn elsewhere(&self) -> impl Iterator<Item = RecordId> {
        self.elsewhere.iter().copied()
    }

    /// Returns the texts that must be found nowhere.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str).chain(self.query.as_deref())
    }

    /// Returns the change that the purge itself adds to the journal.
    pub fn tombstones(&self) -> Change {
        Change::Tombstones {
            salt: self.salt.clone(),
            digests: self.digests.iter().cloned().collect(),
            time: self.time,
        }
    }
}

fn automaton(beginnings: impl Iterator<Item = impl AsRef<[u8]>>) -> Result<AhoCorasick, String> {
    AhoCorasick::new(beginnings).map_err(|error| error.to_string())
}

fn clip_bytes(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// Returns the texts in a stored reply.
pub fn reply_texts(reply: &Value) -> Vec<&str> {
    match reply {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(reply_texts).collect(),
        Value::Object(fields) => fields.values().flat_map(reply_texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
