//! The pool of sessions, and transactions on them.
//!
//! A session with an open transaction or an unanswered request never returns to the pool, even if
//! the caller's future is dropped. Its connection is closed instead, and the server rolls back.
//!
//! Statements are unnamed: each is parsed, bound and executed up to one Sync. A transaction sets
//! only what ends with it. So both work through pgbouncer in transaction mode, where another
//! transaction may have another connection to the server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{self, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult};
use futures::future::{join, join3};
use futures::{StreamExt, TryStreamExt};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, SimpleQueryMessage};

use crate::connect::{Dialer, Session};
use crate::error::{Error, is_retryable, is_rolled_back};
use crate::limits::{
    CHECK_TIME_MAX, IDLE_IN_TRANSACTION_TIME_MAX, LOCK_TIME_MAX, UNCHECKED_TIME_MAX,
};
use crate::migrate;

/// A parameter with its type.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// Sessions for transactions and reads. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Sessions {
    pool: Pool<Dials>,
}

struct Dials(Arc<Dialer>);

/// A session in use. It is closed when dropped, unless it is back at rest.
pub(crate) struct Lease {
    object: Option<Box<Object<Dials>>>,
    is_at_rest: bool,
}

/// A failed part of a transaction before COMMIT.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server rolled back, and a repeat may succeed.
    Retry(Error),
    /// The connection broke, so the server rolls back. A repeat needs another connection.
    Cut(Error),
    /// A repeat does not help by itself.
    Final(Error),
}

/// A failed COMMIT.
#[derive(Debug)]
pub(crate) enum CommitFault {
    /// Nothing was committed.
    RolledBack(Fault),
    /// Nobody knows.
    Unknown(Error),
}

impl managed::Manager for Dials {
    type Type = Session;
    type Error = Error;

    async fn create(&self) -> Result<Session, Error> {
        // Connecting is rare, and its future is large.
        let session = Box::pin(self.0.connect(None)).await?;
        if session.is_standby {
            return Err(Error::ReadOnlyServer);
        }
        // If the schema is missing or the role may not see it, each statement says so.
        match migrate::version(&session).await {
            Err(error @ Error::SchemaNewer { .. }) => Err(error),
            _ => Ok(session),
        }
    }

    async fn recycle(&self, session: &mut Session, metrics: &Metrics) -> RecycleResult<Error> {
        if session.client.is_closed() {
            return Err(RecycleError::Backend(Error::Unreachable(session.events.end())));
        }
        if !self.0.trusts(session) {
            return Err(RecycleError::message("a call has timed out since it was made"));
        }
        if metrics.last_used() > UNCHECKED_TIME_MAX {
            let answered = session.ping(CHECK_TIME_MAX).await;
            if matches!(answered, Err(Error::Slow)) {
                self.0.distrust_sessions();
            }
            answered.map_err(RecycleError::Backend)?;
        }
        Ok(())
    }
}

impl Sessions {
    pub(crate) fn new(dialer: Arc<Dialer>, connections_max: usize) -> Result<Self, Error> {
        let built = Pool::builder(Dials(dialer)).max_size(connections_max).build();
        Ok(Self { pool: built.map_err(|error| Error::Database(error.to_string()))? })
    }

    /// Waits for a session. The caller sets the time limit.
    ///
    /// A connection is completed even if the caller no longer waits. The next caller then has it,
    /// where a password command takes longer than an append may.
    pub(crate) async fn lease(&self) -> Result<Lease, Error> {
        let pool = self.pool.clone();
        let got = match tokio::spawn(async move { pool.get().await }).await {
            Ok(got) => got,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(stopped) => return Err(Error::Unreachable(stopped.to_string())),
            },
        };
        let object = got.map_err(|error| match error {
            PoolError::Backend(error) => error,
            error => Error::Unreachable(error.to_string()),
        })?;
        Ok(Lease { object: Some(Box::new(object)), is_at_rest: true })
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Sessions").field(&self.pool.status()).finish()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Lease").field("is_at_rest", &self.is_at_rest).finish_non_exhaustive()
    }
}

impl Lease {
    pub(crate) fn session(&self) -> &Session {
        self.object.as_ref().expect("it is taken only on drop")
    }

    /// Runs one statement outside a transaction.
    pub(crate) async fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Error> {
        self.is_at_rest = false;
        let rows = self.session().client.query_typed(sql, params).await;
        // An error that the server reports leaves the session usable.
        self.is_at_rest = rows.as_ref().err().is_none_or(|error| error.as_db_error().is_some());
        Ok(rows?)
    }

    /// Begins a transaction, unless one is open, and runs two statements, all in one round trip.
    ///
    /// Each statement sees what was committed before it began, the second one also what the first
    /// has waited for.
    pub(crate) async fn begin(
        &mut self,
        first: (&str, &[Param<'_>]),
        second: (&str, &[Param<'_>]),
    ) -> Result<(Vec<Row>, Vec<Row>), Fault> {
        let begin = if self.is_at_rest { begin_sql() } else { String::new() };
        self.is_at_rest = false;
        let client = &self.session().client;
        // The futures are polled in this order, so the requests are sent in it.
        let (begun, first, second) = join3(
            client.batch_execute(&begin),
            client.query_typed(first.0, first.1),
            client.query_typed(second.0, second.1),
        )
        .await;
        begun?;
        Ok((first?, second?))
    }

    /// Runs two statements in the open transaction, in one round trip. Returns the count of rows
    /// that the second has changed.
    pub(crate) async fn run(
        &mut self,
        first: (&str, &[Param<'_>]),
        second: (&str, &[Param<'_>]),
    ) -> Result<u64, Fault> {
        let client = &self.session().client;
        let (first, second) =
            join(client.execute_typed(first.0, first.1), client.execute_typed(second.0, second.1))
                .await;
        first?;
        Ok(second?)
    }

    /// Runs a statement in the open transaction.
    pub(crate) async fn query_open(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Fault> {
        Ok(self.session().client.query_typed(sql, params).await?)
    }

    /// Rolls back. The caller sets the time limit.
    pub(crate) async fn roll_back(mut self) -> Result<(), Fault> {
        self.session().client.batch_execute("ROLLBACK").await?;
        self.is_at_rest = true;
        Ok(())
    }

    /// Commits, and then runs `after` in the same message. The outcome of `after` does not count.
    ///
    /// A warning means that a synchronous standby was not waited for, so the outcome is unknown. A
    /// COMMIT is never cancelled; on a time-out the connection is closed.
    pub(crate) async fn commit(mut self, after: &str, limit: Duration) -> Result<(), CommitFault> {
        let session = self.session();
        if session.client.is_closed() {
            let end = Error::Unreachable(session.events.end());
            return Err(CommitFault::RolledBack(Fault::Cut(end)));
        }
        session.events.clear_warnings();
        let mut committed = None;
        let answered = tokio::time::timeout(limit, async {
            // An error here means that nothing was sent.
            let sent = session.client.simple_query_raw(&format!("COMMIT;{after}")).await;
            let answers = match sent {
                Ok(answers) => answers,
                Err(error) => return Err(CommitFault::RolledBack(Fault::from(error))),
            };
            let mut answers = std::pin::pin!(answers);
            match answers.next().await {
                Some(Ok(SimpleQueryMessage::CommandComplete(_))) => {}
                Some(Err(error)) if is_rolled_back(&error) => {
                    return Err(CommitFault::RolledBack(Fault::from(error)));
                }
                Some(Err(error)) => return Err(CommitFault::Unknown(error.into())),
                Some(Ok(_)) | None => {
                    let what = "COMMIT was answered by something else".to_owned();
                    return Err(CommitFault::Unknown(Error::Database(what)));
                }
            }
            committed = Some(session.events.warning());
            // The rest of the message, after which the session is at rest.
            Ok(answers.try_for_each(async |_| Ok(())).await.is_ok())
        })
        .await;
        let is_at_rest = match (committed, answered) {
            (Some(Some(warning)), _) => {
                return Err(CommitFault::Unknown(Error::Database(warning)));
            }
            (Some(None), answered) => answered.is_ok_and(|rest| rest.is_ok_and(|at_rest| at_rest)),
            (None, Ok(Err(fault))) => return Err(fault),
            (None, _) => return Err(CommitFault::Unknown(Error::Slow)),
        };
        self.is_at_rest = is_at_rest;
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_at_rest
            && let Some(object) = self.object.take()
        {
            drop(Object::take(*object));
        }
    }
}

impl Fault {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Retry(error) | Self::Cut(error) | Self::Final(error) => error,
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        if is_retryable(&error) {
            return Self::Retry(error.into());
        }
        match Error::from(error) {
            error @ Error::Unreachable(_) => Self::Cut(error),
            error => Self::Final(error),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// Returns the message that begins a transaction.
///
/// - READ COMMITTED: each statement takes a new snapshot, so the one after the head's lock sees all
///   that its earlier holders have committed.
/// - COMMIT waits at least for the local disk and for a synchronous standby, if there is one.
/// - No limit of the role or of the database cancels a COMMIT.
/// - A daemon that stops in between does not keep the lock.
fn begin_sql() -> String {
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED;\
         SELECT set_config('synchronous_commit', 'on', true) \
         WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');\
         SET LOCAL statement_timeout = 0;\
         SET LOCAL lock_timeout = {};\
         SET LOCAL idle_in_transaction_session_timeout = {}",
        LOCK_TIME_MAX.as_millis(),
        IDLE_IN_TRANSACTION_TIME_MAX.as_millis(),
    )
}
