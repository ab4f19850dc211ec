//! The rules by which writes merge: the same on every machine, however writes are batched.
//!
//! The rules are stated once, for two records of a kind, in the kind's module. Staged work merges
//! by them ([`Staged::absorb`]), and so does memory (`draft.rs`). Staged work keeps everything that
//! a later fold needs: `a.absorb(b)` and then folding gives the same memory as folding `a` and then
//! `b`.

use std::collections::BTreeMap;

use crate::ids::Timestamp;
use crate::kinds::blueprint::{Verdict, judge};
use crate::kinds::lesson::Known;
use crate::kinds::{note::NewNote, topic};
use crate::lines::Ranges;
use crate::record::{Anchor, Blueprint, Category, Lesson};
use crate::staged::Staged;

impl Staged {
    /// Absorbs later staged work, by the rules that also merge records. Returns the blueprints that
    /// it left out because an earlier one with their category and title is immutable.
    pub fn absorb(&mut self, later: &Self) -> Vec<Blueprint> {
        if later.is_empty() {
            return Vec::new();
        }
        // Checkpoints date the work. Activity recorded by rule dates it only if there are none.
        match (self.has_work(), later.has_work()) {
            (true, false) => {}
            (false, true) => (self.first, self.last) = (later.first, later.last),
            _ if self.is_empty() => (self.first, self.last) = (later.first, later.last),
            _ => {
                self.first = self.first.min(later.first);
                self.last = self.last.max(later.last);
            }
        }
        if let Some(later) = &later.captured {
            self.captured.get_or_insert_default().absorb(later);
        }
        if later.summary.is_some() {
            self.summary.clone_from(&later.summary);
        }
        if !later.client.is_empty() {
            self.client = later.client.clone();
        }
        self.absorb_anchors(&later.anchors);
        self.absorb_lessons(&later.lessons);
        self.absorb_notes(&later.notes, later.last);
        topic::absorb(&mut self.topics, &later.topics);
        self.absorb_blueprints(&later.blueprints)
    }

    fn absorb_lessons(&mut self, later: &[Lesson]) {
        if later.is_empty() {
            return;
        }
        let mut at: BTreeMap<String, usize> =
            self.lessons.iter().enumerate().map(|(at, lesson)| (lesson.text_key(), at)).collect();
        let mut known: BTreeMap<usize, Known> = BTreeMap::new();
        for lesson in later {
            let slot = *at.entry(lesson.text_key()).or_insert(self.lessons.len());
            match self.lessons.get_mut(slot) {
                Some(stored) => {
                    let known = known.entry(slot).or_insert_with(|| Known::of(stored));
                    stored.unite_known(lesson, known);
                }
                None => self.lessons.push(lesson.clone()),
            }
        }
    }

    fn absorb_notes(&mut self, later: &[NewNote], told: Timestamp) {
        let name = |note: &NewNote| {
            (note.private, note.key.clone(), note.key.is_none().then(|| note.content.clone()))
        };
        if later.is_empty() {
            return;
        }
        let mut at: BTreeMap<_, usize> =
            self.notes.iter().enumerate().map(|(at, note)| (name(note), at)).collect();
        for note in later {
            let slot = *at.entry(name(note)).or_insert(self.notes.len());
            match self.notes.get_mut(slot) {
                Some(staged) => staged.unite(note, told),
                None => self.notes.push(note.clone()),
            }
        }
    }

    /// Merges later blueprints. One title has at most two entries: a mutable one, which replaces
    /// any stored one, and after it the last immutable one. Alone, an immutable one would yield to
    /// the stored one.
    fn absorb_blueprints(&mut self, later: &[Blueprint]) -> Vec<Blueprint> {
        let mut left_out = Vec::new();
        let mut titles: Vec<Vec<Blueprint>> = Vec::new();
        let mut at: BTreeMap<(Category, String), usize> = BTreeMap::new();
        for stored in self.blueprints.drain(..) {
            let slot = *at.entry(stored.category_and_title()).or_insert(titles.len());
            match titles.get_mut(slot) {
                Some(entries) => entries.push(stored),
                None => titles.push(vec![stored]),
            }
        }
        for new in later {
            let slot = *at.entry(new.category_and_title()).or_insert(titles.len());
            match titles.get_mut(slot) {
                None => titles.push(vec![new.clone()]),
                Some(entries) => {
                    match entries.last().map_or(Verdict::Replaced, |stored| judge(stored, new)) {
                        Verdict::Replaced if new.immutable => entries.push(new.clone()),
                        Verdict::Replaced => *entries = vec![new.clone()],
                        Verdict::Kept => left_out.push(new.clone()),
                        Verdict::Same => {}
                    }
                }
            }
        }
        self.blueprints = titles.into_iter().flatten().collect();
        left_out
    }

    /// Merges later anchors. They stay in the order of their last write, so that the newest concept
    /// still wins if a stored anchor joins two of them.
    fn absorb_anchors(&mut self, later: &[Anchor]) {
        if later.is_empty() {
            return;
        }
        let mut files: BTreeMap<String, Ranges<usize>> = BTreeMap::new();
        let mut written: Vec<Option<Anchor>> = Vec::with_capacity(self.anchors.len() + later.len());
        for mut anchor in self.anchors.drain(..).chain(later.iter().cloned()) {
            let ranges = files.entry(anchor.file.clone()).or_default();
            let (lines, met) = ranges.take(&anchor.lines);
            for at in met {
                written.get_mut(at).map(Option::take);
            }
            ranges.put(lines.clone(), vec![written.len()]);
            anchor.lines = lines;
            written.push(Some(anchor));
        }
        self.anchors = written.into_iter().flatten().collect();
    }
}

#[cfg(test)]
mod tests;
