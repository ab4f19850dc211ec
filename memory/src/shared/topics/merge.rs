//! Merges what changed in a topic's files into its record.

use std::collections::BTreeMap;

use super::lists::Item;
use super::{DESCRIPTIONS, Part, STATUS_AT, SharedContent, Whole, status_line, status_time};
use crate::ids::ShareId;
use crate::record::Record;
use crate::shared::FileForm;

/// Merges the files' combination into a record. `base` is their last agreement; without one, both
/// are united. Returns `None` if both changed one description. Of two statuses the newer one wins,
/// and the other is a line of the history.
pub(crate) fn merged(
    base: Option<&SharedContent>,
    stored: &Record,
    theirs: &FileForm,
) -> Option<SharedContent> {
    let ours = Whole::of(&SharedContent::of(stored))?;
    let since = theirs.times.get(STATUS_AT).copied().or(theirs.created).unwrap_or_default();
    let theirs = Part::new(ShareId::derive("", stored.id), theirs)?.whole;
    let base = base.and_then(Whole::of);
    let known = base.clone().unwrap_or_default();
    let mut merged = theirs.clone();
    if base.is_some() && known.topic.name == theirs.topic.name {
        merged.topic.name.clone_from(&ours.topic.name);
    }
    let (mine, other) = (&ours.topic.status, &theirs.topic.status);
    let (kept, lost) = if mine == other || *mine == known.topic.status {
        (other, None)
    } else if *other == known.topic.status {
        (mine, None)
    } else if status_time(&ours.topic, stored) > since {
        (mine, Some((other, since)))
    } else {
        (other, Some((mine, status_time(&ours.topic, stored))))
    };
    merged.topic.status.clone_from(kept);
    for (_, text) in DESCRIPTIONS {
        let of = |whole: &Whole| std::mem::take(text(&mut whole.topic.clone()));
        let (was, mine, other) = (of(&known), of(&ours), of(&theirs));
        *text(&mut merged.topic) = if mine == other || mine == was {
            other
        } else if other == was {
            mine
        } else {
            return None;
        };
    }
    let topics = (&known.topic, &ours.topic, &theirs.topic);
    let (was, mine, other) = topics;
    merged.topic.decisions = list(&was.decisions, &mine.decisions, &other.decisions);
    merged.topic.history = list(&was.history, &mine.history, &other.history);
    merged.topic.files = list(&was.files, &mine.files, &other.files);
    merged.tags = list(&known.tags, &ours.tags, &theirs.tags);
    merged.pinned = if ours.pinned == known.pinned { theirs.pinned } else { ours.pinned };
    if let Some((status, since)) = lost.filter(|(status, _)| !status.is_empty()) {
        let line = status_line(status, since);
        if !merged.topic.history.iter().any(|known| known.text == line.text) {
            merged.topic.history.push(line);
        }
    }
    merged.topic.history.sort_by_key(Item::key);
    Some(merged.content())
}

/// Merges lists: what one side added or removed, the merged list has or lacks. Of two new items
/// with one key, the one that counts among files stays.
fn list<T: Item>(base: &[T], ours: &[T], theirs: &[T]) -> Vec<T> {
    let by_key = |items: &[T]| -> BTreeMap<T::Key, T> {
        items.iter().map(|item| (item.key(), item.clone())).collect()
    };
    let (was, mine, other) = (by_key(base), by_key(ours), by_key(theirs));
    let is_as_before = |item: &T| was.get(&item.key()).is_some_and(|known| known.is_same(item));
    let mut merged = Vec::new();
    for item in theirs {
        match mine.get(&item.key()) {
            // Removed here.
            None if is_as_before(item) => {}
            None => merged.push(item.clone()),
            Some(own) if is_as_before(own) => merged.push(item.clone()),
            Some(own) if is_as_before(item) => merged.push(own.clone()),
            Some(own) => merged.push(own.clone().joined(item)),
        }
    }
    let added = ours.iter().filter(|own| !other.contains_key(&own.key()) && !is_as_before(own));
    merged.extend(added.cloned());
    merged
}
