//! Reads conversations that a client keeps in one `SQLite` database. Writes nothing there: a log
//! without its index, which reading would create, makes the database unreadable.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anchord_memory::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::Unread;
use crate::limits::{DATABASE_BUSY_SECONDS_MAX, TRANSCRIPT_LINE_BYTES_MAX};

/// A client's database, by its queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Database {
    /// Selects each conversation's id, its directory, and the time of its last change.
    pub(crate) conversations: &'static str,
    /// Selects a conversation's lines in order: a time, then columns of JSON. `?1` is its id. Times
    /// are milliseconds since the epoch.
    pub(crate) lines: &'static str,
}

/// A conversation in a database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conversation {
    /// The client's id.
    pub id: String,
    /// The directory in which it worked.
    pub cwd: String,
    /// The time of its last change.
    pub modified: Timestamp,
}

impl Database {
    /// Lists the conversations.
    pub(super) fn conversations(&self, path: &Path) -> io::Result<Vec<Conversation>> {
        let connection = open(path)?;
        let mut query = connection.prepare(self.conversations).map_err(io::Error::other)?;
        let found = query.query_map([], |row| {
            let modified = Timestamp(row.get(2)?);
            Ok(Conversation { id: row.get(0)?, cwd: row.get(1)?, modified })
        });
        found.and_then(Iterator::collect).map_err(io::Error::other)
    }

    /// Reads a conversation's lines, each a list of its columns, and counts those that cannot be
    /// read.
    pub(super) fn lines(
        &self,
        path: &Path,
        id: &str,
        mut each: impl FnMut(&Value, Timestamp),
    ) -> io::Result<Unread> {
        let connection = open(path)?;
        let mut unread = Unread::default();
        let mut query = connection.prepare(self.lines).map_err(io::Error::other)?;
        let columns = query.column_count();
        let mut rows = query.query([id]).map_err(io::Error::other)?;
        while let Some(row) = rows.next().map_err(io::Error::other)? {
            let time = Timestamp(row.get(0).map_err(io::Error::other)?);
            let mut line = Vec::new();
            for column in 1..columns {
                let bytes = match row.get_ref(column).map_err(io::Error::other)? {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
                    ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
                };
                if bytes.len() as u64 > TRANSCRIPT_LINE_BYTES_MAX {
                    unread.too_long += 1;
                } else if let Ok(value) = serde_json::from_slice(bytes) {
                    line.push(value);
                } else {
                    unread.no_json += 1;
                }
            }
            if line.len() + 1 == columns {
                each(&Value::Array(line), time);
            }
        }
        Ok(unread)
    }
}

/// Opens a database for reading. Without a log of writes nobody has it open, and it is read without
/// locks, which would create a file.
fn open(path: &Path) -> io::Result<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_logged = fs::metadata(PathBuf::from(log)).is_ok_and(|about| about.len() > 0);
    let more = if is_logged { "" } else { "&immutable=1" };
    let path = path.to_str().ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let address = format!("file:{path}?mode=ro{more}");
    let connection = Connection::open_with_flags(address, flags).map_err(io::Error::other)?;
    let patience = Duration::from_secs(DATABASE_BUSY_SECONDS_MAX);
    connection.busy_timeout(patience).map_err(io::Error::other)?;
    Ok(connection)
}
