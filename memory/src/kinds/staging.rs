//! The interface of staged items to the code that handles staged work of any kind.

use std::collections::BTreeMap;

use super::{Anchor, MergeKey};
use crate::ids::{Revision, Timestamp};
use crate::intake::WriteLimits;
use crate::kinds::note::NewNote;
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::{Refusal, RefusedField};

/// An item that a session staged, until a save makes it a record or a part of one. For most kinds
/// it is the record's fields.
pub(crate) trait StagedItem {
    /// Checks the items of a write and returns them in their stored form. A refusal names the item.
    fn accept(items: Vec<Self>, limits: &WriteLimits) -> Result<Vec<Self>, Refusal>
    where
        Self: Sized;

    /// Merges later items, written at `sent`, so that nothing is lost that a fold needs. Returns
    /// those that it leaves out because an earlier one is to stay.
    fn absorb(items: &mut Vec<Self>, later: &[Self], sent: Timestamp) -> Vec<Body>
    where
        Self: Sized;

    /// Returns the item that writes a record of another memory into this one. `here` is the record
    /// that it merges with.
    fn of_record(record: &Record, here: Option<&Record>, origin: &Provenance) -> Option<Self>
    where
        Self: Sized;

    /// Counts items for a reply.
    fn count(items: &[Self]) -> usize
    where
        Self: Sized,
    {
        items.len()
    }

    /// Returns the rule by which a fold merges it.
    fn rule(&self) -> FoldRule<'_>;

    /// Returns the bytes of all text.
    fn bytes(&self) -> usize;

    /// Returns whether an agent wrote it.
    fn is_work(&self) -> bool {
        true
    }

    /// Changes each path of a file.
    fn change_files(&mut self, _: &mut dyn FnMut(&mut String)) {}

    /// Returns the item's field in a call. `list` is that of all items of the kind.
    fn field(&self, list: &'static str, at: usize) -> RefusedField {
        RefusedField::item(list, at)
    }

    /// Returns all texts, each with the name that it belongs to, if there is one.
    fn texts(&self) -> Vec<(&str, &str)>;

    /// Returns the texts of which a purge keeps digests, each with the name of its field; empty for
    /// the item as a whole.
    fn whole_texts(&self) -> Vec<(&'static str, String)>;

    /// Returns the merge key of the records that it became part of.
    fn purge_key(&self) -> Option<MergeKey>;
}

/// The rule by which a staged item becomes a record.
pub(crate) enum FoldRule<'a> {
    /// It merges with the record that has its key.
    Keyed(&'a dyn Keyed),
    /// It merges with all anchors that it meets.
    Anchor(&'a Anchor),
    /// It merges with a note of the same scope.
    Note(&'a NewNote),
}

/// A staged item that merges with the record that has its key.
pub(crate) trait Keyed {
    /// Returns the fields of a new record.
    fn body(&self) -> Body;

    /// Returns the revision at which it was staged, if its kind is judged by that.
    fn staged(&self) -> Option<Revision> {
        None
    }

    /// Returns the fields of a stored record after the write; `None` if the record has to stay.
    /// `written` is the revision at which its content was written.
    fn merged(&self, stored: Body, written: Revision) -> Option<Body>;
}

/// Checks one item and returns it in its stored form.
pub(crate) fn accepted_one<T: StagedItem>(item: T) -> Result<T, Refusal> {
    // It may come from a record of any tool set.
    let accepted = T::accept(vec![item], &WriteLimits::WIDE)?.into_iter().next();
    accepted.ok_or_else(|| Refusal::invalid("the record", "says nothing"))
}

/// Merges each later item with the one that has its key, and appends the others. `unite` also gets
/// the place of the earlier one.
pub(crate) fn absorb_by_key<T: Clone, K: Ord>(
    items: &mut Vec<T>,
    later: &[T],
    key: impl Fn(&T) -> K,
    mut unite: impl FnMut(usize, &mut T, &T),
) {
    if later.is_empty() {
        return;
    }
    let mut at: BTreeMap<K, usize> = items.iter().map(&key).zip(0..).collect();
    for item in later {
        let slot = *at.entry(key(item)).or_insert(items.len());
        match items.get_mut(slot) {
            Some(earlier) => unite(slot, earlier, item),
            None => items.push(item.clone()),
        }
    }
}
