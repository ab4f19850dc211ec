//! The session table: connected and disconnected sessions, and the connection of each.

mod ending;
mod resolve;
mod subagents;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use anchord_agents::McpNames;
use anchord_memory::{SessionId, Timestamp};
use anchord_proto::hello::{Hello, ToolSet};
use anchord_proto::host;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::liveness::Liveness;
use super::processes::is_foreign_process;
use super::{Connection, NamedConversation, Session};
use crate::{clock, limits, secrets};

pub(crate) use resolve::{
    EventSource, MatchConfidence, Replaced, ResolvedSession, SessionsElsewhere,
};

pub(super) use ending::EndGuard;
use ending::Failed;
use subagents::Expected;

/// Sessions by id and connections by shim. One short lock; nothing is awaited under it.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: HashMap<SessionId, Row>,
    /// The connection of each shim, so that a new one of the same shim ends the old.
    connections: HashMap<Uuid, Arc<Connection>>,
    /// Maps a connection's default session to the session that its calls now belong to, as hooks
    /// reported.
    current: HashMap<SessionId, SessionId>,
    /// Calls that subagents are about to make, as hooks reported.
    expected: VecDeque<Expected>,
    /// Sessions whose agents reported their end, one entry for each end that is about to begin.
    announced: Vec<SessionId>,
    /// Sessions that are being ended, one entry for each end that is under way.
    ending: Vec<SessionId>,
    /// Sessions that could not be ended.
    failed: HashMap<SessionId, Failed>,
}

#[derive(Debug)]
struct Row {
    session: Arc<Session>,
    last_call: Timestamp,
    /// `None` while its connection is open.
    disconnected: Option<Instant>,
    /// Whether the daemon started while this session was open, and it has not come back.
    orphan: bool,
    /// The default session of the connection that its calls come by, if that is another one.
    through: Option<SessionId>,
    /// The confidence with which hook events belong to this session; `None` without such events.
    confidence: Option<MatchConfidence>,
}

impl Row {
    fn new(session: Session, now: Timestamp, disconnected: Option<Instant>) -> Self {
        Self {
            session: Arc::new(session),
            last_call: now,
            disconnected,
            orphan: false,
            through: None,
            confidence: None,
        }
    }

    fn status(&self) -> SessionStatus {
        SessionStatus {
            session: Arc::clone(&self.session),
            last_call: self.last_call,
            disconnected: self.disconnected,
            orphan: self.orphan,
            confidence: self.confidence,
            through: self.through.clone(),
        }
    }

    /// Returns whether the connection with this default session may carry calls of this session.
    fn is_served_by(&self, connection: &SessionId) -> bool {
        belongs(&self.session.id, connection) || self.through.as_ref() == Some(connection)
    }
}

/// A session with its status, for sweeping and for display.
#[derive(Clone, Debug)]
pub(crate) struct SessionStatus {
    pub(crate) session: Arc<Session>,
    pub(crate) last_call: Timestamp,
    pub(crate) disconnected: Option<Instant>,
    pub(crate) orphan: bool,
    pub(crate) confidence: Option<MatchConfidence>,
    through: Option<SessionId>,
}

impl SessionStatus {
    /// Returns the facts by which the session is judged.
    pub(super) fn liveness(&self) -> Liveness<'_> {
        Liveness {
            hello: &self.session.hello,
            away: self.disconnected.map(|since| since.elapsed()),
            saw_it_close: self.closed_its_connection(),
            is_restored: self.orphan,
        }
    }

    /// Returns whether the session had a connection to this daemon that has closed.
    pub(crate) fn closed_its_connection(&self) -> bool {
        let had_one = self.through.is_some() || !resolve::is_own(&self.session.id);
        self.disconnected.is_some() && !self.orphan && had_one
    }
}

impl SessionTable {
    /// Opens a connection for session `id`. An older connection of the same shim ends.
    pub(crate) fn connect(
        self: &Arc<Self>,
        id: SessionId,
        mut hello: Hello,
        tool_set: ToolSet,
        tools_seen: Option<String>,
        stop: CancellationToken,
    ) -> Arc<Connection> {
        for name in [&mut hello.agent_session, &mut hello.client].into_iter().flatten() {
            *name = secrets::clean(name).into_owned();
        }
        let connection = Arc::new(Connection {
            id: id.clone(),
            instance: hello.instance.to_string().into(),
            tool_set,
            tools_seen,
            above: above(&hello),
            place: tokio::sync::OnceCell::new(),
            refused_conversation: false.into(),
            hello: Arc::new(hello),
            stop,
            table: Arc::clone(self),
        });
        let mut inner = self.inner.lock();
        let previous = inner.connections.insert(connection.hello.instance, Arc::clone(&connection));
        for row in inner.sessions.values_mut() {
            if row.is_served_by(&id) {
                if std::mem::take(&mut row.orphan) {
                    let hello = Arc::clone(&connection.hello);
                    row.session = Arc::new(row.session.resumed(hello));
                }
                row.session.set_flags(&connection.hello);
                row.disconnected = None;
            }
        }
        drop(inner);
        if let Some(older) = previous {
            older.stop.cancel();
        }
        connection
    }

    /// Returns the session of a call on this connection, and creates it at the first call.
    pub(super) fn session(
        &self,
        connection: &Connection,
        conversation: Option<&NamedConversation>,
        client: Option<&str>,
        call: Option<&str>,
    ) -> Arc<Session> {
        let here = conversation.filter(|conversation| !conversation.is_elsewhere);
        let name = here.map(|conversation| conversation.name.as_str());
        let named = name.or(connection.hello.agent_session.as_deref());
        let client = client.map(McpNames::recorded);
        let now = clock::now();
        let mut inner = self.inner.lock();
        // A call may outlive its connection. The session that it begins then is away from the
        // start.
        let disconnected = (!inner.holds(&connection.id)).then(clock::start);
        let id = match (inner.reported(connection, conversation, named, client), name) {
            (Some(reported), _) => reported,
            (None, Some(conversation)) => conversation_id(&connection.id, conversation),
            (None, None) => connection.id.clone(),
        };
        let row = inner.sessions.entry(id).or_insert_with_key(|id| {
            let hello = Arc::clone(&connection.hello);
            let session = Session::new(id.clone(), hello, named.map(Arc::from), now);
            Row::new(session, now, disconnected)
        });
        row.last_call = now;
        let session = Arc::clone(&row.session);
        let subagent = call.and_then(|call| inner.expected(connection, &session, call, now));
        drop(inner);
        // Earlier calls of a resumed connection may have gone to an earlier daemon.
        let resumed = connection.hello.resume.as_ref().and_then(|_| began(&connection.id));
        for session in subagent.iter().chain([&session]) {
            session.set_flags(&connection.hello);
            session.set_began(resumed);
            if let Some(client) = client {
                session.set_client(client);
            }
        }
        subagent.unwrap_or(session)
    }

    /// Returns whether a call of this conversation would begin a session although the connection
    /// has as many as it may have.
    pub(super) fn is_full(&self, connection: &Connection, conversation: &str) -> bool {
        let inner = self.inner.lock();
        let is_known = |row: &Row| {
            row.session.id == conversation_id(&connection.id, conversation)
                || row.session.agent_session.as_deref() == Some(conversation)
        };
        inner.is_full(&connection.id) && !inner.served(&connection.id).any(is_known)
    }

    /// Returns the session that a connection's calls belong to, as far as is known. Of several,
    /// returns the most recently active one.
    pub(crate) fn served_by(&self, connection: &Connection) -> Option<Arc<Session>> {
        let inner = self.inner.lock();
        let current = inner.current.get(&connection.id).and_then(|id| inner.sessions.get(id));
        let served = || {
            let rows = inner.served(&connection.id);
            rows.max_by_key(|row| (row.last_call, row.session.id.clone()))
        };
        Some(Arc::clone(&current.or_else(served)?.session))
    }

    /// Returns the sessions that a connection serves.
    pub(crate) fn all_served_by(&self, connection: &Connection) -> Vec<Arc<Session>> {
        let inner = self.inner.lock();
        inner.served(&connection.id).map(|row| Arc::clone(&row.session)).collect()
    }

    /// Closes a connection. Its sessions continue for the grace period.
    pub(super) fn disconnected(&self, connection: &Arc<Connection>) {
        let mut inner = self.inner.lock();
        let current = inner
            .connections
            .get(&connection.hello.instance)
            .is_some_and(|current| Arc::ptr_eq(current, connection));
        if current {
            inner.connections.remove(&connection.hello.instance);
        }
        if inner.holds(&connection.id) {
            return; // The same shim is back already.
        }
        let now = clock::start();
        for row in inner.sessions.values_mut() {
            if row.is_served_by(&connection.id) {
                row.disconnected = Some(now);
            }
        }
    }

    /// Restores a session that was open when an earlier daemon ended.
    pub(crate) fn restore(&self, session: Session) {
        let started = session.started;
        let row = Row { orphan: true, ..Row::new(session, started, Some(clock::start())) };
        self.inner.lock().sessions.entry(row.session.id.clone()).or_insert(row);
    }

    /// Returns whether a connection of this session is open. Tests wait for this.
    #[cfg(test)]
    pub(crate) fn is_connected(&self, id: &SessionId) -> bool {
        self.inner.lock().sessions.get(id).is_some_and(|row| row.disconnected.is_none())
    }

    /// Returns every open connection.
    pub(crate) fn shims(&self) -> Vec<Arc<Connection>> {
        self.inner.lock().connections.values().map(Arc::clone).collect()
    }

    /// Returns one session's status.
    pub(crate) fn status(&self, id: &SessionId) -> Option<SessionStatus> {
        self.inner.lock().sessions.get(id).map(Row::status)
    }

    /// Returns the status of every session.
    pub(crate) fn all(&self) -> Vec<SessionStatus> {
        self.inner.lock().sessions.values().map(Row::status).collect()
    }

    /// Returns the sessions that are, or may be, alive. Processes are checked without the lock.
    pub(crate) fn live(&self) -> BTreeSet<SessionId> {
        let live = self.all().into_iter().filter(|status| status.liveness().is_live());
        live.map(|status| status.session.id.clone()).collect()
    }

    /// Returns the number of open connections.
    pub(crate) fn connections(&self) -> usize {
        self.inner.lock().connections.len()
    }
}

impl Inner {
    /// Returns whether a connection with this default session is open.
    fn holds(&self, id: &SessionId) -> bool {
        self.connections.values().any(|connection| connection.id == *id)
    }

    /// Returns the sessions that the connection with this default session serves.
    fn served<'a>(&'a self, connection: &'a SessionId) -> impl Iterator<Item = &'a Row> {
        self.sessions.values().filter(move |row| row.is_served_by(connection))
    }

    fn is_full(&self, connection: &SessionId) -> bool {
        self.served(connection).count() >= limits::CONNECTION_SESSIONS_MAX
    }

    /// Removes a session, and all that refers to it.
    fn remove(&mut self, id: &SessionId) -> Option<Row> {
        self.current.retain(|_, current| current != id);
        self.expected.retain(|expected| !expected.is_of(id));
        self.sessions.remove(id)
    }
}

/// Returns the time at which a connection's first session began, which its id has.
fn began(connection: &SessionId) -> Option<Timestamp> {
    let (seconds, nanos) = Uuid::parse_str(&connection.0).ok()?.get_timestamp()?.to_unix();
    let millis = i64::try_from(seconds).ok()?.checked_mul(1_000)?;
    Some(Timestamp(millis + i64::from(nanos / 1_000_000)))
}

/// Names a conversation's session after its connection's. A restart thus finds it again.
fn conversation_id(connection: &SessionId, conversation: &str) -> SessionId {
    let short: String = conversation
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .take(limits::CONVERSATION_ID_CHARS_MAX)
        .collect();
    if short == conversation {
        return SessionId::new(format!("{connection}/{short}"));
    }
    // The omitted characters may be all that distinguishes it from another conversation.
    let crc = crc32fast::hash(conversation.as_bytes());
    SessionId::new(format!("{connection}/{short}-{crc:08x}"))
}

fn belongs(session: &SessionId, connection: &SessionId) -> bool {
    session
        .0
        .strip_prefix(connection.0.as_ref())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the processes above the one that started a shim; none if they are not visible to this
/// daemon.
fn above(hello: &Hello) -> Vec<u32> {
    let own = hello.agent_pid.filter(|_| !is_foreign_process(hello.pidns));
    let parent =
        |pid: &u32| host::process_parent(*pid).map(|(above, _)| above).filter(|pid| *pid > 1);
    std::iter::successors(own, parent).skip(1).take(limits::SHIM_ANCESTORS_MAX).collect()
}

#[cfg(test)]
mod tests;
