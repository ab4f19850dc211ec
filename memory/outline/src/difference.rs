//! The difference between two outlines of one file.

use std::collections::BTreeMap;

use crate::outline::{Import, Item, ItemKind, Outline};

/// The changes that turn one outline into another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference<'a> {
    /// Items that are new.
    pub added: Vec<&'a Item>,
    /// Items that are gone.
    pub removed: Vec<&'a Item>,
    /// Items of another text, as they were and as they are.
    pub changed: Vec<(&'a Item, &'a Item)>,
    /// Items of the same text on other lines. An item that moved with the one around it is not
    /// listed.
    pub moved: Vec<Moved<'a>>,
    /// Imports that are new.
    pub imports_added: Vec<&'a Import>,
    /// Imports that are gone.
    pub imports_removed: Vec<&'a Import>,
}

/// An item on other lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved<'a> {
    /// The item as it is.
    pub item: &'a Item,
    /// The line on which it began.
    pub from: u32,
}

impl Difference<'_> {
    /// Returns whether there is no change.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The names of the items around an item, its kind and its name.
type Path<'a> = (Vec<&'a str>, ItemKind, &'a str);

/// Compares two outlines of one file. Items are the same if their names and those of the items
/// around them are. Of several, those with the same text are paired first, then the others in
/// order.
pub fn compare<'a>(before: &'a Outline, after: &'a Outline) -> Difference<'a> {
    let (old, new) = (by_path(before), by_path(after));
    let mut pairs: Vec<Option<usize>> = vec![None; after.items.len()];
    let mut difference = Difference::default();
    for (path, places) in &new {
        let mut left: Vec<usize> = old.get(path).cloned().unwrap_or_default();
        let mut unpaired = Vec::new();
        for place in places {
            let is_same = |at: &usize| {
                let (old, new) = (before.items.get(*at), after.items.get(*place));
                old.zip(new).is_some_and(|(old, new)| content_eq(old, new))
            };
            match left.iter().position(is_same) {
                Some(at) => set(&mut pairs, *place, left.remove(at)),
                None => unpaired.push(*place),
            }
        }
        for place in unpaired {
            if left.is_empty() {
                difference.added.extend(after.items.get(place));
            } else {
                set(&mut pairs, place, left.remove(0));
            }
        }
    }
    let mut paired: Vec<usize> = pairs.iter().flatten().copied().collect();
    paired.sort_unstable();
    let is_gone = |(at, _): &(usize, &Item)| paired.binary_search(at).is_err();
    difference.removed =
        before.items.iter().enumerate().filter(is_gone).map(|(_, item)| item).collect();
    difference.added.sort_by_key(|item| (item.first, item.depth));
    // The distances by which the items around an item moved.
    let mut shifts: Vec<i64> = Vec::new();
    for (item, old) in after.items.iter().zip(&pairs) {
        shifts.truncate(usize::from(item.depth));
        let old = old.and_then(|at| before.items.get(at));
        let shift = old.map_or(0, |old| i64::from(item.first) - i64::from(old.first));
        if let Some(old) = old {
            if !content_eq(old, item) {
                difference.changed.push((old, item));
            } else if shift != 0 && shifts.last() != Some(&shift) {
                difference.moved.push(Moved { item, from: old.first });
            }
        }
        shifts.push(shift);
    }
    let texts = |imports: &'a [Import]| imports.iter().map(|import| import.text.as_str());
    let missing = |from: &'a [Import], other: &'a [Import]| {
        let is_missing = |import: &&Import| !texts(other).any(|text| text == import.text);
        from.iter().filter(is_missing).collect()
    };
    difference.imports_added = missing(&after.imports, &before.imports);
    difference.imports_removed = missing(&before.imports, &after.imports);
    difference
}

fn set(pairs: &mut [Option<usize>], place: usize, old: usize) {
    if let Some(pair) = pairs.get_mut(place) {
        *pair = Some(old);
    }
}

fn content_eq(old: &Item, new: &Item) -> bool {
    (old.digest, &old.signature, &old.doc) == (new.digest, &new.signature, &new.doc)
}

/// Lists the places of items by their paths.
fn by_path(outline: &Outline) -> BTreeMap<Path<'_>, Vec<usize>> {
    let mut all: BTreeMap<Path<'_>, Vec<usize>> = BTreeMap::new();
    let mut around: Vec<&str> = Vec::new();
    for (at, item) in outline.items.iter().enumerate() {
        around.truncate(usize::from(item.depth));
        all.entry((around.clone(), item.kind, &item.name)).or_default().push(at);
        around.push(&item.name);
    }
    all
}

#[cfg(test)]
mod tests;
