//! Reads commits newest first.
//!
//! The lines of a plain segment are read from its end in blocks. An archive's blocks are read from
//! its last one on. The head of a line is read before its changes, which may be long. So a caller
//! that skips most commits pays little for them.

use std::io;
use std::sync::Arc;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use serde::Deserialize;

use super::journal::{Segment, Segments, cannot_read, read_segment};
use super::limits::BACKWARD_BLOCK_BYTES;
use super::segment::{archive_name, file_name};
use super::{Entry, StateMachine, StoreError, archive, format, segment};

/// The beginning of a commit's line.
#[derive(Clone, Debug, Deserialize)]
pub struct Head {
    /// The entry's number.
    pub seq: Seq,
    /// The commit's number.
    pub revision: Revision,
    /// The time at which the entry was accepted.
    pub time: Timestamp,
    /// The session that wrote it, if any.
    pub session: Option<SessionId>,
    /// The operation.
    pub op: String,
}

/// The next step of a reader that goes back through commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read the commit.
    Read,
    /// Continue with the one before it.
    Skip,
    /// Read no more.
    Stop,
}

/// A visitor of commits, newest first.
pub trait Visitor<M: StateMachine> {
    /// Decides from a commit's head whether to read it.
    fn head(&mut self, head: &Head) -> Step;

    /// Takes a commit that was read. Returns whether to continue.
    fn commit(&mut self, entry: Entry<M::Change>) -> bool;
}

/// Shows commits to a visitor, newest first, as long as it wants them. The revision, if given, is
/// the newest that is of interest; segments after it are not read.
pub type ReadBack<M> =
    Arc<dyn Fn(Option<Revision>, &mut dyn Visitor<M>) -> Result<(), StoreError> + Send + Sync>;

/// The separator between a line's head and its changes. In a text its quotes would be escaped.
const CHANGES: &[u8] = b",\"changes\":";

impl Segments {
    /// See [`ReadBack`].
    pub(super) fn read_back<M: StateMachine>(
        &self,
        newest: Option<Revision>,
        visitor: &mut dyn Visitor<M>,
    ) -> Result<(), StoreError> {
        for segment in self.newest_first() {
            // Every commit is an entry, so a revision is never beyond its entry's number.
            if newest.is_some_and(|newest| self.begins_after(segment, newest)) {
                continue;
            }
            let mut visit = |line: &[u8]| visit_line::<M>(segment, line, visitor);
            if !self.lines_back(segment, newest, &mut visit)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Shows the lines of a segment, the last first and without the header, until `visit` returns
    /// false. Leaves out most commits after `newest`. Returns whether `visit` never returned false.
    fn lines_back(
        &self,
        segment: &Segment,
        newest: Option<Revision>,
        visit: Visit<'_>,
    ) -> Result<bool, StoreError> {
        if segment.archive_bytes.is_some() {
            return self.archived_back(segment, visit);
        }
        let path = self.dir.join(file_name(segment.number));
        // What is not read yet ends at `start`. The bytes after it, up to a line's end, are kept.
        let end = newest.map_or(segment.bytes, |newest| self.end_of(segment, newest));
        let (mut start, mut kept) = (end, Vec::new());
        while start > 0 {
            // A line may be much longer than a block.
            let step = (BACKWARD_BLOCK_BYTES as u64).max(kept.len() as u64).min(start);
            let mut bytes = match self.disk.read_at(&path, start - step, usize_of(step)) {
                Ok(block) => {
                    start -= step;
                    block
                }
                // It has become an archive meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let mut whole = read_segment(&*self.disk, &self.dir, segment)?;
                    whole.truncate(usize_of(start));
                    start = 0;
                    whole
                }
                Err(error) => return Err(cannot_read(&path, error)),
            };
            bytes.append(&mut kept);
            let first = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
            // At the start of the segment, the first line is the header. Elsewhere it may be cut.
            let lines = bytes.split_off(first);
            kept = bytes;
            if !reversed(&lines, visit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds where to begin in a plain segment, by bisection: the start of a line after which all
    /// commits are later than `newest`. If the segment cannot be read, that is its end, where
    /// reading it fails too.
    fn end_of(&self, segment: &Segment, newest: Revision) -> u64 {
        let path = self.dir.join(file_name(segment.number));
        let (mut low, mut high) = (0, segment.bytes);
        while high - low > BACKWARD_BLOCK_BYTES as u64 {
            let middle = low + (high - low) / 2;
            let Ok(block) = self.disk.read_at(&path, middle, BACKWARD_BLOCK_BYTES) else { break };
            // The first line is likely to be cut.
            let mut lines = segment::lines(&block).skip(1);
            let commit = lines.find_map(|line| Some((line.offset, head_of(line.bytes).ok()??)));
            match commit {
                Some((_, head)) if head.revision <= newest => low = middle,
                Some((offset, _)) if middle + offset < high => high = middle + offset,
                _ => break,
            }
        }
        high
    }

    fn archived_back(&self, segment: &Segment, visit: Visit<'_>) -> Result<bool, StoreError> {
        let path = self.dir.join(archive_name(segment.number));
        let failed = |error| cannot_read(&path, error);
        // The first block has the header alone.
        for block in archive::blocks(&*self.disk, &path).map_err(failed)?.iter().skip(1).rev() {
            if !reversed(&block.text().map_err(failed)?, visit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads some of a segment's first lines.
    fn beginning(&self, segment: &Segment) -> io::Result<Vec<u8>> {
        if segment.archive_bytes.is_none() {
            let path = self.dir.join(file_name(segment.number));
            return self.disk.read_at(&path, 0, BACKWARD_BLOCK_BYTES);
        }
        let path = self.dir.join(archive_name(segment.number));
        let first = archive::find_block(&*self.disk, &path, &mut |block| {
            if block.offset == 0 { Ok(None) } else { block.text().map(Some) }
        });
        // A line in place of the header.
        first.map(|text| [b"\n", text.unwrap_or_default().as_slice()].concat())
    }

    /// Returns whether the first commit of a segment is later than a revision. A segment whose
    /// beginning has no commit, or cannot be read, counts as not later.
    fn begins_after(&self, of: &Segment, newest: Revision) -> bool {
        let Ok(start) = self.beginning(of) else { return false };
        let mut lines = segment::lines(&start).skip(1);
        let first = lines.find_map(|line| head_of(line.bytes).ok().flatten());
        first.is_some_and(|first| first.revision > newest)
    }
}

/// A function that takes a line. It returns whether to continue.
type Visit<'v> = &'v mut dyn FnMut(&[u8]) -> Result<bool, StoreError>;

/// Shows complete lines, the last first, until `visit` returns false. Returns whether it never did.
fn reversed(lines: &[u8], visit: Visit<'_>) -> Result<bool, StoreError> {
    let mut end = lines.len();
    while let Some(rest) = lines.get(..end.saturating_sub(1)).filter(|_| end > 0) {
        let start = memchr::memrchr(b'\n', rest).map_or(0, |before| before + 1);
        if !visit(rest.get(start..).unwrap_or_default())? {
            return Ok(false);
        }
        end = start;
    }
    Ok(true)
}

fn usize_of(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Shows a line to the visitor. Returns whether to continue.
fn visit_line<M: StateMachine>(
    segment: &Segment,
    line: &[u8],
    visitor: &mut dyn Visitor<M>,
) -> Result<bool, StoreError> {
    let damaged = |why: String| segment.damaged(0, why);
    let Some(head) = head_of(line).map_err(|fault| damaged(fault.to_string()))? else {
        return Ok(true);
    };
    match visitor.head(&head) {
        Step::Skip => Ok(true),
        Step::Stop => Ok(false),
        Step::Read => {
            let entry = format::check_line(line).and_then(|_| format::read_entry(line));
            Ok(visitor.commit(entry.map_err(|fault| damaged(fault.to_string()))?))
        }
    }
}

/// Reads the head of an entry's line. Returns `None` if the entry is not a commit.
fn head_of(line: &[u8]) -> Result<Option<Head>, format::LineFault> {
    #[derive(Deserialize)]
    struct Start {
        revision: Option<Revision>,
    }
    let end = memchr::memmem::find(line, CHANGES)
        .ok_or_else(|| format::LineFault::Unreadable("it has no changes".to_owned()))?;
    let mut start = line.get(..end).unwrap_or_default().to_vec();
    start.push(b'}');
    let Start { revision } = format::read_line(&start)?;
    if revision.is_none() {
        return Ok(None);
    }
    format::read_line(&start).map(Some)
}
