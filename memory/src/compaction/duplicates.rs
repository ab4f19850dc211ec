//! Finds notes that say nearly the same: their sets of three-word runs have a Jaccard similarity
//! above 0.7, and they name the same numbers. "The limit is 30 s" and "the limit is 60 s" are two
//! facts, however long the sentence around the number.
//!
//! [`NearDuplicates`] remembers what it has compared, so a plan reads only the texts that changed
//! since the last plan. That memory only saves time: an empty one finds the same duplicates.
//!
//! Not all pairs are compared. Runs have a fixed order, and two sets that similar share a run among
//! the first three tenths of each (prefix filtering; Chaudhuri, Ganti, Kaushik: "A Primitive
//! Operator for Similarity Joins in Data Cleaning", 2006). So only those runs are indexed. Rare
//! runs come first (Bayardo, Ma, Srikant: "Scaling Up All Pairs Similarity Search", 2007). Their
//! counts stay fixed until the number of notes has doubled; then the index is rebuilt. An outline
//! rules out most notes that share a rare run, and the rest are compared exactly.
//!
//! Notes that are near each other, or linked by a chain of such notes, form a group. A plan
//! compares each note with the survivors of its group. Each note is compared with at most
//! [`DUPLICATE_CANDIDATES_MAX`] others when it is added, and again in each plan. A note that
//! resembles very many others may therefore survive; compaction then archives it by its score.

mod lists;
mod outline;
mod rarity;
mod runs;

use std::collections::{BTreeMap, HashMap};

use crate::ids::{RecordId, Version};
use crate::limits::{DUPLICATE_CANDIDATES_MAX, DUPLICATE_LINKS_MAX};
use crate::record::Record;
use crate::staged::count;
use lists::Lists;
use outline::Outline;
use rarity::Rarity;

/// The similarity, in tenths, above which notes are near duplicates.
const TENTHS: usize = 7;
/// The minimum number of new notes before a rebuild, however few notes the last one had.
const NEW_NOTES_LEAST: usize = 1_000;

/// A note that is compared.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) record: &'a Record,
    pub(super) content: &'a str,
    /// Whether it may be folded into another note. If not, others may still be folded into it.
    pub(super) may_fold: bool,
    /// Whether it has a key. A fact is never folded into another note, so two facts are not
    /// compared.
    pub(super) is_fact: bool,
}

/// Near duplicates among the notes of one pool, kept from plan to plan.
#[derive(Debug, Default)]
pub struct NearDuplicates {
    places: HashMap<RecordId, u32>,
    notes: Vec<Compared>,
    rarity: Rarity,
    lists: Lists,
    /// The number of notes that the order of rarity was built from.
    built_of: usize,
}

/// A note that was compared with all notes before it.
#[derive(Debug)]
struct Compared {
    /// The version that introduced the content, and the content's length in bytes.
    stamp: (Version, usize),
    is_fact: bool,
    /// Whether the last plan included it with this content.
    is_current: bool,
    /// Whether it is, or was, near another note.
    is_grouped: bool,
    outline: Outline,
    /// The parent in the union-find forest: a note of the same group, or the note itself if it is
    /// the group's root.
    leads_to: u32,
    /// The last note that found this one in a list.
    met_by: u32,
}

impl NearDuplicates {
    /// Returns each duplicate with its survivor. The survivor comes earlier in the given order and
    /// is not a duplicate itself.
    pub(super) fn find<'a>(&mut self, best_first: &[Text<'a>]) -> BTreeMap<RecordId, &'a Record> {
        let places = self.update(best_first);
        let mut groups: HashMap<u32, Vec<(Text<'a>, Outline)>> = HashMap::new();
        for (text, place) in best_first.iter().zip(places) {
            let note = self.notes.get(place as usize).filter(|note| note.is_grouped);
            if let Some(outline) = note.map(|note| note.outline) {
                groups.entry(self.group(place)).or_default().push((*text, outline));
            }
        }
        groups
            .into_values()
            .filter(|group| group.len() > 1)
            .flat_map(|group| self.fold(&group))
            .collect()
    }

    /// Folds the notes of one group.
    fn fold<'a>(&self, group: &[(Text<'a>, Outline)]) -> Vec<(RecordId, &'a Record)> {
        let mut found = Vec::new();
        let mut survivors: Vec<(Vec<u64>, Outline, &'a Record)> = Vec::new();
        for (text, outline) in group {
            let runs = self.rarity.rarest_first(text.content);
            let mut candidates = survivors
                .iter()
                .filter(|(_, other, _)| text.may_fold && outline.may_be_near(other))
                .take(DUPLICATE_CANDIDATES_MAX);
            match candidates.find(|(other, ..)| is_near(&runs, other)) {
                Some((.., survivor)) => found.push((text.record.id, *survivor)),
                None => survivors.push((runs, *outline, text.record)),
            }
        }
        found
    }

    /// Adds new and changed notes, and marks missing ones as not current. Returns the place of each
    /// text.
    fn update(&mut self, texts: &[Text<'_>]) -> Vec<u32> {
        let known = |this: &Self| texts.iter().map(|text| this.known(text)).collect();
        let mut places: Vec<Option<u32>> = known(self);
        let new = places.iter().filter(|place| place.is_none()).count();
        if self.wants_rebuild(new) {
            *self = Self {
                rarity: Rarity::of(texts.iter().map(|text| text.content)),
                lists: Lists::for_notes(texts.len()),
                built_of: texts.len(),
                ..Self::default()
            };
            places = vec![None; texts.len()];
        }
        for note in &mut self.notes {
            note.is_current = false;
        }
        // Known notes come first, since new ones are compared with all of them.
        let mut contents = vec![""; self.notes.len()];
        for (text, place) in texts.iter().zip(&places) {
            let Some(place) = place.map(|place| place as usize) else { continue };
            if let (Some(note), Some(content)) =
                (self.notes.get_mut(place), contents.get_mut(place))
            {
                note.is_current = true;
                *content = text.content;
            }
        }
        let new = texts.iter().zip(places);
        new.map(|(text, known)| known.unwrap_or_else(|| self.add(text, &mut contents))).collect()
    }

    /// Whether more notes were added than the order of rarity was built from.
    fn wants_rebuild(&self, new: usize) -> bool {
        let added = self.notes.len().saturating_sub(self.built_of) + new;
        self.built_of == 0 || added > self.built_of.max(NEW_NOTES_LEAST)
    }

    /// Returns the place of a note that the last plan included with its present content. A note
    /// that was missing from a plan was not compared with the notes that the plan added.
    fn known(&self, text: &Text<'_>) -> Option<u32> {
        let place = *self.places.get(&text.record.id)?;
        let note = self.notes.get(place as usize)?;
        let is_same = note.stamp == text.stamp() && note.is_fact == text.is_fact;
        (is_same && note.is_current).then_some(place)
    }

    /// Compares a note with those that may be near it, then lists it. `contents` has the texts by
    /// place.
    fn add<'a>(&mut self, text: &Text<'a>, contents: &mut Vec<&'a str>) -> u32 {
        let place = count(self.notes.len());
        let runs = self.rarity.rarest_first(text.content);
        let outline = Outline::of(text.content, &runs);
        self.notes.push(Compared {
            stamp: text.stamp(),
            is_fact: text.is_fact,
            is_current: true,
            is_grouped: false,
            outline,
            leads_to: place,
            met_by: place,
        });
        contents.push(text.content);
        self.places.insert(text.record.id, place);
        let rarest = runs.iter().take(prefix_len(runs.len()));
        let met = rarest.clone().flat_map(|run| self.lists.notes_with(*run));
        let met: Vec<u32> = met.take(DUPLICATE_LINKS_MAX).collect();
        let mut compared = 0;
        for other in met {
            let Some(note) = self.notes.get_mut(other as usize) else { continue };
            let is_met = std::mem::replace(&mut note.met_by, place) == place;
            let may_be_near = !is_met
                && note.is_current
                && !(note.is_fact && text.is_fact)
                && outline.may_be_near(&note.outline);
            if !may_be_near || self.group(other) == self.group(place) {
                continue;
            }
            if compared == DUPLICATE_CANDIDATES_MAX {
                break;
            }
            compared += 1;
            let content = contents.get(other as usize).copied().unwrap_or_default();
            if is_near(&runs, &self.rarity.rarest_first(content)) {
                self.unite(place, other);
            }
        }
        for run in rarest {
            self.lists.add(*run, place);
        }
        place
    }

    /// Returns the root of a note's group.
    fn group(&mut self, note: u32) -> u32 {
        let leads_to = |notes: &[Compared], from: u32| {
            notes.get(from as usize).map_or(from, |note| note.leads_to)
        };
        let mut at = note;
        while leads_to(&self.notes, at) != at {
            let next = leads_to(&self.notes, at);
            let after = leads_to(&self.notes, next);
            // Shortens the path for the next lookup.
            if let Some(note) = self.notes.get_mut(at as usize) {
                note.leads_to = after;
            }
            at = after;
        }
        at
    }

    /// Merges the groups of two near notes.
    fn unite(&mut self, one: u32, other: u32) {
        let (from, to) = (self.group(other), self.group(one));
        if let Some(note) = self.notes.get_mut(from as usize) {
            note.leads_to = to;
        }
        for note in [one, other] {
            if let Some(note) = self.notes.get_mut(note as usize) {
                note.is_grouped = true;
            }
        }
    }
}

impl Text<'_> {
    fn stamp(&self) -> (Version, usize) {
        (self.record.content_version().version, self.content.len())
    }
}

/// Returns how many of a text's rarest runs must be indexed. Two sets with Jaccard similarity above
/// t share one of the rarest `n - ceil(t·n) + 1` of each.
fn prefix_len(runs: usize) -> usize {
    (runs + 1).saturating_sub((TENTHS * runs).div_ceil(10))
}

/// Returns the least number of common runs with which two sets exceed seven tenths. For sets of a
/// and b runs with c in common, c > 0.7 · (a + b - c).
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
    // Advances without a branch on which is smaller, since that is unpredictable.
    let (mut ours, mut theirs, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(ours), b.get(theirs)) {
        common += usize::from(x == y);
        ours += usize::from(x <= y);
        theirs += usize::from(y <= x);
        // Rare runs come first, so texts with little in common are rejected early.
        if ours - common > ours_left || theirs - common > theirs_left {
            return false;
        }
    }
    common >= enough
}

#[cfg(test)]
mod tests;
