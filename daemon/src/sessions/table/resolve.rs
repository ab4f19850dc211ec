//! Resolves a hook event to the session that it belongs to. That is the session whose calls come by
//! a connection, or one of the hooks' own.
//!
//! A conversation reported by hooks is a session of the hooks' own, unless calls named it first.
//! Its connection is the one that names the agent's session id. Otherwise it is the one of the
//! agent's process, which started both the shim and the hook. Otherwise there is none yet. After
//! `/clear` the shim continues with its old id, and the connection's calls belong to the new
//! session.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anchord_memory::{SessionId, Timestamp};
use anchord_proto::hello::Hello;

use super::super::liveness::SessionEnd;
use super::super::{Connection, NamedConversation, Session, SessionLocation};
use super::{Inner, Row, SessionTable};
use crate::projects::ProjectId;
use crate::{clock, limits};

/// The confidence with which an event belongs to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MatchConfidence {
    /// No connection is known for it, only events.
    Alone,
    /// The agent's process started both the hook and the connection's shim.
    ByProcess,
    /// The agent's own session id matches.
    ById,
}

impl MatchConfidence {
    /// Returns the name that `anchord status --json` shows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::ByProcess => "by process",
            Self::ById => "by id",
        }
    }
}

/// The known facts about an event's source.
#[derive(Clone, Debug)]
pub(crate) struct EventSource {
    /// The client, as its hooks name it.
    pub(crate) client: &'static str,
    /// The agent's name for the conversation.
    pub(crate) agent_session: String,
    /// The base of the name of a session of the hook's own. It is the same, without the parts that
    /// change at a reset.
    pub(crate) named: String,
    /// The agent's process, or its candidates, nearest first.
    pub(crate) processes: Vec<u32>,
    /// The hello for a session of the hook's own. Its process is the agent's.
    pub(crate) hello: Hello,
    /// Whether the conversation continues after this event.
    pub(crate) goes_on: bool,
    /// Whether it replaces the earlier conversation in the same process.
    pub(crate) clears: bool,
    /// The conversation's sessions elsewhere, as far as they were looked for.
    pub(crate) elsewhere: SessionsElsewhere,
}

/// The sessions of an event's conversation that work in other projects than the event names.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionsElsewhere {
    /// Those sessions.
    pub(in crate::sessions) sessions: BTreeSet<SessionId>,
    /// The location that the event names, if it was looked for and found.
    pub(in crate::sessions) place: Option<Arc<SessionLocation>>,
    /// A mark that distinguishes the conversation's session here from the others. `None` if it
    /// needs no mark.
    pub(in crate::sessions) mark: Option<String>,
}

impl EventSource {
    /// Returns the id of the conversation's session, unless it works in several projects.
    pub(crate) fn plain_id(&self) -> SessionId {
        let named =
            self.named.chars().filter(|c| c.is_ascii_alphanumeric() || "-:_.@".contains(*c));
        let named: String = named.take(limits::HOOK_SESSION_CHARS_MAX).collect();
        SessionId::new(format!("{}:{named}", self.client))
    }
}

/// The session of an event.
#[derive(Debug)]
pub(crate) struct ResolvedSession {
    pub(crate) session: Arc<Session>,
    pub(crate) confidence: MatchConfidence,
    /// The session whose calls came by the connection until now.
    pub(crate) replaced: Option<Replaced>,
}

/// A session that another one replaces.
#[derive(Debug)]
pub(crate) enum Replaced {
    /// It was the same conversation, only not known by its name. Its work moves over.
    Same(Arc<Session>),
    /// It was another conversation, which is over.
    Cleared(Arc<Session>),
}

impl SessionTable {
    /// Resolves an event to its session, and creates the session at its first event. Does not look
    /// where the conversation's sessions work.
    #[cfg(test)]
    pub(crate) fn resolve_session(&self, source: &EventSource) -> ResolvedSession {
        let named = self.named(&source.agent_session);
        self.resolve_among(source, &named).expect("a test resolves one event at a time")
    }

    /// Resolves an event to its session, and creates the session at its first event. Returns `None`
    /// if the conversation has got a session other than these, which the caller has checked.
    pub(in crate::sessions) fn resolve_among(
        &self,
        source: &EventSource,
        named: &[Arc<Session>],
    ) -> Option<ResolvedSession> {
        let dead = self.ended_of(&source.agent_session);
        let now = clock::now();
        let mut inner = self.inner.lock();
        let is_known = |row: &Row| {
            row.session.agent_session.as_deref() != Some(source.agent_session.as_str())
                || named.iter().any(|one| one.id == row.session.id)
        };
        if !inner.sessions.values().all(is_known) {
            return None;
        }
        let joined = inner.resolve_session(source, &dead, now);
        if let Some(row) = inner.sessions.get_mut(&joined.session.id) {
            row.last_call = now;
            row.confidence = row.confidence.max(Some(joined.confidence));
        }
        drop(inner);
        if joined.session.client().is_empty() {
            joined.session.set_client(source.client);
        }
        Some(joined)
    }

    /// Returns the sessions of the conversation of this name.
    pub(in crate::sessions) fn named(&self, agent_session: &str) -> Vec<Arc<Session>> {
        let inner = self.inner.lock();
        let sessions = inner.sessions.values().map(|row| &row.session);
        let named = sessions.filter(|one| one.agent_session.as_deref() == Some(agent_session));
        named.map(Arc::clone).collect()
    }

    /// Returns the session that hooks began for a conversation, if a connection may know of it. Of
    /// several, one that is not known to be in another project comes first.
    pub(in crate::sessions) fn begun_by_hooks(
        &self,
        connection: &Connection,
        named: &str,
    ) -> Option<Arc<Session>> {
        let inner = self.inner.lock();
        let (id, _) = inner.own_named(connection, named)?;
        Some(Arc::clone(&inner.sessions.get(&id)?.session))
    }

    /// Returns the sessions of this name that have ended. Processes are checked without the lock.
    fn ended_of(&self, agent_session: &str) -> BTreeSet<SessionId> {
        let named = |session: &Session| session.agent_session.as_deref() == Some(agent_session);
        self.all()
            .into_iter()
            .filter(|status| named(&status.session))
            .filter(|status| matches!(status.liveness().end(), SessionEnd::Over(_)))
            .map(|status| status.session.id.clone())
            .collect()
    }
}

impl Inner {
    fn resolve_session(
        &mut self,
        source: &EventSource,
        dead: &BTreeSet<SessionId>,
        now: Timestamp,
    ) -> ResolvedSession {
        if let Some(id) = self.known(source, dead) {
            return self.go_on(&id, source);
        }
        let id = own_id(source);
        let agent_session = Some(source.agent_session.as_str().into());
        let session = Session::new(id.clone(), Arc::new(source.hello.clone()), agent_session, now);
        let away = Some(clock::start());
        self.sessions.entry(id.clone()).or_insert_with(|| Row::new(session, now, away));
        self.go_on(&id, source)
    }

    /// Returns the session known by the agent's name for it. Skips one that is away and whose
    /// process is gone: the agent was started again, and its work is taken over. A session of the
    /// hooks' own takes its new process instead.
    fn known(&self, source: &EventSource, dead: &BTreeSet<SessionId>) -> Option<SessionId> {
        let mut known: Vec<&Row> = self
            .sessions
            .values()
            .filter(|row| {
                row.session.agent_session.as_deref() == Some(source.agent_session.as_str())
            })
            .filter(|row| !source.elsewhere.sessions.contains(&row.session.id))
            .filter(|row| {
                let same_agent = row
                    .session
                    .hello
                    .agent_pid
                    .is_some_and(|agent| source.processes.contains(&agent));
                is_own(&row.session.id) || same_agent || !dead.contains(&row.session.id)
            })
            .collect();
        known.sort_by_key(|row| {
            (row.disconnected.is_some(), !is_own(&row.session.id), row.session.id.clone())
        });
        known.first().map(|row| row.session.id.clone())
    }

    /// Continues with a session that is in the table. A session of the hooks' own gets its agent's
    /// connection.
    fn go_on(&mut self, id: &SessionId, source: &EventSource) -> ResolvedSession {
        let row = self.sessions.get_mut(id).expect("the caller found it or put it in");
        if !is_own(id) {
            let session = Arc::clone(&row.session);
            if source.goes_on {
                self.current.remove(id);
            }
            return ResolvedSession { session, confidence: MatchConfidence::ById, replaced: None };
        }
        let known = &row.session.hello;
        let other = (known.pid, known.pid_start) != (source.hello.pid, source.hello.pid_start);
        // An earlier daemon left less about the session than its hook now sends: the registry has
        // no named project.
        if std::mem::take(&mut row.orphan) || other {
            row.session = Arc::new(row.session.resumed(Arc::new(source.hello.clone())));
        }
        row.disconnected = row.disconnected.map(|_| clock::start());
        let session = Arc::clone(&row.session);
        if let Some(place) = &source.elsewhere.place {
            session.place.lock().get_or_insert_with(|| Arc::clone(place));
        }
        let confidence = row.confidence.unwrap_or(MatchConfidence::Alone);
        let serving = self.serving(source, &session).filter(|_| source.goes_on);
        let Some((connection, confidence)) = serving else {
            return ResolvedSession { session, confidence, replaced: None };
        };
        session.set_flags(&connection.hello);
        let connection = connection.id.clone();
        if let Some(row) = self.sessions.get_mut(id) {
            row.through = Some(connection.clone());
            row.disconnected = None;
        }
        let before = self.current.insert(connection.clone(), id.clone()).unwrap_or(connection);
        let replaced = if before == *id { None } else { self.replaced(&before, source.clears) };
        ResolvedSession { session, confidence, replaced }
    }

    /// Returns the connection that the agent's calls come by.
    fn serving(
        &self,
        source: &EventSource,
        session: &Session,
    ) -> Option<(Arc<Connection>, MatchConfidence)> {
        let is_named = |connection: &Connection| {
            connection.hello.agent_session.as_deref() == Some(source.agent_session.as_str())
        };
        // A connection that names the conversation may have another session of it, elsewhere.
        let connections = || {
            self.connections.values().filter(|one| {
                works_in(&one.hello, session) && !(is_named(one) && one.is_apart_from(session))
            })
        };
        let named = connections().find(|connection| is_named(connection));
        if let Some(connection) = named {
            return Some((Arc::clone(connection), MatchConfidence::ById));
        }
        // An agent with two connections has registered anchord twice. It is unknown which one it
        // calls.
        let only = |started: &dyn Fn(&Connection) -> bool| {
            let mut found = connections().filter(|connection| {
                connection.hello.pidns == source.hello.pidns && started(connection)
            });
            found.next().filter(|_| found.next().is_none())
        };
        let itself = |process: &u32| {
            only(&|connection| {
                connection.hello.agent_pid == Some(*process)
                    && self.may_be_of(connection, source.client)
            })
        };
        let by_wrappers = |process: &u32| {
            only(&|connection| {
                connection.above.contains(process) && self.is_of(connection, source.client)
            })
        };
        let inner = |process: &&u32| !self.is_outer(**process, source);
        let mut processes = source.processes.iter().take_while(inner);
        let connection =
            processes.find_map(itself).or_else(|| by_wrappers(source.processes.first()?))?;
        Some((Arc::clone(connection), MatchConfidence::ByProcess))
    }

    /// Returns whether a process above an event's own is the agent of another conversation, which
    /// started this event's agent.
    fn is_outer(&self, process: u32, source: &EventSource) -> bool {
        let is_its_agent = |row: &Row| {
            let session = &row.session;
            is_own(&session.id)
                && session.hello.agent_pid == Some(process)
                && session.hello.pidns == source.hello.pidns
                && session.agent_session.as_deref() != Some(source.agent_session.as_str())
        };
        source.processes.first() != Some(&process) && self.sessions.values().any(is_its_agent)
    }

    /// Returns whether a connection may belong to this client. A nested agent has the outer agent's
    /// process above it, so the process alone does not decide.
    fn may_be_of(&self, connection: &Connection, client: &str) -> bool {
        self.client_of(connection).is_none_or(|name| name.starts_with(client))
    }

    /// Returns whether a connection is known to be this client's.
    fn is_of(&self, connection: &Connection, client: &str) -> bool {
        self.client_of(connection).is_some_and(|name| name.starts_with(client))
    }

    /// Returns a connection's client, once it is known. The hooks' name for it comes first, then
    /// its own.
    fn client_of(&self, connection: &Connection) -> Option<Arc<str>> {
        if let Some((hooks, _)) =
            self.current.get(&connection.id).and_then(|id| id.0.split_once(':'))
        {
            return Some(hooks.into());
        }
        let name = self.sessions.get(&connection.id)?.session.client();
        (!name.is_empty()).then_some(name)
    }

    /// Returns the hooks' own session of the conversation that a call names. Also returns whether
    /// its project is known to be another than the connection's. Of several, one of the same
    /// project comes first.
    fn own_named(&self, connection: &Connection, named: &str) -> Option<(SessionId, bool)> {
        let rows = self.sessions.values().filter(|row| {
            is_own(&row.session.id)
                && row.session.agent_session.as_deref() == Some(named)
                && works_in(&connection.hello, &row.session)
        });
        let found = rows.map(|row| (connection.is_apart_from(&row.session), &row.session.id));
        let (is_apart, id) = found.min()?;
        Some((id.clone(), is_apart))
    }

    /// Returns the hooks' own session of the agent that started a connection without a named
    /// conversation. Also returns whether no other connection may belong to that agent.
    ///
    /// The session is that of the nearest process above the connection, since one agent may start
    /// another. If that process has several conversations, the most recently active one counts.
    fn own_of_process(&self, connection: &Connection, client: &str) -> Option<(SessionId, bool)> {
        let hello = &connection.hello;
        let own = |row: &&Row| {
            let known = row.session.client();
            is_own(&row.session.id)
                && row.session.id.parent().is_none()
                && row.session.hello.pidns == hello.pidns
                && !known.is_empty()
                && client.starts_with(known.as_ref())
                && works_in(hello, &row.session)
        };
        let rows: Vec<&Row> = self.sessions.values().filter(own).collect();
        let mut nearest = hello.agent_pid.iter().chain(&connection.above);
        let (process, row) = nearest.find_map(|process| {
            let of_process = |row: &&&Row| row.session.hello.agent_pid == Some(*process);
            let last_call = |row: &&&Row| (row.last_call, row.session.id.clone());
            Some((*process, *rows.iter().filter(of_process).max_by_key(last_call)?))
        })?;
        let rivals = |other: &&Arc<Connection>| {
            other.id != connection.id
                && other.hello.pidns == hello.pidns
                && (other.hello.agent_pid == Some(process) || other.above.contains(&process))
                && self.client_of(other).is_none_or(|name| client.starts_with(name.as_ref()))
                && works_in(&other.hello, &row.session)
        };
        Some((row.session.id.clone(), !self.connections.values().any(|other| rivals(&other))))
    }

    /// Decides the fate of the session whose calls came by a connection until another replaced it.
    fn replaced(&self, before: &SessionId, clears: bool) -> Option<Replaced> {
        let session = Arc::clone(&self.sessions.get(before)?.session);
        if session.agent_session.is_none() {
            return Some(Replaced::Same(session));
        }
        clears.then_some(Replaced::Cleared(session))
    }

    /// Returns the session that hooks reported and that a call on a connection belongs to.
    pub(super) fn reported(
        &mut self,
        connection: &Connection,
        conversation: Option<&NamedConversation>,
        named: Option<&str>,
        client: Option<&str>,
    ) -> Option<SessionId> {
        // A session found by its process may be that very conversation.
        if conversation.is_some_and(|conversation| conversation.is_elsewhere) {
            return None;
        }
        if conversation.is_none()
            && let Some(current) = self.current.get(&connection.id)
            && self.sessions.contains_key(current)
        {
            return Some(current.clone());
        }
        let (id, confidence, certain) = if let Some(named) = named {
            let (id, is_apart) = self.own_named(connection, named)?;
            // Only that session was found to be in the connection's project.
            if is_apart
                || conversation.is_some_and(|conversation| conversation.hooks.as_ref() != Some(&id))
            {
                return None;
            }
            (id, MatchConfidence::ById, true)
        } else {
            let (id, only) = self.own_of_process(connection, client?)?;
            (id, MatchConfidence::ByProcess, only)
        };
        let held = self.holds(&connection.id);
        if let Some(row) = self.sessions.get_mut(&id).filter(|_| held) {
            row.through = Some(connection.id.clone());
            row.disconnected = None;
            row.confidence = row.confidence.max(Some(confidence));
        }
        // The match between an agent's connections and its conversations is guessed again at each
        // call.
        if conversation.is_none() && certain {
            self.current.insert(connection.id.clone(), id.clone());
        }
        Some(id)
    }
}

/// Returns whether a connection works in the project of a session of the hooks' own. A connection
/// that names its project may work elsewhere. Until the session's project is known, only the same
/// name proves a match.
fn works_in(connection: &Hello, session: &Session) -> bool {
    let Some(named) = connection.project.as_deref() else { return true };
    let root = session.known_root();
    let (root, directory) = (root.as_deref().map(Path::new), Path::new(named));
    if connection.exact {
        return root == Some(directory);
    }
    let start = session.hello.project.as_deref().or(session.hello.cwd.as_deref()).map(Path::new);
    if start == Some(directory) || root == Some(directory) {
        return true;
    }
    if let Ok(id) = named.parse().map(ProjectId) {
        return session.project_id() == Some(id);
    }
    // No other project lies between the hooks' directory and the root that was found above it.
    let beneath = |path: Option<&Path>| path.is_some_and(|path| path.starts_with(directory));
    beneath(start) && root.is_some_and(|root| directory.starts_with(root))
}

/// Returns whether hooks began the session. Ids of connections contain no colon.
pub(super) fn is_own(id: &SessionId) -> bool {
    id.0.contains(':')
}

/// Builds the id from the client and its name for the conversation. A conversation that ended and
/// continues is therefore the same session, with one row. While it works in another project too,
/// its session here has a mark.
fn own_id(source: &EventSource) -> SessionId {
    let plain = source.plain_id();
    match &source.elsewhere.mark {
        Some(mark) => SessionId::new(format!("{plain}@{mark}")),
        None => plain,
    }
}

#[cfg(test)]
mod tests;
