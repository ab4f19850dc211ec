//! Writes a topic as a commit of its own: nothing is staged, and no session row tells of it.

use serde::{Deserialize, Serialize};

use super::{Plan, at_version};
use crate::draft::Draft;
use crate::ids::{RecordId, Version};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::refusal::Refusal;
use crate::room::check_growth;
use crate::staged::{Staged, accept};

/// The outcome of writing a topic, for the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicOutcome {
    /// The topic's record.
    pub id: RecordId,
    /// Its name.
    pub name: String,
    /// Its version from now on.
    pub version: Version,
    /// Whether the write changed it.
    pub changed: bool,
}

/// Writes a topic's part into the topic, by the same rules as a save does.
///
/// # Errors
/// Fails if the part has nothing but a name, or is invalid or was purged. Also fails if the topic
/// is not at the expected version (0: not there yet), or the project has no room for it.
pub fn plan_topic(
    memory: &Memory,
    origin: &Provenance,
    part: Staged,
    expected_version: Option<Version>,
) -> Result<Plan<TopicOutcome>, Refusal> {
    let mut part = accept(part)?;
    let Some(written) = part.topics.first().filter(|topic| !topic.is_empty()) else {
        return Err(Refusal::invalid(
            "topic",
            "has nothing to write: a status, decisions, history or files",
        ));
    };
    let name = written.topic().to_owned();
    memory.tombstones().refuse(&part)?;
    let none = Version(0);
    match (memory.topic(&name), expected_version) {
        (Some(record), expected) => at_version(record, expected, origin)?,
        (None, Some(expected)) if expected != none => {
            let why = format!("is {}, but there is no topic `{name}` yet", expected.0);
            return Err(Refusal::invalid("expected_version", why));
        }
        (None, _) => {}
    }
    for topic in &mut part.topics {
        topic.stamp(origin);
    }
    (part.first, part.last) = (origin.time, origin.time);
    let mut draft = Draft::new(memory);
    draft.fold(&part, origin);
    check_growth(memory, draft.head(), &part)?;
    let written = draft.finish();
    let missing = || Refusal::invalid("topic", "was not stored");
    let record = written.head.topic(&name).ok_or_else(missing)?;
    let outcome = TopicOutcome {
        id: record.id,
        name: record.topic().map_or(name, |topic| topic.name.clone()),
        version: record.version,
        changed: !written.changes.is_empty(),
    };
    Ok(Plan { changes: written.changes, outcome })
}

#[cfg(test)]
mod tests;
