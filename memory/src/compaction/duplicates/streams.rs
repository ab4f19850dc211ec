//! Runs by the first bits of their hashes: so few at a time that what tells the rare from the common ones stays in the
//! processor's cache. Reaching for what is not there would be most of the work.

/// Streams, as a power of two.
const STREAMS_LOG2: u32 = 6;
const STREAMS: usize = 1 << STREAMS_LOG2;
/// Marks, and counters that tell rare runs from common ones, at most, as powers of two. Runs that share one seem more
/// common, which costs time and no correctness.
const MARKS_LOG2_MOST: u32 = 26;
const COUNTERS_LOG2_MOST: u32 = 24;
/// Bits of a run's hash that are kept below its count.
pub(super) const HASH_BITS: u32 = 56;

/// In place of bits that are the same in all of a stream: that a run stands in no other place, and that its text is left
/// out.
const ALONE: u64 = 1 << 63;
const OUT: u64 = 1 << 62;

/// The runs of some texts: each stream has those with the same first bits, in the order of the texts.
pub(super) struct Streams {
    streams: Vec<Vec<u64>>,
    /// The stream of each run.
    order: Vec<u8>,
}

/// How far streams were read.
#[derive(Clone)]
pub(super) struct Cursors {
    /// Runs of each stream.
    next: [u32; STREAMS],
    /// Runs of all.
    read: usize,
}

impl Default for Cursors {
    fn default() -> Self {
        Self { next: [0; STREAMS], read: 0 }
    }
}

impl Streams {
    /// Empty ones with room for about so many runs.
    pub(super) fn with_room(runs: usize) -> Self {
        let stream = || Vec::with_capacity(runs / STREAMS);
        Self {
            streams: std::iter::repeat_with(stream).take(STREAMS).collect(),
            order: Vec::with_capacity(runs),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    #[inline]
    pub(super) fn push(&mut self, run: u64) {
        let stream = (run >> (64 - STREAMS_LOG2)).to_le_bytes()[0];
        if let Some(runs) = self.streams.get_mut(usize::from(stream)) {
            runs.push(run);
            self.order.push(stream);
        }
    }

    /// Reads a text's runs.
    #[inline]
    pub(super) fn next(&self, cursors: &mut Cursors, runs: usize, mut each: impl FnMut(u64)) {
        let order = self.order.get(cursors.read..cursors.read + runs).unwrap_or_default();
        cursors.read += runs;
        for stream in order {
            let stream = usize::from(*stream);
            if let (Some(runs), Some(next)) =
                (self.streams.get(stream), cursors.next.get_mut(stream))
            {
                each(runs.get(*next as usize).copied().unwrap_or_default());
                *next += 1;
            }
        }
    }

    /// How many of a text's runs stand in no other place.
    pub(super) fn alone(&self, cursors: &mut Cursors, runs: usize) -> usize {
        let mut alone = 0;
        self.next(cursors, runs, |run| alone += usize::from(run & ALONE != 0));
        alone
    }

    /// Leaves a text's runs out of what is counted.
    pub(super) fn leave_out(&mut self, mut cursors: Cursors, runs: usize) {
        for stream in self.order.get(cursors.read..cursors.read + runs).unwrap_or_default() {
            let stream = usize::from(*stream);
            if let (Some(runs), Some(next)) =
                (self.streams.get_mut(stream), cursors.next.get_mut(stream))
            {
                if let Some(run) = runs.get_mut(*next as usize) {
                    *run |= OUT;
                }
                *next += 1;
            }
        }
    }

    /// The streams of several, those with the same runs together, in as many parts as there are threads.
    pub(super) fn by_threads<T: AsMut<Self>>(
        several: &mut [T],
        threads: usize,
    ) -> Vec<Vec<Vec<&mut Vec<u64>>>> {
        let mut alike: Vec<Vec<&mut Vec<u64>>> = Vec::new();
        alike.resize_with(STREAMS, Vec::new);
        for one in several {
            for (alike, stream) in alike.iter_mut().zip(&mut one.as_mut().streams) {
                alike.push(stream);
            }
        }
        let part = STREAMS.div_ceil(threads.max(1));
        let mut alike = alike.into_iter();
        (0..STREAMS).step_by(part).map(|_| alike.by_ref().take(part).collect()).collect()
    }
}

/// How runs are told apart while they are counted.
pub(super) struct Tally {
    log2: u32,
}

impl Tally {
    /// For so many runs that are marked.
    pub(super) fn of_marks(runs: usize) -> Self {
        Self { log2: log2_of(2 * runs, MARKS_LOG2_MOST) }
    }

    /// For so many that are counted.
    pub(super) fn of_counts(runs: usize) -> Self {
        Self { log2: log2_of(2 * runs, COUNTERS_LOG2_MOST) }
    }

    /// Says of each run whether it stands alone.
    pub(super) fn mark(&self, streams: Vec<Vec<&mut Vec<u64>>>) {
        let mut marks: Vec<u64> = vec![0; (1_usize << self.bits()).div_ceil(32)];
        for mut alike in streams {
            marks.fill(0);
            for run in alike.iter().flat_map(|runs| runs.iter()) {
                let (at, bit) = self.mark_of(*run);
                if let Some(word) = marks.get_mut(at) {
                    *word |= (1 | (*word >> bit & 1) << 1) << bit;
                }
            }
            for run in alike.iter_mut().flat_map(|runs| runs.iter_mut()) {
                let (at, bit) = self.mark_of(*run);
                let word = marks.get(at).copied().unwrap_or_default();
                *run = (*run & !(ALONE | OUT)) | (!(word >> bit) & 2) << 62;
            }
        }
    }

    /// Puts its count, up to 255, into each run's top bits.
    pub(super) fn count(&self, streams: Vec<Vec<&mut Vec<u64>>>) {
        let mut counts: Vec<u8> = vec![0; 1 << self.bits()];
        for mut alike in streams {
            counts.fill(0);
            for run in alike.iter().flat_map(|runs| runs.iter()) {
                if let Some(count) = counts.get_mut(self.slot(*run)) {
                    *count = count.saturating_add(u8::from(run & OUT == 0));
                }
            }
            for run in alike.iter_mut().flat_map(|runs| runs.iter_mut()) {
                let count = counts.get(self.slot(*run)).copied().unwrap_or_default();
                *run = (u64::from(count) << HASH_BITS) | (*run & ((1 << HASH_BITS) - 1));
            }
        }
    }

    /// Bits of a run's hash, after those of its stream, that tell it from others.
    fn bits(&self) -> u32 {
        self.log2 - STREAMS_LOG2
    }

    fn slot(&self, run: u64) -> usize {
        usize::try_from((run << STREAMS_LOG2) >> (63 - self.bits()) >> 1).unwrap_or_default()
    }

    /// The word and the bit of a run's two marks: that it was met, and that it was met again.
    fn mark_of(&self, run: u64) -> (usize, usize) {
        let mark = self.slot(run);
        (mark / 32, mark % 32 * 2)
    }
}

fn log2_of(count: usize, most: u32) -> u32 {
    count.next_power_of_two().trailing_zeros().clamp(STREAMS_LOG2, most)
}
