//! One project's journal: its head and its entries.

use std::time::Duration;

use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::append;
use crate::database::Database;
use crate::digest::{FIRST_DIGEST, chain, verify};
use crate::entry::{
    Appended, COLUMNS, Entry, Following, Head, NewEntry, Point, Replacement, Rewritten, signed,
    unsigned,
};
use crate::error::{AppendError, Error};
use crate::pool::Param;
use crate::rewrite;
use crate::turn::Turn;

/// The place of the epoch after [`COLUMNS`].
const EPOCH_COLUMN: usize = 12;

/// The journal of one project. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Log {
    database: Database,
    project: Uuid,
    turn: Turn,
}

impl Log {
    pub(crate) fn new(database: Database, project: Uuid) -> Self {
        Self { database, project, turn: Turn::default() }
    }

    /// Appends a batch if `expected` is the head. A batch has 1 to 1,000 entries and is committed
    /// as a whole.
    ///
    /// Call it once at a time per project, since others would only wait for the head. If the head
    /// has moved, it stays locked for 0.3 s. So the next call comes before other writers.
    ///
    /// COMMIT is sent within 5 s and answered within another 5 s, or the call fails. If the
    /// connection breaks meanwhile, the append is repeated on another one, at most 10 s after its
    /// start. Dropping the future closes its connection; if COMMIT was sent by then, the outcome is
    /// unknown.
    pub async fn append(
        &self,
        expected: impl Into<Point>,
        batch: &[NewEntry],
    ) -> Result<Appended, AppendError> {
        self.append_within(expected, batch, Duration::MAX).await
    }

    /// Appends a batch like [`Self::append`], but COMMIT is sent within `time_max`, if that is
    /// less. Callers may have waited before.
    pub async fn append_within(
        &self,
        expected: impl Into<Point>,
        batch: &[NewEntry],
        time_max: Duration,
    ) -> Result<Appended, AppendError> {
        let (sessions, dialer) = self.database.parts();
        let time_max = dialer.timeouts.append.min(time_max);
        let place = &expected.into();
        append::append(sessions, dialer, self.project, &self.turn, place, batch, time_max).await
    }

    /// Replaces the texts of committed entries, as a purge does, and appends the entry `last`, if
    /// `expected` is the head. Needs the rights of a maintainer.
    ///
    /// Computes the digests from the first of these entries on again, and raises the epoch by 1. It
    /// has 30 s, and locks the head meanwhile. If the head has moved, it stays locked for 0.3 s, as
    /// after an append. If the outcome is unknown, repeat it with the same key.
    pub async fn rewrite(
        &self,
        expected: impl Into<Point>,
        replacements: &[Replacement],
        last: &NewEntry,
    ) -> Result<Rewritten, AppendError> {
        let (sessions, dialer) = self.database.parts();
        let expected = expected.into();
        let (project, turn) = (self.project, &self.turn);
        rewrite::rewrite(sessions, dialer, project, turn, &expected, replacements, last).await
    }

    /// Returns the entries after a point, as [`entries`](Self::entries) does, if the journal
    /// contains the point. Fails with [`Error::Damaged`] if their digests do not follow from it.
    pub async fn follow(
        &self,
        after: &Point,
        entries_max: u32,
        bytes_max: u64,
    ) -> Result<Following, Error> {
        let (entries, epoch) = self.read(after.seq, entries_max, bytes_max).await?;
        let Some(first) = entries.first() else {
            let head = self.head().await?;
            // Something may have come since. The next call finds it.
            return Ok(if head.seq > after.seq || head.is_at(after) {
                Following::Entries { entries, epoch: head.epoch }
            } else {
                Following::Apart(head)
            });
        };
        let known = match &after.digest {
            Some(digest) => digest.clone(),
            None => self.digest_at(after.seq).await?,
        };
        if chain(&known, first.seq, &first.member, &first.content) != first.digest {
            return Ok(Following::Apart(self.head().await?));
        }
        verify(after.seq, &known, &entries)?;
        Ok(Following::Entries { entries, epoch })
    }

    /// Returns the digest of the journal up to an entry.
    async fn digest_at(&self, seq: u64) -> Result<String, Error> {
        match seq.checked_sub(1) {
            None => Ok(FIRST_DIGEST.to_owned()),
            Some(before) => match self.entries(before, 1, 1).await?.pop() {
                Some(entry) => Ok(entry.digest),
                None => Err(Error::Damaged(format!("entry {seq} is missing"))),
            },
        }
    }

    /// Returns the entries after a `seq`, in order and without a gap.
    ///
    /// Stops after `entries_max` entries, and before the texts of more than `bytes_max` bytes. The
    /// first entry is always returned. An empty result means that there is no later entry, or that
    /// the caller is not a member; [`head`](Self::head) tells them apart.
    pub async fn entries(
        &self,
        after: u64,
        entries_max: u32,
        bytes_max: u64,
    ) -> Result<Vec<Entry>, Error> {
        Ok(self.read(after, entries_max, bytes_max).await?.0)
    }

    /// Returns the entries after a `seq`, and the epoch at that moment; 0 if there are none.
    async fn read(
        &self,
        after: u64,
        entries_max: u32,
        bytes_max: u64,
    ) -> Result<(Vec<Entry>, u64), Error> {
        // The lengths are in the rows' headers, so long texts are only read if they are returned.
        let sql = format!(
            "SELECT {COLUMNS}, (SELECT epoch FROM anchord.projects WHERE id = $1) FROM (\
                SELECT *, sum(octet_length(changes) + coalesce(octet_length(reply), 0)) \
                    OVER (ORDER BY seq) AS total \
                FROM (SELECT * FROM anchord.entries WHERE project = $1 AND seq > $2 \
                    ORDER BY seq LIMIT $3) AS next\
             ) AS sized WHERE total <= $4 OR seq = $2 + 1 ORDER BY seq"
        );
        let after_seq = signed(after)?;
        let entries_max = i64::from(entries_max.max(1));
        let bytes_max = i64::try_from(bytes_max).unwrap_or(i64::MAX);
        let params: [Param<'_>; 4] = [
            (&self.project, Type::UUID),
            (&after_seq, Type::INT8),
            (&entries_max, Type::INT8),
            (&bytes_max, Type::INT8),
        ];
        let rows = self.database.query(&sql, &params).await?;
        let entries: Vec<Entry> = rows.iter().map(Entry::from_row).collect::<Result<_, _>>()?;
        for (entry, seq) in entries.iter().zip(after.saturating_add(1)..) {
            if entry.seq != seq {
                return Err(Error::Damaged(format!("entry {seq} is missing")));
            }
        }
        let epoch = rows.first().map(|row| row.try_get(EPOCH_COLUMN)).transpose()?;
        Ok((entries, epoch.map(unsigned).transpose()?.unwrap_or_default()))
    }

    /// Returns the head.
    pub async fn head(&self) -> Result<Head, Error> {
        let sql = "SELECT seq, digest, epoch, pg_is_in_recovery() \
            FROM anchord.projects WHERE id = $1";
        let rows = self.database.query(sql, &[(&self.project, Type::UUID)]).await?;
        let row = rows.first().ok_or(Error::NotAMember)?;
        // A pooler may have changed the server behind the connection.
        if row.try_get(3)? {
            return Err(Error::ReadOnlyServer);
        }
        Ok(Head {
            seq: unsigned(row.try_get(0)?)?,
            digest: row.try_get(1)?,
            epoch: unsigned(row.try_get(2)?)?,
        })
    }
}
