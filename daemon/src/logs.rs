//! Logs: one plain-text file a day in the logs directory, of which the last [`LOG_FILES_MAX`] are
//! kept. A day's file is not written beyond [`LOG_FILE_BYTES_MAX`], so that an error in a loop
//! cannot fill the disk.
//!
//! They never have memory content or secrets: each line passes the filter in `secrets.rs`. Our own
//! events are written without content. Other crates print what passes through them. rmcp prints
//! whole requests from `debug` up, and one of its `error` events may quote a request. So only
//! errors are kept of other crates, and nothing of rmcp, regardless of `ANCHORD_LOG`.

use std::error::Error;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use anchord_memory::Timestamp;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata, Subscriber};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{InitError, RollingFileAppender, Rotation};
use tracing_subscriber::filter::{FilterFn, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::clock;
use crate::instance::takes_no_writes;
use crate::limits::{LOG_FILE_BYTES_MAX, LOG_FILES_MAX, LOG_LINES_QUEUED_MAX, LOG_PAUSE};
use crate::secrets;

/// The environment variable that sets which of our events are logged: a level, or comma-separated
/// `target=level` pairs.
pub const LOG_VARIABLE: &str = "ANCHORD_LOG";

/// The environment variable that sends the logs to another place: `stderr`, as in a container.
pub const LOG_TO_VARIABLE: &str = "ANCHORD_LOG_TO";

/// A guard that writes the remaining lines when it is dropped. Keep it for the daemon's life.
#[derive(Debug)]
pub struct Logs(#[expect(dead_code, reason = "its drop flushes")] WorkerGuard);

/// The reason logs cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    /// No file can be created in the directory.
    #[error("write logs in {}: {source}", directory.display())]
    Directory {
        /// The logs directory.
        directory: PathBuf,
        /// The error.
        source: InitError,
    },
    /// The environment variable is not a valid filter.
    #[error(
        "use ANCHORD_LOG: `{value}` is not a filter; allowed: off, error, warn, info, debug, trace, or \
         target=level separated by commas"
    )]
    Filter {
        /// The variable's value.
        value: String,
    },
    /// The environment variable names no place.
    #[error("use ANCHORD_LOG_TO: `{value}` is not allowed; allowed: stderr")]
    Place {
        /// The variable's value.
        value: String,
    },
    /// This process already has a logger.
    #[error("write logs: {0}")]
    Taken(#[from] tracing_subscriber::util::TryInitError),
}

/// Sends this process's events to the logs directory, or to stderr if its disk is full or
/// read-only. `filter` is the value of [`LOG_VARIABLE`], and `place` that of [`LOG_TO_VARIABLE`].
pub fn start(
    directory: &Path,
    filter: Option<&str>,
    place: Option<&str>,
) -> Result<Logs, LogsError> {
    let filter = Filter::parse(filter)?;
    let lines = match place.unwrap_or_default() {
        "" => files_or_stderr(directory)?,
        "stderr" => Box::new(io::stderr()),
        value => return Err(LogsError::Place { value: value.to_owned() }),
    };
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(LOG_LINES_QUEUED_MAX)
        .finish(Paused(Capped::new(lines, LOG_FILE_BYTES_MAX, clock::now)));
    subscriber(filter, writer).try_init()?;
    if let Err(error) = make_private(directory) {
        tracing::warn!(%error, "other users may be able to read the logs");
    }
    Ok(Logs(guard))
}

fn files_or_stderr(directory: &Path) -> Result<Box<dyn Write + Send>, LogsError> {
    match files(directory) {
        Ok(files) => Ok(Box::new(files)),
        Err(source) if is_refused_by_disk(&source) => Ok(Box::new(io::stderr())),
        Err(source) => Err(LogsError::Directory { directory: directory.to_owned(), source }),
    }
}

fn files(directory: &Path) -> Result<RollingFileAppender, InitError> {
    RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(LOG_FILE_PREFIX)
        .filename_suffix("log")
        .max_log_files(LOG_FILES_MAX)
        .build(directory)
}

/// Keeps other users from reading the log files of earlier builds. The umask does so for new ones.
fn make_private(directory: &Path) -> io::Result<()> {
    for file in fs::read_dir(directory)? {
        let file = file?;
        let is_log = file.file_name().to_string_lossy().starts_with(LOG_FILE_PREFIX);
        if is_log && file.metadata()?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(file.path(), Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

fn is_refused_by_disk(error: &InitError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(takes_no_writes)
}

/// The events to log.
#[derive(Clone, Debug)]
struct Filter {
    ours: Targets,
}

impl Filter {
    fn parse(text: Option<&str>) -> Result<Self, LogsError> {
        let ours = match text.map(str::trim).filter(|text| !text.is_empty()) {
            None => Targets::new().with_default(LevelFilter::INFO),
            Some(text) => text.parse().map_err(|_| LogsError::Filter { value: text.to_owned() })?,
        };
        Ok(Self { ours })
    }

    fn takes(&self, event: &Metadata<'_>) -> bool {
        let krate = event.target().split("::").next().unwrap_or_default();
        if OURS.contains(&krate) {
            self.ours.would_enable(event.target(), event.level())
        } else {
            krate != "rmcp" && *event.level() == Level::ERROR
        }
    }
}

/// The beginning of the names of log files.
const LOG_FILE_PREFIX: &str = "anchord";

/// Our crates, as targets name them.
const OURS: [&str; 5] =
    ["anchord", "anchord_daemon", "anchord_memory", "anchord_proto", "anchord_shim"];

fn subscriber<W>(filter: Filter, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    let filter = FilterFn::new(move |event| filter.takes(event));
    tracing_subscriber::registry().with(lines.with_filter(filter))
}

/// A writer of up to a number of bytes a day, which says where it stopped. Days are in UTC, as in
/// the files' names.
struct Capped<W> {
    inner: W,
    bytes_max: u64,
    clock: fn() -> Timestamp,
    day: i64,
    bytes: u64,
}

impl<W: Write> Capped<W> {
    fn new(inner: W, bytes_max: u64, clock: fn() -> Timestamp) -> Self {
        Self { inner, bytes_max, clock, day: i64::MIN, bytes: 0 }
    }
}

impl<W: Write> Write for Capped<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let cleaned = secrets::clean_line(line);
        let day = (self.clock)().0.div_euclid(MILLIS_PER_DAY);
        if day != self.day {
            (self.day, self.bytes) = (day, 0);
        }
        let full = self.bytes > self.bytes_max;
        self.bytes = self.bytes.saturating_add(cleaned.len() as u64);
        if full {
            return Ok(line.len());
        }
        if self.bytes > self.bytes_max {
            self.inner.write_all(b"this day's log is full; the rest of the day is not logged\n")?;
            return Ok(line.len());
        }
        self.inner.write_all(&cleaned)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A writer that rests after each flush. The appender flushes when no line waits, so the lines of
/// the meantime are written together, and do not wake its thread one by one.
struct Paused<W>(W);

impl<W: Write> Write for Paused<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        thread::sleep(LOG_PAUSE);
        Ok(())
    }
}

const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1_000;

#[cfg(test)]
mod tests;
