//! One project's journal: its head, its entries, and the look-up by key.

use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::append;
use crate::database::Database;
use crate::entry::{
    Appended, COLUMNS, Entry, Head, Key, NewEntry, Replacement, Rewritten, signed, unsigned,
};
use crate::error::{AppendError, Error};
use crate::pool::Param;
use crate::rewrite;

/// The journal of one project. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Log {
    database: Database,
    project: Uuid,
}

impl Log {
    pub(crate) fn new(database: Database, project: Uuid) -> Self {
        Self { database, project }
    }

    /// Appends a batch if `expected` is the `seq` of the head. A batch has 1 to 1,000 entries and
    /// is committed as a whole.
    ///
    /// Call it once at a time per project, since others would only wait for the head.
    ///
    /// COMMIT is sent within 5 s and answered within another 5 s, or the call fails. Dropping the
    /// future closes its connection; if COMMIT was sent by then, the outcome is unknown.
    pub async fn append(&self, expected: u64, batch: &[NewEntry]) -> Result<Appended, AppendError> {
        let (sessions, dialer) = self.database.parts();
        append::append(sessions, dialer, self.project, expected, batch).await
    }

    /// Replaces the texts of committed entries, as a purge does, if `expected` is the `seq` of the
    /// head. Needs the rights of a maintainer.
    ///
    /// Computes the digests from the first of these entries on again, and raises the epoch by 1. It
    /// has 30 s, and locks the head meanwhile. If the outcome is unknown, repeat it; that raises
    /// the epoch once more.
    pub async fn rewrite(
        &self,
        expected: u64,
        replacements: &[Replacement],
    ) -> Result<Rewritten, AppendError> {
        let (sessions, dialer) = self.database.parts();
        rewrite::rewrite(sessions, dialer, self.project, expected, replacements).await
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
        // The lengths are in the rows' headers, so long texts are only read if they are returned.
        let sql = format!(
            "SELECT {COLUMNS} FROM (\
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
        Ok(entries)
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

    /// Returns the entry with a key, if it is committed.
    ///
    /// Takes the head's lock first and so waits up to 5 s for an append that is still open. Needs
    /// the rights of a writer.
    pub async fn find(&self, key: &Key) -> Result<Option<Entry>, Error> {
        let (sessions, dialer) = self.database.parts();
        append::find(sessions, dialer, self.project, key).await
    }
}
