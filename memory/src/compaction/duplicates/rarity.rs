//! The order of runs: by their frequency in the notes when the order was built, then by hash.

use super::runs::runs;
use crate::limits::DUPLICATE_COUNTERS_LOG2_MAX;

/// The bits of a run's hash that are kept below its count.
const HASH_BITS: u32 = 56;
/// The approximate number of bytes of text per run: a run begins at each word.
const RUN_BYTES: usize = 4;

/// The counts of runs, each up to 255. Some runs share a counter.
#[derive(Debug, Default)]
pub(super) struct Rarity {
    counters: Vec<u8>,
}

impl Rarity {
    /// Counts the runs of some texts.
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let bytes: usize = texts.clone().map(str::len).sum();
        let counters =
            (2 * bytes / RUN_BYTES).next_power_of_two().min(1 << DUPLICATE_COUNTERS_LOG2_MAX);
        let mut rarity = Self { counters: vec![0; counters] };
        let mut room = Vec::new();
        for text in texts {
            runs(text, &mut room, |run| {
                let at = rarity.counter(run);
                if let Some(counter) = rarity.counters.get_mut(at) {
                    *counter = counter.saturating_add(1);
                }
            });
        }
        rarity
    }

    /// Returns the distinct runs of a text, the rarest first. Each has its count in the top bits
    /// and its hash below.
    pub(super) fn rarest_first(&self, text: &str) -> Vec<u64> {
        let mut all = Vec::with_capacity(text.len() / RUN_BYTES);
        runs(text, &mut Vec::new(), |run| {
            let count = self.counters.get(self.counter(run)).copied().unwrap_or_default();
            all.push((u64::from(count) << HASH_BITS) | (run & ((1 << HASH_BITS) - 1)));
        });
        all.sort_unstable();
        all.dedup();
        all
    }

    fn counter(&self, run: u64) -> usize {
        let mask = self.counters.len().saturating_sub(1) as u64;
        usize::try_from(run & mask).unwrap_or_default()
    }
}
