//! Notes that say nearly the same: more than 0.7 of the runs of three words that either has, both have.
//!
//! Not by comparing all pairs. A text of which three tenths of the runs stand in no other is near none. Of two sets that
//! similar each has one of the other's rarest runs among its own, so those alone are indexed (prefix filtering;
//! Chaudhuri, Ganti, Kaushik: "A Primitive Operator for Similarity Joins in Data Cleaning", 2006; ordered by rarity as by
//! Bayardo, Ma, Srikant: "Scaling Up All Pairs Similarity Search", 2007). Where the first run that two have stands in each
//! tells most of those that are not near (positional filtering; Xiao, Wang, Lin, Yu: "Efficient Similarity Joins for Near
//! Duplicate Detection", 2008), an outline most of the others; what is left is compared exactly. Only survivors are
//! compared with, so a hundred copies cost a hundred comparisons, and no note is compared with more than
//! [`DUPLICATE_CANDIDATES_MAX`] others: what shares a form with very many notes may stay, and is archived by its score.
//!
//! Texts are read and sorted by two threads; what comes of it is the same on any number.

mod outline;
mod read;
mod runs;
mod streams;

use std::collections::BTreeMap;
use std::mem;

use crate::ids::RecordId;
use crate::limits::DUPLICATE_CANDIDATES_MAX;
use crate::record::Record;
use crate::staged::count;
use read::{Set, is_shared};

/// Notes with more tenths in common than this are near duplicates.
const TENTHS: usize = 7;
/// Lists of survivors, as a power of two.
const LISTS_LOG2: u32 = 20;
/// Marks of runs that have a list, as a power of two: few enough for the processor's cache.
const MARKS_LOG2: u32 = 22;

/// A note that is compared.
pub(super) struct Text<'a> {
    pub(super) record: &'a Record,
    pub(super) content: &'a str,
    /// It may go into another; otherwise others may go into it.
    pub(super) may_fold: bool,
}

/// Each duplicate with its survivor, which is before it in the order given and no duplicate itself.
pub(super) fn find<'a>(best_first: &[Text<'a>]) -> BTreeMap<RecordId, &'a Record> {
    let sets = read::by_rarity(best_first);
    let sets: Vec<Set<'_>> = sets.iter().collect();
    let mut found = BTreeMap::new();
    let mut survivors = Survivors::default();
    let mut seen = vec![u32::MAX; sets.len()];
    let lengths: Vec<u32> = sets.iter().map(|set| count(set.runs.len())).collect();
    let (mut lists, mut candidates) = (Vec::new(), Vec::new());
    for (at, set) in sets.iter().enumerate() {
        let Some(text) = best_first.get(set.text) else { continue };
        let prefix = set.runs.iter().take(prefix_len(set.runs.len())).enumerate();
        let rarest = || prefix.clone().filter(|(_, run)| is_shared(**run));
        let mut survivor = None;
        if text.may_fold {
            let at = count(at);
            // Of what comes before the first run that both have, neither has the other's.
            let mut may_be_near = |ours: usize, link: &Link| {
                let survivor = link.survivor as usize;
                let Some(length) = lengths.get(survivor) else { return false };
                let theirs_left = (*length as usize).saturating_sub(link.place as usize);
                let left = (set.runs.len() - ours).min(theirs_left);
                left >= enough(set.runs.len(), *length as usize)
                    && seen.get_mut(survivor).is_some_and(|seen| mem::replace(seen, at) != at)
            };
            candidates.clear();
            lists.clear();
            let listed = rarest().filter(|(_, run)| survivors.may_have(**run));
            lists.extend(listed.map(|(place, run)| (place, *run, survivors.first(*run))));
            candidates.extend(
                lists
                    .iter()
                    .flat_map(|(place, run, first)| {
                        survivors.with(*run, *first).map(|link| (*place, link))
                    })
                    .filter(|(place, link)| may_be_near(*place, link))
                    .map(|(_, link)| link.survivor as usize)
                    .take(DUPLICATE_CANDIDATES_MAX),
            );
            candidates.sort_unstable();
            survivor =
                candidates.iter().filter_map(|candidate| sets.get(*candidate)).find(|other| {
                    set.outline.may_be_near(&other.outline) && is_near(set.runs, other.runs)
                });
        }
        match survivor.and_then(|survivor| best_first.get(survivor.text)) {
            Some(survivor) => {
                found.insert(text.record.id, survivor.record);
            }
            None => {
                for (place, run) in rarest() {
                    survivors.add(*run, at, place);
                }
            }
        }
    }
    found
}

/// Survivors by their rarest runs: lists, each with the newest first, of which runs with the same slot share one.
struct Survivors {
    /// A bit for each run that may have a list. Most runs of a prefix have none.
    marks: Vec<u64>,
    /// Where each list begins in `links`, counted from 1.
    heads: Vec<u32>,
    links: Vec<Link>,
}

/// That a survivor has a run.
struct Link {
    /// Those bits of the run that are not its list's.
    run: u32,
    survivor: u32,
    /// Of the run among all of the survivor's.
    place: u32,
    /// The next link, counted from 1.
    next: u32,
}

impl Default for Survivors {
    fn default() -> Self {
        let marks = vec![0; 1 << (MARKS_LOG2 - 6)];
        Self { marks, heads: vec![0; 1 << LISTS_LOG2], links: Vec::new() }
    }
}

impl Survivors {
    fn add(&mut self, run: u64, survivor: usize, place: usize) {
        if let Some(head) = self.heads.get_mut(list(run)) {
            let (survivor, place) = (count(survivor), count(place));
            self.links.push(Link { run: in_list(run), survivor, place, next: *head });
            *head = count(self.links.len());
        }
        if let Some(marks) = self.marks.get_mut(mark(run)) {
            *marks |= 1 << (run & 63);
        }
    }

    /// Whether a run has a list, or another one with the same mark has.
    fn may_have(&self, run: u64) -> bool {
        self.marks.get(mark(run)).is_some_and(|marks| marks >> (run & 63) & 1 == 1)
    }

    /// Where the list of a run begins.
    fn first(&self, run: u64) -> u32 {
        self.heads.get(list(run)).copied().unwrap_or_default()
    }

    /// Those with a run, whose list begins there.
    fn with(&self, run: u64, first: u32) -> impl Iterator<Item = &Link> {
        let link = |at: u32| self.links.get((at as usize).checked_sub(1)?);
        let run = in_list(run);
        std::iter::successors(link(first), move |of| link(of.next)).filter(move |of| of.run == run)
    }
}

fn list(run: u64) -> usize {
    usize::try_from(run & ((1 << LISTS_LOG2) - 1)).unwrap_or_default()
}

/// The word of a run's mark.
fn mark(run: u64) -> usize {
    list(run >> 6) & ((1 << (MARKS_LOG2 - 6)) - 1)
}

/// What tells a run from others in its list. Two that are taken for one cost a comparison.
fn in_list(run: u64) -> u32 {
    u32::try_from(run >> LISTS_LOG2 & u64::from(u32::MAX)).unwrap_or_default()
}

/// How many of a text's rarest runs have to be looked at: two sets with Jaccard above t share one of the rarest
/// `n - ceil(t·n) + 1` of each.
fn prefix_len(runs: usize) -> usize {
    (runs + 1).saturating_sub((TENTHS * runs).div_ceil(10))
}

/// How many of two sets' runs have to be in both, so that more than seven tenths are: c, when c > 0.7 · (a + b - c).
fn enough(a: usize, b: usize) -> usize {
    TENTHS * (a + b) / (10 + TENTHS) + 1
}

/// Whether two texts, both in the order of rarity, have more than seven tenths in common.
fn is_near(a: &[u64], b: &[u64]) -> bool {
    let enough = enough(a.len(), b.len());
    let (Some(ours_left), Some(theirs_left)) =
        (a.len().checked_sub(enough), b.len().checked_sub(enough))
    else {
        return false;
    };
    // Steps without a branch on which is the smaller, since there is no telling.
    let (mut ours, mut theirs, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(ours), b.get(theirs)) {
        common += usize::from(x == y);
        ours += usize::from(x <= y);
        theirs += usize::from(y <= x);
        // Rare ones come first, so that texts with little in common are soon told apart.
        if ours - common > ours_left || theirs - common > theirs_left {
            return false;
        }
    }
    common >= enough
}

#[cfg(test)]
mod tests;
