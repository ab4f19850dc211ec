//! Opening a store: the state from the index if it is of this journal, else from a snapshot or from
//! nothing, and then whatever the journal holds beyond.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use anchord_memory::{Seq, Timestamp};

use super::disk::{Disk, RealDisk};
use super::format::{Crc, FORMAT};
use super::index::{Index, IndexPlace, MARKS, META, MemIndex, REPLIES, STATE};
use super::journal::{Journal, Position};
use super::journal_store::{JournalStore, MetaV1, all_rows, history_keys, write_rows};
use super::limits::{
    RESERVE_BYTES, RESTORE_TEXTS_BYTES, RESTORE_TEXTS_QUEUED_MAX, SEGMENT_BYTES_MAX,
};
use super::recover::{self, Recovered};
use super::sled_index::SledPlace;
use super::{Machine, OpenReport, Opened, Replies, Row, StoreError, rewrite, snapshot};

/// What a store stands on, and how large its parts get.
#[derive(Debug)]
pub struct Options {
    /// Holds journal and snapshots.
    pub disk: Arc<dyn Disk>,
    /// Holds the index.
    pub index: Box<dyn IndexPlace>,
    /// A segment at least this long is followed by a new one.
    pub segment_bytes_max: u64,
    /// Room that a write must leave free.
    pub reserve_bytes: u64,
}

impl Options {
    /// The operating system's disk, and sled in `dir`.
    pub fn real(dir: &Path) -> Self {
        Self {
            disk: Arc::new(RealDisk),
            index: Box::new(SledPlace::new(dir.join("sled"))),
            segment_bytes_max: SEGMENT_BYTES_MAX,
            reserve_bytes: RESERVE_BYTES,
        }
    }
}

/// A state to go on from.
struct Base<M> {
    state: M,
    replies: Replies,
    /// Where the state's last entry is, if that is known.
    at: Option<Position>,
    line: Crc,
    history_from: u32,
}

impl<M: Machine> JournalStore<M> {
    /// Opens the store in `dir`, or begins one. The caller holds the daemon's lock.
    pub fn open(dir: &Path, options: Options) -> Result<Opened<M, Self>, StoreError> {
        let Options { disk, index: place, segment_bytes_max, reserve_bytes } = options;
        let journal_dir = dir.join("journal");
        let snapshots = dir.join("snapshot");
        let hands_off = rewrite::recover(&*disk, &journal_dir, &snapshots, &*place)?;
        check_journal_is_there(&*disk, &journal_dir, &snapshots)?;
        let Recovered { journal, created, tail_removed, untouchable } =
            recover::open(disk, journal_dir, &snapshots, M::NAME, reserve_bytes, hands_off)?;

        let mut store = Self {
            journal,
            snapshots,
            index: Box::new(MemIndex::default()),
            place,
            index_fault: None,
            history_from: 1,
            history_damaged: false,
            pending: Vec::new(),
            at: None,
            time: Timestamp::default(),
            marks: BTreeMap::new(),
            unwritten_marks: BTreeSet::new(),
            segment_bytes_max,
        };
        if !untouchable && let Err(error) = snapshot::tidy(&*store.journal.disk, &store.snapshots) {
            tracing::warn!(%error, "cannot tidy the snapshots");
        }
        let (loaded, why) = store.open_index(untouchable);
        let (state, replies, replayed) = match loaded {
            Some(base) => store.catch_up(base)?,
            None => store.rebuild()?,
        };
        let report = OpenReport {
            created,
            rebuilt: why.filter(|_| !created),
            tail_removed,
            read_only: store.journal.read_only.clone(),
            entries: state.seq().0,
            replayed,
        };
        Ok(Opened { store, state, replies, report })
    }

    /// Opens the index and takes the state from it; else says why it must be built anew.
    fn open_index(&mut self, untouchable: bool) -> (Option<Base<M>>, Option<String>) {
        if untouchable {
            self.index_fault.clone_from(&self.journal.read_only);
            return (None, None);
        }
        let opened = self.place.open().map_err(|error| error.to_string());
        let why = match opened.and_then(|index| self.load(index)) {
            Ok(base) => return (Some(base), None),
            Err(why) => why,
        };
        match self.place.discard().and_then(|()| self.place.open()) {
            Ok(index) => self.index = index,
            Err(error) => {
                tracing::error!(%error, "no index can be made; going on without one");
                self.index_fault = Some(error.to_string());
            }
        }
        (None, Some(why))
    }

    /// Takes the state from an index, if it is of this journal and whole.
    fn load(&mut self, index: Box<dyn Index>) -> Result<Base<M>, String> {
        let meta = index.get(META).map_err(|error| error.to_string())?.ok_or("it is empty")?;
        let meta: MetaV1 = serde_json::from_str(&meta).map_err(|error| error.to_string())?;
        let at = check_meta::<M>(&self.journal, &meta)?;

        let (state, state_rows) = restore_from::<M>(&*index)?;
        let mut reply_rows = Vec::new();
        let mut collect = |key: &str, value: &str| reply_rows.push(Row::of(key, value));
        index.scan(REPLIES, &mut collect).map_err(|error| error.to_string())?;
        let counted = state_rows + reply_rows.len() as u64;
        index.check_count(counted).map_err(|error| error.to_string())?;
        let state = state?;
        if state.seq() != meta.seq {
            return Err(format!("its rows are of entry {}, not {}", state.seq().0, meta.seq.0));
        }
        let mut replies = Replies::default();
        for row in &reply_rows {
            replies.restore(row).map_err(|error| error.to_string())?;
        }
        let mut marks = BTreeMap::new();
        let mut collect = |key: &str, value: &str| {
            marks.insert(key.to_owned(), value.to_owned());
        };
        index.scan(MARKS, &mut collect).map_err(|error| error.to_string())?;
        self.marks = marks;
        self.index = index;
        Ok(Base { state, replies, at, line: meta.line, history_from: meta.history_from })
    }

    /// Applies what the journal holds beyond the index's state, and lets the index follow.
    fn catch_up(&mut self, base: Base<M>) -> Result<(M, Replies, u64), StoreError> {
        let Base { mut state, mut replies, at, line, history_from } = base;
        self.at = at;
        self.history_from = history_from;
        let mut entries = Vec::new();
        let mut crc = line;
        self.replay(&mut state, &mut replies, &mut |placed| {
            crc = placed.crc;
            entries.push((placed.position, placed.entry));
        })?;
        let replayed = entries.len() as u64;
        for (position, entry) in entries {
            self.follow(&entry, position);
        }
        self.stand_at(&state, crc);
        self.index_pending(&state, &replies);
        Ok((state, replies, replayed))
    }

    /// Builds the state from the newest snapshot of use and what follows, and the index from that.
    fn rebuild(&mut self) -> Result<(M, Replies, u64), StoreError> {
        let Base { mut state, mut replies, at, line, history_from } = self.newest_snapshot();
        self.at = at;
        self.history_from = history_from;
        let mut crc = line;
        let mut time = self.time;
        let mut history = BTreeMap::new();
        let mut last = None;
        let before = state.seq();
        self.replay(&mut state, &mut replies, &mut |placed| {
            crc = placed.crc;
            time = time.max(placed.entry.time);
            last = Some(placed.position);
            for key in history_keys::<M>(&placed.entry.changes) {
                history.insert(key, placed.position);
            }
        })?;
        self.time = time;
        self.stand_at(&state, crc);
        self.at = match last {
            None if state.seq() > Seq(0) => self.journal.find(state.seq())?,
            last => last,
        };
        let rows = history.into_iter().map(|(key, at)| Row { key, value: Some(at.to_string()) });
        let meta = self.meta(state.seq());
        let written = write_rows(&mut *self.index, all_rows(&state, &replies).chain(rows), meta);
        if let Err(error) = written {
            self.drop_index(&error);
        }
        let replayed = state.seq().0 - before.0;
        Ok((state, replies, replayed))
    }

    /// Applies what the journal holds beyond a state. A bad line ends it: the store is read-only then.
    fn replay(
        &mut self,
        state: &mut M,
        replies: &mut Replies,
        visit: &mut dyn FnMut(super::journal::Placed<M::Change>),
    ) -> Result<(), StoreError> {
        let from = Seq(state.seq().0 + 1);
        let outcome = self.journal.replay::<M::Change>(from, &mut |placed| {
            let entry = &placed.entry;
            state.apply(entry.seq, &entry.changes);
            if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                replies.record(call, entry.time, reply.as_str());
            }
            visit(placed);
            true
        });
        match outcome {
            Err(error @ StoreError::Damaged { .. }) => {
                self.journal.read_only.get_or_insert(error.to_string());
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Where the journal is damaged, the state ends before its last line, or goes beyond: the index
    /// must say which entry it is of.
    fn stand_at(&mut self, state: &M, crc: Crc) {
        if state.seq() != self.journal.last {
            self.journal.last = state.seq();
        }
        self.journal.last_crc = crc;
    }

    fn newest_snapshot(&self) -> Base<M> {
        let nothing = Base {
            state: M::default(),
            replies: Replies::default(),
            at: None,
            line: Crc(0),
            history_from: 1,
        };
        let disk = &*self.journal.disk;
        for segment in self.journal.segments.iter().rev() {
            let Some(line) = segment.previous else { continue };
            let place = snapshot::Place {
                machine: M::NAME,
                journal: self.journal.id,
                epoch: self.journal.epoch,
                segment: segment.number,
                seq: Seq(segment.first.0.saturating_sub(1)),
                line,
            };
            let there = snapshot::list(disk, &self.snapshots)
                .is_ok_and(|numbers| numbers.contains(&segment.number));
            if !there {
                continue;
            }
            let restored = snapshot::read(disk, &self.snapshots, &place).and_then(restore::<M>);
            match restored {
                Ok((state, replies)) if state.seq() == place.seq => {
                    return Base { state, replies, at: None, line, history_from: segment.number };
                }
                Ok(_) => tracing::warn!(segment = segment.number, "a snapshot is of another entry"),
                Err(why) => {
                    tracing::warn!(segment = segment.number, why, "a snapshot is of no use");
                }
            }
        }
        nothing
    }
}

/// A journal that is gone is not begun anew while there are snapshots of it.
fn check_journal_is_there(
    disk: &dyn Disk,
    journal: &Path,
    snapshots: &Path,
) -> Result<(), StoreError> {
    let journal_files = disk.list(journal).map_err(StoreError::io("list", journal))?;
    let has_segment = journal_files.iter().any(|name| super::segment::number_of(name).is_some());
    if has_segment || snapshot::list(disk, snapshots)?.is_empty() {
        return Ok(());
    }
    Err(StoreError::Damaged {
        at: journal.display().to_string(),
        why: format!(
            "the journal is missing, though there are snapshots of it; put it back from a backup, \
             or remove {} to begin anew",
            snapshots.display()
        ),
    })
}

/// Checks that an index is of this journal; says where the entry is that it stands at.
fn check_meta<M: Machine>(journal: &Journal, meta: &MetaV1) -> Result<Option<Position>, String> {
    if meta.format > FORMAT {
        return Err(format!("it is of format {}, this anchord's is {FORMAT}", meta.format));
    }
    if meta.machine != M::NAME || meta.journal != journal.id {
        return Err("it is of another journal".to_owned());
    }
    if meta.epoch != journal.epoch {
        return Err(format!("it is of epoch {}, the journal's is {}", meta.epoch, journal.epoch));
    }
    if meta.seq > journal.last && journal.read_only.is_none() {
        let (index, journal) = (meta.seq.0, journal.last.0);
        return Err(format!("it is at entry {index}, but the journal ends at {journal}"));
    }
    let Some(at) = &meta.at else {
        return if meta.seq == Seq(0) { Ok(None) } else { Err("it names no place".to_owned()) };
    };
    let at: Position = at.parse().map_err(|_| "the place it names is none")?;
    let there = journal.entry_at::<M::Change>(at).map_err(|error| error.to_string())?;
    if there.entry.seq != meta.seq || there.crc != meta.line {
        return Err(format!("entry {} in the journal is another than the index's", meta.seq.0));
    }
    Ok(Some(at))
}

/// What an index's rows of state make, and how many they are. They are read here and understood by another thread, which
/// takes many at once: neither waits for the other at each of them, and there are never more than a few in memory.
fn restore_from<M: Machine>(index: &dyn Index) -> Result<(Result<M, String>, u64), String> {
    std::thread::scope(|scope| {
        let (give, taken) = sync_channel::<Texts>(RESTORE_TEXTS_QUEUED_MAX);
        let restoring =
            scope.spawn(move || M::restore(&mut taken.into_iter().flat_map(Texts::into_rows)));
        let (mut count, mut texts) = (0, Texts::default());
        let scanned = index.scan(STATE, &mut |key, value| {
            count += 1;
            texts.push(key, value);
            if texts.joined.len() >= RESTORE_TEXTS_BYTES {
                // Nobody takes rows after one that cannot be understood; that error is told.
                let _ = give.send(std::mem::take(&mut texts));
            }
        });
        let _ = give.send(texts);
        drop(give);
        let state = restoring.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        scanned.map_err(|error| error.to_string())?;
        Ok((state, count))
    })
}

/// Keys and values of some rows in one piece: what one thread allocates row by row and another frees costs both more than
/// reading it.
#[derive(Default)]
struct Texts {
    joined: String,
    /// Where each key ends, and its value.
    ends: Vec<(usize, usize)>,
}

impl Texts {
    fn push(&mut self, key: &str, value: &str) {
        self.joined.push_str(key);
        let key_end = self.joined.len();
        self.joined.push_str(value);
        self.ends.push((key_end, self.joined.len()));
    }

    fn into_rows(self) -> impl Iterator<Item = Row> {
        let Self { joined, ends } = self;
        let mut start = 0;
        ends.into_iter().map(move |(key_end, end)| {
            let text = |range: Range<usize>| joined.get(range).unwrap_or_default();
            let row = Row::of(text(start..key_end), text(key_end..end));
            start = end;
            row
        })
    }
}

fn restore<M: Machine>(rows: Vec<Row>) -> Result<(M, Replies), String> {
    let mut replies = Replies::default();
    let mut state_rows = Vec::with_capacity(rows.len());
    for Row { key, value } in rows {
        if let Some(key) = key.strip_prefix(STATE) {
            state_rows.push(Row { key: key.to_owned(), value });
        } else if let Some(key) = key.strip_prefix(REPLIES) {
            let row = Row { key: key.to_owned(), value };
            replies.restore(&row).map_err(|error| error.to_string())?;
        } else {
            return Err(format!("it has a row {key} that this anchord does not know"));
        }
    }
    Ok((M::restore(&mut state_rows.into_iter())?, replies))
}
