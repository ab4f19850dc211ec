//! Texts as runs of three words in the order of their rarity, and which texts may be near another at all.

use std::num::NonZero;
use std::thread;

use super::{TENTHS, Text};

/// Texts for which a thread is worth its start.
const THREAD_TEXTS: usize = 1_000;
/// Each thread has marks of its own, which take memory.
const THREADS_MOST: usize = 2;
/// A run takes about so many bytes of text: it begins with each word.
const RUN_BYTES: usize = 4;
/// Marks, and counters that tell rare runs from common ones, at most, as powers of two: 16 MB of either. Runs that share
/// one seem more common, which costs time and no correctness.
const MARKS_LOG2_MOST: u32 = 26;
const COUNTERS_LOG2_MOST: u32 = 24;
/// Bits of a run's hash that are kept below its count.
const HASH_BITS: u32 = 56;

/// The runs of those texts that may be near another, each with the text's place, in the order given. How often those
/// have a run, up to 255 times, is in its top bits, and so the rarest come first.
pub(super) fn by_rarity(texts: &[Text<'_>]) -> Vec<(usize, Vec<u64>)> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    on_threads(texts, processors.min(THREADS_MOST).min(texts.len() / THREAD_TEXTS))
}

/// The same on a number of threads.
pub(super) fn on_threads(texts: &[Text<'_>], threads: usize) -> Vec<(usize, Vec<u64>)> {
    let bytes: usize = texts.iter().map(|text| text.content.len()).sum();
    let log2 = log2_of(2 * bytes / RUN_BYTES, MARKS_LOG2_MOST);
    let share = texts.len().div_ceil(threads.max(1)).max(1);
    let shares: Vec<&[Text<'_>]> = texts.chunks(share).collect();
    let (read, marks): (Vec<Read>, Vec<Marks>) =
        each_on_a_thread(&shares, |texts| read(texts, log2)).into_iter().unzip();
    let Some(marks) = marks.into_iter().reduce(Marks::with) else { return Vec::new() };
    let read: Vec<(usize, Read)> = (0..).step_by(share).zip(read).collect();
    let near = each_on_a_thread(&read, |(_, read)| {
        read.texts().map(|runs| marks.may_be_near(runs)).collect::<Vec<bool>>()
    });
    let near: Vec<(usize, &[u64])> = read
        .iter()
        .zip(&near)
        .flat_map(|((first, read), near)| (*first..).zip(read.texts()).zip(near))
        .filter_map(|(text, near)| near.then_some(text))
        .collect();
    let counters = Counters::of(near.iter().flat_map(|(_, runs)| *runs).copied());
    let shares: Vec<&[(usize, &[u64])]> =
        near.chunks(near.len().div_ceil(threads.max(1)).max(1)).collect();
    let sorted = each_on_a_thread(&shares, |near| {
        near.iter().map(|(at, runs)| (*at, counters.rarest_first(runs))).collect::<Vec<_>>()
    });
    sorted.into_iter().flatten().collect()
}

/// Whether another text may have this run too.
pub(super) fn is_shared(run: u64) -> bool {
    run >> HASH_BITS > 1
}

fn log2_of(count: usize, most: u32) -> u32 {
    count.next_power_of_two().trailing_zeros().clamp(6, most)
}

/// The runs of some texts, one text after the other.
#[derive(Default)]
struct Read {
    runs: Vec<u64>,
    /// Where each text's end.
    ends: Vec<usize>,
}

impl Read {
    fn texts(&self) -> impl Iterator<Item = &[u64]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.runs.get(start..*end).unwrap_or_default())
    }
}

fn read(texts: &[Text<'_>], log2: u32) -> (Read, Marks) {
    let (mut read, mut marks) = (Read::default(), Marks::new(log2));
    for text in texts {
        let start = read.runs.len();
        runs(text.content, |run| read.runs.push(run));
        read.ends.push(read.runs.len());
        // Apart from reading, so that one mark is fetched while another is.
        for run in read.runs.get(start..).unwrap_or_default() {
            marks.mark(*run);
        }
    }
    (read, marks)
}

/// Which runs were met, and which more than once: two bits each, since reaching for what is not in the processor's cache
/// is most of the work.
struct Marks {
    log2: u32,
    words: Vec<u64>,
}

/// The lower bit of each mark of a word.
const MET: u64 = 0x5555_5555_5555_5555;

impl Marks {
    fn new(log2: u32) -> Self {
        Self { log2, words: vec![0; (1 << log2) / 32] }
    }

    /// The word and the bit of a run's mark.
    fn place(&self, run: u64) -> (usize, u64) {
        let mark = run >> (64 - self.log2);
        (usize::try_from(mark / 32).unwrap_or_default(), mark % 32 * 2)
    }

    fn mark(&mut self, run: u64) {
        let (at, bit) = self.place(run);
        if let Some(word) = self.words.get_mut(at) {
            *word |= (1 | (*word >> bit & 1) << 1) << bit;
        }
    }

    /// As if one had met what both have.
    fn with(mut self, other: Self) -> Self {
        for (ours, theirs) in self.words.iter_mut().zip(other.words) {
            *ours |= theirs | (*ours & theirs & MET) << 1;
        }
        self
    }

    /// A text that is near another has more than seven tenths of its runs from that, so fewer than three tenths stand
    /// nowhere else, however often each stands in it.
    fn may_be_near(&self, runs: &[u64]) -> bool {
        let is_alone = |run: &&u64| {
            let (at, bit) = self.place(**run);
            self.words.get(at).is_none_or(|word| word >> bit & 2 == 0)
        };
        let enough = ((10 - TENTHS) * runs.len()).div_ceil(10);
        runs.iter().filter(is_alone).take(enough).count() < enough
    }
}

/// How often runs occur.
struct Counters {
    log2: u32,
    counts: Vec<u8>,
}

impl Counters {
    fn of(runs: impl Iterator<Item = u64> + Clone) -> Self {
        let log2 = log2_of(2 * runs.clone().count(), COUNTERS_LOG2_MOST);
        let mut counters = Self { log2, counts: vec![0; 1 << log2] };
        for run in runs {
            let slot = counters.slot(run);
            if let Some(count) = counters.counts.get_mut(slot) {
                *count = count.saturating_add(1);
            }
        }
        counters
    }

    fn slot(&self, run: u64) -> usize {
        usize::try_from(run >> (64 - self.log2)).unwrap_or_default()
    }

    fn rarest_first(&self, runs: &[u64]) -> Vec<u64> {
        let counted = |run: &u64| {
            let count = self.counts.get(self.slot(*run)).copied().unwrap_or_default();
            (u64::from(count) << HASH_BITS) | (*run & ((1 << HASH_BITS) - 1))
        };
        let mut counted: Vec<u64> = runs.iter().map(counted).collect();
        counted.sort_unstable();
        counted.dedup();
        counted
    }
}

/// What comes of each, in order. The first is done on the caller's thread.
fn each_on_a_thread<T: Sync, R: Send>(list: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let Some((first, others)) = list.split_first() else { return Vec::new() };
    thread::scope(|scope| {
        let started: Vec<_> = others.iter().map(|one| scope.spawn(|| work(one))).collect();
        let mut done = vec![work(first)];
        // What a thread could not do is done here, where a panic tells the caller.
        let joined = started.into_iter().zip(others);
        done.extend(joined.map(|(other, one)| other.join().unwrap_or_else(|_| work(one))));
        done
    })
}

/// Calls `each` with the hash of every run of three words; a text of fewer is one run.
#[inline]
pub(super) fn runs(text: &str, mut each: impl FnMut(u64)) {
    let (mut first, mut second, mut count) = (0, 0, 0_usize);
    words(text, |word| {
        count += 1;
        let two = mix(first, second);
        if count > 2 {
            each(mix(two, word));
        }
        (first, second) = (mix(0, second), word);
    });
    if (1..=2).contains(&count) {
        each(mix(first, second));
    }
}

/// Calls `each` with the hash of every word. Letters and digits count, in lower case; a character of a script without
/// spaces is a word.
#[inline]
fn words(text: &str, mut each: impl FnMut(u64)) {
    let mut word = EMPTY;
    let mut end = |word: &mut u64| {
        if *word != EMPTY {
            each(std::mem::replace(word, EMPTY));
        }
    };
    for char in text.chars() {
        if char.is_ascii_alphanumeric() {
            word = spell(word, char.to_ascii_lowercase());
            continue;
        }
        let wide = char >= '\u{2e80}';
        let counts = !char.is_ascii() && char.is_alphanumeric();
        if !counts || wide {
            end(&mut word);
        }
        if counts {
            word = char.to_lowercase().fold(word, spell);
            if wide {
                end(&mut word);
            }
        }
    }
    end(&mut word);
}

/// A word without a letter: where FNV-1a of 64 bits begins (Fowler, Noll, Vo), whose prime [`spell`] has.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

#[inline]
fn spell(word: u64, letter: char) -> u64 {
    (word ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3)
}

#[inline]
fn mix(hash: u64, more: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
