//! The limits of connections, transactions and entries, with their units.

use std::time::Duration;

/// The time to connect to one host, with TLS and authentication.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);

/// The time that a command for a password may take.
pub const SECRET_COMMAND_TIME_MAX: Duration = Duration::from_secs(10);

/// The bytes of a password. The rest of a file or of a command's output is not read.
pub const SECRET_BYTES_MAX: u64 = 4 << 10;

/// The time from the start of an append until its COMMIT is sent.
pub const APPEND_TIME_MAX: Duration = Duration::from_secs(5);

/// The time until a COMMIT is answered. After it, the outcome is unknown.
pub const COMMIT_TIME_MAX: Duration = Duration::from_secs(5);

/// The time that a read or a change of members may take.
pub const QUERY_TIME_MAX: Duration = Duration::from_secs(30);

/// The time after which the server ends a transaction that its daemon has left open. The open
/// transaction holds the project's head, so all others wait for it.
pub const IDLE_IN_TRANSACTION_TIME_MAX: Duration = Duration::from_secs(10);

/// The time that the server waits for another append of the same project.
pub const LOCK_TIME_MAX: Duration = Duration::from_secs(5);

/// The connections of one [`Database`](crate::Database) for appends. A project whose head is locked
/// occupies one for each of its appends, so a caller sends one append per project at a time.
pub const APPEND_CONNECTIONS_MAX: usize = 8;

/// The connections of one [`Database`](crate::Database) for reads, which never wait for appends.
pub const READ_CONNECTIONS_MAX: usize = 4;

/// The time after which an unused connection is checked by a round trip before its next use.
pub const UNCHECKED_TIME_MAX: Duration = Duration::from_secs(1);

/// The time until that round trip is answered. After it, other unused connections count as lost,
/// too.
pub const CHECK_TIME_MAX: Duration = Duration::from_secs(1);

/// The attempts of an append that the server ends with a serialization failure or a deadlock, or
/// whose connection breaks.
pub const APPEND_ATTEMPTS_MAX: u32 = 5;

/// The time between two attempts to reach the server again after COMMIT was sent. They end
/// [`COMMIT_TIME_MAX`] after the time of the append.
pub const APPEND_PAUSE: Duration = Duration::from_millis(100);

/// The time that a head stays locked for a caller whose append came too late, so that its next one
/// comes first.
pub const TURN_TIME_MAX: Duration = Duration::from_millis(300);

/// The entries of one append.
pub const BATCH_ENTRIES_MAX: usize = 1_000;

/// The bytes of an append's texts together.
pub const BATCH_BYTES_MAX: usize = 64 << 20;

/// The entries that a rewrite holds in memory at a time.
pub const REWRITE_PAGE_ENTRIES_MAX: u32 = 200;

/// The bytes of an entry's changes, and of its reply.
pub const TEXT_BYTES_MAX: usize = 32 << 20;

/// The bytes of an instance, a machine, a session, an operation, and of a display name.
pub const NAME_BYTES_MAX: usize = 200;

/// The bytes of a role's name, as Postgres limits it.
pub const ROLE_NAME_BYTES_MAX: usize = 63;

/// The time between two round trips of a listener that hears nothing.
pub const LISTENER_IDLE_TIME_MAX: Duration = Duration::from_millis(500);

/// The time until a listener's round trip is answered. After it, the connection counts as lost.
pub const LISTENER_ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// The notifications that a listener has not yet taken. Later ones are dropped, since each is a
/// hint.
pub const NOTIFICATIONS_MAX: usize = 1_024;

/// The warnings that are kept per connection. Later ones are only logged.
pub const WARNINGS_MAX: usize = 8;

/// The time after which an idle connection is probed, and between probes. Three probes without an
/// answer end it.
pub const KEEPALIVE_TIME_MAX: Duration = Duration::from_secs(10);

/// The time that sent bytes may stay unacknowledged before the connection counts as lost.
pub const UNACKNOWLEDGED_TIME_MAX: Duration = Duration::from_secs(20);
