//! Assigns a subagent's calls to it. They come by its conversation's connection, and a hook reports
//! in advance which subagent is about to make one. This is best effort: an unreported call is the
//! conversation's own.

use std::sync::Arc;
use std::time::Instant;

use anchord_memory::{SessionId, Timestamp};

use super::super::{Connection, Session};
use super::{Inner, Row, SessionTable};
use crate::{clock, limits};

/// A call that a subagent is about to make.
#[derive(Debug)]
pub(super) struct Expected {
    /// The client's own id of the call.
    call: String,
    /// The subagent's session.
    by: SessionId,
    since: Instant,
}

impl Expected {
    /// Returns whether the call belongs to this session or to a subagent of it.
    pub(super) fn is_of(&self, session: &SessionId) -> bool {
        self.by == *session || self.by.parent().as_ref() == Some(session)
    }
}

impl SessionTable {
    /// Records that a subagent will make the call of this id on the session's connection.
    pub(crate) fn expect_call(&self, session: &Session, agent: &str, call: &str) {
        let mut inner = self.inner.lock();
        let expected = &mut inner.expected;
        expected.retain(|expected| expected.since.elapsed() < limits::CALL_EXPECTED_FOR);
        if expected.len() >= limits::CALLS_EXPECTED_MAX {
            expected.pop_front();
        }
        let by = own_id(&session.id, agent);
        expected.push_back(Expected { call: call.to_owned(), by, since: clock::start() });
    }

    /// Returns the session of a subagent that has made a call.
    pub(crate) fn subagent(&self, session: &Session, agent: &str) -> Option<Arc<Session>> {
        let inner = self.inner.lock();
        let row = inner.sessions.get(&own_id(&session.id, agent))?;
        Some(Arc::clone(&row.session))
    }

    /// Returns the sessions of all subagents of a session.
    pub(crate) fn subagents(&self, session: &SessionId) -> Vec<Arc<Session>> {
        let inner = self.inner.lock();
        let rows = inner.sessions.values();
        let of = rows.filter(|row| row.session.id.parent().as_ref() == Some(session));
        of.map(|row| Arc::clone(&row.session)).collect()
    }
}

impl Inner {
    /// Returns the session of the subagent that makes this call, and creates it at the first call.
    /// Returns `None` if the call is the session's own, or if the connection has no room for
    /// another session.
    pub(super) fn expected(
        &mut self,
        connection: &Connection,
        session: &Session,
        call: &str,
        now: Timestamp,
    ) -> Option<Arc<Session>> {
        // The newest counts: clients may restart their numbering, and two conversations may use the
        // same numbers.
        let expected = self.expected.iter().rev().find(|expected| {
            expected.call == call
                && expected.by.parent().as_ref() == Some(&session.id)
                && expected.since.elapsed() < limits::CALL_EXPECTED_FOR
        });
        let id = expected?.by.clone();
        if !self.sessions.contains_key(&id) && self.is_full(&connection.id) {
            return None;
        }
        let disconnected = (!self.holds(&connection.id)).then(clock::start);
        let row = self.sessions.entry(id).or_insert_with_key(|id| {
            let hello = Arc::clone(&connection.hello);
            let named = session.agent_session.as_deref();
            let named = named.map(|named| SessionId::new(named).subagent(agent_of(id)).0);
            Row::new(Session::new(id.clone(), hello, named, now), now, disconnected)
        });
        if std::mem::take(&mut row.orphan) {
            row.session = Arc::new(row.session.resumed(Arc::clone(&connection.hello)));
        }
        row.disconnected = disconnected;
        row.through = Some(connection.id.clone());
        row.last_call = now;
        Some(Arc::clone(&row.session))
    }
}

fn own_id(session: &SessionId, agent: &str) -> SessionId {
    let agent = agent.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c));
    let agent: String = agent.take(limits::CONVERSATION_ID_CHARS_MAX).collect();
    session.subagent(&agent)
}

fn agent_of(id: &SessionId) -> &str {
    id.0.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
