//! Sessions: connecting to a host of the address, and the task that drives a connection.
//!
//! The task sees the server's warnings in order with its answers, which a COMMIT depends on. Its
//! end closes the socket at once. `tokio-postgres` alone would keep a dropped connection open until
//! the server has answered, with all the locks of its transaction.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OnceCell, mpsc};
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Connection};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, Protection, Target};
use crate::database::Timeouts;
use crate::error::Error;
use crate::limits::{KEEPALIVE_TIME_MAX, UNACKNOWLEDGED_TIME_MAX, WARNINGS_MAX};
use crate::secret::{Password, Secret};
use crate::tls;

/// A session's facts, asked once after connecting. `session_user` is the role that has logged in.
const FACTS: &str = "SELECT pg_is_in_recovery(), session_user::text";

/// Makes sessions.
#[derive(Debug)]
pub(crate) struct Dialer {
    address: Address,
    secret: Secret,
    pub(crate) timeouts: Timeouts,
    tls: OnceCell<Tls>,
    /// The host that was the primary last. It is tried first, since a dead host takes its time.
    first: AtomicUsize,
    /// The count of time-outs. A session from before the last one may be dead without saying so.
    generation: AtomicUsize,
}

/// A connection that has logged in.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    /// The role that has logged in.
    pub(crate) user: String,
    /// Whether the server was a standby when the session began.
    pub(crate) is_standby: bool,
    /// Whether the connection is encrypted.
    pub(crate) is_encrypted: bool,
    pub(crate) events: Arc<Events>,
    generation: usize,
    driver: JoinHandle<()>,
}

/// The warnings of a session, and the reason of its end.
#[derive(Debug, Default)]
pub(crate) struct Events {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    warnings: Vec<String>,
    end: Option<String>,
}

impl Dialer {
    pub(crate) fn new(address: Address, secret: Secret, timeouts: Timeouts) -> Self {
        Self {
            address,
            secret,
            timeouts,
            tls: OnceCell::new(),
            first: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
        }
    }

    /// Notes a time-out, after which no session from before it is used again.
    pub(crate) fn distrust_sessions(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether no call has timed out since the session began.
    pub(crate) fn trusts(&self, session: &Session) -> bool {
        session.generation == self.generation.load(Ordering::Relaxed)
    }

    /// Connects to the first host that is a primary, beginning with the last such host.
    ///
    /// Returns a standby's session if there are only standbys. Notifications go to `notified`;
    /// those that do not fit are dropped.
    pub(crate) async fn connect(
        &self,
        notified: Option<mpsc::Sender<String>>,
    ) -> Result<Session, Error> {
        let password = self.secret.read().await?;
        // A time-out while the password was read says nothing about a connection of later.
        let generation = self.generation.load(Ordering::Relaxed);
        let mut found = Err(Error::Unreachable("the address names no host".to_owned()));
        let hosts = self.address.hosts().iter().enumerate();
        let first = self.first.load(Ordering::Relaxed);
        for (at, target) in hosts.clone().skip(first).chain(hosts.take(first)) {
            let dialed = self.dial(target, password.as_ref(), notified.clone());
            let dialed = tokio::time::timeout(self.timeouts.connect, dialed).await;
            let silent = || Err(Error::Unreachable("it does not answer".to_owned()));
            match dialed.unwrap_or_else(|_| silent()) {
                Ok(mut session) if !session.is_standby => {
                    session.generation = generation;
                    self.first.store(at, Ordering::Relaxed);
                    return Ok(session);
                }
                Ok(standby) => found = Ok(standby),
                // A standby or a refusal says more than that another host is unreachable.
                Err(error) if matches!(found, Err(Error::Unreachable(_))) => found = Err(error),
                Err(_) => {}
            }
        }
        found
    }

    async fn dial(
        &self,
        target: &Target,
        password: Option<&Password>,
        notified: Option<mpsc::Sender<String>>,
    ) -> Result<Session, Error> {
        let mut config = self.address.config(target);
        config
            .keepalives_idle(KEEPALIVE_TIME_MAX)
            .keepalives_interval(KEEPALIVE_TIME_MAX)
            .keepalives_retries(3)
            .tcp_user_timeout(UNACKNOWLEDGED_TIME_MAX);
        if let Some(password) = password {
            config.password(password.bytes());
        }
        if target.protection == Protection::Plain {
            let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
            return Session::start(client, connection, notified, false).await;
        }
        let is_optional = target.protection == Protection::Preferred;
        let root_certificates = self.address.root_certificates();
        let tls =
            self.tls.get_or_try_init(async || tls::connector(root_certificates).await.map(Tls));
        let error: Error = match tls.await {
            Ok(Tls(tls)) => match config.ssl_mode(SslMode::Require).connect(tls.clone()).await {
                Ok((client, connection)) => {
                    return Session::start(client, connection, notified, true).await;
                }
                // The server has spoken, so there is no doubt about the encryption.
                Err(error) if error.as_db_error().is_some() => return Err(error.into()),
                Err(error) => error.into(),
            },
            Err(error) => error,
        };
        if !is_optional {
            return Err(error);
        }
        tracing::debug!("no TLS on this machine: {error}");
        let (client, connection) =
            config.ssl_mode(SslMode::Disable).connect(tokio_postgres::NoTls).await?;
        Session::start(client, connection, notified, false).await
    }
}

/// A connector that can be printed.
struct Tls(MakeRustlsConnect);

impl std::fmt::Debug for Tls {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Tls")
    }
}

impl Session {
    async fn start<S, T>(
        client: Client,
        connection: Connection<S, T>,
        notified: Option<mpsc::Sender<String>>,
        is_encrypted: bool,
    ) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let events = Arc::new(Events::default());
        let driver = tokio::spawn(drive(connection, Arc::clone(&events), notified));
        let mut session = Self {
            client,
            user: String::new(),
            is_standby: false,
            is_encrypted,
            events,
            generation: 0,
            driver,
        };
        let row = session.client.query_typed_one(FACTS, &[]).await?;
        session.is_standby = row.try_get(0)?;
        session.user = row.try_get(1)?;
        Ok(session)
    }

    /// Makes a round trip.
    pub(crate) async fn ping(&self, limit: Duration) -> Result<(), Error> {
        let answered = tokio::time::timeout(limit, self.client.check_connection()).await;
        Ok(answered.map_err(|_| Error::Slow)??)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Events {
    /// Forgets the warnings so far.
    pub(crate) fn clear_warnings(&self) {
        self.inner.lock().warnings.clear();
    }

    /// Returns the first warning since then.
    pub(crate) fn warning(&self) -> Option<String> {
        self.inner.lock().warnings.first().cloned()
    }

    /// Returns why the session has ended.
    pub(crate) fn end(&self) -> String {
        self.inner.lock().end.clone().unwrap_or_else(|| "the connection is closed".to_owned())
    }
}

/// Drives a connection until it ends. Stores a warning before the answer that follows it is
/// delivered.
async fn drive<S, T>(
    mut connection: Connection<S, T>,
    events: Arc<Events>,
    notified: Option<mpsc::Sender<String>>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notice(notice))) => {
                // A proxy may leave out the severity that is not translated.
                let is_warning = notice.parsed_severity() == Some(Severity::Warning)
                    || notice.severity() == "WARNING";
                if !is_warning {
                    continue;
                }
                tracing::warn!("database: {} ({})", notice.message(), notice.code().code());
                let mut inner = events.inner.lock();
                if inner.warnings.len() < WARNINGS_MAX {
                    inner.warnings.push(notice.message().to_owned());
                }
            }
            Some(Ok(AsyncMessage::Notification(notification))) => {
                if let Some(notified) = &notified {
                    // A full queue already makes its reader look for new entries.
                    let _ = notified.try_send(notification.payload().to_owned());
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                events.inner.lock().end = Some(crate::error::chain(&error));
                return;
            }
            None => return,
        }
    }
}
