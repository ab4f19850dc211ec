//! Texts as sets of runs in the order of their rarity: those texts that may be near another at all.
//!
//! Each thread has a share of the texts to read and to sort, and between that some of the streams into which all their
//! runs go, to count them. Every step is the same on any number of threads.

use std::num::NonZero;
use std::panic;
use std::thread;

use super::outline::Outline;
use super::runs::runs;
use super::streams::{Cursors, HASH_BITS, Streams, Tally};
use super::{TENTHS, Text};

/// Texts for which a thread is worth its start.
const THREAD_TEXTS: usize = 1_000;
const THREADS_MOST: usize = 2;
/// A run takes about so many bytes of text: it begins with each word.
const RUN_BYTES: usize = 4;

/// The texts of a list that may be near another, in shares of it.
#[derive(Debug, PartialEq)]
pub(super) struct Sets(Vec<Share>);

/// The runs of one text, each once. How often the texts that may be near another have a run, up to 255 times, is in its
/// top bits, and so the rarest come first.
pub(super) struct Set<'a> {
    /// The text's place in the list.
    pub(super) text: usize,
    pub(super) runs: &'a [u64],
    pub(super) outline: Outline,
}

impl Sets {
    /// In the order of the list.
    pub(super) fn iter(&self) -> impl Iterator<Item = Set<'_>> {
        self.0.iter().flat_map(|share| {
            share.ranges.iter().filter_map(|(text, from, to)| {
                let runs = share.runs.get(*from..*to)?;
                Some(Set { text: *text, runs, outline: Outline::of(runs) })
            })
        })
    }
}

/// Sets one after the other: of which text, and where it is.
#[derive(Debug, Default, PartialEq)]
struct Share {
    runs: Vec<u64>,
    ranges: Vec<(usize, usize, usize)>,
}

/// Whether another text may have this run too.
pub(super) fn is_shared(run: u64) -> bool {
    run >> HASH_BITS > 1
}

/// Reads texts.
pub(super) fn by_rarity(texts: &[Text<'_>]) -> Sets {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    on_threads(texts, processors.min(THREADS_MOST).min(texts.len() / THREAD_TEXTS))
}

/// Reads texts on a number of threads.
pub(super) fn on_threads(texts: &[Text<'_>], threads: usize) -> Sets {
    let share = texts.len().div_ceil(threads.max(1)).max(1);
    let shares = (0..).step_by(share).zip(texts.chunks(share)).collect();
    let mut read = each_on_a_thread(shares, |(first, texts)| Read::of(first, texts));
    let tally = Tally::of_marks(bytes(texts) / RUN_BYTES);
    each_on_a_thread(Streams::by_threads(&mut read, threads), |streams| tally.mark(streams));
    let near = each_on_a_thread(read.iter_mut().collect(), Read::only_near);
    let tally = Tally::of_counts(near.iter().sum());
    each_on_a_thread(Streams::by_threads(&mut read, threads), |streams| tally.count(streams));
    Sets(each_on_a_thread(read, Read::rarest_first))
}

fn bytes(texts: &[Text<'_>]) -> usize {
    texts.iter().map(|text| text.content.len()).sum()
}

/// A share of the texts as it is read.
struct Read {
    /// Of which text so many of the runs are, and whether it is left out.
    texts: Vec<One>,
    streams: Streams,
}

struct One {
    text: usize,
    runs: usize,
    is_out: bool,
}

impl AsMut<Streams> for Read {
    fn as_mut(&mut self) -> &mut Streams {
        &mut self.streams
    }
}

impl Read {
    /// The first text is at this place of the list.
    fn of(first: usize, texts: &[Text<'_>]) -> Self {
        let mut streams = Streams::with_room(bytes(texts) / RUN_BYTES);
        let mut room = Vec::new();
        let read = |(text, one): (usize, &Text<'_>)| {
            let before = streams.len();
            runs(one.content, &mut room, |run| streams.push(run));
            One { text, runs: streams.len() - before, is_out: false }
        };
        let texts = (first..).zip(texts).map(read).collect();
        Self { texts, streams }
    }

    /// Leaves out what is near no other text, once runs are marked, and says how many runs are left. A text that is
    /// near another has more than seven tenths of its runs from that, so fewer than three tenths stand nowhere else,
    /// however often each stands in it.
    fn only_near(&mut self) -> usize {
        let mut left = 0;
        let mut cursors = Cursors::default();
        for one in &mut self.texts {
            let before = cursors.clone();
            let alone = self.streams.alone(&mut cursors, one.runs);
            one.is_out = alone >= ((10 - TENTHS) * one.runs).div_ceil(10);
            if one.is_out {
                self.streams.leave_out(before, one.runs);
            } else {
                left += one.runs;
            }
        }
        left
    }

    /// The sets, once runs are counted.
    fn rarest_first(self) -> Share {
        let near = || self.texts.iter().filter(|one| !one.is_out);
        let mut share = Share {
            runs: Vec::with_capacity(near().map(|one| one.runs).sum()),
            ranges: Vec::with_capacity(near().count()),
        };
        let mut cursors = Cursors::default();
        let mut set = Vec::new();
        for one in &self.texts {
            set.clear();
            self.streams.next(&mut cursors, one.runs, |run| set.push(run));
            if one.is_out {
                continue;
            }
            set.sort_unstable();
            set.dedup();
            let start = share.runs.len();
            share.runs.extend_from_slice(&set);
            share.ranges.push((one.text, start, share.runs.len()));
        }
        share
    }
}

/// What comes of each, in order. The first is done on the caller's thread.
fn each_on_a_thread<T: Send, R: Send>(list: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let mut list = list.into_iter();
    let Some(first) = list.next() else { return Vec::new() };
    let work = &work;
    thread::scope(|scope| {
        let others: Vec<_> = list.map(|one| scope.spawn(move || work(one))).collect();
        let mut done = vec![work(first)];
        done.extend(others.into_iter().map(|other| match other.join() {
            Ok(done) => done,
            Err(panicked) => panic::resume_unwind(panicked),
        }));
        done
    })
}
