//! A fingerprint as a value.

use crate::hash;
use crate::limits::{CONTEXT_LINES_MAX, HASHES_MAX};
use crate::lines::Lines;
use crate::source::Source;

/// The hashes by which lines are recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The number of lines.
    pub(crate) count: u32,
    /// The digest of all lines.
    pub(crate) digest: u64,
    /// The short hashes of the lines, or of a sample of them.
    pub(crate) hashes: Vec<u32>,
    /// The short hashes of the lines with text before them, nearest first.
    pub(crate) before: Vec<u32>,
    /// The short hashes of the lines with text after them, nearest first.
    pub(crate) after: Vec<u32>,
    /// The definition that the lines are about.
    pub(crate) symbol: Option<Symbol>,
}

/// The definition that lines are about, or that is around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) kind: u8,
    pub(crate) name: u32,
    pub(crate) path: u32,
    /// The number of lines above the definition; `None` if the lines are not the whole of it.
    pub(crate) lead: Option<u8>,
    /// The number of lines below the definition.
    pub(crate) tail: u8,
}

impl Fingerprint {
    /// Takes the fingerprint of some lines. Returns `None` if the text does not have all of them,
    /// or if they are blank.
    pub fn capture(source: &Source<'_>, lines: Lines) -> Option<Self> {
        let all = source.hashes(lines)?;
        if all.iter().all(|hash| *hash == hash::BLANK) {
            return None;
        }
        let count = u32::try_from(all.len()).ok()?;
        let sample = offsets(count).filter_map(|at| all.get(usize::try_from(at).ok()?));
        Some(Self {
            count,
            digest: hash::all(all.iter().copied()),
            hashes: sample.map(|hash| hash::short(*hash)).collect(),
            before: source.before(lines.first).take(CONTEXT_LINES_MAX).collect(),
            after: source.after(lines.last).take(CONTEXT_LINES_MAX).collect(),
            symbol: source.symbol(lines).map(|it| {
                let above = it.lines.first.checked_sub(lines.first);
                let below = lines.last.checked_sub(it.lines.last);
                let whole = above.zip(below);
                let whole = whole.map(|(above, below)| (u8::try_from(above), u8::try_from(below)));
                let (lead, tail) = match whole {
                    Some((Ok(lead), Ok(tail))) => (Some(lead), tail),
                    _ => (None, 0),
                };
                Symbol { kind: it.kind, name: it.name, path: it.path, lead, tail }
            }),
        })
    }

    /// Returns the hashes that are kept, each with its offset from the first line.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u32, u32)> {
        offsets(self.count).zip(self.hashes.iter().copied())
    }

    /// Returns whether every line has its hash here.
    pub(crate) fn has_all(&self) -> bool {
        u32::try_from(self.hashes.len()) == Ok(self.count)
    }

    /// Returns the number of lines that identify something.
    pub(crate) fn telling(&self) -> usize {
        self.hashes.iter().filter(|short| hash::tells(**short)).count()
    }

    /// Returns whether all lines are there from one line on.
    pub(crate) fn is_at(&self, source: &Source<'_>, first: u32) -> bool {
        let Some(last) = first.checked_add(self.count - 1) else { return false };
        let same = |(at, short)| source.short(first + at) == short;
        self.lines().all(same)
            && source
                .hashes(Lines { first, last })
                .is_some_and(|all| hash::all(all.iter().copied()) == self.digest)
    }
}

/// Returns the offsets of the lines whose hashes are kept: all, or a sample with the first and the
/// last.
fn offsets(count: u32) -> impl Iterator<Item = u32> {
    let most = u32::try_from(HASHES_MAX).unwrap_or(u32::MAX);
    let kept = count.min(most);
    let spread = move |at: u32| {
        let at = u64::from(at) * u64::from(count.saturating_sub(1));
        u32::try_from(at / u64::from(kept.saturating_sub(1).max(1))).unwrap_or(u32::MAX)
    };
    (0..kept).map(spread)
}
