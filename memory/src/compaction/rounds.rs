//! Splits a plan into parts that each fit in one journal entry.

use std::collections::{BTreeMap, BTreeSet};

use super::CompactionPlan;
use crate::ids::RecordId;
use crate::kinds::note::Note;
use crate::memory::Memory;

/// A generous estimate of a note's record in bytes, without its texts.
const RECORD_BYTES: usize = 1_000;

impl CompactionPlan {
    /// Splits the plan into rounds that are applied in turn. Each writes about `bytes_max` bytes of
    /// notes at most; nearly always one round is enough.
    ///
    /// A round leaves notes alone that an earlier round changed. So a survivor and the notes folded
    /// into it share a round. Duplicates that do not fit in it are archived in the next.
    pub fn rounds(self, memory: &Memory, bytes_max: usize) -> Vec<Self> {
        let bytes = |id: &RecordId| {
            let note = memory.record(*id).and_then(|record| record.note());
            RECORD_BYTES + note.map_or(0, Note::text_bytes)
        };
        let survivors = self.fold.values().map(|fold| &fold.survivor);
        let touched = self.promote.keys().chain(self.fold.keys()).chain(self.archive.keys());
        if touched.chain(survivors).map(bytes).sum::<usize>() <= bytes_max {
            return vec![self];
        }
        let mut groups: BTreeMap<RecordId, BTreeSet<RecordId>> = BTreeMap::new();
        for id in self.promote.keys().chain(self.fold.keys()).chain(self.archive.keys()) {
            let survivor = self.fold.get(id).map_or(*id, |fold| fold.survivor);
            groups.entry(survivor).or_default().insert(*id);
        }
        let nothing = || self.without_steps();
        let (mut rounds, mut left) = (vec![nothing()], bytes_max);
        for (survivor, ids) in &groups {
            let own = if ids.contains(survivor) { 0 } else { bytes(survivor) };
            let all = own + ids.iter().map(bytes).sum::<usize>();
            if left < all.min(bytes_max) {
                rounds.push(nothing());
                left = bytes_max;
            }
            left = left.saturating_sub(own);
            let with_survivor = rounds.len();
            let others = ids.iter().filter(|id| *id != survivor);
            for id in ids.get(survivor).into_iter().chain(others) {
                if left < bytes(id) && left < bytes_max {
                    rounds.push(nothing());
                    left = bytes_max;
                }
                left = left.saturating_sub(bytes(id));
                let together = rounds.len() == with_survivor;
                let Some(round) = rounds.last_mut() else { continue };
                round.promote.extend(self.promote.get(id).map(|version| (*id, *version)));
                round.archive.extend(self.archive.get(id).map(|version| (*id, *version)));
                match self.fold.get(id) {
                    Some(fold) if together => drop(round.fold.insert(*id, *fold)),
                    Some(fold) => drop(round.archive.insert(*id, fold.version)),
                    None => {}
                }
            }
        }
        rounds
    }
}
