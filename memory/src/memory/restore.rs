//! Builds a memory from its parts.

use std::sync::Arc;

use super::{Bound, Memory};
use crate::change::{CopyMark, Notice, Purged};
use crate::held::Held;
use crate::ids::{NoticeId, Revision, Seq, SessionId};
use crate::omit::is_default;
use crate::provenance::Provenance;
use crate::purge::Tombstones;
use crate::record::Record;
use crate::settings::Settings;
use crate::staged::Staged;

/// Rebuilds a memory from a snapshot or an index, without the entries that led to it.
#[derive(Debug, Default)]
pub struct Restore(Memory, Option<Provenance>);

impl Restore {
    /// Sets the entry, the revision and the counters of the parts. May be called before or after
    /// adding the parts.
    pub fn at(&mut self, seq: Seq, revision: Revision, counters: Counters) {
        let memory = &mut self.0;
        memory.seq = seq;
        memory.revision = revision;
        memory.last_number = memory.last_number.max(counters.last_number);
        memory.last_notice = memory.last_notice.max(counters.last_notice);
        memory.session_rows = memory.session_rows.max(counters.session_rows);
        memory.last_private = memory.last_private.max(counters.last_private);
    }

    /// Sets the team that shares the memory.
    pub fn team(&mut self, project: &str) {
        self.0.team = Some(project.into());
    }

    /// Sets the place in the team's journal that the copy reaches.
    pub fn copied(&mut self, mark: CopyMark) {
        self.0.copied = Some(mark);
    }

    /// Adds work that waits for the team's database.
    pub fn held(&mut self, held: Held) {
        self.0.held.insert(held.key.clone(), Arc::new(held));
    }

    /// Adds a record at its newest version.
    pub fn record(&mut self, mut record: Record) {
        // Most records have the same names as the previous one. Sharing saves each its own copy.
        if let Some(before) = &self.1 {
            record.created.share(before);
        }
        record.updated.share(&record.created);
        self.1 = Some(record.created.clone());
        let head = record.head();
        self.0.put(Arc::new(head.unwrap_or(record)));
    }

    /// Adds a session's staged work.
    pub fn staged(&mut self, session: SessionId, staged: Staged) {
        self.0.staged.insert(session, Arc::new(staged));
    }

    /// Adds a notice.
    pub fn notice(&mut self, notice: Notice) {
        self.0.keep_notice(notice);
    }

    /// Adds an import.
    pub fn import(&mut self, source: String, digest: String, records: u32) {
        self.0.imports.insert((source, digest), records);
    }

    /// Adds settings.
    pub fn settings(&mut self, client: Option<String>, settings: Settings) {
        self.0.settings.insert(client, Arc::new(settings));
    }

    /// Adds a conversation's binding.
    pub fn binding(&mut self, key: String, bound: Bound) {
        self.0.bindings.insert(key, bound);
    }

    /// Adds a purged record at its newest version.
    pub fn purged(&mut self, purged: Purged) {
        self.0.put_purged(purged);
    }

    /// Sets the digests of texts that must not be stored again.
    pub fn tombstones(&mut self, tombstones: Tombstones) {
        self.0.tombstones = Arc::new(tombstones);
    }

    /// Returns the memory.
    pub fn finish(self) -> Memory {
        self.0
    }
}

/// The counters of a memory, which outlive what they count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counters {
    /// The number of the last record.
    pub last_number: u64,
    /// The id of the last notice.
    pub last_notice: NoticeId,
    /// The number of the last session row.
    pub session_rows: u64,
    /// The count of the last record that stays on this machine.
    #[serde(default, skip_serializing_if = "is_default")]
    pub last_private: u64,
}

impl Memory {
    /// Returns the counters, for a snapshot.
    pub fn counters(&self) -> Counters {
        Counters {
            last_number: self.last_number,
            last_notice: self.last_notice,
            session_rows: self.session_rows,
            last_private: self.last_private,
        }
    }
}
