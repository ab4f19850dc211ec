//! Separates a memory in which several projects wrote. It plans which records go to which project,
//! imports them there, and sets them aside here. Nothing is deleted: an imported record is
//! forgotten here, which keeps it in history. The whole split can be undone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::exported::{Put, put};
use super::{EXPORTED, remembered};
use serde::{Deserialize, Serialize};

use crate::draft::{Draft, RecordFields};
use crate::ids::{RecordId, Revision, SessionId, Version};
use crate::memory::Memory;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Body, Record, RecordState};

/// The prefix of the session id under which a split sets records aside.
const SPLIT: &str = "split-";

/// The project in which a session worked, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenIn {
    /// The memory's own project.
    Here,
    /// Another project, by the caller's number for it.
    Other(usize),
    /// An unknown project.
    Unknown,
}

/// The records of a memory that were written in other projects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SplitPlan {
    /// The records by the caller's number of the project. File names are relative to that project.
    pub parts: BTreeMap<usize, Vec<Record>>,
    /// The number of records whose project is unknown.
    pub unknown: u32,
    /// The number of records that were begun in one project and last written in another.
    pub several: u32,
    /// The number of records about files outside the project in which they were written.
    pub outside: u32,
    /// The number of notes that sessions kept private.
    pub private: u32,
}

/// Plans which records go to which project. `folders` has, for each project by its number, its root
/// relative to the root of this one, if it is beneath.
pub fn plan_split(
    memory: &Memory,
    folders: &[Option<String>],
    written_in: impl Fn(&SessionId) -> WrittenIn,
) -> SplitPlan {
    let mut plan = SplitPlan::default();
    for record in memory.records().filter(|record| record.state != RecordState::Forgotten) {
        let (first, last) = match &record.body {
            Body::SessionRow(row) => (written_in(&row.session), written_in(&row.session)),
            _ => (written_in(&record.created.session), written_in(&record.updated.session)),
        };
        match (first, last) {
            (WrittenIn::Unknown, _) | (_, WrittenIn::Unknown) => plan.unknown += 1,
            (first, last) if first != last => plan.several += 1,
            (WrittenIn::Other(_), _) if record.owner().is_some() => plan.private += 1,
            (WrittenIn::Other(to), _) => {
                let folder = folders.get(to).and_then(Option::as_deref);
                match folder.map_or(Some(record.as_ref().clone()), |in_| moved(record, in_)) {
                    Some(record) => plan.parts.entry(to).or_default().push(record),
                    None => plan.outside += 1,
                }
            }
            (WrittenIn::Here, _) => {}
        }
    }
    plan
}

/// Returns a record with its files named relative to a folder; `None` if its file is not in there.
fn moved(record: &Record, folder: &str) -> Option<Record> {
    let within = |file: &str| {
        let rest = file.strip_prefix(folder)?.strip_prefix('/')?;
        (!rest.is_empty()).then(|| rest.to_owned())
    };
    let mut record = record.clone();
    if !record.body.fields_mut().move_files(folder, &within) {
        return None;
    }
    Some(record)
}

/// Returns the session under which a split is made. A later split has a later name.
pub fn split_session(name: &str) -> SessionId {
    SessionId::new(format!("{SPLIT}{name}"))
}

/// The part of a split that a memory imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenIn {
    /// Records that are here now, by their ids and versions there.
    pub records: Vec<(RecordId, Version)>,
    /// The number of records left out, because this memory has different content in their place or
    /// refuses them.
    pub left: u32,
}

/// Plans an import of records of another memory. Records that are already here unchanged count as
/// imported. No record here changes, so that the whole import can be undone: a record that would
/// merge is left out.
pub fn plan_take_in(
    memory: &Memory,
    records: &[Record],
    split: &SessionId,
    origin: &Provenance,
) -> Plan<TakenIn> {
    let mut draft = Draft::new(memory);
    let mut taken = TakenIn::default();
    for record in records {
        let time = record.updated.time.min(origin.time);
        let by = Provenance { time, ..record.updated.clone() };
        let mut trial = draft.clone();
        let last = draft.head().last_number();
        if draft.head().records().any(|here| is_equal(here, record)) {
            taken.records.push((record.id, record.version));
        } else if matches!(put(&mut trial, record, &by), Ok(Put::Done | Put::NewRow))
            && trial.head().last_number() > last
        {
            draft = trial;
            taken.records.push((record.id, record.version));
        } else {
            taken.left += 1;
        }
    }
    let changes = draft.finish().changes;
    let digest = format!("{split}@{}", memory.revision().0 + 1);
    Plan { changes: remembered(memory, changes, [], (EXPORTED, &digest), true), outcome: taken }
}

fn is_equal(here: &Record, other: &Record) -> bool {
    let is_same = match (&here.body, &other.body) {
        (Body::SessionRow(here), Body::SessionRow(other)) => {
            here.session == other.session && here.summary == other.summary
        }
        (Body::Note(here), Body::Note(other)) => {
            (&here.key, &here.content) == (&other.key, &other.content)
        }
        (here, other) => here == other,
    };
    is_same && here.state != RecordState::Forgotten
}

/// Plans to forget records that another memory imported, unless they changed meanwhile. Returns
/// their number.
pub fn plan_set_aside(
    memory: &Memory,
    records: &[(RecordId, Version)],
    origin: &Provenance,
) -> Plan<u32> {
    let mut draft = Draft::new(memory);
    let mut aside = 0;
    for (id, version) in records {
        if memory.record(*id).is_some_and(|record| record.version == *version) {
            draft.set_state(*id, RecordState::Forgotten, origin);
            aside += 1;
        }
    }
    Plan { changes: draft.finish().changes, outcome: aside }
}

/// Returns the last split that set aside records which still are forgotten.
pub fn last_split(memory: &Memory) -> Option<SessionId> {
    let aside = memory.records().filter(|record| record.state == RecordState::Forgotten);
    let splits = aside.map(|record| &record.updated.session);
    splits.filter(|session| session.0.starts_with(SPLIT)).max().cloned()
}

/// Returns the records that a split set aside and that still are, most of them as heads.
pub fn set_aside_by<'a>(
    memory: &'a Memory,
    split: &'a SessionId,
) -> impl Iterator<Item = &'a Arc<Record>> {
    memory.records().filter(move |record| {
        record.state == RecordState::Forgotten && record.updated.session == *split
    })
}

/// Plans to bring back what a split set aside. Says how many records. `whole` has the records of
/// which the memory has the heads; one that it lacks stays forgotten.
pub fn plan_bring_back(
    memory: &Memory,
    whole: &BTreeMap<RecordId, Record>,
    split: &SessionId,
    origin: &Provenance,
) -> Plan<u32> {
    let mut draft = Draft::new(memory);
    let mut brought = 0;
    for there in set_aside_by(memory, split) {
        let record = if there.is_head { whole.get(&there.id) } else { Some(&**there) };
        let Some(record) = record.filter(|record| record.version == there.version) else {
            continue;
        };
        let Record { id, body, tags, pinned, .. } = record.clone();
        draft.write(RecordFields { id, body, state: RecordState::Active, tags, pinned }, origin);
        brought += 1;
    }
    Plan { changes: draft.finish().changes, outcome: brought }
}

/// Plans to forget the records that a memory imported in a split and that nobody has changed since.
/// Returns their number.
pub fn plan_give_back(memory: &Memory, split: &SessionId, origin: &Provenance) -> Plan<u32> {
    let prefix = format!("{split}@");
    let revisions = memory.imports().filter_map(|((source, digest), _)| {
        let number = digest.strip_prefix(&prefix).filter(|_| source == EXPORTED)?;
        number.parse().ok().map(Revision)
    });
    let revisions: Vec<Revision> = revisions.collect();
    let made = memory.records().filter(|record| {
        record.state != RecordState::Forgotten && revisions.contains(&record.revision)
    });
    let ids: Vec<RecordId> = made.map(|record| record.id).collect();
    let mut draft = Draft::new(memory);
    let count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    for id in ids {
        draft.set_state(id, RecordState::Forgotten, origin);
    }
    Plan { changes: draft.finish().changes, outcome: count }
}

#[cfg(test)]
mod tests;
