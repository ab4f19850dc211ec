//! Records that were judged here after an earlier import: forgotten, or changed. An import of the
//! same items leaves them so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::forgotten::shorten;
use crate::ids::{Kind, RecordId, SessionId, Timestamp, Version};
use crate::kinds::MergeKey;
use crate::limits::IMPORT_EARLIER_VERSIONS_MAX;
use crate::memory::Memory;
use crate::record::{Body, Lesson, Record, RecordState};

/// The records that were forgotten here, by key, with the time of their last write.
///
/// A record that an undo took back was not judged by anybody, so that the same source can be
/// imported again.
pub(super) struct Forgotten(BTreeMap<MergeKey, Vec<(Timestamp, Body)>>);

impl Forgotten {
    pub(super) fn of(memory: &Memory) -> Self {
        let is_judged =
            |record: &Record| record.state == RecordState::Forgotten && !record.is_taken_back();
        let mut forgotten: BTreeMap<MergeKey, Vec<(Timestamp, Body)>> = BTreeMap::new();
        for record in memory.records().filter(|record| is_judged(record)) {
            // Memory has the heads of most of them, so all are compared as heads.
            let body = shortened(&record.body);
            if let Some(key) = body.key() {
                forgotten.entry(key).or_default().push((record.updated.time, body));
            }
        }
        Self(forgotten)
    }

    /// Returns whether nothing was forgotten here.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a record with this key was forgotten here.
    pub(super) fn has_key(&self, key: &MergeKey) -> bool {
        self.0.contains_key(key)
    }

    /// Returns whether a record with this key and text was forgotten here.
    pub(super) fn has_text(&self, key: &MergeKey, text: &str) -> bool {
        let mut text = text.to_owned();
        shorten(&mut text);
        let says = |(_, body): &(Timestamp, Body)| body.own_texts().contains(&text.as_str());
        self.0.get(key).is_some_and(|forgotten| forgotten.iter().any(says))
    }

    /// Returns whether an item was forgotten here, and its original has not changed since. An
    /// original without a time counts as unchanged.
    pub(super) fn has(&self, item: &Body, time: Option<Timestamp>) -> bool {
        self.same(item).any(|(forgotten, _)| time.is_none_or(|time| *forgotten >= time))
    }

    /// Returns whether an item was forgotten here like [`Forgotten::has`], and nothing is in its
    /// place.
    pub(super) fn keeps_out(&self, head: &Memory, item: &Body, time: Option<Timestamp>) -> bool {
        self.has(item, time) && existing(head, item).is_none()
    }

    /// Returns whether an item was forgotten with another text.
    pub(super) fn differs(&self, item: &Body) -> bool {
        let item = shortened(item);
        !self.same(&item).any(|(_, body)| body.own_texts() == item.own_texts())
    }

    /// Returns whether the row of a session that ended at this time was forgotten here.
    pub(super) fn has_row(&self, session: &SessionId, time: Option<Timestamp>) -> bool {
        let rows = self.0.get(&MergeKey::SessionRow(session.clone()));
        let mut rows = rows.into_iter().flatten();
        rows.any(|(forgotten, _)| time.is_none_or(|time| *forgotten >= time))
    }

    fn same(&self, item: &Body) -> impl Iterator<Item = &(Timestamp, Body)> {
        let item = shortened(item);
        let same_key = item.key().and_then(|key| self.0.get(&key));
        same_key.into_iter().flatten().filter(move |(_, body)| is_same(body, &item))
    }
}

/// The earlier texts of notes that were corrected here, with the times of their last writes.
/// Nothing else says that a note without a key came of an item: its text was all that they shared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EarlierTexts {
    shared: BTreeMap<String, Timestamp>,
    /// Those of the notes for which [`has_place`] holds.
    placed: BTreeMap<String, Timestamp>,
}

impl EarlierTexts {
    /// Returns the versions that [`EarlierTexts::of`] takes. A memory does not have them, but its
    /// journal does.
    pub fn wanted(memory: &Memory) -> BTreeSet<(RecordId, Version)> {
        let earlier = |placed: bool| {
            let notes = memory.records_of(Kind::Note).rev().filter(move |record| {
                record.note().is_some() && has_place(record) == placed && !record.is_taken_back()
            });
            notes.flat_map(move |record| {
                let written = record.content_version().version.0;
                // The text of the version before it was forgotten is in the memory. By that text
                // alone only a note without a place is found.
                let is_forgotten = record.state == RecordState::Forgotten && !placed;
                let end = written.saturating_sub(u32::from(is_forgotten));
                let id = record.id;
                (1..end).map(move |version| (id, Version(version)))
            })
        };
        earlier(false).chain(earlier(true)).take(IMPORT_EARLIER_VERSIONS_MAX).collect()
    }

    /// Returns the texts of these versions.
    pub fn of<'r>(memory: &Memory, versions: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut earlier = Self::default();
        for version in versions {
            let (Some(note), Some(now)) = (version.note(), memory.record(version.id)) else {
                continue;
            };
            let texts = if has_place(now) { &mut earlier.placed } else { &mut earlier.shared };
            let written = texts.entry(note.content.clone()).or_default();
            *written = now.updated.time.max(*written);
        }
        earlier
    }

    /// Returns whether a note with this text was corrected here, and its original has not been
    /// written again since. An original without a time counts as unchanged.
    pub(super) fn has(&self, text: &str, time: Option<Timestamp>) -> bool {
        is_in(&self.shared, text, time)
    }

    /// Returns like [`EarlierTexts::has`] whether a note for which [`has_place`] holds had this
    /// text.
    pub(super) fn has_placed(&self, text: &str, time: Option<Timestamp>) -> bool {
        is_in(&self.placed, text, time)
    }
}

fn is_in(texts: &BTreeMap<String, Timestamp>, text: &str, time: Option<Timestamp>) -> bool {
    let written = texts.get(text);
    written.is_some_and(|written| time.is_none_or(|time| *written >= time))
}

/// Returns whether a note has a key, or is a session's own. An item that has only a text never
/// meets it.
pub(super) fn has_place(record: &Record) -> bool {
    record.owner().is_some() || record.note().is_some_and(|note| note.key.is_some())
}

/// Returns the record that an item would merge with.
pub(super) fn existing<'m>(memory: &'m Memory, item: &Body) -> Option<&'m Arc<Record>> {
    if !matches!(item, Body::Anchor(_)) {
        return memory.existing_match(item);
    }
    let key = item.key()?;
    memory.keyed(&key).find(|record| is_same(&record.body, item))
}

/// Returns whether a record that this source made was changed here by somebody else.
pub(super) fn is_corrected(record: &Record, source: &str) -> bool {
    *record.created.client == *source && *record.updated.client != *source
}

/// Returns whether a lesson adds something to the one that is here.
pub(super) fn adds(here: &Record, lesson: &Lesson) -> bool {
    let Body::Lesson(here) = &here.body else { return true };
    let mut united = here.clone();
    united.unite(lesson);
    !united.content_eq(here)
}

fn shortened(body: &Body) -> Body {
    let mut body = body.clone();
    body.fields_mut().shorten();
    body
}

/// Returns whether two bodies with the same key are the same item.
fn is_same(one: &Body, other: &Body) -> bool {
    match (one, other) {
        (Body::Anchor(one), Body::Anchor(other)) => one.is_same_place(other),
        (Body::Blueprint(one), Body::Blueprint(other)) => !one.may_coexist_with(other),
        // The heads of long notes may begin alike. Their counts are those of the whole texts.
        (Body::Note(one), Body::Note(other)) if one.key.is_none() => {
            (&one.content, one.tokens) == (&other.content, other.tokens)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests;
