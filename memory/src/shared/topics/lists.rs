//! Lists of a topic that are in several files. An item is known by its key, and files may have
//! different items with one key.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::Timestamp;
use crate::kinds::topic::{HistoryLine, TopicDecision, topic_key};
use crate::limits::TOPIC_FILES_MAX;

/// An item of a list.
pub(super) trait Item: Clone {
    /// The property that makes two items the same thing.
    type Key: Clone + Ord;

    /// Whether the place in a list tells how new an item is.
    const IS_PLACED: bool = false;

    fn key(&self) -> Self::Key;

    /// Returns what two items with one key are together.
    fn joined(self, other: &Self) -> Self;

    /// Returns whether two items with one key are equal.
    fn is_same(&self, other: &Self) -> bool;

    /// Returns whether this item of a record is `undated`, with the time of its write.
    fn dates(&self, _undated: &Self) -> bool {
        false
    }

    /// Orders items by the time for which a full list keeps them, shortest first.
    fn by_age(items: &mut [Self], places: &BTreeMap<Self::Key, usize>);

    /// Orders items as a topic has them.
    fn in_order(_items: &mut [Self]) {}
}

impl Item for TopicDecision {
    type Key = String;

    fn key(&self) -> String {
        topic_key(&self.question)
    }

    /// An answer wins over an open question, then the later one.
    fn joined(self, other: &Self) -> Self {
        let weight = |it: &Self| (it.decided.is_some(), it.time, it.decided.clone());
        let (mine, theirs) = (weight(&self), weight(other));
        let other_wins = (theirs, &other.question) > (mine, &self.question);
        if other_wins { other.clone() } else { self }
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    fn dates(&self, undated: &Self) -> bool {
        undated.time == Timestamp::default() && *self == Self { time: self.time, ..undated.clone() }
    }

    fn by_age(items: &mut [Self], _: &BTreeMap<String, usize>) {
        items.sort_by_key(|it| (it.decided.is_none(), it.time, it.key()));
    }

    fn in_order(items: &mut [Self]) {
        items.sort_by_key(|it| (it.time, it.key()));
    }
}

impl Item for HistoryLine {
    type Key = (Timestamp, String, Arc<str>);

    fn key(&self) -> Self::Key {
        (self.time, self.text.clone(), Arc::clone(&self.client))
    }

    fn joined(mut self, other: &Self) -> Self {
        if self.is_same(other) {
            return self;
        }
        let files: BTreeSet<String> = self.files.drain(..).chain(other.files.clone()).collect();
        let more = files.len().saturating_sub(TOPIC_FILES_MAX);
        let by_rule = self.by_rule && other.by_rule;
        Self { files: files.into_iter().skip(more).collect(), by_rule, ..self }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.key() == other.key()
            && self.by_rule == other.by_rule
            && are_same(&self.files, &other.files)
    }

    fn dates(&self, undated: &Self) -> bool {
        // The write of an undated line adds its time alone.
        undated.time == Timestamp::default()
            && self.is_same(&Self { time: self.time, ..undated.clone() })
    }

    fn by_age(items: &mut [Self], _: &BTreeMap<Self::Key, usize>) {
        items.sort_by_key(Item::key);
    }
}

/// A file or a tag. The last mentioned is the newest.
impl Item for String {
    type Key = Self;

    const IS_PLACED: bool = true;

    fn key(&self) -> Self {
        self.clone()
    }

    fn joined(self, _: &Self) -> Self {
        self
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    fn by_age(items: &mut [Self], places: &BTreeMap<Self, usize>) {
        items.sort_by_key(|it| (Reverse(places.get(it).copied()), it.clone()));
    }
}

/// Returns all items of these lists, by key.
fn union<'a, T: Item + 'a>(lists: impl IntoIterator<Item = &'a [T]>) -> BTreeMap<T::Key, T> {
    let mut all: BTreeMap<T::Key, T> = BTreeMap::new();
    for item in lists.into_iter().flatten() {
        let key = item.key();
        let joined = match all.remove(&key) {
            Some(known) => known.joined(item),
            None => item.clone(),
        };
        all.insert(key, joined);
    }
    all
}

/// Returns the newest items of these lists together, at most `max`.
pub(super) fn limited<T: Item>(lists: &[&[T]], max: usize) -> Vec<T> {
    // The distance of each item from the end of a list.
    let mut places: BTreeMap<T::Key, usize> = BTreeMap::new();
    for (place, item) in lists.iter().flat_map(|list| list.iter().rev().enumerate()) {
        let nearest = places.entry(item.key()).or_insert(place);
        *nearest = place.min(*nearest);
    }
    let mut all: Vec<T> = union(lists.iter().copied()).into_values().collect();
    T::by_age(&mut all, &places);
    let mut newest = all.split_off(all.len().saturating_sub(max));
    T::in_order(&mut newest);
    newest
}

/// Returns whether two lists have the same items, in any order.
pub(super) fn are_same<T: Item>(one: &[T], other: &[T]) -> bool {
    let (one, other) = (union([one]), union([other]));
    one.len() == other.len()
        && one.iter().all(|(key, item)| other.get(key).is_some_and(|it| it.is_same(item)))
}

/// Removes the items that another list has.
pub(super) fn drop_known<T: Item>(items: &mut Vec<T>, known: &[T]) {
    let known = union([known]);
    items.retain(|item| !known.get(&item.key()).is_some_and(|known| known.is_same(item)));
}

/// Gives items that somebody wrote without a time the time that they have in the record.
pub(super) fn date<T: Item>(items: &mut [T], record: &[T]) {
    for item in items {
        if let Some(dated) = record.iter().find(|it| it.dates(item)) {
            item.clone_from(dated);
        }
    }
}

/// Brings the files' lists to what a record has. `own` is the place of the list that gets what is
/// new. `derived` has items that the record has because of other fields of the files.
///
/// An item that a full list dropped for another one leaves the own list at most. Otherwise clones
/// that drop different items would change each other's files.
pub(super) fn spread<T: Item>(
    wanted: &[T],
    max: usize,
    derived: &[T],
    own: usize,
    mut lists: Vec<&mut Vec<T>>,
) {
    let all = union(slices(&lists));
    let seen = limited(&slices(&lists).into_iter().chain([derived]).collect::<Vec<_>>(), max);
    let seen: BTreeSet<T::Key> = seen.iter().map(Item::key).collect();
    let derived = union([derived]);
    let is_full = wanted.len() >= max;
    let overflows = is_full && wanted.iter().any(|item| !seen.contains(&item.key()));
    let is_there = |item: &&T| {
        let key = item.key();
        let is_out_of_sight = T::IS_PLACED && all.contains_key(&key) && !seen.contains(&key);
        let known = all.get(&key).or_else(|| derived.get(&key));
        !is_out_of_sight && known.is_some_and(|known| known.is_same(item))
    };
    let new: Vec<&T> = wanted.iter().filter(|item| !is_there(item)).collect();
    for item in &new {
        let key = item.key();
        if let Some(list) = lists.get_mut(own) {
            put(list, item);
        }
        let counts = union(slices(&lists)).get(&key).is_some_and(|known| known.is_same(item));
        if !counts {
            let others = lists.iter_mut().enumerate().filter(|(at, _)| *at != own);
            others.for_each(|(_, list)| list.retain(|other| other.key() != key));
        }
    }
    if T::IS_PLACED
        && !new.is_empty()
        && let Some(list) = lists.get_mut(own)
    {
        list.sort_by_key(|item| wanted.iter().position(|it| it.key() == item.key()));
    }
    let kept: BTreeSet<T::Key> = wanted.iter().map(Item::key).collect();
    for key in all.keys().filter(|key| !kept.contains(key)) {
        if is_full && !overflows && !seen.contains(key) {
            continue;
        }
        let from = lists.iter_mut().enumerate().filter(|(at, _)| !overflows || *at == own);
        from.for_each(|(_, list)| list.retain(|item| item.key() != *key));
    }
}

fn slices<'a, T>(lists: &'a [&mut Vec<T>]) -> Vec<&'a [T]> {
    lists.iter().map(|list| list.as_slice()).collect()
}

/// Puts an item in its place, or behind all others.
fn put<T: Item>(list: &mut Vec<T>, item: &T) {
    let key = item.key();
    let same = |it: &T| it.key() == key;
    let at = list.iter().position(same).filter(|_| !T::IS_PLACED);
    list.retain(|it| !same(it));
    list.insert(at.unwrap_or(list.len()).min(list.len()), item.clone());
}
