//! Begins and ends the sharing of a memory with a team.

use std::sync::Arc;

use crate::change::Change;
use crate::ids::{RecordId, Revision, Timestamp, Version};
use crate::memory::Memory;
use crate::record::{Record, RecordState};

/// Returns the changes that keep on this machine what the daemon made on its own, before a team
/// shares the memory.
pub fn plan_withhold(memory: &Memory) -> Vec<Change> {
    let stays = |record: &&Arc<Record>| record.stays_here() && !record.is_private();
    // A head lacks its text. If the record is restored, that write marks it.
    let whole = |record: &&Arc<Record>| record.state != RecordState::Forgotten;
    let withheld = memory.records().filter(stays).filter(whole).map(|before| {
        let version = before.version.next();
        let mut record = Record { version, private: true, ..Record::clone(before) };
        record.follow(before);
        Change::Put(Arc::new(record))
    });
    withheld.collect()
}

/// Returns the changes that take the notes of sessions over into an empty memory, before it gets
/// what a team has. They stay on this machine, so their ids are not those of the team's records.
pub fn plan_take_private(from: &Memory) -> Vec<Change> {
    let is_note = |record: &&Arc<Record>| record.owner().is_some();
    let whole = |record: &&Arc<Record>| record.state != RecordState::Forgotten;
    let notes = from.records().filter(is_note).filter(whole).zip(1..);
    let taken = notes.map(|(record, number)| {
        Change::Put(Arc::new(Record {
            id: RecordId::private(record.kind(), number),
            version: Version::FIRST,
            revision: Revision(0),
            content_version: None,
            share_id: None,
            private: true,
            ..Record::clone(record)
        }))
    });
    taken.collect()
}

/// Returns the commit with which a team takes a memory over.
pub fn plan_team(memory: &Memory, project: &str) -> Vec<Change> {
    let settings = memory.settings(None).map(|settings| Change::Configure {
        client: None,
        settings: (**settings).clone(),
        shared: true,
    });
    std::iter::once(Change::Team(memory.team_change(Some(project)))).chain(settings).collect()
}

/// Returns the commit after which a memory is one machine's own again, if a team shares it.
pub fn plan_leave(memory: &Memory) -> Vec<Change> {
    memory.team().map(|_| Change::Team(memory.team_change(None))).into_iter().collect()
}

/// Returns the part of an earlier commit that a team gets. It is a commit even if nothing of it
/// is shared, so that revisions have the same numbers on every machine.
pub fn shared_part(changes: &[Change]) -> Vec<Change> {
    let leaves = |change: &&Change| match change {
        Change::Put(record) => !record.stays_here(),
        Change::Notify(_) => false,
        change => change.is_shared(),
    };
    let mut shared: Vec<Change> = changes.iter().filter(leaves).cloned().collect();
    if shared.is_empty() {
        let (salt, digests, time) = (String::new(), Vec::new(), Timestamp::default());
        shared.push(Change::Tombstones { salt, digests, time });
    }
    shared
}

#[cfg(test)]
mod tests;
