//! Changes that lead from one state of a memory to another, for a repair that has two incomplete
//! copies of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::change::Change;
use crate::ids::Timestamp;
use crate::memory::Memory;
use crate::record::Record;

impl Memory {
    /// Returns the changes that make this memory hold what `target` holds. Applied as one entry,
    /// they lead to the same records, staged work, settings, bindings, notices, imports and purges.
    /// The numbers of the entry and of the commit are the entry's own. A record that `target` lacks
    /// stays.
    pub fn changes_to(&self, target: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        let records = target.records().filter(|record| self.record(record.id) != Some(*record));
        changes.extend(records.map(|record| Change::Put(self.completed(record))));
        let purged = target.all_purged().filter(|it| self.purged(it.id) != Some(*it));
        changes.extend(purged.map(|it| Change::Purged(Box::new((**it).clone()))));
        let differs = |session| self.staged_by(session) != target.staged_by(session);
        let gone = self.staged().map(|(session, _)| session).filter(|session| differs(*session));
        changes.extend(gone.map(|session| Change::Unstage { session: session.clone() }));
        let staged = target.staged().filter(|(session, _)| differs(*session));
        changes.extend(staged.map(|(session, part)| Change::Stage {
            session: session.clone(),
            part: Box::new((**part).clone()),
        }));
        let settings = target.all_settings();
        let settings = settings.filter(|(client, it)| self.settings(*client) != Some(*it));
        changes.extend(settings.map(|(client, settings)| Change::Configure {
            client: client.map(str::to_owned),
            settings: (**settings).clone(),
            shared: client.is_none() && target.team().is_some(),
        }));
        let bound = |key: &str, topic: Option<&str>| Change::Bind {
            key: key.to_owned(),
            topic: topic.map(str::to_owned),
        };
        let gone = self.bindings().filter(|(key, _)| target.binding(key).is_none());
        changes.extend(gone.map(|(key, _)| bound(key, None)));
        let bindings = target.bindings().filter(|(key, it)| self.bound(key) != Some(&*it.topic));
        changes.extend(bindings.map(|(key, it)| bound(key, Some(&it.topic))));
        if self.team() != target.team() {
            changes.push(Change::Team(target.team_change(target.team())));
        }
        if self.copied() != target.copied() {
            changes.extend(target.copied().cloned().map(|mark| Change::Copied(mark.into())));
        }
        let gone = self.held().filter(|it| target.held_as(&it.key).is_none());
        changes.extend(gone.map(|it| Change::Release(it.key.clone())));
        let held = target.held().filter(|it| self.held_as(&it.key) != Some(*it));
        changes.extend(held.map(|it| Change::Hold(Box::new((**it).clone()))));
        let notices = target.notices().filter(|it| self.notice(it.id) != Some(*it));
        changes.extend(notices.map(|it| Change::Notify(Box::new((**it).clone()))));
        let imports = target
            .imports()
            .filter(|((source, digest), records)| self.imported(source, digest) != Some(**records));
        let imported = |(source, digest): &(String, String), records, undone| {
            let (source, digest) = (source.clone(), digest.clone());
            Change::Imported { source, digest, records, undone }
        };
        changes.extend(imports.map(|(import, records)| imported(import, *records, false)));
        let gone = self
            .imports()
            .filter(|((source, digest), _)| target.imported(source, digest).is_none());
        changes.extend(gone.map(|(import, records)| imported(import, *records, true)));
        let mut digests: BTreeMap<Timestamp, Vec<String>> = BTreeMap::new();
        for (digest, time) in target.tombstones().digests_beyond(self.tombstones()) {
            digests.entry(time).or_default().push(digest.to_owned());
        }
        let salt = target.tombstones().salt();
        changes.extend(digests.into_iter().map(|(time, digests)| Change::Tombstones {
            salt: salt.to_owned(),
            digests,
            time,
        }));
        changes
    }

    /// Completes a head with the text that this memory has of the same version.
    fn completed(&self, record: &Arc<Record>) -> Arc<Record> {
        let known = self.record(record.id).filter(|known| record.is_head && !known.is_head);
        let whole = known.map(|known| Record {
            is_head: false,
            body: known.body.clone(),
            ..Record::clone(record)
        });
        let whole = whole.filter(|whole| whole.head().as_ref() == Some(&**record));
        whole.map_or_else(|| Arc::clone(record), Arc::new)
    }

    /// Returns changes that make a commit and leave everything as it is, taken from this memory's
    /// content. Returns `None` if it holds nothing shared.
    pub fn idle_commit(&self) -> Option<Vec<Change>> {
        let notice = self.notices().next_back().filter(|it| !it.private);
        let notice = notice.map(|it| Change::Notify(Box::new((**it).clone())));
        let shared = || self.records().filter(|record| !record.is_private());
        // A head in the journal would hide the whole record there.
        let record = || shared().find(|record| !record.is_head).cloned().map(Change::Put);
        let nothing_new = || {
            let salt = self.tombstones().salt().to_owned();
            let (digests, time) = (Vec::new(), Timestamp::default());
            shared().next().map(|_| Change::Tombstones { salt, digests, time })
        };
        notice.or_else(record).or_else(nothing_new).map(|change| vec![change])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::testing::{any_steps, take};
    use crate::{Memory, Seq};

    fn without_counts(memory: &Memory) -> impl PartialEq + std::fmt::Debug + use<> {
        let bindings: Vec<_> =
            memory.bindings().map(|(key, it)| (key.to_owned(), it.topic.clone())).collect();
        let records: Vec<_> = memory.records().cloned().collect();
        let staged: Vec<_> =
            memory.staged().map(|(session, part)| (session.clone(), part.clone())).collect();
        let notices: Vec<_> = memory.notices().cloned().collect();
        (records, staged, notices, bindings, memory.counters(), memory.tombstones().clone())
    }

    proptest! {
        #[test]
        fn applying_a_difference_gives_the_later_state(steps in any_steps(), known in 0_usize..8) {
            let (target, entries) = take(&steps);
            let mut memory = Memory::default();
            for (at, changes) in (1..).zip(entries.iter().take(known)) {
                memory.apply(Seq(at), changes);
            }
            let changes = memory.changes_to(&target);
            memory.apply(Seq(99), &changes);
            prop_assert_eq!(without_counts(&memory), without_counts(&target));
            prop_assert_eq!(memory.changes_to(&target), []);
            // A commit that changes nothing.
            if let Some(idle) = memory.idle_commit() {
                let (before, revision) = (without_counts(&memory), memory.revision());
                memory.apply(Seq(100), &idle);
                prop_assert_eq!(without_counts(&memory), before);
                prop_assert_eq!(memory.revision().0, revision.0 + 1);
            }
        }
    }
}
