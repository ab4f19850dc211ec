//! Removal from the table: the first step of a session's end. Also tracks ends that are under way
//! or that failed.

use std::time::Instant;

use anchord_memory::SessionId;

use super::{Inner, Row, SessionStatus, SessionTable};
use crate::{clock, limits};

/// The end of a session that is under way. Until it is dropped, the sweep leaves the session's work
/// to it.
#[derive(Debug)]
pub(crate) struct EndGuard<'a> {
    table: &'a SessionTable,
    id: SessionId,
    status: Option<SessionStatus>,
}

/// The announced end of a session. The session stays in the table until its end begins, so that its
/// pending activity can still be staged.
#[derive(Debug)]
pub(crate) struct AnnouncedEnd<'a> {
    table: &'a SessionTable,
    id: SessionId,
}

impl Drop for AnnouncedEnd<'_> {
    fn drop(&mut self) {
        remove_one(&mut self.table.inner.lock().announced, &self.id);
    }
}

/// A session that could not be ended.
#[derive(Debug, Default)]
pub(super) struct Failed {
    times: u32,
    last: Option<Instant>,
}

impl Failed {
    /// Returns whether another try is due. Each wait is twice the one before, up to
    /// [`limits::END_RETRY_TIME_MAX`].
    fn is_due(&self) -> bool {
        let wait = limits::JOBS_EVERY.saturating_mul(1 << self.times.min(16));
        let wait = wait.min(limits::END_RETRY_TIME_MAX);
        self.last.is_none_or(|last| last.elapsed() >= wait)
    }
}

impl EndGuard<'_> {
    /// Returns the session's status at its removal; `None` if it was in no table.
    pub(crate) fn status(&self) -> Option<&SessionStatus> {
        self.status.as_ref()
    }

    /// Puts a session back with its earlier status, because it could not be ended.
    pub(crate) fn put_back(mut self) {
        let Some(status) = self.status.take() else { return };
        let row = Row {
            session: status.session,
            last_call: status.last_call,
            disconnected: status.disconnected,
            orphan: status.orphan,
            through: status.through,
            confidence: status.confidence,
        };
        self.table.inner.lock().sessions.entry(row.session.id.clone()).or_insert(row);
    }
}

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        remove_one(&mut self.table.inner.lock().ending, &self.id);
    }
}

fn remove_one(ids: &mut Vec<SessionId>, id: &SessionId) {
    if let Some(at) = ids.iter().position(|known| known == id) {
        ids.swap_remove(at);
    }
}

impl SessionTable {
    /// Announces the end of a session and its subagents. Others see them as ended until the guard
    /// is dropped.
    pub(crate) fn announce_end(&self, id: &SessionId) -> AnnouncedEnd<'_> {
        self.inner.lock().announced.push(id.clone());
        AnnouncedEnd { table: self, id: id.clone() }
    }

    /// Returns whether the end of a session is announced or under way. A subagent's parent counts
    /// too.
    pub(crate) fn is_ending(&self, id: &SessionId) -> bool {
        let parent = id.parent();
        let inner = self.inner.lock();
        let mut ending = inner.announced.iter().chain(&inner.ending);
        ending.any(|ending| ending == id || Some(ending) == parent.as_ref())
    }

    /// Removes a session, connected or not.
    pub(crate) fn end(&self, id: &SessionId) -> EndGuard<'_> {
        self.begin_end(&mut self.inner.lock(), id)
    }

    /// Removes a session, unless it is connected or has come back meanwhile.
    pub(crate) fn end_if_away(&self, id: &SessionId) -> Option<EndGuard<'_>> {
        let mut inner = self.inner.lock();
        if inner.sessions.get(id).is_some_and(|row| row.disconnected.is_none()) {
            return None;
        }
        Some(self.begin_end(&mut inner, id))
    }

    fn begin_end(&self, inner: &mut Inner, id: &SessionId) -> EndGuard<'_> {
        let status = inner.remove(id).as_ref().map(Row::status);
        inner.ending.push(id.clone());
        EndGuard { table: self, id: id.clone(), status }
    }

    /// Returns whether a session is in the table, so that its end is still to come.
    pub(crate) fn holds(&self, id: &SessionId) -> bool {
        self.inner.lock().sessions.contains_key(id)
    }

    /// Returns whether a session has ended, and nobody is ending it any more.
    pub(crate) fn is_over(&self, id: &SessionId) -> bool {
        let inner = self.inner.lock();
        !inner.sessions.contains_key(id) && !inner.ending.contains(id)
    }

    /// Returns whether the sweep may try to end a session: it never failed, or the wait is over.
    pub(crate) fn may_be_ended(&self, id: &SessionId) -> bool {
        self.inner.lock().failed.get(id).is_none_or(Failed::is_due)
    }

    /// Records that a session could not be ended.
    pub(crate) fn end_failed(&self, id: &SessionId) {
        let mut inner = self.inner.lock();
        let failed = inner.failed.entry(id.clone()).or_default();
        failed.times += 1;
        failed.last = Some(clock::start());
    }

    /// Forgets the failures of a session that has ended.
    pub(crate) fn ended(&self, id: &SessionId) {
        self.inner.lock().failed.remove(id);
    }

    /// Returns how often a session could not be ended.
    #[cfg(test)]
    pub(crate) fn tries(&self, id: &SessionId) -> u32 {
        self.inner.lock().failed.get(id).map_or(0, |failed| failed.times)
    }

    /// Ends all waits, for tests.
    #[cfg(test)]
    pub(crate) fn wait_no_longer(&self) {
        self.inner.lock().failed.values_mut().for_each(|failed| failed.last = None);
    }
}
