//! A project's memory as a state machine of the store, and its rows.

use std::collections::BTreeSet;

use anchord_memory::limits::NOTICES_MAX;
use anchord_memory::{
    Bound, Change, Copied, CopyMark, Counters, Held, HeldKey, Memory, Notice, NoticeId, Purged,
    Record, RecordId, Restore, Revision, Seq, SessionId, Settings, Staged, Tombstones, Version,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{EntryKey, Row, Split, StateMachine};

const BINDING: &str = "b/";
const COUNTERS: &str = "m/counters";
/// Prefix of the heads of forgotten records. Older builds do not know such rows. They rebuild the
/// index from the journal instead of mistaking a head for a record.
const HEAD: &str = "f/";
const RECORD: &str = "n/";
const NOTICE: &str = "o/";
const IMPORT: &str = "p/";
const STAGED: &str = "s/";
const SETTINGS: &str = "t/";
const PURGED: &str = "u/";
const TOMBSTONES: &str = "m/tombstones";
const TEAM: &str = "m/team";
const COPIED: &str = "m/team-copy";
const HELD: &str = "h/";

impl StateMachine for Memory {
    type Change = Change;
    type Part = Part;

    const NAME: &'static str = "project";

    fn is_commit(changes: &[Change]) -> bool {
        changes.iter().any(Change::is_shared)
    }

    fn seq(&self) -> Seq {
        Self::seq(self)
    }

    fn revision(&self) -> Revision {
        Self::revision(self)
    }

    fn apply(&mut self, seq: Seq, changes: &[Change]) {
        Self::apply(self, seq, changes);
    }

    fn expect_many(&mut self) {
        self.drop_search_index();
    }

    fn touched_rows(&self, changes: &[Change]) -> Vec<Row> {
        let mut rows = vec![counters_row(self)];
        for change in changes {
            match change {
                Change::Put(record) => rows.extend(record_rows(self, record)),
                Change::Stage { session, .. } | Change::Unstage { session } => {
                    rows.push(staged_row(self, session));
                }
                Change::Adopt { from, to } => {
                    rows.push(staged_row(self, from));
                    rows.push(staged_row(self, to));
                }
                Change::Configure { client, .. } => {
                    rows.extend(
                        self.settings(client.as_deref())
                            .map(|settings| settings_row(client.as_deref(), settings)),
                    );
                }
                Change::Bind { key, .. } => rows.push(binding_row(self, key)),
                Change::Purged(purged) => {
                    rows.push(record_row(self, purged.id));
                    if self.record(purged.id).is_none() {
                        rows.push(Row { key: head_key(purged.id), value: None });
                    }
                    rows.extend(self.purged(purged.id).map(|purged| purged_row(purged)));
                }
                Change::Tombstones { .. } => rows.push(tombstones_row(self)),
                Change::Team(_) => rows.extend([team_row(self), copied_row(self)]),
                Change::Copied(_) => rows.push(copied_row(self)),
                Change::Hold(held) => rows.push(held_row(self, &held.key)),
                Change::Release(key) => rows.push(held_row(self, key)),
                Change::Notify(notice) => {
                    rows.push(notice_row(self, notice.id));
                    // Numbers have no gaps, so the new notice pushed out this one.
                    let dropped = notice.id.0.checked_sub(NOTICES_MAX as u64);
                    rows.extend(dropped.map(|number| notice_row(self, NoticeId(number))));
                }
                Change::Imported { source, digest, .. } => {
                    rows.push(match self.imported(source, digest) {
                        Some(records) => import_row(source, digest, records),
                        None => Row { key: import_key(source, digest), value: None },
                    });
                }
            }
        }
        rows
    }

    fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_> {
        let imports =
            self.imports().map(|((source, digest), records)| import_row(source, digest, *records));
        Box::new(
            std::iter::once(counters_row(self))
                .chain(self.records().map(|record| whole_row(record)))
                .chain(self.notices().map(|notice| row(notice_key(notice.id), &**notice)))
                .chain(imports)
                .chain(self.staged().map(|(session, _)| staged_row(self, session)))
                .chain(self.all_settings().map(|(client, settings)| settings_row(client, settings)))
                .chain(self.bindings().map(|(key, _)| binding_row(self, key)))
                .chain(self.all_purged().map(|purged| purged_row(purged)))
                .chain((!self.tombstones().salt().is_empty()).then(|| tombstones_row(self)))
                .chain(self.team().map(|_| team_row(self)))
                .chain(self.copied().map(|_| copied_row(self)))
                .chain(self.held().map(|held| held_row(self, &held.key))),
        )
    }

    fn part(key: &str, value: &str) -> Result<Part, String> {
        if key == COUNTERS {
            read(key, value).map(Part::Counters)
        } else if key == TOMBSTONES {
            read(key, value).map(Part::Tombstones)
        } else if key == TEAM {
            read(key, value).map(Part::Team)
        } else if key == COPIED {
            read(key, value).map(Part::Copied)
        } else if key.starts_with(HELD) {
            read(key, value).map(Part::Held)
        } else if key.starts_with(PURGED) {
            read(key, value).map(Part::Purged)
        } else if key.starts_with(RECORD) || key.starts_with(HEAD) {
            read(key, value).map(Part::Record)
        } else if let Some(session) = key.strip_prefix(STAGED) {
            Ok(Part::Staged(SessionId::new(session), read(key, value)?))
        } else if key.starts_with(NOTICE) {
            read(key, value).map(Part::Notice)
        } else if key.starts_with(IMPORT) {
            read(key, value).map(Part::Import)
        } else if let Some(thread) = key.strip_prefix(BINDING) {
            Ok(Part::Binding(thread.to_owned(), read(key, value)?))
        } else if key.starts_with(SETTINGS) {
            read(key, value).map(Part::Settings)
        } else {
            Err(format!("the row {key} is of no kind that this anchord knows"))
        }
    }

    fn restore(parts: &mut dyn Iterator<Item = Part>) -> Result<Self, String> {
        let mut memory = Restore::default();
        let mut known = false;
        for part in parts {
            match part {
                Part::Counters(CountersV1 { seq, revision, counters }) => {
                    memory.at(seq, revision, counters);
                    known = true;
                }
                Part::Tombstones(tombstones) => memory.tombstones(tombstones),
                Part::Team(project) => memory.team(&project),
                Part::Copied(mark) => memory.copied(mark),
                Part::Held(held) => memory.held(held),
                Part::Purged(purged) => memory.purged(purged),
                Part::Record(record) => memory.record(record),
                Part::Staged(session, staged) => memory.staged(session, staged),
                Part::Notice(notice) => memory.notice(notice),
                Part::Import(ImportV1 { source, digest, records }) => {
                    memory.import(source, digest, records);
                }
                Part::Binding(thread, bound) => memory.binding(thread, bound),
                Part::Settings(SettingsV1 { client, settings }) => {
                    memory.settings(client, settings);
                }
            }
        }
        if !known {
            return Err(format!("the row {COUNTERS} is missing"));
        }
        Ok(memory.finish())
    }

    fn changes_to(&self, target: &Self) -> Vec<Change> {
        Self::changes_to(self, target)
    }

    fn contradicted_by(&self, other: &Self) -> BTreeSet<String> {
        let replaced = self
            .records()
            .filter(|record| other.record(record.id).is_some_and(|it| record.contradicts(it)));
        replaced.map(|record| format!("{}@{}", record.id, record.version.0)).collect()
    }

    fn purges(&self) -> usize {
        self.all_purged().count() + self.tombstones().len()
    }

    fn idle_commit(&self) -> Option<Vec<Change>> {
        Self::idle_commit(self)
    }

    fn split(changes: Vec<Change>) -> Split<Change> {
        let mut split = Split::default();
        for change in changes {
            let part = match &change {
                change if change.is_shared() => &mut split.shared,
                // It only adds, so it does no harm if the rest is not written.
                Change::Put(record) if record.state.is_active() => &mut split.before,
                Change::Stage { .. } | Change::Bind { .. } => &mut split.before,
                _ => &mut split.after,
            };
            part.push(change);
        }
        split
    }

    fn team_key(changes: &[Change]) -> Option<EntryKey> {
        changes.iter().find_map(|change| match change {
            Change::Release(key) => {
                Some(EntryKey { instance: key.instance.clone(), number: key.number })
            }
            _ => None,
        })
    }

    fn arriving(&self, key: &EntryKey) -> Vec<Change> {
        let key = HeldKey { instance: key.instance.clone(), number: key.number };
        self.held_as(&key).map(|_| Change::Release(key)).into_iter().collect()
    }

    fn copy_mark(&self) -> Option<CopyMark> {
        self.copied().cloned()
    }

    fn copied(copied: Copied) -> Option<Change> {
        Some(Change::Copied(copied))
    }

    fn history_keys(change: &Change) -> Vec<String> {
        let (id, version) = match change {
            Change::Put(record) => (record.id, record.version),
            Change::Purged(purged) => (purged.id, purged.version),
            _ => return Vec::new(),
        };
        vec![format!("{id}@{}", version.0)]
    }
}

/// A row of a project's memory.
pub enum Part {
    Counters(CountersV1),
    Tombstones(Tombstones),
    Team(String),
    Copied(CopyMark),
    Held(Held),
    Purged(Purged),
    Record(Record),
    Staged(SessionId, Staged),
    Notice(Notice),
    Import(ImportV1),
    Binding(String, Bound),
    Settings(SettingsV1),
}

#[derive(Serialize, Deserialize)]
pub struct CountersV1 {
    seq: Seq,
    revision: Revision,
    #[serde(flatten)]
    counters: Counters,
}

#[derive(Serialize, Deserialize)]
pub struct ImportV1 {
    source: String,
    digest: String,
    records: u32,
}

#[derive(Serialize, Deserialize)]
pub struct SettingsV1 {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    settings: Settings,
}

fn counters_row(memory: &Memory) -> Row {
    let counters =
        CountersV1 { seq: memory.seq(), revision: memory.revision(), counters: memory.counters() };
    row(COUNTERS.to_owned(), &counters)
}

/// Returns the rows of a record that a change put: its current row, and the removal of the row
/// under the other prefix.
fn record_rows(memory: &Memory, put: &Record) -> impl Iterator<Item = Row> + use<> {
    let id = put.id;
    let is_head = memory.record(id).is_some_and(|record| record.is_head);
    // The first version has no other row. A version with the same content as before is not
    // forgotten.
    let may_have_been_head = put.version > Version::FIRST && put.content_version.is_none();
    let other =
        if is_head { Some(record_key(id)) } else { may_have_been_head.then(|| head_key(id)) };
    let other = other.map(|key| Row { key, value: None });
    [record_row(memory, id)].into_iter().chain(other)
}

fn whole_row(record: &Record) -> Row {
    let key = if record.is_head { head_key(record.id) } else { record_key(record.id) };
    row(key, record)
}

fn record_row(memory: &Memory, id: RecordId) -> Row {
    match memory.record(id) {
        Some(record) => whole_row(record),
        None => Row { key: record_key(id), value: None },
    }
}

fn head_key(id: RecordId) -> String {
    format!("{HEAD}{id}")
}

fn record_key(id: RecordId) -> String {
    format!("{RECORD}{id}")
}

fn staged_row(memory: &Memory, session: &SessionId) -> Row {
    let key = format!("{STAGED}{session}");
    match memory.staged_by(session) {
        Some(staged) => row(key, &**staged),
        None => Row { key, value: None },
    }
}

fn notice_row(memory: &Memory, id: NoticeId) -> Row {
    let key = notice_key(id);
    match memory.notice(id) {
        Some(notice) => row(key, &**notice),
        None => Row { key, value: None },
    }
}

fn notice_key(id: NoticeId) -> String {
    format!("{NOTICE}{}", id.0)
}

fn import_row(source: &str, digest: &str, records: u32) -> Row {
    let value = ImportV1 { source: source.to_owned(), digest: digest.to_owned(), records };
    row(import_key(source, digest), &value)
}

fn import_key(source: &str, digest: &str) -> String {
    format!("{IMPORT}{source}/{digest}")
}

/// Returns a settings row. The project's own row has an empty name; a client's name begins with a
/// slash.
fn settings_row(client: Option<&str>, settings: &Settings) -> Row {
    let key = client.map_or_else(String::new, |client| format!("/{client}"));
    let client = client.map(str::to_owned);
    row(format!("{SETTINGS}{key}"), &SettingsV1 { client, settings: settings.clone() })
}

fn binding_row(memory: &Memory, key: &str) -> Row {
    let row_key = format!("{BINDING}{key}");
    match memory.binding(key) {
        Some(bound) => row(row_key, bound),
        None => Row { key: row_key, value: None },
    }
}

fn purged_row(purged: &Purged) -> Row {
    row(format!("{PURGED}{}", purged.id), purged)
}

fn team_row(memory: &Memory) -> Row {
    match memory.team() {
        Some(project) => row(TEAM.to_owned(), &project),
        None => Row { key: TEAM.to_owned(), value: None },
    }
}

fn copied_row(memory: &Memory) -> Row {
    match memory.copied() {
        Some(mark) => row(COPIED.to_owned(), mark),
        None => Row { key: COPIED.to_owned(), value: None },
    }
}

fn held_row(memory: &Memory, held: &HeldKey) -> Row {
    let key = format!("{HELD}{}/{}", held.instance, held.number);
    match memory.held_as(held) {
        Some(held) => row(key, &**held),
        None => Row { key, value: None },
    }
}

fn tombstones_row(memory: &Memory) -> Row {
    row(TOMBSTONES.to_owned(), &**memory.tombstones())
}

fn row<T: Serialize>(key: String, value: &T) -> Row {
    let text = serde_json::to_string(value).expect("domain types always serialize");
    Row { key, value: Some(text) }
}

fn read<T: DeserializeOwned>(key: &str, value: &str) -> Result<T, String> {
    serde_json::from_str(value).map_err(|error| format!("the row {key} cannot be read: {error}"))
}

#[cfg(test)]
mod tests;
