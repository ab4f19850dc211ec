//! Room: the amount that a project keeps of each kind, and whether a write still fits.
//!
//! All text of an open project is in the daemon's memory, so each kind has a limit. Limits apply to
//! new content. Nothing that was accepted is dropped or refused later: staged work is folded even
//! if the project has filled up in the meantime. The limit on staged work bounds that excess.

use crate::draft::Draft;
use crate::ids::Kind;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::refusal::Refusal;
use crate::size::{Size, Sizes};
use crate::staged::Staged;

/// Returns the most that a project keeps of a kind, including archived records.
pub fn limit(kind: Kind) -> Size {
    let (records, bytes) = kind.facts().limit;
    Size { records, bytes }
}

/// Refuses `more` records of a kind, or more bytes of their text, if the limit does not allow them.
pub(crate) fn has_room(kept: &Sizes, kind: Kind, more: Size) -> Result<(), Refusal> {
    let (kept, most) = (kept.of(kind), limit(kind));
    let full = |unit: &'static str, kept, more, most| Refusal::Full {
        kind,
        unit: unit.into(),
        kept,
        more,
        most,
    };
    if more.records > 0 && kept.plus(more).records > most.records {
        return Err(full("records", kept.records, more.records, most.records));
    }
    if more.bytes > 0 && kept.plus(more).bytes > most.bytes {
        return Err(full("bytes", kept.bytes, more.bytes, most.bytes));
    }
    Ok(())
}

/// Refuses a write that makes the kinds of `items` exceed their limits.
pub(crate) fn check_growth(before: &Memory, after: &Memory, items: &Staged) -> Result<(), Refusal> {
    let (before, after, items) = (before.totals().kept, after.totals().kept, items.sizes());
    let written = Kind::ALL.into_iter().filter(|kind| items.of(*kind).records > 0);
    for kind in written {
        has_room(&before, kind, after.of(kind).minus(before.of(kind)))?;
    }
    Ok(())
}

/// Refuses `items` if the project has no room for their kinds once `staged`, which contains them,
/// is folded.
pub(crate) fn check_items(
    memory: &Memory,
    staged: &Staged,
    items: &Staged,
    origin: &Provenance,
) -> Result<(), Refusal> {
    let (kept, most) = (memory.totals().kept, staged.sizes());
    // This counts every item as a new record. Merging matters only close to a limit.
    if Kind::ALL.into_iter().all(|kind| has_room(&kept, kind, most.of(kind)).is_ok()) {
        return Ok(());
    }
    let mut draft = Draft::new(memory);
    draft.fold(staged, origin);
    check_growth(memory, draft.head(), items)
}

#[cfg(test)]
mod tests;
