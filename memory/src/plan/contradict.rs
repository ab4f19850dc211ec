//! Blueprints with the same title in two categories that say different things.
//!
//! They do not merge, since the key is category and title. Both are stored, and the reply names
//! them: only the writer knows which one holds.

use crate::ids::{Kind, RecordId};
use crate::memory::Memory;
use crate::record::{Blueprint, Body, Category, Record};
use serde::{Deserialize, Serialize};

/// A newly written blueprint, and a stored one that contradicts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The title as it was written this time.
    pub title: String,
    /// The category of the new blueprint.
    pub category: Category,
    /// The stored blueprint.
    pub stored: RecordId,
    /// Its category.
    pub stored_category: Category,
}

/// Finds the stored blueprints that contradict each of `new`, unless `before` already has the new
/// one. `after` is the memory with the write; `None` if `new` is only staged.
pub(crate) fn contradictions<'a>(
    before: &Memory,
    after: Option<&Memory>,
    new: impl IntoIterator<Item = &'a Blueprint>,
) -> Vec<Contradiction> {
    let mut found: Vec<Contradiction> = Vec::new();
    let mut reported: Vec<(RecordId, RecordId)> = Vec::new();
    for blueprint in new {
        let as_new = |memory: &Memory| {
            stored(memory, blueprint.category, blueprint)
                .filter(|(_, stored)| stored.content == blueprint.content)
                .map(|(id, _)| id)
        };
        let own = after.and_then(as_new);
        let is_left_out = after.is_some() && own.is_none();
        if is_left_out || as_new(before).is_some() {
            continue;
        }
        for category in Category::ALL.into_iter().filter(|other| *other != blueprint.category) {
            let Some((id, _)) = stored(after.unwrap_or(before), category, blueprint)
                .filter(|(_, other)| other.content != blueprint.content)
            else {
                continue;
            };
            // Two blueprints of one write contradict each other; one of the two pairs is enough.
            let is_reported = own.is_some_and(|own| reported.contains(&(id, own)));
            let contradiction = Contradiction {
                title: blueprint.title.clone(),
                category: blueprint.category,
                stored: id,
                stored_category: category,
            };
            if !is_reported && !found.contains(&contradiction) {
                reported.extend(own.map(|own| (own, id)));
                found.push(contradiction);
            }
        }
    }
    found
}

/// Lists the pairs of active blueprints that contradict each other, by the number of the first.
pub fn contradicting(memory: &Memory) -> Vec<(RecordId, RecordId)> {
    let mut pairs = Vec::new();
    for record in memory.active_of(Kind::Blueprint) {
        let Body::Blueprint(blueprint) = &record.body else { continue };
        let others = Category::ALL.into_iter().filter(|other| *other != blueprint.category);
        let others = others.filter_map(|category| stored(memory, category, blueprint));
        let against = others.filter(|(_, other)| other.content != blueprint.content);
        pairs.extend(against.map(|(id, _)| (record.id, id)).filter(|(one, other)| one < other));
    }
    pairs
}

/// Finds the active blueprint of a category with the same title as `title_of`.
fn stored<'m>(
    memory: &'m Memory,
    category: Category,
    title_of: &Blueprint,
) -> Option<(RecordId, &'m Blueprint)> {
    let blueprint = |record: &'m Record| match &record.body {
        Body::Blueprint(blueprint) if record.state.is_active() => Some((record.id, blueprint)),
        _ => None,
    };
    let sought = Body::Blueprint(Blueprint { category, ..title_of.clone() });
    memory.existing_match(&sought).and_then(|record| blueprint(record))
}

#[cfg(test)]
mod tests;
