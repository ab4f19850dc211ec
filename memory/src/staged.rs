//! Staged work: what a session has checkpointed but not saved. It is durable, and private to the
//! session.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::activity::SessionActivity;
use crate::files::relative;
use crate::ids::{Kind, Timestamp};
use crate::kinds::note::NewNote;
use crate::kinds::topic::TopicPart;
use crate::limits::STAGED_ITEM_BYTES;
use crate::record::{Anchor, Blueprint, Lesson};

/// One session's staged work, or one checkpoint's part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staged {
    /// The summary at the last checkpoint that had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Blueprints, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blueprints: Vec<Blueprint>,
    /// Anchors, merged as in memory: overlapping ranges of one file are one anchor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// Lessons, merged as in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<Lesson>,
    /// Notes, merged as in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NewNote>,
    /// One part for each topic, with everything that was staged for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<TopicPart>,
    /// The session's activity, recorded by rule, in case the session saves nothing itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Box<SessionActivity>>,
    /// The time of the first checkpoint, or of the first event if there was none.
    pub first: Timestamp,
    /// The time of the last checkpoint, or of the last event if there was none.
    pub last: Timestamp,
    /// The client that staged it, for the row written on the session's behalf.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: std::sync::Arc<str>,
}

/// The number of records of each kind that agents write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Blueprints.
    pub blueprints: u32,
    /// Anchors.
    pub anchors: u32,
    /// Lessons.
    pub lessons: u32,
    /// Notes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notes: u32,
    /// Topics.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub topics: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl fmt::Display for Counts {
    /// Writes `2 blueprints, 1 lesson`: leaves out kinds without records, and writes `nothing` if
    /// all are zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = [
            (Kind::Blueprint, self.blueprints),
            (Kind::Anchor, self.anchors),
            (Kind::Lesson, self.lessons),
            (Kind::Note, self.notes),
            (Kind::Topic, self.topics),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| kind.count(count.into()))
        .collect();
        f.write_str(if parts.is_empty() { "nothing" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

impl Staged {
    /// Returns whether there is neither staged work nor recorded activity.
    pub fn is_empty(&self) -> bool {
        !self.has_work() && self.topics.is_empty() && self.captured.is_none()
    }

    /// Returns whether the agent staged anything. Activity recorded by rule is not its work.
    pub fn has_work(&self) -> bool {
        !(self.summary.is_none()
            && self.blueprints.is_empty()
            && self.anchors.is_empty()
            && self.lessons.is_empty()
            && self.notes.is_empty()
            && !self.topics.iter().any(TopicPart::is_work))
    }

    /// Returns whether there are only lines for the history of topics, which hooks record.
    pub(crate) fn has_history_alone(&self) -> bool {
        let line = |part: &TopicPart| {
            part.status.is_none() && part.decisions.is_empty() && part.files.is_empty()
        };
        let others = Counts { topics: 0, ..self.counts() };
        self.summary.is_none() && others == Counts::default() && self.topics.iter().all(line)
    }

    /// Returns the number of items of each kind.
    pub fn counts(&self) -> Counts {
        let titles: BTreeSet<_> =
            self.blueprints.iter().map(Blueprint::category_and_title).collect();
        Counts {
            blueprints: count(titles.len()),
            anchors: count(self.anchors.len()),
            lessons: count(self.lessons.len()),
            notes: count(self.notes.len()),
            topics: count(self.topics.iter().filter(|part| part.is_work()).count()),
        }
    }

    /// Returns the size that the limit on staged work counts: the bytes of all texts, and
    /// [`STAGED_ITEM_BYTES`] for each item.
    pub fn bytes(&self) -> usize {
        let sizes = self.sizes();
        let of_kinds = Kind::ALL.map(|kind| sizes.of(kind));
        let texts = of_kinds.iter().map(|size| size.bytes).sum::<u64>();
        let items = of_kinds.iter().map(|size| size.records).sum::<u64>();
        let lines = self
            .topics
            .iter()
            .map(|part| part.decisions.len() + part.history.len() + part.files.len());
        let items = usize::try_from(items).unwrap_or(usize::MAX).saturating_add(lines.sum());
        let captured = self.captured.as_ref().map_or(0, |captured| captured.text_bytes());
        let summary = self.summary.as_ref().map_or(0, String::len);
        usize::try_from(texts)
            .unwrap_or(usize::MAX)
            .saturating_add(items.saturating_mul(STAGED_ITEM_BYTES))
            .saturating_add(captured + summary)
    }

    /// Makes absolute paths beneath `root` relative to it.
    #[must_use]
    pub fn relative_to(mut self, root: &str) -> Self {
        let files = self.anchors.iter_mut().map(|anchor| &mut anchor.file);
        let lessons = self.lessons.iter_mut().flat_map(|lesson| &mut lesson.files);
        let topics = self.topics.iter_mut().flat_map(|part| &mut part.files);
        for file in files.chain(lessons).chain(topics) {
            *file = relative(file, root);
        }
        self.captured = self.captured.map(|captured| Box::new(captured.relative_to(root)));
        self
    }
}

/// Converts a count to the type used on disk. No list in memory exceeds it.
pub(crate) fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
