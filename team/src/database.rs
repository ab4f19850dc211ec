//! A database with anchord's schema: projects, members and journals.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::address::Address;
use crate::connect::{Dialer, Session};
use crate::entry::{check_text, unsigned};
use crate::error::Error;
use crate::limits::{
    APPEND_CONNECTIONS_MAX, APPEND_TIME_MAX, COMMIT_TIME_MAX, CONNECT_TIME_MAX, NAME_BYTES_MAX,
    QUERY_TIME_MAX, READ_CONNECTIONS_MAX, TURN_TIME_MAX,
};
use crate::listen::Listener;
use crate::log::Log;
use crate::members::Role;
use crate::migrate;
use crate::pool::{Param, Sessions};
use crate::secret::Secret;

/// The time limits of one [`Database`]. The default has those of [`limits`](crate::limits).
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// The time to connect to one host.
    pub connect: Duration,
    /// The time until an append has sent COMMIT.
    pub append: Duration,
    /// The time until a COMMIT is answered.
    pub commit: Duration,
    /// The time that a head stays locked for a caller whose append came too late.
    pub turn: Duration,
    /// The time for any other call.
    pub query: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: CONNECT_TIME_MAX,
            append: APPEND_TIME_MAX,
            commit: COMMIT_TIME_MAX,
            turn: TURN_TIME_MAX,
            query: QUERY_TIME_MAX,
        }
    }
}

/// A project that the caller is a member of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectInfo {
    /// The id.
    pub id: Uuid,
    /// The name, unique in the database.
    pub name: String,
    /// The `seq` of its last entry, or 0.
    pub head: u64,
    /// The caller's name in it.
    pub member: String,
    /// The caller's role in it.
    pub role: Role,
}

/// The state of the server and of the schema in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The server's version, as it prints it.
    pub version: String,
    /// The name of the database.
    pub database: String,
    /// The role that the caller has logged in as.
    pub user: String,
    /// Whether the server is a primary that accepts writes.
    pub writable: bool,
    /// The setting `synchronous_commit` of new sessions. Appends raise it to `on`.
    pub synchronous_commit: String,
    /// The standbys that a COMMIT waits for, as configured. Empty if there are none.
    pub synchronous_standby_names: String,
    /// The version of the schema.
    pub schema: u32,
    /// Whether the connection is encrypted.
    pub tls: bool,
}

/// A database with anchord's schema. Cheap to clone; clones share the connections.
#[derive(Clone, Debug)]
pub struct Database {
    dialer: Arc<Dialer>,
    appends: Sessions,
    reads: Sessions,
}

impl Database {
    /// Returns a database. Connects to nothing and checks nothing.
    pub fn open(address: Address, secret: Secret) -> Result<Self, Error> {
        Self::open_with(address, secret, Timeouts::default())
    }

    /// Returns a database with other time limits.
    pub fn open_with(address: Address, secret: Secret, timeouts: Timeouts) -> Result<Self, Error> {
        let dialer = Arc::new(Dialer::new(address, secret, timeouts));
        let appends = Sessions::new(Arc::clone(&dialer), APPEND_CONNECTIONS_MAX)?;
        let reads = Sessions::new(Arc::clone(&dialer), READ_CONNECTIONS_MAX)?;
        Ok(Self { dialer, appends, reads })
    }

    /// Creates or updates the schema. Does nothing to a current one. Two calls at once are safe.
    ///
    /// To create it, the caller needs the right to create schemas, and roles unless the role
    /// `anchord_member` exists. It then owns the schema.
    pub async fn migrate(&self) -> Result<(), Error> {
        self.limited(async {
            let session = self.connect().await?;
            if session.is_standby {
                return Err(Error::ReadOnlyServer);
            }
            migrate::run(session).await
        })
        .await
    }

    /// Describes the server, on a connection of its own. Fails if the schema is missing or newer
    /// than this program, or if the caller is not a member of any project.
    pub async fn check(&self) -> Result<Server, Error> {
        let sql = "SELECT current_setting('server_version'), current_database()::text, \
            session_user::text, current_setting('transaction_read_only') = 'on', \
            current_setting('synchronous_commit'), current_setting('synchronous_standby_names')";
        self.limited(async {
            let session = self.connect().await?;
            let schema = migrate::version(&session).await.map_err(|error| match error {
                // The group of members has access to the schema.
                Error::Refused(_) => Error::NotAMember,
                error => error,
            })?;
            let row = session.client.query_typed_one(sql, &[]).await?;
            let is_read_only: bool = row.try_get(3)?;
            Ok(Server {
                version: row.try_get(0)?,
                database: row.try_get(1)?,
                user: row.try_get(2)?,
                writable: !session.is_standby && !is_read_only,
                synchronous_commit: row.try_get(4)?,
                synchronous_standby_names: row.try_get(5)?,
                schema,
                tls: session.is_encrypted,
            })
        })
        .await
    }

    /// Lists the projects that the caller is a member of, by name.
    pub async fn projects(&self) -> Result<Vec<ProjectInfo>, Error> {
        let sql = "SELECT p.id, p.name, p.seq, m.name, m.role FROM anchord.projects p \
            JOIN anchord.members m ON m.project = p.id AND m.role_name = session_user::text \
            ORDER BY p.name";
        let rows = self.query(sql, &[]).await?;
        rows.iter()
            .map(|row| {
                Ok(ProjectInfo {
                    id: row.try_get(0)?,
                    name: row.try_get(1)?,
                    head: unsigned(row.try_get(2)?)?,
                    member: row.try_get(3)?,
                    role: Role::from_stored(row.try_get(4)?)?,
                })
            })
            .collect()
    }

    /// Creates a project, and makes the caller its maintainer. Fails with [`Error::NameTaken`] if
    /// any project of the database has the name.
    pub async fn create_project(&self, name: &str) -> Result<ProjectInfo, Error> {
        check_name(name)?;
        let id = Uuid::now_v7();
        let sql = "SELECT session_user::text FROM anchord.create_project($1, $2)";
        let created = self.query(sql, &[(&id, Type::UUID), (&name, Type::TEXT)]).await;
        let created = created.map_err(|error| match error {
            // The id is random, so the name is what exists.
            Error::Exists => Error::NameTaken,
            error => error,
        })?;
        // The creator's name is that of the role.
        let member = created.first().ok_or(Error::NotAMember)?.try_get(0)?;
        Ok(ProjectInfo { id, name: name.to_owned(), head: 0, member, role: Role::Maintainer })
    }

    /// Renames a project. Needs the rights of a maintainer. Fails with [`Error::NameTaken`] if any
    /// other project of the database has the name.
    pub async fn rename_project(&self, project: Uuid, name: &str) -> Result<(), Error> {
        check_name(name)?;
        let sql = "UPDATE anchord.projects SET name = $2 WHERE id = $1 RETURNING id";
        match self.query(sql, &[(&project, Type::UUID), (&name, Type::TEXT)]).await {
            Ok(renamed) if renamed.is_empty() => Err(Error::NotAMember),
            Ok(_) => Ok(()),
            Err(Error::Exists) => Err(Error::NameTaken),
            Err(error) => Err(error),
        }
    }

    /// Returns the journal of a project. Checks nothing.
    pub fn log(&self, project: Uuid) -> Log {
        Log::new(self.clone(), project)
    }

    /// Opens a connection that hears notifications. Read all heads after it, since earlier
    /// notifications are not repeated.
    pub async fn listen(&self) -> Result<Listener, Error> {
        Listener::open(&self.dialer).await
    }

    /// Returns the parts that an append needs.
    pub(crate) fn parts(&self) -> (&Sessions, &Dialer) {
        (&self.appends, &self.dialer)
    }

    /// Connects without the pool.
    pub(crate) async fn connect(&self) -> Result<Session, Error> {
        Box::pin(self.dialer.connect(None)).await
    }

    /// Runs one statement within the time limit.
    pub(crate) async fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        self.limited(async { self.reads.lease().await?.query(sql, params).await }).await
    }

    /// Awaits a call within the time limit.
    pub(crate) async fn limited<T>(
        &self,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let ended = tokio::time::timeout(self.dialer.timeouts.query, call).await;
        ended.unwrap_or_else(|_| {
            self.dialer.distrust_sessions();
            Err(Error::Slow)
        })
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::Invalid("the name is empty".to_owned()));
    }
    check_text(name, NAME_BYTES_MAX)
}

#[cfg(test)]
mod tests;
