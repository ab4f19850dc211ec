//! Binds a conversation to its topic. Bindings are private, so this makes no commit.

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::change::Change;
use crate::kinds::topic::{topic_key, topic_name};
use crate::limits::BINDINGS_MAX;
use crate::memory::Memory;
use crate::refusal::Refusal;
use crate::staged::Staged;

/// The outcome of a binding, for the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindOutcome {
    /// The conversation's topic from now on.
    pub topic: Option<String>,
    /// The topic it had before.
    pub before: Option<String>,
    /// Whether anything was ever saved under the new topic.
    pub known: bool,
}

/// Binds the conversation with this key to a topic, which need not exist yet; `None` removes its
/// binding. If there are too many bindings, the oldest is dropped.
///
/// # Errors
/// Fails if the name is not a valid topic name.
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

/// Fills in the conversation's topic for the parts that name none. Returns the staged work, and the
/// binding that the first named topic of an unbound conversation creates.
///
/// # Errors
/// Fails if a name is not a valid topic name.
pub fn in_conversation(
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

/// Returns the name in the spelling of the existing topic, if there is one.
fn spelt(memory: &Memory, name: &str) -> Result<String, Refusal> {
    let name = topic_name(name)?;
    let known = memory.topics().find(|(_, topic)| topic_key(&topic.name) == topic_key(&name));
    Ok(known.map_or(name, |(_, topic)| topic.name.clone()))
}

#[cfg(test)]
mod tests;
