//! Binding a thread to its topic: private, no commit.

use super::Plan;
use crate::change::Change;
use crate::limits::BINDINGS_MAX;
use crate::memory::Memory;
use crate::refusal::Refusal;
use crate::staged::Staged;
use crate::topic::{topic_key, topic_name};

/// What the caller of a binding is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindOutcome {
    /// The topic that the thread has now.
    pub topic: Option<String>,
    /// The one it had.
    pub before: Option<String>,
    /// Whether anything was ever saved under it.
    pub known: bool,
}

/// Binds the thread with this key to a topic, which need not be there yet; `None` lets go of the one it has. The
/// binding that was made first goes when there are too many.
///
/// # Errors
/// When the name is none.
pub fn plan_bind(
    memory: &Memory,
    key: &str,
    topic: Option<&str>,
) -> Result<Plan<BindOutcome>, Refusal> {
    let topic = topic.map(|name| spelt(memory, name)).transpose()?;
    let before = memory.bound(key).map(str::to_owned);
    let known = topic.as_deref().is_some_and(|name| memory.topic(name).is_some());
    let mut changes = Vec::new();
    if topic != before {
        let is_full = before.is_none() && memory.bindings().count() >= BINDINGS_MAX;
        if let Some((oldest, _)) = memory.bindings().min_by_key(|(_, bound)| bound.seq)
            && is_full
        {
            changes.push(Change::Bind { key: oldest.to_owned(), topic: None });
        }
        changes.push(Change::Bind { key: key.to_owned(), topic: topic.clone() });
    }
    Ok(Plan { changes, outcome: BindOutcome { topic, before, known } })
}

/// What the thread with this key writes, with the name of its topic where it names none; and the binding that comes
/// with the first topic that a thread names.
///
/// # Errors
/// When a name is none.
pub fn in_thread(
    memory: &Memory,
    key: &str,
    mut part: Staged,
) -> Result<(Staged, Vec<Change>), Refusal> {
    let bound = memory.bound(key);
    let mut changes = Vec::new();
    if let (None, Some(first)) = (bound, part.topics.iter().find_map(|part| part.name.as_deref())) {
        changes = plan_bind(memory, key, Some(first))?.changes;
    }
    for part in part.topics.iter_mut().filter(|part| part.name.is_none()) {
        part.name = bound.map(str::to_owned);
    }
    Ok((part, changes))
}

/// The name as the topic that is there spells it.
fn spelt(memory: &Memory, name: &str) -> Result<String, Refusal> {
    let name = topic_name(name)?;
    let known = memory.topics().find(|(_, topic)| topic_key(&topic.name) == topic_key(&name));
    Ok(known.map_or(name, |(_, topic)| topic.name.clone()))
}

#[cfg(test)]
mod tests;
