//! Opening a store. The state comes from the index if it belongs to this journal. Otherwise it
//! comes from a snapshot, or starts empty. Then the journal's later entries are applied.
//!
//! Opening never deletes evidence (decision 21). The index follows only synced entries, so an index
//! that is ahead of the journal proves that the journal lost something. In that case both are kept,
//! nothing is written, and the better of the two supplies the state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anchord_memory::{Seq, Timestamp};

use super::disk::{Disk, RealDisk};
use super::format::{Crc, FORMAT};
use super::history::History;
use super::index::{Index, IndexError, IndexPlace, KeptIndex, MARKS, META, MemIndex, TrackedIndex};
use super::journal::Position;
use super::journal_store::{JournalStore, Retry};
use super::limits::{RESERVE_BYTES, SEGMENT_BYTES_MAX};
use super::read_index::read_index;
use super::recover::{self, Proof, Recovered};
use super::rows::{MetaV1, all_rows, restore, write_rows};
use super::sled_index::SledPlace;
use super::upkeep::{Tasks, Upkeep};
use super::{
    OpenReport, Opened, Replies, Row, StateMachine, StoreError, rewrite, segment, snapshot,
};

/// The parts that a store is built on, and their size limits.
#[derive(Debug)]
pub struct Options {
    /// The disk for the journal and the snapshots.
    pub disk: Arc<dyn Disk>,
    /// The location of the index.
    pub index: Box<dyn IndexPlace>,
    /// A segment that reaches this length is followed by a new one.
    pub segment_bytes_max: u64,
    /// Bytes that a write must leave free.
    pub reserve_bytes: u64,
    /// The way to run tasks that no write waits for.
    pub upkeep: Upkeep,
}

impl Options {
    /// Returns the options for the operating system's disk, with sled in `dir`.
    pub fn real(dir: &Path) -> Self {
        Self {
            disk: Arc::new(RealDisk),
            index: Box::new(SledPlace::new(dir.join("sled"))),
            segment_bytes_max: SEGMENT_BYTES_MAX,
            reserve_bytes: RESERVE_BYTES,
            upkeep: Upkeep::Thread,
        }
    }
}

/// A state to continue from.
pub(super) struct Base<M> {
    state: M,
    replies: Replies,
    /// The position of the state's last entry, if known.
    at: Option<Position>,
    line: Crc,
}

/// The index as opening finds it.
pub(super) enum IndexFinding {
    /// The index belongs to no journal: it is new, or a rebuild was cut short.
    Empty(Box<dyn Index>),
    /// The index belongs to the journal that its row `meta` names.
    Of(Box<dyn Index>, MetaV1),
    Unusable(IndexError),
}

/// Opens an index and reads which journal it belongs to.
pub(super) fn find(place: &dyn IndexPlace) -> IndexFinding {
    let found = place.open().and_then(|index| match index.get(META)? {
        None => Ok(IndexFinding::Empty(index)),
        Some(text) => match serde_json::from_str(&text) {
            Ok(meta) => Ok(IndexFinding::Of(index, meta)),
            Err(error) => Err(IndexError::damaged(error.to_string())),
        },
    });
    found.unwrap_or_else(IndexFinding::Unusable)
}

impl IndexFinding {
    /// Returns what the index proves about its journal.
    fn proof(&self) -> Result<Option<Proof>, IndexError> {
        match self {
            Self::Of(_, meta) => Ok((meta.seq > Seq(0)).then_some(Proof {
                journal: meta.journal,
                epoch: meta.epoch,
                seq: meta.seq,
            })),
            // A damaged index proves nothing; one that cannot be read now may prove anything.
            Self::Unusable(error) if error.passes() => Err(error.clone()),
            Self::Empty(_) | Self::Unusable(_) => Ok(None),
        }
    }
}

const EMPTY: &str = "it is empty";

const OF_ANOTHER: &str = "it is of another journal than the one beside it";

/// Removes the remains of a rebuild that was cut short. Such an index proves nothing, and setting
/// it aside would replace one that does.
fn emptied(mut index: Box<dyn Index>) -> Result<Box<dyn Index>, IndexError> {
    let mut left = Vec::new();
    index.scan("", &mut |key, _| left.push(Row { key: key.to_owned(), value: None }))?;
    if !left.is_empty() {
        index.apply(&left)?;
    }
    Ok(index)
}

/// The relation of an index to the journal next to it.
enum Relation {
    /// It belongs to this journal, which continues after the entry at this position.
    Follows(Option<Position>),
    /// It must be rebuilt, for example after a purge or because a newer anchord wrote it.
    Outdated(String),
    /// It has entries that the journal lacks, which no crash explains.
    Contradicts(String),
    /// It followed another journal than the one here.
    Foreign(String),
}

impl<M: StateMachine> JournalStore<M> {
    /// Opens the store in `dir`, or creates one. The caller holds the daemon's lock.
    pub fn open(dir: &Path, options: Options) -> Result<Opened<M, Self>, StoreError> {
        let Options { disk, index: place, segment_bytes_max, reserve_bytes, upkeep } = options;
        let journal_dir = dir.join("journal");
        let snapshots = dir.join("snapshot");
        let hands_off = rewrite::recover(&*disk, &journal_dir, &snapshots, &*place)?;
        let mut found = None;
        let mut prove = || found.get_or_insert_with(|| find(&*place)).proof();
        let Recovered { journal, created, tail_removed, untouchable } = recover::open(
            disk,
            journal_dir,
            &snapshots,
            M::NAME,
            reserve_bytes,
            hands_off,
            &mut prove,
        )?;

        let history = Arc::new(History::of(journal.written()));
        let mut store = Self {
            journal,
            snapshots,
            index: TrackedIndex::new(Box::new(MemIndex::default())),
            place: Arc::from(place),
            index_fault: None,
            retry: Retry::default(),
            history,
            tasks: Tasks::new(upkeep),
            copied_bytes: 0,
            postponed: BTreeSet::new(),
            pending: Vec::new(),
            pending_bytes: 0,
            at: None,
            time: Timestamp::default(),
            marks: BTreeMap::new(),
            unwritten_marks: BTreeSet::new(),
            segment_bytes_max,
            lacks_snapshot: false,
        };
        let is_evidence = store.journal.read_only.is_some();
        if !is_evidence && let Err(error) = snapshot::tidy(&*store.journal.disk, &store.snapshots) {
            tracing::warn!(%error, "cannot tidy the snapshots");
        }
        let (loaded, why) = if untouchable {
            store.refuse_another()?;
            store.index_fault.clone_from(&store.journal.read_only);
            (None, None)
        } else {
            store.open_index(found)?
        };
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

    /// Takes the state from the index, if no better source exists. Otherwise returns the reason why
    /// the index is rebuilt.
    pub(super) fn open_index(
        &mut self,
        found: Option<IndexFinding>,
    ) -> Result<(Option<Base<M>>, Option<String>), StoreError> {
        let found = found.unwrap_or_else(|| find(&*self.place));
        if !matches!(found, IndexFinding::Of(..)) && !self.journal.segments.is_empty() {
            self.compare_with_snapshots()?;
            self.refuse_another()?;
        }
        let why = match found {
            IndexFinding::Empty(_) if self.journal.read_only.is_some() => {
                IndexError::damaged(EMPTY)
            }
            IndexFinding::Empty(index) => match emptied(index) {
                Ok(index) => {
                    self.index = TrackedIndex::new(index);
                    return Ok((None, Some(EMPTY.to_owned())));
                }
                Err(error) => error,
            },
            IndexFinding::Unusable(error) => error,
            IndexFinding::Of(index, meta) => match self.relate_own(&meta)? {
                Relation::Follows(at) => match self.load(index, &meta, at) {
                    Ok(base) => return Ok((Some(base), None)),
                    Err(why) => why,
                },
                Relation::Outdated(why) => IndexError::damaged(why),
                Relation::Foreign(why) if self.is_apart()? => {
                    self.journal.set_apart(meta.journal, meta.epoch, why);
                    self.history = Arc::new(History::of(self.journal.written()));
                    match self.load(index, &meta, None) {
                        Ok(base) => return Ok((Some(base), None)),
                        Err(why) => why,
                    }
                }
                Relation::Foreign(why) => {
                    self.journal.read_only.get_or_insert(why);
                    IndexError::damaged(OF_ANOTHER)
                }
                Relation::Contradicts(why) => {
                    self.journal.read_only.get_or_insert(why);
                    let is_later = meta.epoch > self.journal.epoch;
                    let is_ahead = is_later || meta.seq > self.journal.last;
                    let loaded = is_ahead.then(|| self.load(index, &meta, None));
                    if let Some(Ok(base)) = loaded {
                        return Ok((Some(base), None));
                    }
                    IndexError::damaged(OF_ANOTHER)
                }
            },
        };
        if self.journal.read_only.is_some() || why.passes() {
            self.index_fault = Some(why.to_string());
            return Ok((None, None));
        }
        match self.place.set_aside().and_then(|()| self.place.open()) {
            Ok(index) => self.index = TrackedIndex::new(index),
            Err(error) => {
                tracing::error!(%error, "no index can be made; going on without one");
                self.index_fault = Some(error.to_string());
            }
        }
        Ok((None, Some(why.to_string())))
    }

    /// Determines how an index relates to the journal. Fails if both are of another store.
    fn relate_own(&mut self, meta: &MetaV1) -> Result<Relation, StoreError> {
        let relation = self.relate(meta)?;
        if !matches!(relation, Relation::Foreign(_)) {
            self.refuse_another()?;
        }
        Ok(relation)
    }

    /// Determines how an index relates to the journal.
    fn relate(&mut self, meta: &MetaV1) -> Result<Relation, StoreError> {
        let journal = &self.journal;
        if meta.format > FORMAT {
            let why = format!("it is of format {}, this anchord's is {FORMAT}", meta.format);
            return Ok(Relation::Outdated(why));
        }
        if meta.epoch < journal.epoch && meta.journal == journal.id || meta.seq == Seq(0) {
            let why = format!("it is of epoch {}, the journal's is {}", meta.epoch, journal.epoch);
            let is_same = (meta.journal, meta.epoch) == (journal.id, journal.epoch);
            return Ok(if is_same { Relation::Follows(None) } else { Relation::Outdated(why) });
        }
        let contradicts = |what: String| {
            let why = format!(
                "{what}; the memory is shown from the better of the two, and a repair first \
                 shows what it can restore"
            );
            Ok(Relation::Contradicts(why))
        };
        let other = format!(
            "{} is not the journal that the index followed to entry {}",
            journal.dir.display(),
            meta.seq.0
        );
        if meta.machine == M::NAME && meta.journal != journal.id && !journal.id.is_nil() {
            return Ok(Relation::Foreign(format!(
                "{other}, but another memory's: its id is {} instead of {}; put this memory's \
                 journal back, or see what a repair can restore",
                journal.id, meta.journal
            )));
        }
        if meta.machine != M::NAME || meta.journal != journal.id {
            return contradicts(other);
        }
        if meta.epoch > journal.epoch {
            return contradicts(format!("{other}, but an older one"));
        }
        if meta.seq > journal.last && journal.read_only.is_none() {
            return contradicts(format!(
                "journal/{} ends at entry {}, but the index has {}",
                segment::file_name(journal.last_segment()),
                journal.last.0,
                meta.seq.0
            ));
        }
        let at: Option<Position> = meta.at.as_ref().and_then(|at| at.parse().ok());
        let Some(at) = at else { return Ok(Relation::Outdated("it names no place".to_owned())) };
        match journal.entry_at::<M::Change>(at) {
            Ok(there) if there.entry.seq == meta.seq && there.crc == meta.line => {
                self.time = there.entry.time;
                Ok(Relation::Follows(Some(at)))
            }
            Err(error @ StoreError::Io { .. }) if journal.read_only.is_none() => Err(error),
            _ => contradicts(format!(
                "journal/{} does not have entry {} as the index followed it",
                segment::file_name(at.segment),
                meta.seq.0
            )),
        }
    }

    /// Takes the state from an index, if the index is complete.
    fn load(
        &mut self,
        mut index: Box<dyn Index>,
        meta: &MetaV1,
        at: Option<Position>,
    ) -> Result<Base<M>, IndexError> {
        let (state, replies) = read_index::<M>(&mut *index, meta)?;
        let mut marks = BTreeMap::new();
        let mut collect = |key: &str, value: &str| {
            marks.insert(key.to_owned(), value.to_owned());
        };
        index.scan(MARKS, &mut collect)?;
        self.marks = marks;
        self.index = TrackedIndex::new(match self.journal.read_only {
            Some(_) => Box::new(KeptIndex::new(index)),
            None => index,
        });
        Ok(Base { state, replies, at, line: meta.line })
    }

    /// Applies the entries beyond the index's state and brings the index up to date.
    pub(super) fn catch_up(&mut self, base: Base<M>) -> Result<(M, Replies, u64), StoreError> {
        let Base { mut state, mut replies, at, line } = base;
        self.at = at;
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

    /// Rebuilds the state from the newest usable snapshot and the entries after it, then the index
    /// from the state.
    pub(super) fn rebuild(&mut self) -> Result<(M, Replies, u64), StoreError> {
        let Base { mut state, mut replies, at, line } = self.newest_snapshot()?;
        self.at = at;
        let mut crc = line;
        let mut time = self.time;
        let mut last = None;
        let before = state.seq();
        self.replay(&mut state, &mut replies, &mut |placed| {
            crc = placed.crc;
            time = time.max(placed.entry.time);
            last = Some(placed.position);
        })?;
        self.time = time;
        self.stand_at(&state, crc);
        self.at = match last {
            None if state.seq() > Seq(0) => self.journal.find(state.seq())?,
            last => last,
        };
        let meta = self.meta(state.seq());
        let written = write_rows(&mut self.index, all_rows(&state, &replies), meta);
        if let Err(error) = written {
            self.drop_index(&error);
        }
        let replayed = state.seq().0 - before.0;
        Ok((state, replies, replayed))
    }

    /// Applies the journal's entries beyond a state. A bad line ends the replay and makes the store
    /// read-only.
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
                replies.record(call, entry.time, reply.clone());
            }
            visit(placed);
            true
        });
        match outcome {
            // Opening the journal has already reported a missing file.
            Err(error @ (StoreError::Damaged { .. } | StoreError::Io { .. }))
                if matches!(error, StoreError::Damaged { .. })
                    || self.journal.read_only.is_some() =>
            {
                self.journal.read_only.get_or_insert(error.to_string());
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Sets the journal's last entry to the state's. They differ if the journal is damaged: the
    /// state then ends before its last line, or goes beyond it. The index must name the entry that
    /// it belongs to.
    fn stand_at(&mut self, state: &M, crc: Crc) {
        if state.seq() != self.journal.last {
            self.journal.last = state.seq();
        }
        self.journal.last_crc = crc;
    }

    fn newest_snapshot(&self) -> Result<Base<M>, StoreError> {
        let nothing =
            Base { state: M::default(), replies: Replies::default(), at: None, line: Crc(0) };
        let disk = &*self.journal.disk;
        if self.journal.segments.is_empty() {
            return Ok(self.lone_snapshot()?.unwrap_or(nothing));
        }
        for segment in self.journal.segments.iter().rev() {
            let Some(line) = segment.previous else { continue };
            let place = snapshot::SnapshotHeader {
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
                    return Ok(Base { state, replies, at: None, line });
                }
                Ok(_) => tracing::warn!(segment = segment.number, "a snapshot is of another entry"),
                Err(why) => {
                    tracing::warn!(segment = segment.number, why, "a snapshot is of no use");
                }
            }
        }
        Ok(nothing)
    }

    /// Returns the newest usable snapshot of a journal that is missing.
    fn lone_snapshot(&self) -> Result<Option<Base<M>>, StoreError> {
        let disk = &*self.journal.disk;
        for number in snapshot::list(disk, &self.snapshots)?.into_iter().rev() {
            let read = snapshot::read_any(disk, &self.snapshots, number, M::NAME)?;
            let restored = read.and_then(|(place, rows)| Ok((place, restore::<M>(rows)?)));
            match restored {
                Ok((snapshot::SnapshotHeader { line, .. }, (state, replies))) => {
                    return Ok(Some(Base { state, replies, at: None, line }));
                }
                Err(why) => tracing::warn!(number, why, "a snapshot is of no use"),
            }
        }
        Ok(None)
    }
}
