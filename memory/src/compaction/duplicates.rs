//! Notes that say nearly the same: more than 0.7 of the runs of three words that either has, both have.
//!
//! Not by comparing all pairs. A text of which three tenths of the runs stand in no other is near none. Of two sets that
//! similar each has one of the other's rarest runs among its own, so those alone are indexed (prefix filtering;
//! Chaudhuri, Ganti, Kaushik: "A Primitive Operator for Similarity Joins in Data Cleaning", 2006; ordered by rarity as by
//! Bayardo, Ma, Srikant: "Scaling Up All Pairs Similarity Search", 2007). What is found is compared exactly, unless its
//! outline shows that it is not near. Only
//! survivors are compared with, so a hundred copies cost a hundred comparisons, and no note is compared with more than
//! [`DUPLICATE_CANDIDATES_MAX`] others: what shares a form with very many notes may stay, and is archived by its score.
//!
//! Texts are read and sorted by two threads; what comes of it is the same on any number.

mod outline;
mod read;
mod runs;
mod streams;

use std::collections::BTreeMap;

use crate::ids::RecordId;
use crate::limits::DUPLICATE_CANDIDATES_MAX;
use crate::record::Record;
use crate::staged::count;
use read::{Set, is_shared};

/// Notes with more tenths in common than this are near duplicates.
const TENTHS: usize = 7;
/// Lists of survivors, as a power of two.
const LISTS_LOG2: u32 = 20;

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
    let (mut lists, mut candidates) = (Vec::new(), Vec::new());
    for (at, set) in sets.iter().enumerate() {
        let Some(text) = best_first.get(set.text) else { continue };
        let rarest =
            || set.runs.iter().take(prefix_len(set.runs.len())).filter(|run| is_shared(**run));
        let mut survivor = None;
        if text.may_fold {
            let at = count(at);
            let mut is_new = |candidate: &usize| {
                seen.get_mut(*candidate).is_some_and(|seen| std::mem::replace(seen, at) != at)
            };
            candidates.clear();
            lists.clear();
            lists.extend(rarest().map(|run| (*run, survivors.first(*run))));
            candidates.extend(
                lists
                    .iter()
                    .flat_map(|(run, first)| survivors.with(*run, *first))
                    .filter(|candidate| is_new(candidate))
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
                for run in rarest() {
                    survivors.add(*run, at);
                }
            }
        }
    }
    found
}

/// Survivors by their rarest runs: lists, each with the newest first, of which runs with the same slot share one.
struct Survivors {
    /// Where each list begins in `links`, counted from 1.
    heads: Vec<u32>,
    /// A run, a survivor that has it, and the next link, counted from 1.
    links: Vec<(u64, u32, u32)>,
}

impl Default for Survivors {
    fn default() -> Self {
        Self { heads: vec![0; 1 << LISTS_LOG2], links: Vec::new() }
    }
}

impl Survivors {
    fn add(&mut self, run: u64, survivor: usize) {
        if let Some(head) = self.heads.get_mut(list(run)) {
            self.links.push((run, count(survivor), *head));
            *head = count(self.links.len());
        }
    }

    /// Where the list of a run begins.
    fn first(&self, run: u64) -> u32 {
        self.heads.get(list(run)).copied().unwrap_or_default()
    }

    /// Those with a run, whose list begins there.
    fn with(&self, run: u64, first: u32) -> impl Iterator<Item = usize> {
        let link = |at: u32| self.links.get(usize::try_from(at).ok()?.checked_sub(1)?);
        std::iter::successors(link(first), move |(_, _, next)| link(*next))
            .filter(move |(of, _, _)| *of == run)
            .filter_map(|(_, survivor, _)| usize::try_from(*survivor).ok())
    }
}

fn list(run: u64) -> usize {
    usize::try_from(run & ((1 << LISTS_LOG2) - 1)).unwrap_or_default()
}

/// How many of a text's rarest runs have to be looked at: two sets with Jaccard above t share one of the rarest
/// `n - ceil(t·n) + 1` of each.
fn prefix_len(runs: usize) -> usize {
    (runs + 1).saturating_sub((TENTHS * runs).div_ceil(10))
}

/// Whether two texts, both in the order of rarity, have more than seven tenths in common.
fn is_near(a: &[u64], b: &[u64]) -> bool {
    // c common ones are enough when c > 0.7 · (a + b - c), in whole numbers.
    let enough = TENTHS * (a.len() + b.len()) / (10 + TENTHS) + 1;
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
