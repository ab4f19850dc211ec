//! Repairing a store that lost entries or has bad lines: a plan for a person to review, and its
//! execution.
//!
//! Every good line stays as it is, under its number. A number without a good line gets an entry
//! with the operation `lost`, so that later numbers do not change. State that only the index or a
//! snapshot knows comes last, as one entry with the operation `repair`. All segments are rewritten
//! with the next epoch and take the old names, as in a purge (`rewrite.rs`). The old files are kept
//! under other names.

use std::path::Path;

use anchord_memory::{Revision, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::disk::Disk;
use super::format::{self, Crc, FORMAT, HeaderV1};
use super::index::IndexError;
use super::open::{IndexFinding, find};
use super::read_index::read_index;
use super::rewrite::Output;
use super::rows::restore;
use super::segment::{self, file_name};
use super::{Entry, Options, StateMachine, StoreError, archive, rewrite, snapshot};

/// A plan: the entries that a repair would keep, restore and lose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairPlan {
    /// Number of entries that are kept unchanged.
    pub kept: u64,
    /// Numbers of entries that are not in the journal, but whose effect the index or a snapshot
    /// has.
    pub restored: Vec<Range>,
    /// Numbers of entries that are lost.
    pub lost: Vec<Range>,
    /// Number of damaged lines and headers and of missing segments.
    pub bad: u64,
    /// Number of segments that are of another memory's journal.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foreign: u64,
    /// Whether the journal is from before a rewrite that the index or a snapshot knows: a repair, a
    /// restore or a purge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_older: bool,
    /// Number of the index's last entry, if the journal has another entry under it. The index's own
    /// entry is lost, and perhaps earlier ones too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<u64>,
    /// Contents of the journal that the index or a snapshot has otherwise, and that give way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedContent>,
    /// Whether the index or a snapshot has state that does not follow from the good lines.
    pub is_supplemented: bool,
    /// The number of the last entry of the repaired journal.
    pub entries: u64,
}

/// A content in the journal that a repair replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedContent {
    /// The number of its entry. The entry's line stays in the journal.
    pub entry: u64,
    /// The record and its version, such as `n12@2`.
    pub content: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A range of entry numbers, both ends inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first number.
    pub first: u64,
    /// The last number.
    pub last: u64,
}

impl RepairPlan {
    /// Whether there is anything to repair.
    pub fn is_needed(&self) -> bool {
        let is_whole = self.restored.is_empty() && self.lost.is_empty();
        let is_other = self.foreign > 0 || self.is_older || self.diverged.is_some();
        !is_whole || is_other || self.bad > 0 || self.is_supplemented
    }
}

/// Plans the repair of a closed store. Changes nothing.
pub(super) fn plan_repair<M: StateMachine>(
    dir: &Path,
    options: &Options,
) -> Result<RepairPlan, StoreError> {
    Ok(Survey::<M>::of(dir, options)?.plan)
}

/// Repairs a closed store as planned. Fails if the files have changed since the plan was made. The
/// caller holds the daemon's lock. `now` dates the entry that has what the journal lacked.
pub(super) fn repair<M: StateMachine>(
    dir: &Path,
    options: &Options,
    plan: &RepairPlan,
    now: Timestamp,
) -> Result<(), StoreError> {
    let survey = Survey::<M>::of(dir, options)?;
    if survey.plan != *plan {
        return Err(StoreError::Damaged {
            at: dir.display().to_string(),
            why: "the files have changed since the plan was made; look at it again".to_owned(),
        });
    }
    survey.write(dir, options, now)
}

/// A good line, or the replacement for a missing one.
enum Piece<C> {
    Line(Good),
    Lost { changes: Vec<C>, time: Timestamp },
}

/// A good line.
#[derive(Clone)]
struct Good {
    /// The index of its segment in the survey.
    segment: usize,
    /// The range of its bytes there, with the newline.
    at: std::ops::Range<usize>,
    crc: Crc,
    seq: Seq,
    revision: Option<Revision>,
}

/// Everything that is left of a store.
struct Survey<M: StateMachine> {
    plan: RepairPlan,
    journal: Uuid,
    epoch: u32,
    /// The bytes of each segment.
    segments: Vec<Vec<u8>>,
    pieces: Vec<Piece<M::Change>>,
    /// The state that follows from the pieces.
    state: M,
    /// The changes from that state to the best known state.
    supplement: Vec<M::Change>,
    /// A change that makes a commit and changes nothing.
    idle: Option<Vec<M::Change>>,
}

/// A segment as it was found.
struct Segment {
    bytes: Vec<u8>,
    /// Its header, unless that is damaged.
    header: Option<HeaderV1>,
}

/// A state that is known from outside the journal.
struct OutsideState<M> {
    journal: Uuid,
    epoch: u32,
    state: M,
    /// The checksum of the line of its last entry.
    line: Crc,
}

impl<M: StateMachine> Survey<M> {
    fn of(dir: &Path, options: &Options) -> Result<Self, StoreError> {
        let disk = &*options.disk;
        let journal_dir = dir.join("journal");
        let names = disk.list(&journal_dir).map_err(StoreError::io("list", &journal_dir))?;
        let numbers = segment::numbers_of(&names);
        let mut found = Vec::new();
        let missing = numbers.last().copied().unwrap_or_default() as usize - numbers.len();
        let mut bad = missing as u64;
        for number in numbers {
            let bytes = read_fuller(disk, &journal_dir, &names, number)?;
            let header = header::<M>(&journal_dir, number, &bytes)?;
            bad += u64::from(header.as_ref().is_none_or(|header| header.segment != number));
            found.push(Segment { bytes, header });
        }
        let (journal, in_files, known) = identity(&found, known::<M>(dir, options)?);
        let epoch = known.as_ref().map_or(in_files, |known| known.epoch.max(in_files));
        let mut foreign = 0;
        let name = segment::store_name(&journal_dir);
        let mut segments = Vec::new();
        for Segment { mut bytes, header } in found {
            if let Some(header) = header {
                let is_foreign = header.journal != journal;
                if is_foreign || header.epoch != in_files {
                    bytes.clear();
                    foreign += u64::from(is_foreign);
                    bad += u64::from(!is_foreign);
                } else if let Some(store) = header.store.filter(|store| *store != name) {
                    return Err(StoreError::OfAnother { path: dir.to_owned(), store });
                }
            }
            segments.push(bytes);
        }
        let is_older = epoch > in_files && segments.iter().any(|bytes| !bytes.is_empty());
        // A purge removed something from its lines, which must not come back.
        let is_purged =
            |known: &OutsideState<M>| replayed::<M>(&segments).purges() < known.state.purges();
        if is_older && known.as_ref().is_some_and(is_purged) {
            bad += segments.iter().filter(|bytes| !bytes.is_empty()).count() as u64;
            segments.iter_mut().for_each(Vec::clear);
        }
        let mut survey = Self {
            plan: RepairPlan { bad, foreign, is_older, ..RepairPlan::default() },
            journal,
            epoch,
            segments,
            pieces: Vec::new(),
            state: M::default(),
            supplement: Vec::new(),
            idle: known.as_ref().and_then(|known| known.state.idle_commit()),
        };
        survey.read(known);
        Ok(survey)
    }

    /// Takes every good line in the order of their numbers, and fills the gaps.
    fn read(&mut self, known: Option<OutsideState<M>>) {
        let (lines, bad) = good_lines::<M>(&self.segments);
        self.plan.bad += bad;
        // A journal that has another entry under a known number went its own way before it.
        let is_other = |known: &OutsideState<M>| {
            let seq = known.state.seq();
            lines.iter().any(|line| line.seq == seq && line.crc != known.line)
        };
        let diverged = known.as_ref().filter(|known| is_other(known));
        self.plan.diverged = diverged.map(|known| known.state.seq().0);
        // The best state: the known one plus the good lines beyond it.
        let mut best = known.map(|known| known.state);
        let known_seq = best.as_ref().map_or(Seq(0), M::seq);
        let mut time = Timestamp::default();
        for (place, line) in lines.iter().enumerate() {
            if line.seq.0 > self.state.seq().0 + 1 {
                let rest = lines.get(place..).unwrap_or_default();
                let commit = rest.iter().find_map(|line| line.revision);
                let before = commit.map(|revision| Revision(revision.0.saturating_sub(1)));
                self.fill(line.seq, before.unwrap_or_default(), time, known_seq);
            }
            let Some(entry) = self.entry(line) else { continue };
            self.state.apply(line.seq, &entry.changes);
            if let Some(best) = best.as_mut().filter(|best| best.seq() < line.seq) {
                best.apply(line.seq, &entry.changes);
            }
            time = entry.time;
            self.pieces.push(Piece::Line(line.clone()));
            self.plan.kept += 1;
        }
        if let Some(best) = best {
            self.plan.replaced = self.replaced(&lines, &best, known_seq);
            self.fill(Seq(known_seq.0 + 1), best.revision(), time, known_seq);
            self.supplement = self.state.changes_to(&best);
            self.plan.is_supplemented = !self.supplement.is_empty();
        }
        self.plan.entries = self.state.seq().0 + u64::from(self.plan.is_supplemented);
    }

    /// Finds the contents of the good lines that the best state has otherwise.
    fn replaced(&self, lines: &[Good], best: &M, known: Seq) -> Vec<ReplacedContent> {
        let replaced = self.state.contradicted_by(best);
        let mut found = Vec::new();
        for line in lines.iter().filter(|line| !replaced.is_empty() && line.seq <= known) {
            let Some(entry) = self.entry(line) else { continue };
            for content in entry.changes.iter().flat_map(M::history_keys) {
                if replaced.contains(&content) {
                    found.push(ReplacedContent { entry: line.seq.0, content });
                }
            }
        }
        found
    }

    fn bytes(&self, line: &Good) -> &[u8] {
        let segment = self.segments.get(line.segment);
        segment.and_then(|bytes| bytes.get(line.at.clone())).unwrap_or_default()
    }

    fn entry(&self, line: &Good) -> Option<Entry<M::Change>> {
        format::read_entry(self.bytes(line).trim_ascii_end()).ok()
    }

    /// Fills the numbers before `seq`. Makes them commits until the state reaches `revision`, the
    /// last revision before the next known commit.
    fn fill(&mut self, seq: Seq, revision: Revision, time: Timestamp, known: Seq) {
        let first = self.state.seq().0 + 1;
        if first >= seq.0 {
            return;
        }
        for number in first..seq.0 {
            let idle = self.state.idle_commit().or_else(|| self.idle.clone());
            let changes = idle.filter(|_| self.state.revision() < revision).unwrap_or_default();
            self.state.apply(Seq(number), &changes);
            self.pieces.push(Piece::Lost { changes, time });
        }
        let last = seq.0 - 1;
        let restored = last.min(known.0);
        if first <= restored {
            self.plan.restored.push(Range { first, last: restored });
        }
        if restored < last {
            self.plan.lost.push(Range { first: first.max(restored + 1), last });
        }
    }

    /// Writes the repaired journal next to the old one, then replaces it.
    fn write(self, dir: &Path, options: &Options, now: Timestamp) -> Result<(), StoreError> {
        let disk = &*options.disk;
        let (journal_dir, snapshots) = (dir.join("journal"), dir.join("snapshot"));
        disk.create_dir(&journal_dir).map_err(StoreError::io("create", &journal_dir))?;
        let of = (self.journal, self.epoch + 1);
        let bytes_max = options.segment_bytes_max;
        let mut output = Output::new(disk, &journal_dir, M::NAME, of, bytes_max);
        let first = self.pieces.iter().find_map(|piece| match piece {
            Piece::Line(line) => Some(self.entry(line)?.time),
            Piece::Lost { .. } => None,
        });
        for piece in &self.pieces {
            match piece {
                Piece::Line(line) => {
                    output.line(self.bytes(line), line.crc, line.revision)?;
                }
                Piece::Lost { changes, time } => {
                    let is_dated = *time > Timestamp::default();
                    let time = if is_dated { *time } else { first.unwrap_or(now) };
                    output.entry::<M>("lost", changes.clone(), time)?;
                }
            }
        }
        if !self.supplement.is_empty() {
            output.entry::<M>("repair", self.supplement, now)?;
        }
        output.end()?;
        rewrite::put_in_place(disk, &journal_dir, &snapshots, &*options.index, output.commit())
    }
}

/// Returns a segment's header; `None` if it is damaged. Fails if it belongs to another state
/// machine, or if a newer build wrote it.
fn header<M: StateMachine>(
    directory: &Path,
    number: u32,
    bytes: &[u8],
) -> Result<Option<HeaderV1>, StoreError> {
    let first = segment::lines(bytes).next();
    match first.map(|line| segment::read_header(line.bytes)) {
        Some(Ok(segment::Header::Newer { build, format, .. })) => {
            let why = format!(
                "journal/{} was written by a newer anchord ({build}, format {format})",
                file_name(number)
            );
            Err(StoreError::ReadOnly { why })
        }
        Some(Ok(segment::Header::Known(known))) if known.machine != M::NAME => {
            Err(StoreError::WrongMachine {
                path: directory.join(file_name(number)),
                expected: M::NAME,
                found: known.machine.into_owned(),
            })
        }
        Some(Ok(segment::Header::Known(known))) => Ok(Some(known)),
        _ => Ok(None),
    }
}

/// Reads a segment in the form that holds more good lines.
fn read_fuller(
    disk: &dyn Disk,
    dir: &Path,
    names: &[String],
    number: u32,
) -> Result<Vec<u8>, StoreError> {
    let read = |name: String| -> Result<Option<Vec<u8>>, StoreError> {
        let path = dir.join(&name);
        if !names.contains(&name) {
            return Ok(None);
        }
        disk.read(&path).map(Some).map_err(StoreError::io("read", &path))
    };
    let plain = read(file_name(number))?;
    let archived = read(segment::archive_name(number))?.map(|archive| archive::decode(&archive));
    let good = |bytes: &Vec<u8>| {
        segment::lines(bytes).filter(|line| format::check_line(line.bytes).is_ok()).count()
    };
    // If both are complete, the plain one wins.
    Ok(archived.into_iter().chain(plain).max_by_key(good).unwrap_or_default())
}

/// Returns the journal that a repair continues, the epoch of its segments, and the best state that
/// is known of it. If the segments' headers differ, the journal of the index or a snapshot wins. A
/// segment of another journal, or from before a purge, may come from a backup. If no segment
/// belongs to a known journal, all of them belong to another memory.
fn identity<M: StateMachine>(
    segments: &[Segment],
    known: Vec<OutsideState<M>>,
) -> (Uuid, u32, Option<OutsideState<M>>) {
    let there = || segments.iter().filter_map(|segment| segment.header.as_ref());
    let of_files = |known: &&OutsideState<M>| there().any(|it| it.journal == known.journal);
    let newest = |known: &&OutsideState<M>| (known.epoch, known.state.seq());
    let best = known.iter().filter(of_files).max_by_key(newest);
    let journal = best.or_else(|| known.iter().max_by_key(newest)).map(|known| known.journal);
    let journal = journal.or_else(|| there().next().map(|header| header.journal));
    let journal = journal.unwrap_or_else(Uuid::new_v4);
    let in_files = there().filter(|header| header.journal == journal).map(|header| header.epoch);
    let in_files = in_files.max();
    // A state from before a rewrite proves nothing of the journal after it.
    let is_current = |known: &OutsideState<M>| {
        known.journal == journal && in_files.is_none_or(|epoch| known.epoch >= epoch)
    };
    let known = known.into_iter().filter(is_current).max_by_key(|known| newest(&known));
    let epoch = in_files.or_else(|| Some(known.as_ref()?.epoch)).unwrap_or(1);
    (journal, epoch, known)
}

/// Returns the state that follows from the good lines of some segments.
fn replayed<M: StateMachine>(segments: &[Vec<u8>]) -> M {
    let mut state = M::default();
    for line in good_lines::<M>(segments).0 {
        let bytes = segments.get(line.segment).and_then(|bytes| bytes.get(line.at.clone()));
        let bytes = bytes.unwrap_or_default().trim_ascii_end();
        if let Ok(entry) = format::read_entry::<M::Change>(bytes) {
            state.apply(line.seq, &entry.changes);
        }
    }
    state
}

/// Finds the lines that are as written, in the order of their numbers. Also counts the others,
/// without the headers.
fn good_lines<M: StateMachine>(segments: &[Vec<u8>]) -> (Vec<Good>, u64) {
    let mut good: Vec<Good> = Vec::new();
    let mut bad = 0;
    for (segment, bytes) in segments.iter().enumerate() {
        for line in segment::lines(bytes) {
            let read = format::check_line(line.bytes).and_then(|crc| {
                let seq = format::peek_seq(line.bytes)?;
                Ok((crc, seq, format::read_entry::<M::Change>(line.bytes)?))
            });
            let read = read.ok().filter(|(_, seq, _)| {
                good.last().is_none_or(|last| last.seq < *seq) && *seq > Seq(0)
            });
            let Some((crc, seq, entry)) = read else {
                bad += u64::from(line.number > 1);
                continue;
            };
            let start = usize::try_from(line.offset).unwrap_or(usize::MAX);
            let at = start..start.saturating_add(line.bytes.len() + 1);
            good.push(Good { segment, at, crc, seq, revision: entry.revision });
        }
    }
    (good, bad)
}

/// Returns the states in the index and the snapshots. Fails if one of them cannot be read now,
/// because its content would count as lost.
fn known<M: StateMachine>(
    dir: &Path,
    options: &Options,
) -> Result<Vec<OutsideState<M>>, StoreError> {
    let cannot_look = |error| StoreError::Io {
        doing: "read the index beside",
        path: dir.join("journal"),
        source: std::io::Error::other::<IndexError>(error),
    };
    let mut all = Vec::new();
    match find(&*options.index) {
        IndexFinding::Of(mut index, meta) if meta.machine == M::NAME && meta.format <= FORMAT => {
            match read_index::<M>(&mut *index, &meta) {
                Ok((state, _)) => {
                    let (journal, epoch, line) = (meta.journal, meta.epoch, meta.line);
                    all.push(OutsideState { journal, epoch, state, line });
                }
                Err(error) if error.passes() => return Err(cannot_look(error)),
                Err(error) => tracing::warn!(%error, "the index is of no use for a repair"),
            }
        }
        IndexFinding::Unusable(error) if error.passes() => return Err(cannot_look(error)),
        IndexFinding::Of(..) | IndexFinding::Unusable(_) | IndexFinding::Empty(_) => {}
    }
    let snapshots = dir.join("snapshot");
    for number in snapshot::list(&*options.disk, &snapshots)? {
        let read = snapshot::read_any(&*options.disk, &snapshots, number, M::NAME)?;
        if let Ok((place, rows)) = read
            && let Ok((state, _)) = restore::<M>(rows)
        {
            all.push(OutsideState {
                journal: place.journal,
                epoch: place.epoch,
                state,
                line: place.line,
            });
        }
    }
    Ok(all)
}
