//! The rules by which writes merge: the same on every machine, however writes are batched.
//!
//! The rules are stated once, here, for two records of a kind. Staged work merges by them
//! ([`Staged::absorb`]), and so does memory (`draft.rs`). Staged work keeps everything that a later
//! fold needs: `a.absorb(b)` and then folding gives the same memory as folding `a` and then `b`.

mod topics;

use std::collections::{BTreeMap, BTreeSet};

use crate::error_line::normalised;
use crate::fold::{clip, fold, keep_end, one_line, substance};
use crate::ids::Timestamp;
use crate::limits::{
    CAPTURED_COMMAND_CHARS_MAX, ERROR_LINE_CHARS_MAX, LESSON_FILES_MAX, TEXT_BYTES_MAX,
};
use crate::lines::Ranges;
use crate::note::{NewNote, Note};
use crate::record::{Anchor, Blueprint, Category, Lesson};
use crate::staged::Staged;

/// The effect on a stored blueprint when its category and title are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The content is the same.
    Same,
    /// Both are immutable, so the stored one stays, verbatim.
    Kept,
    /// The new one replaces it.
    Replaced,
}

pub(crate) fn judge(stored: &Blueprint, new: &Blueprint) -> Verdict {
    if stored.content == new.content && stored.immutable == new.immutable {
        Verdict::Same
    } else if stored.immutable && new.immutable {
        Verdict::Kept
    } else {
        Verdict::Replaced
    }
}

impl Blueprint {
    /// Returns the merge key: two blueprints with the same key are one.
    pub(crate) fn key(&self) -> (Category, String) {
        (self.category, fold(&self.title))
    }
}

impl Anchor {
    /// Returns whether one anchor over both is equivalent.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.file == other.file && self.lines.meets(&other.lines)
    }
}

impl Lesson {
    /// Returns the key by which lessons merge. A lesson recorded by rule is identified by its
    /// failure. Its key has a line break, which no summary has, so it never merges with a lesson
    /// that an agent wrote.
    pub(crate) fn key(&self) -> String {
        match &self.captured {
            Some(fixed) => format!("{}\n{}", fixed.command, normalised(&fixed.error)),
            None => substance(&self.summary),
        }
    }

    /// Cuts a lesson to a record's limits: keeps the end of the detail, and the files named last.
    #[must_use]
    pub(crate) fn within_limits(mut self) -> Self {
        self.detail = keep_end(self.detail, TEXT_BYTES_MAX);
        self.files.drain(..self.files.len().saturating_sub(LESSON_FILES_MAX));
        if let Some(fixed) = &mut self.captured {
            fixed.command = clip(&one_line(&fixed.command), CAPTURED_COMMAND_CHARS_MAX);
            fixed.error = clip(&one_line(&fixed.error), ERROR_LINE_CHARS_MAX);
            let remedy = fixed.remedy.take();
            fixed.remedy = remedy.map(|line| clip(&one_line(&line), CAPTURED_COMMAND_CHARS_MAX));
        }
        self
    }

    /// Merges another version of the same lesson: the more specific summary, all details, all
    /// files.
    pub(crate) fn unite(&mut self, later: &Self) {
        let mut known = Known::of(self);
        self.unite_known(later, &mut known);
    }

    /// Merges the same lesson from another project, if both are recorded by rule. The newer one
    /// says what to do. Both may count the same fixes, so the larger count is kept. Returns whether
    /// both are recorded by rule.
    fn unite_captured(&mut self, later: &Self) -> bool {
        let (Some(known), Some(new)) = (&self.captured, &later.captured) else { return false };
        let times = known.times.max(new.times);
        if new.last >= known.last {
            *self = later.clone();
        }
        if let Some(fixed) = &mut self.captured {
            fixed.times = times;
        }
        true
    }

    /// Merges one of many versions like [`Lesson::unite`]. `known` is the lesson's content so far.
    fn unite_known(&mut self, later: &Self, known: &mut Known) {
        if self.unite_captured(later) {
            return;
        }
        let length = |summary: &str| fold(summary).chars().count();
        if length(&later.summary) > length(&self.summary) {
            self.summary.clone_from(&later.summary);
        }
        for paragraph in paragraphs(&later.detail) {
            if known.paragraphs.insert(fold(paragraph)) {
                add_paragraph(&mut self.detail, paragraph);
            }
        }
        for file in &later.files {
            if known.files.insert(file.clone()) {
                self.files.push(file.clone());
            }
        }
    }
}

/// A lesson's content, built once for all the versions that merge into it.
struct Known {
    /// Folded paragraphs.
    paragraphs: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Known {
    fn of(lesson: &Lesson) -> Self {
        let paragraphs = paragraphs(&lesson.detail).map(fold).collect();
        Self { paragraphs, files: lesson.files.iter().cloned().collect() }
    }
}

impl Note {
    /// Merges the note's next version. A fact is replaced, except for a pin and an importance that
    /// the new version leaves out.
    ///
    /// A repeated content gains what the new version adds. It keeps its expiry, unless the new
    /// version sets or cancels it, or `told` is after it.
    pub(crate) fn rewrite(
        &mut self,
        new: &NewNote,
        tags: &mut Vec<String>,
        pinned: &mut bool,
        told: Timestamp,
    ) {
        let is_fact = self.key.is_some();
        if is_fact || !new.tags.is_empty() {
            *tags = new.tags();
        }
        if is_fact || !new.summary.is_empty() {
            self.set_summary(new.summary.clone());
        }
        if !is_fact {
            self.repeats = self.repeats.saturating_add(new.repeats).saturating_add(1);
        }
        self.set_content(new.content.clone());
        self.importance = new.importance.unwrap_or(self.importance);
        let over = is_fact || new.lasts || self.is_expired(told);
        self.expires = new.expires.or(self.expires.filter(|_| !over));
        *pinned |= new.pinned;
    }
}

impl NewNote {
    /// Merges like [`Note::rewrite`], for a note that is not in memory yet.
    fn unite(&mut self, later: &Self, told: Timestamp) {
        let is_fact = self.key.is_some();
        if is_fact || !later.tags.is_empty() {
            self.tags.clone_from(&later.tags);
        }
        if is_fact || !later.summary.is_empty() {
            self.summary.clone_from(&later.summary);
        }
        if !is_fact {
            self.repeats = self.repeats.saturating_add(later.repeats).saturating_add(1);
        }
        self.content.clone_from(&later.content);
        self.importance = later.importance.or(self.importance);
        let over = later.lasts || self.is_expired(told);
        self.lasts = later.lasts || (!is_fact && (self.lasts || over) && later.expires.is_none());
        self.expires = later.expires.or(self.expires.filter(|_| !is_fact && !over));
        self.pinned |= later.pinned;
    }
}

/// Returns the paragraphs of a text. Each version of a lesson may have some of them.
pub(crate) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n")
        .map(|paragraph| paragraph.trim_start_matches('\n').trim_end())
        .filter(|paragraph| !paragraph.is_empty())
}

/// Appends a paragraph to a text, and trims blanks before it.
fn add_paragraph(text: &mut String, paragraph: &str) {
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(paragraph);
}

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
        self.absorb_topics(&later.topics);
        self.absorb_blueprints(&later.blueprints)
    }

    fn absorb_lessons(&mut self, later: &[Lesson]) {
        if later.is_empty() {
            return;
        }
        let mut at: BTreeMap<String, usize> =
            self.lessons.iter().enumerate().map(|(at, lesson)| (lesson.key(), at)).collect();
        let mut known: BTreeMap<usize, Known> = BTreeMap::new();
        for lesson in later {
            let slot = *at.entry(lesson.key()).or_insert(self.lessons.len());
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
            let slot = *at.entry(stored.key()).or_insert(titles.len());
            match titles.get_mut(slot) {
                Some(entries) => entries.push(stored),
                None => titles.push(vec![stored]),
            }
        }
        for new in later {
            let slot = *at.entry(new.key()).or_insert(titles.len());
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
