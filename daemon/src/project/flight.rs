//! Commits of a memory that a team shares.
//!
//! The writer never waits for the network. It decides what stays on this machine at once, and parks
//! commits. One call at a time appends the parked ones to the team's journal, decided in order on
//! this machine's newest state. When it is answered, this machine's copy is written, published and
//! reported, as for any other batch. If others were faster, their entries come first, and the
//! decisions are made again. A session's later writes wait for its earlier ones.
//!
//! Only commits are under way. What stays on this machine is decided on the state that it follows:
//! under way, its ids could be given to the writes of others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Copied, CopyMark, Revision, Seq};

use super::batch::Batch;
use super::team_link::{Answer, Flight, Flights, Followed, Untaken};
use super::write::{OWN_STORED, Write, WriteError};
use super::writer::Writer;
use crate::store::{
    Arrived, Call, Entry, LineState, Split, StateMachine, StoreError, TeamAppended, TeamEntry,
    TeamError, TeamFault, TeamPoint,
};
use crate::{clock, limits};

impl<M: StateMachine> Writer<M> {
    /// Takes the answer that has come, if there is one, and begins the next call. Does nothing
    /// without a team.
    pub(super) fn tend_team(&mut self, wait: Duration) {
        if let Some(answer) = self.team.as_mut().and_then(|team| team.answered(wait)) {
            self.land(answer);
        }
        while let Some(parked) = self.team.as_mut().and_then(Flights::take_parked) {
            self.send(parked);
        }
        if let Some(team) = &mut self.team {
            team.follow_if_asked(self.head.team_point());
            team.note_waiting();
        }
    }

    /// Sends commits to the team's journal, and writes what stays on this machine. Of a session
    /// with both, the later ones wait for the first.
    fn send(&mut self, writes: Vec<Write<M>>) {
        let mut batch = Batch::new(self.head.clone());
        let (mut sent, mut own, mut later) = (BTreeSet::new(), Vec::new(), Vec::new());
        for write in writes {
            let session = write.session.clone();
            if sent.contains(&session) {
                later.push(write);
                continue;
            }
            if own.iter().any(|earlier: &Write<M>| earlier.session == session) {
                own.push(write);
                continue;
            }
            let is_passed = write.operation.is_passed();
            let stays = |write: &Write<M>, changes: &[M::Change]| !write.is_of_team(changes);
            match batch.decide_unless(write, &self.replies, self.store.as_ref(), stays) {
                Some(write) => own.push(write),
                None if is_passed => {}
                None => {
                    sent.insert(session);
                }
            }
        }
        if let Some(team) = &mut self.team {
            team.park_first(later);
        }
        self.append_to_team(batch);
        // Decided on the state that has what the batch has added to this machine.
        let mut batch = Batch::new(self.head.clone());
        for write in own {
            self.decide(&mut batch, write);
        }
        self.commit(batch);
    }

    /// Begins to append a batch to the team's journal. A batch without a commit is only checked to
    /// be of the newest one.
    fn append_to_team(&mut self, batch: Batch<M>) {
        if batch.entries.is_empty() {
            return self.check(batch);
        }
        let Some(team) = &mut self.team else { return };
        let keys: Vec<_> = batch.entries.iter().map(|entry| team.key(entry)).collect();
        let (mut before, mut shared) = (Vec::new(), Vec::new());
        for (entry, key) in batch.entries.iter().zip(&keys) {
            let Some(revision) = entry.revision else { continue };
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
        if let Some(team) = &mut self.team {
            let (start, is_trial) = (clock::start(), team.is_failing());
            let flight = Flight { batch, keys, start, is_trial };
            team.append(self.head.team_point(), shared, flight);
        }
    }

    /// Looks for others' commits before a batch is answered that changes nothing.
    fn check(&mut self, batch: Batch<M>) {
        if batch.waiting.is_empty() {
            return;
        }
        if let Some(team) = &mut self.team {
            team.check(self.head.team_point(), batch);
        }
    }

    /// Answers a batch that was checked, or decides it again on what others have written. Without
    /// an answer from the database, the reply is from the last commit that this machine has.
    fn checked(&mut self, batch: Batch<M>, arrived: Followed<M::Change>) {
        let more = self.take_arrived(arrived);
        let Some(team) = &mut self.team else { return };
        if more && team.may_try_again() {
            return team.park_first(batch.writes());
        }
        team.end_tries();
        let mut answers = Batch::new(self.head.clone());
        let is_commit = |_: &Write<M>, changes: &[M::Change]| M::is_commit(changes);
        let store = self.store.as_ref();
        let decide = |write| answers.decide_unless(write, &self.replies, store, is_commit);
        let commits = batch.writes().into_iter().filter_map(decide).collect();
        team.park_first(commits);
        self.commit(answers);
    }

    /// Takes in the commits that the database returned, and meanwhile asks for those after them.
    fn followed(&mut self, arrived: Followed<M::Change>) {
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
    fn take_arrived(&mut self, arrived: Followed<M::Change>) -> bool {
        let arrived = arrived.and_then(|entries| {
            let is_all = entries.is_empty();
            let arrived = self.arrive(entries);
            let fault = |error: StoreError| TeamFault::refused(error.to_string());
            arrived.map(|()| is_all).map_err(fault).map_err(TeamError::NotWritten)
        });
        self.reached(arrived.as_ref().map(|_| ()));
        if let (Err(error), Some(team)) = (&arrived, &self.team) {
            team.note(|status| status.note_unread(&error.fault()));
        }
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

    fn land(&mut self, answer: Answer<M>) {
        match answer {
            Answer::Appended(flight, Ok(TeamAppended::Committed(marks))) => {
                self.reached(Ok(()));
                self.taken(None);
                self.committed(flight, marks);
            }
            Answer::Appended(flight, Ok(TeamAppended::Moved(first))) => {
                self.reached(Ok(()));
                self.moved(first, flight);
            }
            Answer::Appended(flight, Err(error)) => {
                // A database that refuses a member's right to write still answers its reads.
                if !matches!(error, TeamError::Refused(_)) {
                    self.reached(Err(&error));
                }
                self.taken(Some(error.fault()));
                self.not_appended(flight, error);
            }
            Answer::Followed(arrived) => self.followed(arrived),
            Answer::Checked(batch, arrived) => self.checked(batch, arrived),
        }
    }

    /// Remembers whether the team's database answered.
    fn reached(&self, outcome: Result<(), &TeamError>) {
        let Some(team) = &self.team else { return };
        let now = Some(clock::now());
        team.note(|status| {
            status.ended = now;
            status.is_apart = matches!(outcome, Err(TeamError::Apart(_)));
            let error = outcome.err().map(TeamError::fault);
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
    fn taken(&self, fault: Option<TeamFault>) {
        let Some(team) = &self.team else { return };
        let now = clock::now();
        team.note(|status| {
            let earlier = status.refused.take();
            status.refused = fault.map(|fault| Untaken::after(earlier, fault, now));
        });
    }

    /// Writes this machine's copy of a batch that the team's journal has, and answers its callers.
    fn committed(&mut self, flight: Flight<M>, marks: Vec<CopyMark>) {
        let Flight { mut batch, start, .. } = flight;
        if let Some(team) = &mut self.team {
            team.end_tries();
        }
        let mut head = self.head.clone();
        let mut copies = Vec::with_capacity(batch.entries.len());
        let mut marks = marks.into_iter();
        for entry in &mut batch.entries {
            // Entries that stay on this machine may have come between.
            entry.seq = Seq(head.seq().0 + 1);
            let Split { shared, after, .. } = M::split(entry.changes.clone());
            let mark = marks.next().and_then(|mark| M::copied(mark.into()));
            let changes = shared.into_iter().chain(after).chain(mark).collect();
            let copy = Entry { changes, ..entry.clone() };
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

    /// Takes in the entries that came first, and parks the batch, which is decided again.
    fn moved(&mut self, first: Vec<Arrived<M::Change>>, flight: Flight<M>) {
        let Flight { mut batch, keys, start, .. } = flight;
        let arrived: Vec<_> = first.iter().map(|arrived| arrived.entry.key.clone()).collect();
        if let Err(error) = self.arrive(first) {
            return batch.fail(error);
        }
        let mut rest = Vec::new();
        for waiting in std::mem::take(&mut batch.waiting) {
            let at = waiting.decided.as_ref().ok().copied().flatten();
            let key = at.and_then(|at| keys.get(at));
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
                _ => rest.extend(waiting.all()),
            }
        }
        let Some(team) = &mut self.team else { return };
        if team.may_try_again() {
            return team.park_first(rest);
        }
        let why = format!("others were faster {} times", limits::TEAM_TRIES_MAX);
        let error = Arc::new(StoreError::TeamBusy(TeamFault::refused(why)));
        for write in rest {
            write.command.fail(WriteError::NotSaved(Arc::clone(&error)));
        }
    }

    /// Answers the commits of a batch that the team's journal did not take. Those that have not
    /// waited as long as a caller may wait are sent once more if the journal was slow. After two
    /// calls in vain they are not: they would all wait in vain.
    fn not_appended(&mut self, flight: Flight<M>, error: TeamError) {
        let Flight { batch, keys, is_trial, .. } = flight;
        let Some(team) = &mut self.team else { return };
        team.end_tries();
        if matches!(error, TeamError::Refused(_)) && keys.len() > 1 {
            // One of them may not be written, and the others may.
            return team.park_alone(batch.writes());
        }
        let is_slow = matches!(error, TeamError::Slow) && !is_trial;
        let fault = error.fault();
        let worded = |fault: TeamFault| match error {
            TeamError::NotWritten(_) => StoreError::TeamAway(fault),
            TeamError::Refused(_) => StoreError::TeamRefused(fault),
            TeamError::Slow | TeamError::Apart(_) => StoreError::TeamBusy(fault),
            TeamError::Unknown(_) => StoreError::TeamSilent(fault),
        };
        let mut rest: Vec<Write<M>> = Vec::new();
        for waiting in batch.waiting {
            let at = waiting.decided.as_ref().ok().copied().flatten();
            let entry = at.and_then(|at| batch.entries.get(at));
            let has_own = entry.is_some_and(|it| !M::split(it.changes.clone()).before.is_empty());
            let is_commit = entry.is_some();
            let mut fault = fault.clone();
            if has_own {
                fault.why.push_str(OWN_STORED);
            }
            let error = Arc::new(worded(fault));
            for write in waiting.all() {
                if is_commit && !(is_slow && write.waited() < limits::TEAM_WAIT_MAX) {
                    write.command.fail(WriteError::NotSaved(Arc::clone(&error)));
                } else {
                    rest.push(write);
                }
            }
        }
        team.park_first(rest);
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
