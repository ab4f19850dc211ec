//! Commits of a memory that a team shares.
//!
//! The writer never waits for the network. It decides what stays on this machine at once, and parks
//! commits. One call at a time appends the parked ones to the team's journal, decided in order on
//! this machine's newest state. When it is answered, this machine's copy is written, published and
//! reported, as for any other batch. If others were faster, their entries come first, and the
//! decisions are made again. A session's later writes wait for its earlier ones.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Copied, CopyMark, Revision, Seq};

use super::batch::{Batch, Waiting};
use super::team_link::{Flight, Flying, Landed, TeamStatus};
use super::write::{Write, WriteError};
use super::writer::Writer;
use crate::store::{
    Arrived, Call, Entry, LineState, Split, StateMachine, StoreError, TeamAppended, TeamEntry,
    TeamError, TeamPoint,
};
use crate::{clock, limits};

impl<M: StateMachine> Writer<M> {
    /// Takes the answer that has come, if there is one, and begins the next call. Does nothing
    /// without a team.
    pub(super) fn tend_team(&mut self, wait: Duration) {
        if let Some(landed) = self.team.as_ref().and_then(|team| team.next(wait)) {
            self.land(landed);
        }
        if let Some((batch, tries)) = self.team.as_mut().and_then(|team| team.again.take()) {
            self.append_to_team(batch, tries);
        }
        let Some(team) = &mut self.team else { return };
        if team.is_busy() {
            return;
        }
        if !team.parked.is_empty() {
            let parked = team.take_parked();
            let mut batch = Batch::new(self.head.clone());
            for write in parked {
                batch.decide(write, &self.replies, self.store.as_ref());
            }
            self.append_to_team(batch, 0);
        } else if team.flying.is_none() && team.signal.take() {
            let entries = team.link.journal.entries(self.head.team_point());
            team.begin(Flying::Following, async { Landed::Followed(entries.await) });
        }
    }

    /// Begins to append a batch to the team's journal. A batch without a commit is only checked to
    /// be of the newest one, if that matters.
    fn append_to_team(&mut self, batch: Batch<M>, tries: u32) {
        if !batch.entries.iter().any(|entry| entry.revision.is_some()) {
            return self.check(batch, tries);
        }
        let Some(team) = &mut self.team else { return };
        let keys: Vec<_> = batch
            .entries
            .iter()
            .map(|entry| entry.revision.is_some().then(|| team.key(entry)))
            .collect();
        let (mut before, mut shared) = (Vec::new(), Vec::new());
        for (entry, key) in batch.entries.iter().zip(&keys) {
            let (Some(revision), Some(key)) = (entry.revision, key) else { continue };
            let split = M::split(entry.changes.clone());
            let seq = Seq(self.head.seq().0 + 1 + before.len() as u64);
            if !split.before.is_empty() {
                let (revision, call, reply) = (None, None, None);
                let changes = split.before;
                before.push(Entry { seq, revision, call, changes, reply, ..entry.clone() });
            }
            shared.push(TeamEntry {
                revision,
                key: key.clone(),
                is_own: true,
                time: entry.time,
                session: entry.session.clone(),
                operation: entry.operation.clone().into_owned(),
                changes: split.shared,
                reply: entry.reply.clone(),
            });
        }
        if !before.is_empty()
            && let Err(error) = self.keep(&before)
        {
            return batch.fail(error);
        }
        let Some(team) = &mut self.team else { return };
        let append = team.link.journal.append(self.head.team_point(), shared);
        let flight = Flight { batch, keys, tries, start: clock::start() };
        team.begin(Flying::Appending(flight), async { Landed::Appended(append.await) });
    }

    /// Looks for others' commits before a batch is answered that changes nothing of the team's.
    fn check(&mut self, batch: Batch<M>, tries: u32) {
        let Some(team) = self.team.as_mut().filter(|_| batch.needs_newest()) else {
            return self.commit(batch);
        };
        let entries = team.link.journal.entries(self.head.team_point());
        team.begin(Flying::Checking(batch, tries), async {
            // The limit needs the runtime, which this thread does not run on.
            let arrived = tokio::time::timeout(limits::TEAM_CHECK_MAX, entries).await;
            Landed::Followed(arrived.unwrap_or(Err(TeamError::Slow)))
        });
    }

    /// Answers a batch that was checked, or decides it again on what others have written. Without
    /// an answer from the database, the reply is from the last commit that this machine has.
    fn checked(
        &mut self,
        arrived: Result<Vec<Arrived<M::Change>>, TeamError>,
        batch: Batch<M>,
        tries: u32,
    ) {
        let more = self.take_arrived(arrived);
        // What stays on this machine may have changed as well.
        let batch = batch.again(self.head.clone(), &self.replies, self.store.as_ref());
        let is_commit = batch.entries.iter().any(|entry| entry.revision.is_some());
        let is_answer = !is_commit && (!more || tries >= limits::TEAM_TRIES_MAX);
        match &mut self.team {
            Some(team) if !is_answer => team.again = Some((batch, tries + 1)),
            _ => self.commit(batch),
        }
    }

    /// Takes in the commits that the database returned, and meanwhile asks for those after them.
    fn followed(&mut self, arrived: Result<Vec<Arrived<M::Change>>, TeamError>) {
        if let (Ok(entries), Some(team)) = (&arrived, &mut self.team)
            && let Some(Arrived { entry, mark, .. }) = entries.last()
        {
            team.follow_on(TeamPoint { revision: entry.revision, mark: Some(mark.clone()) });
        }
        let was_taken = self.take_arrived(arrived);
        if let (false, Some(team)) = (was_taken, &mut self.team) {
            // Later entries do not follow what this machine has.
            team.stop_following();
        }
    }

    /// Takes in the commits that the database returned. Returns whether there may be more.
    fn take_arrived(&mut self, arrived: Result<Vec<Arrived<M::Change>>, TeamError>) -> bool {
        let arrived = arrived.and_then(|entries| {
            let is_all = entries.is_empty();
            let arrived = self.arrive(entries);
            arrived.map(|()| is_all).map_err(|error| TeamError::NotWritten(error.to_string()))
        });
        self.reached(arrived.as_ref().map(|_| ()));
        // A full reply may not be all.
        matches!(arrived, Ok(false))
    }

    /// Writes entries that no caller waits for, and publishes them.
    fn keep(&mut self, entries: &[Entry<M::Change>]) -> Result<(), StoreError> {
        let mut head = self.head.clone();
        for entry in entries {
            head.apply(entry.seq, &entry.changes);
        }
        self.keep_with(entries, head)
    }

    /// Writes entries that no caller waits for, and publishes the state after them.
    fn keep_with(&mut self, entries: &[Entry<M::Change>], head: M) -> Result<(), StoreError> {
        self.store.append(self.head.seq(), entries)?;
        self.head = head;
        for entry in entries {
            if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                self.replies.record(call, entry.time, reply.clone());
            }
        }
        self.publish();
        Ok(())
    }

    /// Writes the part of an entry that this machine adds to the team's.
    fn keep_rest(&mut self, entry: Entry<M::Change>) -> Result<(), StoreError> {
        let Split { after, .. } = M::split(entry.changes);
        if after.is_empty() {
            return Ok(());
        }
        let seq = Seq(self.head.seq().0 + 1);
        let (revision, call, reply) = (None, None, None);
        self.keep(&[Entry { seq, revision, call, changes: after, reply, ..entry }])
    }

    fn land(&mut self, landed: Landed<M::Change>) {
        let Some(flying) = self.team.as_mut().and_then(|team| team.flying.take()) else { return };
        match (landed, flying) {
            (Landed::Appended(Ok(TeamAppended::Committed(marks))), Flying::Appending(flight)) => {
                self.reached(Ok(()));
                self.taken(None);
                self.committed(flight, marks);
            }
            (Landed::Appended(Ok(TeamAppended::Moved(first))), Flying::Appending(flight)) => {
                self.reached(Ok(()));
                self.moved(first, flight);
            }
            (Landed::Appended(Err(error)), Flying::Appending(flight)) => {
                // A database that refuses a member's right to write still answers its reads.
                if !matches!(error, TeamError::Refused(_)) {
                    self.reached(Err(&error));
                }
                self.taken(Some(error.to_string()));
                self.not_appended(flight, error);
            }
            (Landed::Followed(arrived), Flying::Following | Flying::Continuing) => {
                self.followed(arrived);
            }
            (Landed::Followed(arrived), Flying::Checking(batch, tries)) => {
                self.checked(arrived, batch, tries);
            }
            (
                Landed::Appended(_),
                Flying::Following | Flying::Continuing | Flying::Checking(..),
            )
            | (Landed::Followed(_), Flying::Appending(_)) => {
                tracing::error!("an answer is not of the call that is under way");
            }
        }
    }

    /// Remembers whether the team's database answered.
    fn reached(&self, outcome: Result<(), &TeamError>) {
        let now = Some(clock::now());
        self.note(|status| {
            status.ended = now;
            status.is_apart = matches!(outcome, Err(TeamError::Apart(_)));
            let error = outcome.err().map(ToString::to_string);
            match &error {
                None => status.answered = now,
                Some(why) if status.error != error => {
                    tracing::warn!(%why, "a call to the team's database failed");
                }
                Some(_) => {}
            }
            status.error = error;
        });
    }

    /// Remembers whether the team's database took the last commit.
    fn taken(&self, refused: Option<String>) {
        self.note(|status| status.refused = refused);
    }

    /// Changes what other threads see of the link.
    fn note(&self, change: impl FnOnce(&mut TeamStatus)) {
        if let Some(team) = &self.team {
            team.signal.status.send_modify(|status| change(Arc::make_mut(status)));
        }
    }

    /// Writes this machine's copy of a batch that the team's journal has, and answers its callers.
    fn committed(&mut self, flight: Flight<M>, marks: Vec<CopyMark>) {
        let Flight { mut batch, keys, start, .. } = flight;
        let mut head = self.head.clone();
        let mut copies = Vec::with_capacity(batch.entries.len());
        let mut marks = marks.into_iter();
        for (entry, key) in batch.entries.iter_mut().zip(&keys) {
            // Private entries of other sessions may have come between.
            entry.seq = Seq(head.seq().0 + 1);
            let mut copy = entry.clone();
            if key.is_some() {
                let Split { shared, after, .. } = M::split(copy.changes);
                let mark = marks.next().and_then(|mark| M::copied(mark.into()));
                copy.changes = shared.into_iter().chain(after).chain(mark).collect();
            }
            head.apply(copy.seq, &copy.changes);
            copies.push(copy);
        }
        match self.store.append(self.head.seq(), &copies) {
            Ok(()) => {
                batch.head = head;
                self.answer(batch, start.elapsed());
            }
            Err(error) => batch.fail(StoreError::NoCopy { why: error.to_string() }),
        }
    }

    /// Takes in the entries that came first, and decides the batch again.
    fn moved(&mut self, first: Vec<Arrived<M::Change>>, flight: Flight<M>) {
        let Flight { mut batch, keys, tries, start } = flight;
        let arrived: Vec<_> = first.iter().map(|arrived| arrived.entry.key.clone()).collect();
        if let Err(error) = self.arrive(first) {
            return batch.fail(error);
        }
        let mut rest = Vec::new();
        for waiting in std::mem::take(&mut batch.waiting) {
            let at = waiting.decided.as_ref().ok().copied().flatten();
            let key = at.and_then(|at| keys.get(at)?.as_ref());
            let entry = at.and_then(|at| batch.entries.get(at));
            let call = waiting.write.call.as_ref();
            let is_answered = call
                .is_some_and(|call| matches!(self.replies.lookup(call), LineState::Answered(_)));
            match entry {
                // An earlier append of it was committed after all, and has no reply that is kept.
                Some(entry) if !is_answered && key.is_some_and(|key| arrived.contains(key)) => {
                    if let Err(error) = self.keep_rest(entry.clone()) {
                        return batch.fail(error);
                    }
                    waiting.write.command.done(Vec::new(), Some(start.elapsed()));
                }
                _ => rest.push(waiting),
            }
        }
        let mut again = Batch::new(self.head.clone());
        for waiting in rest {
            for write in waiting.all() {
                again.decide(write, &self.replies, self.store.as_ref());
            }
        }
        if tries >= limits::TEAM_TRIES_MAX {
            let why = format!("others were faster {tries} times");
            return again.fail(StoreError::TeamBusy { why });
        }
        if let Some(team) = &mut self.team {
            team.again = Some((again, tries + 1));
        }
    }

    /// Answers the commits of a batch that the team's journal did not take. What stays on this
    /// machine does not need the team.
    fn not_appended(&mut self, flight: Flight<M>, error: TeamError) {
        let Flight { batch, keys, .. } = flight;
        if matches!(error, TeamError::Refused(_)) && keys.iter().flatten().count() > 1 {
            // One of them may not be written, and the others may.
            let writes: Vec<_> = batch.waiting.into_iter().flat_map(Waiting::all).collect();
            if let Some(team) = &mut self.team {
                team.alone = writes.len();
                team.park_first(writes);
            }
            return;
        }
        let why = error.to_string();
        let error = Arc::new(match error {
            TeamError::NotWritten(_) => StoreError::TeamAway { why },
            TeamError::Refused(_) => StoreError::TeamRefused { why },
            TeamError::Slow | TeamError::Apart(_) => StoreError::TeamBusy { why },
            TeamError::Unknown(_) => StoreError::TeamSilent { why },
        });
        let mut rest: Vec<Write<M>> = Vec::new();
        for waiting in batch.waiting {
            let Waiting { decided, .. } = &waiting;
            let at = decided.as_ref().ok().copied().flatten();
            let is_commit = at.and_then(|at| keys.get(at)).is_some_and(Option::is_some);
            for write in waiting.all() {
                if is_commit {
                    write.command.fail(WriteError::NotSaved(Arc::clone(&error)));
                } else {
                    rest.push(write);
                }
            }
        }
        if let Some(team) = &mut self.team {
            team.park_first(rest);
        }
    }

    /// Writes this machine's copy of the team's entries, in their order.
    fn arrive(&mut self, entries: Vec<Arrived<M::Change>>) -> Result<(), StoreError> {
        let mut copies: Vec<Entry<M::Change>> = Vec::new();
        let mut head = self.head.clone();
        if entries.len() >= limits::TEAM_ENTRIES_MANY {
            head.expect_many();
        }
        for Arrived { entry, mark, member } in entries {
            let next = Revision(head.revision().0 + 1);
            if entry.revision < next {
                continue; // This machine has it.
            }
            let TeamEntry { revision, key, is_own, time, session, operation, .. } = entry;
            if revision != next || !M::is_commit(&entry.changes) {
                let why = format!("entry {} follows entry {}", revision.0, head.revision().0);
                return Err(StoreError::TeamDamaged { why });
            }
            let mut changes = entry.changes;
            changes.extend(head.arriving(&key));
            changes.extend(M::copied(Copied { mark, member }));
            let call = Call { instance: key.instance, number: key.number, acknowledged: 0 };
            // Only the daemon whose shim sent the line is asked for its reply again.
            let reply = entry.reply.filter(|_| is_own);
            let copy = Entry {
                seq: Seq(head.seq().0 + 1),
                revision: Some(revision),
                time,
                session,
                call: reply.is_some().then_some(call),
                operation: operation.into(),
                changes,
                reply,
            };
            head.apply(copy.seq, &copy.changes);
            copies.push(copy);
        }
        if copies.is_empty() { Ok(()) } else { self.keep_with(&copies, head) }
    }
}

#[cfg(test)]
mod tests;
