//! The transaction that replaces texts of committed entries, as a purge does, and appends the entry
//! that says so.
//!
//! Keys, members, times and positions stay. The digests from the first replaced entry on are
//! computed again, so the journal stays a chain. The epoch rises, which tells caches of the old
//! texts apart.

use std::collections::BTreeMap;
use std::slice::from_ref;

use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::append::{CHANNEL, ROLE, insert, keys, lease, lock};
use crate::connect::Dialer;
use crate::digest::{FIRST_DIGEST, chain};
use crate::entry::{
    COLUMNS, Entry, Head, NewEntry, Point, Replacement, Rewritten, check_batch, check_text, signed,
};
use crate::error::{AppendError, Error};
use crate::limits::{REWRITE_PAGE_ENTRIES_MAX, TEXT_BYTES_MAX};
use crate::members::Role;
use crate::pool::{CommitFault, Fault, Lease, Param, Sessions};
use crate::turn::Turn;

const SET_TEXTS: &str = "UPDATE anchord.entries e \
    SET changes = n.changes, reply = n.reply, digest = n.digest \
    FROM unnest($2, $3, $4, $5) AS n (seq, changes, reply, digest) \
    WHERE e.project = $1 AND e.seq = n.seq";
const SET_DIGESTS: &str = "UPDATE anchord.entries e SET digest = n.digest \
    FROM unnest($2, $3) AS n (seq, digest) WHERE e.project = $1 AND e.seq = n.seq";

enum Prepared {
    Ended(Rewritten),
    /// The head is at another entry, and still locked.
    Moved(Lease, u64),
    Open(Lease, Head),
}

/// Replaces texts. See [`Log::rewrite`](crate::Log::rewrite).
pub(crate) async fn rewrite(
    sessions: &Sessions,
    dialer: &Dialer,
    project: Uuid,
    turn: &Turn,
    expected: &Point,
    replacements: &[Replacement],
    last: &NewEntry,
) -> Result<Rewritten, AppendError> {
    let by_seq = check(expected.seq, replacements).map_err(AppendError::NotWritten)?;
    check_batch(from_ref(last)).map_err(AppendError::NotWritten)?;
    let prepared = async {
        let lease = lease(sessions, turn).await?;
        prepare(lease, project, expected, &by_seq, last).await
    };
    let prepared = tokio::time::timeout(dialer.timeouts.query, prepared).await;
    let prepared = prepared.unwrap_or(Err(Fault::Final(Error::Slow)));
    match prepared.map_err(|fault| AppendError::NotWritten(fault.into_error()))? {
        Prepared::Ended(outcome) => Ok(outcome),
        Prepared::Moved(lease, head) => {
            turn.keep(lease, dialer.timeouts.turn);
            Ok(Rewritten::HeadMoved { head })
        }
        Prepared::Open(lease, head) => {
            let after = format!("NOTIFY {CHANNEL}, '{project} {}'", head.seq);
            match lease.commit(&after, dialer.timeouts.commit).await {
                Ok(()) => Ok(Rewritten::Committed(head)),
                Err(CommitFault::RolledBack(fault)) => {
                    Err(AppendError::NotWritten(fault.into_error()))
                }
                Err(CommitFault::Unknown(error)) => Err(AppendError::Unknown(error)),
            }
        }
    }
}

fn check(
    expected: u64,
    replacements: &[Replacement],
) -> Result<BTreeMap<u64, &Replacement>, Error> {
    signed(expected)?;
    let mut by_seq = BTreeMap::new();
    for replacement in replacements {
        if replacement.seq == 0 || replacement.seq > expected {
            return Err(Error::Invalid(format!("there is no entry {}", replacement.seq)));
        }
        check_text(&replacement.changes, TEXT_BYTES_MAX)?;
        check_text(replacement.reply.as_deref().unwrap_or_default(), TEXT_BYTES_MAX)?;
        by_seq.insert(replacement.seq, replacement);
    }
    if by_seq.is_empty() {
        Err(Error::Invalid("nothing is replaced".to_owned()))
    } else {
        Ok(by_seq)
    }
}

async fn prepare(
    mut lease: Lease,
    project: Uuid,
    expected: &Point,
    by_seq: &BTreeMap<u64, &Replacement>,
    last: &NewEntry,
) -> Result<Prepared, Fault> {
    let (instances, numbers) = keys(from_ref(last))?;
    let (mut head, found) = lock(&mut lease, project, &instances, &numbers).await?;
    if !found.is_empty() {
        lease.roll_back().await?;
        return Ok(Prepared::Ended(Rewritten::Repeated));
    }
    let id: Param<'_> = (&project, Type::UUID);
    let roles = lease.query_open(ROLE, from_ref(&id)).await?;
    let role = roles.first().ok_or(Error::NotAMember)?;
    if Role::from_stored(role.try_get(0)?)? != Role::Maintainer {
        let what = "only a maintainer purges what the team shares; ask one".to_owned();
        return Err(Fault::Final(Error::Refused(what)));
    }
    if !head.is_at(expected) {
        return Ok(Prepared::Moved(lease, head.seq));
    }
    let mut after = by_seq.keys().next().copied().unwrap_or(1) - 1;
    head.digest = digest_at(&lease, &id, after).await?;
    while after < head.seq {
        (after, head.digest) = rewrite_page(&mut lease, &id, after, head.digest, by_seq).await?;
    }
    let epoch = head.epoch + 1;
    let digests = insert(&mut lease, project, &head, epoch, from_ref(last)).await?;
    let digest = digests.into_iter().next_back().unwrap_or(head.digest);
    Ok(Prepared::Open(lease, Head { seq: head.seq + 1, digest, epoch }))
}

/// Returns the digest up to an entry.
async fn digest_at(lease: &Lease, project: &Param<'_>, seq: u64) -> Result<String, Fault> {
    if seq == 0 {
        return Ok(FIRST_DIGEST.to_owned());
    }
    let sql = "SELECT digest FROM anchord.entries WHERE project = $1 AND seq = $2";
    let at = signed(seq)?;
    let rows = lease.query_open(sql, &[project.clone(), (&at, Type::INT8)]).await?;
    let row = rows.first().ok_or_else(|| missing(seq))?;
    Ok(row.try_get(0)?)
}

/// Rewrites the entries of one page. Returns the last one's position and digest.
async fn rewrite_page(
    lease: &mut Lease,
    project: &Param<'_>,
    after: u64,
    mut digest: String,
    by_seq: &BTreeMap<u64, &Replacement>,
) -> Result<(u64, String), Fault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM anchord.entries WHERE project = $1 AND seq > $2 \
         ORDER BY seq LIMIT {REWRITE_PAGE_ENTRIES_MAX}"
    );
    let from = signed(after)?;
    let rows = lease.query_open(&sql, &[project.clone(), (&from, Type::INT8)]).await?;
    let mut seq = after;
    let (mut kept, mut kept_digests) = (Vec::new(), Vec::new());
    let (mut new, mut new_digests) = (Vec::new(), Vec::new());
    let (mut changes, mut replies) = (Vec::new(), Vec::new());
    for row in &rows {
        let entry = Entry::from_row(row)?;
        seq += 1;
        if entry.seq != seq {
            return Err(missing(seq).into());
        }
        let mut content = entry.content.clone();
        if let Some(replacement) = by_seq.get(&seq) {
            content.changes.clone_from(&replacement.changes);
            content.reply.clone_from(&replacement.reply);
        }
        digest = chain(&digest, seq, &entry.member, &content);
        if let Some(replacement) = by_seq.get(&seq) {
            new.push(signed(seq)?);
            new_digests.push(digest.clone());
            changes.push(&*replacement.changes);
            replies.push(replacement.reply.as_deref());
        } else {
            kept.push(signed(seq)?);
            kept_digests.push(digest.clone());
        }
    }
    if rows.is_empty() {
        return Err(missing(seq + 1).into());
    }
    let texts: [Param<'_>; 5] = [
        project.clone(),
        (&new, Type::INT8_ARRAY),
        (&changes, Type::TEXT_ARRAY),
        (&replies, Type::TEXT_ARRAY),
        (&new_digests, Type::TEXT_ARRAY),
    ];
    let digests: [Param<'_>; 3] =
        [project.clone(), (&kept, Type::INT8_ARRAY), (&kept_digests, Type::TEXT_ARRAY)];
    lease.run((SET_TEXTS, &texts), (SET_DIGESTS, &digests)).await?;
    Ok((seq, digest))
}

fn missing(seq: u64) -> Error {
    Error::Damaged(format!("entry {seq} is missing"))
}
