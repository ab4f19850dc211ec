//! A state machine whose entries must be applied exactly once, because it adds. And a caller that
//! keeps the store's contract.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::store::fakes::{SimIndex, head_before};
use crate::store::format::FORMAT;
use crate::store::{
    Call, Entry, Head, JournalStore, LineState, OpenReport, Opened, Options, PendingFlush, Replies,
    Row, SimDisk, StateMachine, Step, Store, StoreError, Upkeep, Visitor,
};

pub(super) const DIR: &str = "/store";

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    seq: Seq,
    revision: Revision,
    pub(super) sums: BTreeMap<String, (i64, String)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Sum {
    /// Adds to a key. Keys that begin with `_` are private.
    Add {
        key: String,
        by: i64,
        note: String,
    },
    Forget {
        key: String,
    },
}

impl Sum {
    fn key(&self) -> &str {
        match self {
            Self::Add { key, .. } | Self::Forget { key } => key,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Counts {
    seq: Seq,
    revision: Revision,
}

impl StateMachine for Tally {
    type Change = Sum;
    type Part = Row;

    const NAME: &'static str = "tally";

    fn is_commit(changes: &[Sum]) -> bool {
        changes.iter().any(|change| !change.key().starts_with('_'))
    }

    fn seq(&self) -> Seq {
        self.seq
    }

    fn revision(&self) -> Revision {
        self.revision
    }

    fn apply(&mut self, seq: Seq, changes: &[Sum]) {
        self.seq = seq;
        self.revision.0 += u64::from(Self::is_commit(changes));
        for change in changes {
            match change {
                Sum::Add { key, by, note } => {
                    let sum = self.sums.entry(key.clone()).or_default();
                    *sum = (sum.0 + by, note.clone());
                }
                Sum::Forget { key } => {
                    self.sums.remove(key);
                }
            }
        }
    }

    fn touched_rows(&self, changes: &[Sum]) -> Vec<Row> {
        let keys = changes.iter().map(Sum::key);
        std::iter::once(self.counts()).chain(keys.map(|key| self.sum(key))).collect()
    }

    fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_> {
        let sums = self.sums.keys().map(|key| self.sum(key));
        Box::new(std::iter::once(self.counts()).chain(sums))
    }

    fn part(key: &str, value: &str) -> Result<Row, String> {
        Ok(Row::of(key, value))
    }

    fn restore(rows: &mut dyn Iterator<Item = Row>) -> Result<Self, String> {
        let mut tally = Self::default();
        let mut counts = None;
        for Row { key, value } in rows {
            let value = value.ok_or("a row without a value")?;
            if key == "counts" {
                counts = serde_json::from_str::<Counts>(&value).ok();
            } else {
                let sum = serde_json::from_str(&value).map_err(|error| error.to_string())?;
                tally.sums.insert(key, sum);
            }
        }
        let Counts { seq, revision } = counts.ok_or("no counts")?;
        Ok(Self { seq, revision, ..tally })
    }

    fn changes_to(&self, target: &Self) -> Vec<Sum> {
        let differs = |key: &&String| self.sums.get(*key) != target.sums.get(*key);
        let sums = target.sums.iter().filter(|(key, _)| differs(key));
        let add = sums.map(|(key, (sum, note))| Sum::Add {
            key: key.clone(),
            by: sum - self.sums.get(key).map_or(0, |sum| sum.0),
            note: note.clone(),
        });
        add.collect()
    }

    fn purges(&self) -> usize {
        self.sums.keys().filter(|key| key.starts_with("_purged")).count()
    }

    /// A sum that the other lacks was written by an entry that the other does not have.
    fn contradicted_by(&self, other: &Self) -> std::collections::BTreeSet<String> {
        let keys = self.sums.keys().filter(|key| !other.sums.contains_key(*key));
        keys.map(|key| format!("{key}@1")).collect()
    }

    fn idle_commit(&self) -> Option<Vec<Sum>> {
        let (key, (_, note)) = self.sums.iter().find(|(key, _)| !key.starts_with('_'))?;
        Some(vec![Sum::Add { key: key.clone(), by: 0, note: note.clone() }])
    }

    fn history_keys(change: &Sum) -> Vec<String> {
        match change {
            Sum::Add { key, by, .. } => vec![format!("{key}@{by}")],
            Sum::Forget { .. } => Vec::new(),
        }
    }
}

impl Tally {
    fn counts(&self) -> Row {
        let counts = Counts { seq: self.seq, revision: self.revision };
        Row { key: "counts".to_owned(), value: Some(serde_json::to_string(&counts).unwrap()) }
    }

    fn sum(&self, key: &str) -> Row {
        let value = self.sums.get(key).map(|sum| serde_json::to_string(sum).unwrap());
        Row { key: key.to_owned(), value }
    }
}

pub(super) fn add(key: &str, by: i64) -> Sum {
    Sum::Add { key: key.to_owned(), by, note: format!("{key} by {by}") }
}

pub(super) fn call(instance: &str, number: u64, acknowledged: u64) -> Call {
    Call { instance: Arc::from(instance), number, acknowledged }
}

/// A disk and an index for opening stores.
#[derive(Debug, Default)]
pub(super) struct Machinery {
    pub(super) disk: SimDisk,
    pub(super) index: SimIndex,
}

impl Machinery {
    /// Returns options with small segments, so that a few entries rotate.
    pub(super) fn options(&self) -> Options {
        Options {
            disk: Arc::new(self.disk.clone()),
            index: Box::new(self.index.clone()),
            segment_bytes_max: 1000,
            reserve_bytes: 0,
            upkeep: Upkeep::Off,
        }
    }

    pub(super) fn open(&self) -> Result<Writer<JournalStore<Tally>>, StoreError> {
        JournalStore::open(Path::new(DIR), self.options()).map(Writer::new)
    }

    /// Opens a store that does its upkeep whenever it is flushed.
    pub(super) fn open_upkept(&self) -> Result<Writer<JournalStore<Tally>>, StoreError> {
        self.open_with(Upkeep::Inline)
    }

    pub(super) fn open_with(
        &self,
        upkeep: Upkeep,
    ) -> Result<Writer<JournalStore<Tally>>, StoreError> {
        let options = Options { upkeep, ..self.options() };
        JournalStore::open(Path::new(DIR), options).map(Writer::new)
    }

    /// Turns the journal into one that an anchord of format 1 wrote.
    pub(super) fn age(&self) {
        let is_segment = |path: &PathBuf| path.starts_with(Path::new(DIR).join("journal"));
        for path in self.disk.paths().into_iter().filter(is_segment) {
            let text = String::from_utf8(self.disk.bytes(&path).unwrap()).unwrap();
            let (header, entries) = text.split_once('\n').unwrap();
            let body = header.split(",\"crc\"").next().unwrap();
            let newest = format!("\"format\":{FORMAT}");
            assert!(body.contains(&newest), "{body}");
            // As long as before, since the index knows entries by their place.
            let oldest = format!("\"format\":{:>1$}", 1, FORMAT.to_string().len());
            let body = body.replacen(&newest, &oldest, 1);
            let crc = crc32fast::hash(body.as_bytes());
            let aged = format!("{body},\"crc\":\"{crc:08x}\"}}\n{entries}");
            self.disk.put(&path, aged.into_bytes());
        }
    }

    pub(super) fn duplicate(&self) -> Self {
        Self { disk: self.disk.duplicate(), index: self.index.duplicate() }
    }
}

/// A caller of a store, such as a project's writer: the state, the ledger and the acknowledged
/// entries.
#[derive(Debug)]
pub(super) struct Writer<S> {
    pub(super) store: Box<S>,
    pub(super) state: Tally,
    pub(super) replies: Replies,
    pub(super) report: OpenReport,
}

impl<S: Store<Tally>> Writer<S> {
    pub(super) fn new(opened: Opened<Tally, S>) -> Self {
        let Opened { store, state, replies, report } = opened;
        Self { store: Box::new(store), state, replies, report }
    }

    /// Returns the entries for these changes, each for a line of shim `a`.
    pub(super) fn entries(&self, batch: &[Vec<Sum>]) -> Vec<Entry<Sum>> {
        let mut head = self.state.clone();
        let mut entries = Vec::new();
        for changes in batch {
            let seq = Seq(head.seq.0 + 1);
            head.apply(seq, changes);
            entries.push(Entry {
                seq,
                revision: Tally::is_commit(changes).then_some(head.revision),
                time: Timestamp(1000 + i64::try_from(seq.0).unwrap()),
                session: Some(SessionId::new("session-1")),
                call: Some(call("a", seq.0, seq.0.saturating_sub(3))),
                operation: Cow::Borrowed("add"),
                changes: changes.clone(),
                reply: Some(format!("reply {} {changes:?}", seq.0).into()),
            });
        }
        entries
    }

    /// Appends entries. On success, also applies them and advances the index.
    pub(super) fn write(&mut self, entries: &[Entry<Sum>]) -> Result<(), StoreError> {
        self.append(entries)?;
        // An error here would only be logged.
        let _ = self.store.advance_index(&self.state, &mut self.replies);
        Ok(())
    }

    /// Appends entries. On success, also applies them.
    pub(super) fn append(&mut self, entries: &[Entry<Sum>]) -> Result<(), StoreError> {
        self.store.append(head_before(entries), entries)?;
        for entry in entries {
            self.state.apply(entry.seq, &entry.changes);
            if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                self.replies.record(call, entry.time, reply.clone());
            }
        }
        Ok(())
    }

    pub(super) fn add(&mut self, key: &str, by: i64) -> Entry<Sum> {
        let entries = self.entries(&[vec![add(key, by)]]);
        self.write(&entries).unwrap();
        entries.into_iter().next().unwrap()
    }

    /// Flushes until nothing is left to do. Returns the number of calls that took.
    pub(super) fn keep_up(&mut self) -> usize {
        let calls = (0..1000).find(|_| self.store.flush() == PendingFlush::Nothing);
        calls.expect("upkeep comes to an end")
    }

    pub(super) fn journal(&mut self) -> Vec<Entry<Sum>> {
        let mut entries = Vec::new();
        self.store
            .entries(Seq(1), &mut |entry| {
                entries.push(entry.clone());
                true
            })
            .unwrap();
        entries
    }

    /// Returns the commits after a revision and up to another, newest first.
    pub(super) fn back(
        &self,
        newest: Option<Revision>,
        after: Revision,
    ) -> Result<Vec<Entry<Sum>>, StoreError> {
        struct Collected(Option<Revision>, Revision, Vec<Entry<Sum>>);
        impl Visitor<Tally> for Collected {
            fn head(&mut self, head: &Head) -> Step {
                match head.revision {
                    revision if self.0.is_some_and(|newest| revision > newest) => Step::Skip,
                    revision if revision <= self.1 => Step::Stop,
                    _ => Step::Read,
                }
            }

            fn commit(&mut self, entry: Entry<Sum>) -> bool {
                self.2.push(entry);
                true
            }
        }
        let mut collected = Collected(newest, after, Vec::new());
        self.store.read_back()(newest, &mut collected)?;
        Ok(collected.2)
    }

    /// Checks that the state and the ledger follow from these entries, and that every old version
    /// is readable.
    pub(super) fn expect(&mut self, entries: &[Entry<Sum>], what: &str) {
        assert_eq!(self.journal(), entries, "{what}");
        let mut state = Tally::default();
        for entry in entries {
            state.apply(entry.seq, &entry.changes);
        }
        assert_eq!(self.state, state, "{what}");
        let commits = entries.iter().rev().filter(|entry| entry.revision.is_some());
        let back = self.back(None, Revision(0)).unwrap();
        assert!(back.iter().eq(commits), "{what}: read back");
        for entry in entries {
            let (Some(call), Some(reply)) = (&entry.call, &entry.reply) else { continue };
            match self.replies.lookup(call) {
                LineState::Answered(kept) => assert_eq!(&*kept, reply, "{what}"),
                LineState::Stale => assert!(call.number + 3 <= entries.len() as u64, "{what}"),
                LineState::Fresh => panic!("{what}: line {} would be applied again", call.number),
            }
            for key in entry.changes.iter().flat_map(Tally::history_keys) {
                let found = self.store.history(&key).unwrap();
                assert_eq!(found.as_ref(), Some(entry), "{what}: {key}");
            }
        }
    }
}
