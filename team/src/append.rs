//! The transaction that appends to a journal.
//!
//! 1. Update, and so lock, the project's head. The lock is held until the end, so appends of one
//!    project run one at a time. The update also makes a repeat wait for a synchronous standby.
//! 2. Look up the batch's keys. If one exists, commit and return what is stored.
//! 3. Compare the head with the expected one. If it differs, the lock is kept for a moment, and the
//!    caller's next append continues from here with step 1.
//! 4. Set the head, insert the entries, commit. NOTIFY follows in the same message, in a
//!    transaction of its own, since it holds a lock of the whole server until its end.
//!
//! If the connection breaks, all of it is repeated with the same keys. Before COMMIT was sent, the
//! server has rolled back. After it, the outcome is unknown until the repeat has passed step 2.

use std::pin::pin;
use std::slice::from_ref;
use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connect::Dialer;
use crate::digest::chain;
use crate::entry::{
    Appended, COLUMNS, Entry, Head, NewEntry, Point, check_batch, signed, unsigned,
};
use crate::error::{AppendError, Error};
use crate::limits::{APPEND_ATTEMPTS_MAX, APPEND_PAUSE};
use crate::pool::{CommitFault, Fault, Lease, Param, Sessions};
use crate::turn::Turn;

/// The channel of notifications.
pub(crate) const CHANNEL: &str = "anchord";

/// Locks the head and returns it.
pub(crate) const LOCK: &str =
    "UPDATE anchord.projects SET seq = seq WHERE id = $1 RETURNING seq, digest, epoch";
/// Returns the caller's role in a project.
pub(crate) const ROLE: &str = "SELECT role FROM anchord.members \
    WHERE project = $1 AND role_name = session_user::text";
const INSERT: &str = "INSERT INTO anchord.entries (project, seq, instance, number, machine, \
    time_ms, session, operation, changes, reply, digest) \
    SELECT $1, * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const SET_HEAD: &str = "UPDATE anchord.projects SET seq = $2, digest = $3, epoch = $5 \
    WHERE id = $1 AND seq = $4";

/// A transaction that only COMMIT is missing from, or one that holds another head than expected.
enum Prepared {
    Moved(Lease, u64),
    Open { lease: Lease, outcome: Appended, after: String },
}

/// Appends a batch. See [`Log::append`](crate::Log::append).
pub(crate) async fn append(
    sessions: &Sessions,
    dialer: &Dialer,
    project: Uuid,
    turn: &Turn,
    expected: &Point,
    batch: &[NewEntry],
    time_max: Duration,
) -> Result<Appended, AppendError> {
    check_batch(batch).map_err(AppendError::NotWritten)?;
    let last = expected.seq.saturating_add(batch.len() as u64);
    signed(last).map_err(AppendError::NotWritten)?;
    let timeouts = &dialer.timeouts;
    let mut deadline = pin!(tokio::time::sleep(time_max));
    let mut attempt = 1;
    // The error of a COMMIT whose outcome is still unknown.
    let mut unknown: Option<Error> = None;
    loop {
        let leased = tokio::select! {
            biased;
            () = &mut deadline => Err(Fault::Final(Error::Slow)),
            leased = lease(sessions, turn) => leased.map_err(Fault::from),
        };
        let prepared = match leased {
            Err(fault) => Err(fault),
            Ok(lease) => tokio::select! {
                biased;
                // Dropping the other future closes its connection, and the server rolls back.
                () = &mut deadline => {
                    dialer.distrust_sessions();
                    Err(Fault::Final(Error::Slow))
                }
                prepared = prepare(lease, project, expected, batch) => prepared,
            },
        };
        let fault = match prepared {
            Ok(Prepared::Moved(lease, head)) => {
                turn.keep(lease, timeouts.turn);
                return Ok(Appended::HeadMoved { head });
            }
            Ok(Prepared::Open { lease, outcome, after }) => {
                match lease.commit(&after, timeouts.commit).await {
                    Ok(()) => return Ok(outcome),
                    Err(CommitFault::Unknown(error)) => {
                        dialer.distrust_sessions();
                        if !matches!(error, Error::Unreachable(_)) {
                            return Err(AppendError::Unknown(error));
                        }
                        // The repeat waits at the head for the transaction that may still be open.
                        if unknown.is_none() {
                            let later = deadline.deadline() + timeouts.commit;
                            deadline.as_mut().reset(later);
                        }
                        unknown = Some(error);
                        continue;
                    }
                    Err(CommitFault::RolledBack(fault)) => fault,
                }
            }
            Err(fault) => fault,
        };
        match fault {
            Fault::Retry(_) | Fault::Cut(_) if attempt < APPEND_ATTEMPTS_MAX => attempt += 1,
            // The server may be starting again, or another one takes over.
            Fault::Final(Error::Unreachable(_) | Error::ReadOnlyServer) if unknown.is_some() => {
                tokio::time::sleep(APPEND_PAUSE).await;
            }
            fault => {
                let not_written = || AppendError::NotWritten(fault.into_error());
                return Err(unknown.map_or_else(not_written, AppendError::Unknown));
            }
        }
    }
}

/// Takes the session that holds the head for this caller, or waits for another one.
pub(crate) async fn lease(sessions: &Sessions, turn: &Turn) -> Result<Lease, Error> {
    match turn.take() {
        Some(lease) => Ok(lease),
        None => sessions.lease().await,
    }
}

async fn prepare(
    mut lease: Lease,
    project: Uuid,
    expected: &Point,
    batch: &[NewEntry],
) -> Result<Prepared, Fault> {
    let (instances, numbers) = keys(batch)?;
    let (head, found) = lock(&mut lease, project, &instances, &numbers).await?;
    if !found.is_empty() {
        let outcome = Appended::Repeated(found);
        return Ok(Prepared::Open { lease, outcome, after: String::new() });
    }
    if !head.is_at(expected) {
        return Ok(Prepared::Moved(lease, head.seq));
    }
    let digests = insert(&mut lease, project, &head, head.epoch, batch).await?;
    let seq = head.seq + batch.len() as u64;
    let after = format!("NOTIFY {CHANNEL}, '{project} {seq}'");
    let outcome = Appended::Committed { digests, epoch: head.epoch };
    Ok(Prepared::Open { lease, outcome, after })
}

/// Returns the keys of a batch, as the instances and the numbers.
pub(crate) fn keys(batch: &[NewEntry]) -> Result<(Vec<&str>, Vec<i64>), Error> {
    let instances = batch.iter().map(|entry| &*entry.key.instance).collect();
    let numbers = batch.iter().map(|entry| signed(entry.key.number)).collect::<Result<_, _>>()?;
    Ok((instances, numbers))
}

impl Head {
    /// Reads a row of [`LOCK`].
    fn from_row(row: &Row) -> Result<Self, Error> {
        let (seq, epoch) = (unsigned(row.try_get(0)?)?, unsigned(row.try_get(2)?)?);
        Ok(Self { seq, digest: row.try_get(1)?, epoch })
    }

    /// Returns whether this is the head that a caller expects.
    pub(crate) fn is_at(&self, point: &Point) -> bool {
        self.seq == point.seq && point.digest.as_ref().is_none_or(|digest| *digest == self.digest)
    }
}

/// Begins a transaction, locks the head and returns the entries with these keys, in order.
pub(crate) async fn lock(
    lease: &mut Lease,
    project: Uuid,
    instances: &[&str],
    numbers: &[i64],
) -> Result<(Head, Vec<Entry>), Fault> {
    let find = format!(
        "SELECT {COLUMNS} FROM anchord.entries WHERE project = $1 \
         AND (instance, number) IN (SELECT * FROM unnest($2, $3)) ORDER BY seq"
    );
    let project: Param<'_> = (&project, Type::UUID);
    let keys = [project.clone(), (&instances, Type::TEXT_ARRAY), (&numbers, Type::INT8_ARRAY)];
    let (heads, found) = lease.begin((LOCK, from_ref(&project)), (&find, &keys)).await?;
    let Some(head) = heads.first() else {
        // Row-level security hides the row from whoever may not change it.
        let role = lease.query_open(ROLE, &[project]).await?;
        return Err(Fault::Final(match role.first() {
            Some(_) => Error::Refused(
                "a reader does not write; ask a maintainer of the project".to_owned(),
            ),
            None => Error::NotAMember,
        }));
    };
    let head = Head::from_row(head)?;
    let found = found.iter().map(Entry::from_row).collect::<Result<_, _>>()?;
    Ok((head, found))
}

/// Inserts a batch after the head and sets the head. Returns the digest of each entry.
pub(crate) async fn insert(
    lease: &mut Lease,
    project: Uuid,
    head: &Head,
    epoch: u64,
    batch: &[NewEntry],
) -> Result<Vec<String>, Fault> {
    let (instances, numbers) = keys(batch)?;
    let mut digests: Vec<String> = Vec::with_capacity(batch.len());
    let mut seqs: Vec<i64> = Vec::with_capacity(batch.len());
    let mut seq = head.seq;
    for entry in batch {
        seq += 1;
        let previous = digests.last().unwrap_or(&head.digest);
        let digest = chain(previous, seq, &lease.session().user, entry);
        digests.push(digest);
        seqs.push(signed(seq)?);
    }
    let machines: Vec<&str> = batch.iter().map(|entry| &*entry.machine).collect();
    let times: Vec<i64> = batch.iter().map(|entry| entry.time).collect();
    let sessions: Vec<Option<&str>> = batch.iter().map(|entry| entry.session.as_deref()).collect();
    let operations: Vec<&str> = batch.iter().map(|entry| &*entry.operation).collect();
    let changes: Vec<&str> = batch.iter().map(|entry| &*entry.changes).collect();
    let replies: Vec<Option<&str>> = batch.iter().map(|entry| entry.reply.as_deref()).collect();
    let (seq, old, epoch) = (signed(seq)?, signed(head.seq)?, signed(epoch)?);
    let digest = digests.last().unwrap_or(&head.digest);
    let rows: [Param<'_>; 11] = [
        (&project, Type::UUID),
        (&seqs, Type::INT8_ARRAY),
        (&instances, Type::TEXT_ARRAY),
        (&numbers, Type::INT8_ARRAY),
        (&machines, Type::TEXT_ARRAY),
        (&times, Type::INT8_ARRAY),
        (&sessions, Type::TEXT_ARRAY),
        (&operations, Type::TEXT_ARRAY),
        (&changes, Type::TEXT_ARRAY),
        (&replies, Type::TEXT_ARRAY),
        (&digests, Type::TEXT_ARRAY),
    ];
    let new: [Param<'_>; 5] = [
        (&project, Type::UUID),
        (&seq, Type::INT8),
        (digest, Type::TEXT),
        (&old, Type::INT8),
        (&epoch, Type::INT8),
    ];
    // The schema demands this order.
    let inserted = lease.run((SET_HEAD, &new), (INSERT, &rows)).await?;
    if inserted != batch.len() as u64 {
        return Err(Fault::Final(Error::NotAMember));
    }
    Ok(digests)
}
