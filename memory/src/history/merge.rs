//! Takes a change back out of a later version: a three-way merge of a record's fields as JSON.
//!
//! It knows no kind. A field that only the change touched goes back. One that only later versions
//! touched stays. A list loses the items that the change added and regains those it removed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::Kind;
use crate::record::{Body, Record, RecordState};

/// Everything of a record that a write may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) body: Body,
    pub(crate) state: RecordState,
    pub(crate) tags: Vec<String>,
    pub(crate) pinned: bool,
}

impl Content {
    pub(crate) fn of(record: &Record) -> Self {
        Self {
            body: record.body.clone(),
            state: record.state,
            tags: record.tags.clone(),
            pinned: record.pinned,
        }
    }
}

/// Later versions changed what the change had written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MergeConflict;

/// Takes the change from `before` to `after` back out of `now`. `before` is `None` if the change
/// created the record, which is then forgotten.
pub(crate) fn take_back(
    before: Option<&Record>,
    after: &Record,
    now: &Record,
) -> Result<Content, MergeConflict> {
    let now_content = Content::of(now);
    let was_hidden = before.is_none_or(|before| before.state == RecordState::Forgotten);
    if was_hidden && after.state != RecordState::Forgotten {
        // The record goes out of sight as a whole, so nothing later may be in it.
        if now.state == RecordState::Forgotten {
            return Ok(now_content);
        }
        if !now.content_eq(after) {
            let is_account = now.kind() == Kind::SessionRow;
            return if is_account { Ok(now_content) } else { Err(MergeConflict) };
        }
        let content = before.map_or_else(|| now_content.clone(), Content::of);
        return Ok(Content { state: RecordState::Forgotten, ..content });
    }
    let Some(before) = before else { return Ok(now_content) };
    // The state is merged by itself: whether a record is archived is never a conflict.
    let state = state(before.state, after.state, now.state);
    let fields = |record: &Record| Content { state, ..Content::of(record) };
    let (one, other, last) = (fields(before), fields(after), fields(now));
    if last == other {
        return Ok(one);
    }
    let sides = (Some(json(&one)), Some(json(&other)), Some(json(&last)));
    let merged = merge(sides.0, sides.1, sides.2, Lost::IsConflict);
    let merged = merged.and_then(|it| serde_json::from_value(it?).ok());
    match merged {
        Some(merged) => Ok(merged),
        // The account of what a session did stays. So do shown summaries and counted repeats.
        None if now.kind() == Kind::SessionRow || before.content_eq(after) => Ok(last),
        None => Err(MergeConflict),
    }
}

fn state(before: RecordState, after: RecordState, now: RecordState) -> RecordState {
    // Of three different states one is forgotten. If the change forgot the record, somebody has
    // brought it back since. If a later one did, that stays.
    if before != after && now == after { before } else { now }
}

fn json(content: &Content) -> Value {
    serde_json::to_value(content).expect("domain types always serialize")
}

/// Applies the change from `base` to `theirs` to `ours`. Returns `None` if both sides changed the
/// same value differently. Both sides' changes of a list are kept.
pub(crate) fn apply_change(base: Value, theirs: Value, ours: Value) -> Option<Value> {
    // The same as taking the opposite change back out.
    merge(Some(theirs), Some(base), Some(ours), Lost::IsFine)?
}

/// The meaning of an item that is no longer in a list, although the change would remove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lost {
    /// It has been changed since.
    IsConflict,
    /// The other side removed or replaced it as well.
    IsFine,
}

/// Merges values, of which an absent one is `None`. The outer `None` is a conflict.
#[expect(clippy::option_option, reason = "an absent value is not a conflict")]
fn merge(
    before: Option<Value>,
    after: Option<Value>,
    now: Option<Value>,
    lost: Lost,
) -> Option<Option<Value>> {
    if before == after || now == before {
        return Some(now);
    }
    if now == after {
        return Some(before);
    }
    match (before, after, now) {
        (Some(Value::Object(before)), Some(Value::Object(after)), Some(Value::Object(now))) => {
            objects(before, after, now, lost).map(|merged| Some(Value::Object(merged)))
        }
        (before, after, Some(Value::Array(now))) => {
            let (before, after) = (items(before)?, items(after)?);
            lists(&before, &after, now, lost).map(|merged| Some(Value::Array(merged)))
        }
        _ => None,
    }
}

fn items(value: Option<Value>) -> Option<Vec<Value>> {
    match value {
        None => Some(Vec::new()),
        Some(Value::Array(items)) => Some(items),
        Some(_) => None,
    }
}

fn objects(
    mut before: Map<String, Value>,
    mut after: Map<String, Value>,
    mut now: Map<String, Value>,
    lost: Lost,
) -> Option<Map<String, Value>> {
    let names: std::collections::BTreeSet<String> =
        [&before, &after, &now].into_iter().flat_map(Map::keys).cloned().collect();
    let mut merged = Map::new();
    for name in names {
        let value = merge(before.remove(&name), after.remove(&name), now.remove(&name), lost)?;
        merged.extend(value.map(|value| (name, value)));
    }
    Some(merged)
}

/// Removes the items that the change added, and puts those that it removed back in their places.
/// An added item that has changed since may be a conflict.
fn lists(before: &[Value], after: &[Value], mut now: Vec<Value>, lost: Lost) -> Option<Vec<Value>> {
    for added in after.iter().filter(|item| !before.contains(item)) {
        match now.iter().position(|item| item == added) {
            Some(at) => drop(now.remove(at)),
            None if lost == Lost::IsFine => {}
            None => return None,
        }
    }
    for (at, removed) in before.iter().enumerate().filter(|(_, item)| !after.contains(item)) {
        if !now.contains(removed) {
            now.insert(at.min(now.len()), removed.clone());
        }
    }
    Some(now)
}
