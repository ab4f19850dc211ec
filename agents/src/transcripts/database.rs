//! Reads conversations that a client keeps in one `SQLite` database. Writes nothing there: a log
//! without its index, which reading would create, makes the database unreadable.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anchord_memory::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::Unread;
use crate::limits::{DATABASE_BUSY_SECONDS_MAX, TRANSCRIPT_LINE_BYTES_MAX};

/// A client's database. Each function gets a connection that cannot write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Database {
    /// Lists the conversations of the database at a path.
    pub(crate) conversations: fn(&Connection, &Path) -> rusqlite::Result<Listed>,
    /// Reads the lines of the conversation with an id in order, and counts those that cannot be
    /// read.
    pub(crate) lines: fn(&Connection, &str, &mut Each<'_>) -> rusqlite::Result<Unread>,
}

/// A function that takes a line and its time.
pub(crate) type Each<'each> = dyn FnMut(&Value, Timestamp) + 'each;

/// The conversations in a database.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) conversations: Vec<Conversation>,
    /// The ids of conversations that cannot be read, with the reasons.
    pub(crate) unread: Vec<(String, String)>,
    /// Files whose conversations could not be listed, or not all of them, with the reasons.
    pub(crate) unlisted: Vec<(PathBuf, String)>,
}

/// A conversation in a database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conversation {
    /// The client's id.
    pub id: String,
    /// The directory in which it worked, if that is known.
    pub cwd: Option<String>,
    /// The time of its last change.
    pub modified: Timestamp,
}

impl Database {
    /// Lists the conversations.
    pub(super) fn listed(&self, path: &Path) -> io::Result<Listed> {
        (self.conversations)(&open(path)?, path).map_err(io::Error::other)
    }

    /// Reads a conversation's lines, and counts those that cannot be read.
    pub(super) fn read(&self, path: &Path, id: &str, each: &mut Each<'_>) -> io::Result<Unread> {
        (self.lines)(&open(path)?, id, each).map_err(io::Error::other)
    }
}

/// Lists conversations by a query for each one's id, its directory, and the time of its last
/// change. Times are milliseconds since the epoch.
pub(crate) fn listed(connection: &Connection, query: &str) -> rusqlite::Result<Listed> {
    let mut query = connection.prepare(query)?;
    let found = query.query_map([], |row| {
        let modified = Timestamp(row.get(2)?);
        Ok(Conversation { id: row.get(0)?, cwd: row.get(1)?, modified })
    })?;
    Ok(Listed { conversations: found.collect::<Result<_, _>>()?, ..Listed::default() })
}

/// Reads lines by a query for a time and columns of JSON; `?1` is the conversation's id. Each line
/// is a list of its columns.
pub(crate) fn rows(
    connection: &Connection,
    query: &str,
    id: &str,
    each: &mut Each<'_>,
) -> rusqlite::Result<Unread> {
    let mut unread = Unread::default();
    let mut query = connection.prepare(query)?;
    let columns = query.column_count();
    let mut rows = query.query([id])?;
    while let Some(row) = rows.next()? {
        let time = Timestamp(row.get(0)?);
        let mut line = Vec::new();
        for column in 1..columns {
            line.extend(parsed(row.get_ref(column)?, &mut unread));
        }
        if line.len() + 1 == columns {
            each(&Value::Array(line), time);
        }
    }
    Ok(unread)
}

/// Parses a column of JSON. Counts it if it is too long or not JSON.
pub(crate) fn parsed(column: ValueRef<'_>, unread: &mut Unread) -> Option<Value> {
    let bytes = bytes(column);
    if bytes.len() as u64 > TRANSCRIPT_LINE_BYTES_MAX {
        unread.too_long += 1;
        return None;
    }
    let value = serde_json::from_slice(bytes).ok();
    unread.no_json += u64::from(value.is_none());
    value
}

/// Returns the bytes of a text or a blob.
pub(crate) fn bytes(column: ValueRef<'_>) -> &[u8] {
    match column {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
    }
}

/// Opens a database for reading. One with a log of writes is read together with it. Without a log
/// nobody has such a database open, and it is read without locks, which would create a file. A
/// database of the other kind has no log, and locks create no file.
pub(crate) fn open(path: &Path) -> io::Result<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_logged = fs::metadata(PathBuf::from(log)).is_ok_and(|about| about.len() > 0);
    let more = if keeps_log(path) && !is_logged { "&immutable=1" } else { "" };
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

/// Returns whether a database's header says that writes go to a log. A header that cannot be read
/// is reported by the opening.
fn keeps_log(path: &Path) -> bool {
    // The bytes 18 and 19 are the versions for writing and reading; 2 means a log.
    let mut header = [0; 20];
    let is_file = fs::metadata(path).is_ok_and(|about| about.is_file());
    let read =
        is_file && File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok();
    read && header.get(18..) == Some(&[2, 2])
}
