//! Reads the rows of a `SQLite` database as lines of JSON.
//!
//! The system that owns the database may be running. Nothing is written to its folder, and all
//! tables are read as they were at one moment.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anchord_memory::import::{NamedText, SOURCES, Source, Table};
use anyhow::Context;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

use super::reading::Recognised;
use crate::exit::Error;
use crate::limits::{DATABASE_BUSY_SECONDS_MAX, EXPORT_BYTES_MAX, IMPORT_PART_BYTES};
use crate::show;

/// The first bytes of a database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The bytes of a path that stay as they are in a URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// Finds the database that a path names: the file itself, or that of a system in a folder.
pub(super) fn find(path: &Path) -> Result<Option<PathBuf>, Error> {
    if path.is_file() {
        return Ok(is_database(path)?.then(|| path.to_owned()));
    }
    let systems = SOURCES.iter().filter(|source| !source.tables.is_empty());
    for name in systems.flat_map(|source| source.files) {
        let file = path.join(name);
        if file.is_file() && is_database(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn is_database(path: &Path) -> Result<bool, Error> {
    let mut head = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let read = file.take(MAGIC.len() as u64).read_to_end(&mut head);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(head == MAGIC)
}

/// Reads the rows of one project from the tables of the system that has all of them.
pub(super) fn read(path: &Path, project: &str) -> Result<Recognised, Error> {
    let opened = Opened::new(path)?;
    let cannot = || format!("cannot read {}", path.display());
    let known = table_names(&opened.connection).with_context(cannot)?;
    let has_all = |source: &&Source| {
        let mut tables = source.tables.iter();
        !source.tables.is_empty() && tables.all(|table| known.iter().any(|it| it == table.name))
    };
    let Some(source) = SOURCES.iter().find(has_all) else {
        let what = format!("{} has no tables that anchord can bring over", path.display());
        return Err(Error::usage(what));
    };
    let mut rows = Rows { project, ..Rows::default() };
    for table in source.tables {
        rows.read(&opened.connection, table).with_context(cannot)?;
        if rows.bytes > EXPORT_BYTES_MAX {
            let limit = show::bytes(EXPORT_BYTES_MAX);
            let what = format!("{} has more than {limit} of this project", path.display());
            return Err(Error::usage(what));
        }
    }
    opened.check(path)?;
    if rows.texts.is_empty() {
        return Err(rows.none(path));
    }
    let left_out = rows.remarks();
    Ok(Recognised { source, texts: rows.texts, left_out })
}

/// An open database.
struct Opened {
    connection: Connection,
    /// A copy, if one had to be made. It goes with this value.
    _copy: Option<tempfile::TempDir>,
    /// The state of a file that is read without locks.
    unlocked: Option<State>,
}

/// The length and the time of the last change of a file.
type State = (u64, Option<SystemTime>);

impl Opened {
    /// Opens a database for reading. Its log of writes (`-wal`) decides how:
    ///
    /// - Without one nobody has it open, and it is read without locks, which would make a file.
    /// - With one and its index (`-shm`) it is read as its owner does.
    /// - With one alone, as in a copy of a folder, reading would make the index. A copy is read.
    fn new(path: &Path) -> Result<Self, Error> {
        let cannot = || format!("cannot open {}", path.display());
        let with_ending = |end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let (log, index) = (with_ending("-wal"), with_ending("-shm"));
        if !is_filled(&log) {
            let unlocked = Some(state(path).with_context(cannot)?);
            let connection = open(path, "&immutable=1").with_context(cannot)?;
            return Ok(Self { connection, _copy: None, unlocked });
        }
        if index.exists() {
            let connection = open(path, "").with_context(cannot)?;
            return Ok(Self { connection, _copy: None, unlocked: None });
        }
        let copy = tempfile::tempdir().context("cannot make a temporary folder")?;
        let database = copy.path().join("copy.db");
        fs::copy(path, &database).with_context(cannot)?;
        fs::copy(&log, copy.path().join("copy.db-wal")).with_context(cannot)?;
        let connection = open(&database, "").with_context(cannot)?;
        Ok(Self { connection, _copy: Some(copy), unlocked: None })
    }

    /// Fails if a file that was read without locks has changed meanwhile.
    fn check(&self, path: &Path) -> Result<(), Error> {
        let Some(before) = &self.unlocked else { return Ok(()) };
        let now = state(path).with_context(|| format!("cannot read {}", path.display()))?;
        if now == *before {
            return Ok(());
        }
        let what = format!("{} changed while it was read", path.display());
        Err(Error::failed(what).with_action("Run the same command again."))
    }
}

fn is_filled(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.len() > 0)
}

fn state(path: &Path) -> std::io::Result<State> {
    let meta = fs::metadata(path)?;
    Ok((meta.len(), meta.modified().ok()))
}

/// Opens a file and begins to read it, so that all reads see the same moment.
fn open(path: &Path, more: &str) -> rusqlite::Result<Connection> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = percent_encode(path.as_os_str().as_bytes(), PATH);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("file:{path}?mode=ro{more}"), flags)?;
    connection.busy_timeout(Duration::from_secs(DATABASE_BUSY_SECONDS_MAX))?;
    connection.execute_batch("BEGIN")?;
    Ok(connection)
}

fn table_names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    let names = names.query_map([], |row| row.get(0))?;
    names.collect()
}

/// The rows that were read.
#[derive(Default)]
struct Rows<'a> {
    project: &'a str,
    /// Lines of JSON, in texts that fit into one request each.
    texts: Vec<NamedText>,
    bytes: u64,
    /// The numbers of rows of other projects.
    others: BTreeMap<String, u64>,
    /// The number of values that are no text or number.
    binary: u64,
}

impl Rows<'_> {
    fn read(&mut self, connection: &Connection, table: &Table) -> rusqlite::Result<()> {
        let order = table.order;
        let sql = format!("SELECT * FROM \"{}\" ORDER BY \"{order}\"", table.name);
        let mut statement = connection.prepare(&sql)?;
        let columns: Vec<String> =
            statement.column_names().into_iter().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        let mut lines = String::new();
        while let Some(row) = rows.next()? {
            let mut fields = Map::new();
            for (at, column) in columns.iter().enumerate() {
                let value = match row.get_ref(at)? {
                    ValueRef::Null => continue,
                    ValueRef::Integer(number) => Value::from(number),
                    ValueRef::Real(number) => Value::from(number),
                    ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).as_ref()),
                    ValueRef::Blob(_) => {
                        self.binary += 1;
                        continue;
                    }
                };
                fields.insert(column.clone(), value);
            }
            let named = table.projects.iter().filter_map(|column| fields.get(*column)?.as_str());
            let named: Vec<&str> = named.collect();
            if !named.iter().any(|name| self.is_own(name)) {
                let name = named.first().copied().unwrap_or_default();
                *self.others.entry(name.to_owned()).or_default() += 1;
                continue;
            }
            let line = Value::Object(fields).to_string();
            if !lines.is_empty() && lines.len() + line.len() > IMPORT_PART_BYTES {
                self.put(table, std::mem::take(&mut lines));
            }
            lines.push_str(&line);
            lines.push('\n');
        }
        if !lines.is_empty() {
            self.put(table, lines);
        }
        Ok(())
    }

    fn put(&mut self, table: &Table, lines: String) {
        self.bytes += lines.len() as u64;
        self.texts.push(NamedText::new(format!("{}.jsonl", table.name), lines));
    }

    /// Returns whether rows with this name are of the project, or of one of its worktrees.
    fn is_own(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.project);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn remarks(&self) -> Vec<String> {
        let rows: u64 = self.others.values().sum();
        let others = (rows > 0).then(|| {
            let projects = show::count(self.others.len() as u64, "other project");
            format!(
                "left out: {} of {projects}; --from NAME takes another",
                show::count(rows, "row")
            )
        });
        let binary = (self.binary > 0).then(|| {
            let values = show::count(self.binary, "value");
            format!("left out: {values} that are neither text nor numbers")
        });
        others.into_iter().chain(binary).collect()
    }

    /// Says that there is nothing of the project, and which projects there are.
    fn none(&self, path: &Path) -> Error {
        let what = format!("{} has nothing of a project \"{}\"", path.display(), self.project);
        let mut most: Vec<(&String, &u64)> = self.others.iter().collect();
        most.sort_by_key(|(name, rows)| (std::cmp::Reverse(**rows), *name));
        let named: Vec<&str> = most.iter().take(PROJECTS_NAMED).map(|(name, _)| &***name).collect();
        let error = Error::usage(show::plain(&what));
        if named.is_empty() {
            return error;
        }
        let more = if most.len() > named.len() { ", and more" } else { "" };
        let named = show::plain(&named.join(", "));
        error.with_action(format!("Name one of its projects with --from: {named}{more}."))
    }
}

/// Projects that an error names.
const PROJECTS_NAMED: usize = 10;

#[cfg(test)]
mod tests;
