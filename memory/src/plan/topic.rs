//! Writes a topic as a commit of its own: nothing is staged, and no session row tells of it.

use serde::{Deserialize, Serialize};

use super::{Plan, at_version};
use crate::brief::{BriefMerge, MergeEnd};
use crate::change::Change;
use crate::draft::Draft;
use crate::ids::{RecordId, Version};
use crate::intake::WriteLimits;
use crate::kinds::NewNote;
use crate::kinds::topic::{Topic, TopicPart};
use crate::memory::Memory;
use crate::omit::is_default;
use crate::provenance::Provenance;
use crate::record::{Body, Record, RecordState};
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
    let part = accept(part, &WriteLimits::default())?;
    if part.topics.iter().all(TopicPart::is_empty) {
        return Err(Refusal::invalid(
            "topic",
            "has nothing to write: a status, an overview, an architecture, decisions, history or files",
        ));
    }
    write(memory, origin, part, expected_version, |_| {})
}

/// The outcome of writing a text and a merge into a brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefOutcome {
    /// The topic.
    #[serde(flatten)]
    pub topic: TopicOutcome,
    /// The notes that have the text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub notes: Vec<RecordId>,
    /// The end of the merge, if there was one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub merge: Option<MergeEnd>,
}

/// Appends a text to a brief and writes a merge into it, in one commit. The text is stored even if
/// the brief is at another version than the one that the merge was made from.
///
/// # Errors
/// Fails as [`plan_topic`] does, except for the version.
pub fn plan_brief(
    memory: &Memory,
    origin: &Provenance,
    part: Staged,
    merge: Option<&BriefMerge>,
) -> Result<Plan<BriefOutcome>, Refusal> {
    let mut part = accept(part, &WriteLimits::default())?;
    let end = merge.map(|merge| fold_into(memory, origin, merge, &mut part)).transpose()?;
    let taken = merge.filter(|_| end == Some(MergeEnd::Done));
    if let Some(merge) = merge
        && part.topics.is_empty()
    {
        if memory.topic(merge.part.topic()).is_none() {
            let why = "was made from a brief that is not there any more";
            return Err(Refusal::invalid("state", why));
        }
        // Nothing is written, and the outcome names the version.
        part.topics.push(TopicPart { name: merge.part.name.clone(), ..TopicPart::default() });
    }
    let contents: Vec<NewNote> = part.notes.clone();
    let plan = write(memory, origin, part, None, |topic| {
        if let Some(merge) = taken {
            merge.take_out(topic);
        }
    })?;
    let is_of_text = |record: &&std::sync::Arc<Record>| {
        record.note().is_some_and(|note| contents.iter().any(|new| new.content == note.content))
    };
    let written = plan.changes.iter().filter_map(Change::record).filter(is_of_text);
    let notes = written.map(|record| record.id).collect();
    Ok(plan.map(|topic| BriefOutcome { topic, notes, merge: end }))
}

/// Adds a merge's part to accepted work, unless the brief is at another version by now.
pub(super) fn fold_into(
    memory: &Memory,
    origin: &Provenance,
    merge: &BriefMerge,
    part: &mut Staged,
) -> Result<MergeEnd, Refusal> {
    let is_current = match memory.topic(merge.part.topic()) {
        Some(record) => at_version(record, Some(merge.version), origin).is_ok(),
        None => merge.version == Version(0),
    };
    if !is_current {
        return Ok(MergeEnd::Stale);
    }
    part.topics.push(merge.part.clone());
    *part = accept(std::mem::take(part), &WriteLimits::default())?;
    Ok(MergeEnd::Done)
}

/// Folds accepted work whose first topic is the one to write, and changes that topic once more.
fn write(
    memory: &Memory,
    origin: &Provenance,
    mut part: Staged,
    expected_version: Option<Version>,
    change: impl FnOnce(&mut Topic),
) -> Result<Plan<TopicOutcome>, Refusal> {
    let missing = || Refusal::invalid("topic", "was not stored");
    let name = part.topics.first().ok_or_else(missing)?.topic().to_owned();
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
    change_topic(&mut draft, &name, origin, change);
    let written = draft.finish();
    let record = written.head.topic(&name).ok_or_else(missing)?;
    let outcome = TopicOutcome {
        id: record.id,
        name: record.topic().map_or(name, |topic| topic.name.clone()),
        version: record.version,
        changed: !written.changes.is_empty(),
    };
    Ok(Plan { changes: written.changes, outcome })
}

/// Changes a topic in a draft.
pub(super) fn change_topic(
    draft: &mut Draft<'_>,
    name: &str,
    origin: &Provenance,
    change: impl FnOnce(&mut Topic),
) {
    let stored = draft.head().topic(name);
    let stored = stored.and_then(|record| Some((record.id, record.topic()?.clone())));
    if let Some((id, mut topic)) = stored {
        change(&mut topic);
        draft.change(id, Body::Topic(topic), RecordState::Active, origin);
    }
}

#[cfg(test)]
mod tests;
