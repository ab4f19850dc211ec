//! Plans which records leave the load when memory has grown too large. The save's reply shows the
//! plan, and the save carries it out.
//!
//! Above the hard limit, three groups leave in this order. First go anchors older than 30 days
//! whose file is gone. Next go session rows, except the newest, folded into one. Then the oldest
//! lessons go until memory is at 80 % of the hard limit. The newest lessons always stay: a memory
//! made large by its blueprints would otherwise lose every lesson in vain.
//!
//! At any size, topics named after sessions leave when nobody has written them for 30 days, since
//! each long conversation creates one. Blueprints and pinned records never leave. An archived
//! record is out of load and budget, still found by id, and active again when written.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use crate::draft::Draft;
use crate::files::is_inside;
use crate::ids::{Kind, RecordId, Timestamp, Version};
use crate::kinds::topic::{Topic, TopicPart, is_named_after_session, topic_key};
use crate::limits::{
    ACTIVE_TEXT_HARD_BYTES_MAX, ACTIVE_TEXT_KEPT_PERCENT, ANCHOR_KEPT_DAYS_MIN, LESSONS_KEPT_MIN,
    ROWS_KEPT_MIN, TOPIC_KEPT_DAYS_MIN,
};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::record::{Body, Record, RecordState, SessionRow};
use crate::staged::count;

/// Records to archive, each at the version that was planned. A record that has changed since stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivePlan {
    /// Anchors whose file is gone.
    pub anchors: BTreeMap<RecordId, Version>,
    /// Topics named after sessions, and at rest.
    pub topics: BTreeMap<RecordId, Version>,
    /// Session rows to fold into one, including the row of an earlier fold.
    pub rows: BTreeMap<RecordId, Version>,
    /// The oldest lessons.
    pub lessons: BTreeMap<RecordId, Version>,
}

/// The numbers of records that were archived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    /// Anchors whose file is gone.
    pub anchors: u32,
    /// Topics named after sessions.
    pub topics: u32,
    /// Session rows, folded into one.
    pub rows: u32,
    /// Lessons.
    pub lessons: u32,
}

/// Returns the files to check before [`plan`]: those of old anchors, if memory is above the hard
/// limit. Leaves out paths outside the project, so their anchors stay.
pub fn candidates(memory: &Memory, now: Timestamp) -> Vec<String> {
    if memory.totals().text_bytes <= ACTIVE_TEXT_HARD_BYTES_MAX {
        return Vec::new();
    }
    let files: BTreeSet<String> =
        old_anchors(memory, now).map(|(_, file)| file.to_owned()).collect();
    files.into_iter().collect()
}

/// Plans the next save's archiving. Below the hard limit it archives only topics. `gone` are those
/// of the [`candidates`] that do not exist; `bound` are the topics of live sessions.
pub fn plan(
    memory: &Memory,
    now: Timestamp,
    gone: &BTreeSet<String>,
    bound: &BTreeSet<String>,
) -> ArchivePlan {
    let mut bytes = memory.totals().text_bytes;
    let topics = resting_topics(memory, now, bound);
    let mut plan = ArchivePlan {
        topics: topics.map(|record| (record.id, record.version)).collect(),
        ..ArchivePlan::default()
    };
    if bytes <= ACTIVE_TEXT_HARD_BYTES_MAX {
        return plan;
    }
    for (record, _) in old_anchors(memory, now).filter(|(_, file)| gone.contains(*file)) {
        bytes -= record.text_bytes() as u64;
        plan.anchors.insert(record.id, record.version);
    }

    let mut rows: Vec<(&Record, &SessionRow)> =
        unpinned(memory, Kind::SessionRow).filter_map(row_of).collect();
    rows.sort_by_key(|(record, row)| (row.ended, record.id));
    rows.truncate(rows.len().saturating_sub(ROWS_KEPT_MIN));
    if rows.len() > 1 {
        for (record, _) in rows {
            bytes -= record.text_bytes() as u64;
            plan.rows.insert(record.id, record.version);
        }
    }

    let mut lessons: Vec<&Record> = unpinned(memory, Kind::Lesson).collect();
    // Lessons recorded by rule go first.
    lessons.sort_by_key(|record| (!record.is_captured(), record.updated.time, record.id));
    lessons.truncate(lessons.len().saturating_sub(LESSONS_KEPT_MIN));
    for record in lessons {
        if bytes <= ACTIVE_TEXT_HARD_BYTES_MAX * ACTIVE_TEXT_KEPT_PERCENT / 100 {
            break;
        }
        bytes -= record.text_bytes() as u64;
        plan.lessons.insert(record.id, record.version);
    }
    plan
}

/// Returns topics named by a compaction, not written for a while, and used neither by a live
/// session nor by staged work.
fn resting_topics<'a>(
    memory: &'a Memory,
    now: Timestamp,
    bound: &BTreeSet<String>,
) -> impl Iterator<Item = &'a Record> {
    let before = now.0.saturating_sub(TOPIC_KEPT_DAYS_MIN * Timestamp::DAY_MILLIS);
    let staged = memory.staged().flat_map(|(_, staged)| &staged.topics);
    let busy: BTreeSet<String> = bound
        .iter()
        .map(String::as_str)
        .chain(staged.map(TopicPart::topic))
        .map(topic_key)
        .collect();
    unpinned(memory, Kind::Topic).filter(move |record| {
        let named = |topic: &Topic| {
            is_named_after_session(&topic.name) && !busy.contains(&topic_key(&topic.name))
        };
        record.updated.time.0 < before && record.topic().is_some_and(named)
    })
}

/// Returns the records of a kind that may be archived.
fn unpinned(memory: &Memory, kind: Kind) -> impl Iterator<Item = &Record> {
    memory.active_of(kind).map(|record| &**record).filter(|record| !record.pinned)
}

fn old_anchors(memory: &Memory, now: Timestamp) -> impl Iterator<Item = (&Record, &str)> {
    let before = now.0.saturating_sub(ANCHOR_KEPT_DAYS_MIN * Timestamp::DAY_MILLIS);
    unpinned(memory, Kind::Anchor).filter_map(move |record| match &record.body {
        Body::Anchor(anchor) if record.updated.time.0 < before && is_inside(&anchor.file) => {
            Some((record, anchor.file.as_str()))
        }
        _ => None,
    })
}

fn row_of(record: &Record) -> Option<(&Record, &SessionRow)> {
    match &record.body {
        Body::SessionRow(row) => Some((record, row)),
        _ => None,
    }
}

impl ArchivePlan {
    /// Returns whether there is nothing to archive.
    pub fn is_empty(&self) -> bool {
        let Self { anchors, topics, rows, lessons } = self;
        [anchors, topics, rows, lessons].into_iter().all(BTreeMap::is_empty)
    }

    /// Archives the records that have not changed since the plan.
    pub(crate) fn apply(&self, draft: &mut Draft<'_>, origin: &Provenance) -> Archived {
        let anchors = unchanged(draft, &self.anchors);
        let lessons = unchanged(draft, &self.lessons);
        let topics = unchanged(draft, &self.topics);
        for id in anchors.iter().chain(&lessons).chain(&topics) {
            draft.set_state(*id, RecordState::Archived, origin);
        }
        Archived {
            anchors: count(anchors.len()),
            topics: count(topics.len()),
            rows: fold_rows(draft, &unchanged(draft, &self.rows), origin),
            lessons: count(lessons.len()),
        }
    }
}

fn unchanged(draft: &Draft<'_>, planned: &BTreeMap<RecordId, Version>) -> Vec<RecordId> {
    let as_planned = |(id, version): (&RecordId, &Version)| {
        let record = draft.head().record(*id)?;
        (record.version == *version && record.state.is_active()).then_some(*id)
    };
    planned.iter().filter_map(as_planned).collect()
}

/// Folds many rows into one and returns how many were archived. An earlier fold's row grows;
/// otherwise a new one is created. The row covers every archived row, so one that was reactivated
/// meanwhile counts once.
fn fold_rows(draft: &mut Draft<'_>, ids: &[RecordId], origin: &Provenance) -> u32 {
    if ids.len() < 2 {
        return 0;
    }
    let all = draft.head().records_of(Kind::SessionRow).filter_map(|record| row_of(record));
    let (folds, own): (Vec<_>, Vec<_>) = all.partition(|(_, row)| row.folded > 0);
    let earlier = folds.iter().find(|(record, _)| record.state.is_active());
    let earlier = earlier.map(|(record, _)| record.id);
    let folded =
        |record: &Record| record.state == RecordState::Archived || ids.contains(&record.id);
    let stored: Vec<SessionRow> =
        own.into_iter().filter(|(record, _)| folded(record)).map(|(_, row)| row.clone()).collect();
    let rows = || stored.iter();
    let Some(newest) = rows().max_by_key(|row| row.ended) else { return 0 };
    let started = rows().map(|row| row.started).min().unwrap_or_default();
    let ended = newest.ended;
    let folded = count(stored.len());
    let body = Body::SessionRow(SessionRow {
        number: newest.number,
        session: newest.session.clone(),
        started,
        ended,
        summary: format!(
            "{folded} sessions from {} to {}, folded; each is still there by its id.",
            started.date(),
            ended.date()
        ),
        on_behalf: false,
        captured: None,
        earlier: Vec::new(),
        blueprints_added: rows().map(|row| row.blueprints_added).sum(),
        anchors_added: rows().map(|row| row.anchors_added).sum(),
        lessons_added: rows().map(|row| row.lessons_added).sum(),
        folded,
    });
    match earlier {
        Some(id) => draft.change(id, body, RecordState::Active, origin),
        None => {
            draft.create(body, origin);
        }
    }
    let archived: Vec<RecordId> = ids.iter().copied().filter(|id| Some(*id) != earlier).collect();
    for id in &archived {
        draft.set_state(*id, RecordState::Archived, origin);
    }
    count(archived.len())
}

#[cfg(test)]
mod tests;
