//! Transcripts that clients keep on disk, read as the events that their hooks would have reported.
//!
//! One file for each client maps its lines to events. Everything else is the same for all clients.
//! Files are streamed by line. A line that is too long or unreadable is counted and skipped.
//! Nothing is written. A client may change its format at any time, so a reader ignores what it does
//! not know.

mod claude_code;
mod codex;
mod lines;

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anchord_memory::lifecycle::Event;
use anchord_memory::{SessionActivity, Timestamp};
use lines::Lines;
pub(crate) use lines::Unread;
use serde_json::Value;

use crate::limits::TRANSCRIPT_PEEK_LINES_MAX;

/// A client whose transcripts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
}

impl Client {
    /// Returns its name in hooks and rows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    fn reader(self, path: &Path) -> Box<dyn Reader> {
        match self {
            Self::ClaudeCode => Box::new(claude_code::Transcript::new(path)),
            Self::Codex => Box::new(codex::Transcript::default()),
        }
    }
}

/// Turns the lines of one transcript into events.
trait Reader {
    /// Returns a line's events, in order.
    fn read(&mut self, line: &Value) -> Vec<Event>;
    /// Returns the conversation's id, once it is known.
    fn session(&self) -> Option<&str>;
    /// Returns the directory it worked in, once that is known.
    fn cwd(&self) -> Option<&str>;
    /// Returns whether it belongs to a subagent, and so to another conversation.
    fn is_subagent(&self) -> bool;
}

/// A transcript on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) client: Client,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
}

/// The content of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// The directory it worked in; `None` if the transcript does not name it, or is not a
    /// conversation of its own.
    pub(crate) cwd: Option<String>,
    pub(crate) captured: SessionActivity,
    /// Lines that could not be read.
    pub(crate) unread: Unread,
}

/// The directories in which clients keep transcripts: those that their variables name, and those
/// beneath a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    claude_code: Vec<PathBuf>,
    codex: Vec<PathBuf>,
}

impl Places {
    pub(crate) fn of(home: &Path) -> Self {
        let told = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Self::told(home, told("CLAUDE_CONFIG_DIR"), told("CODEX_HOME"))
    }

    /// Returns the directories, given the values of the two clients' variables.
    pub(crate) fn told(home: &Path, claude_code: Option<PathBuf>, codex: Option<PathBuf>) -> Self {
        let both = |told: Option<PathBuf>, usual: &str| {
            let mut places: Vec<PathBuf> =
                told.into_iter().filter(|told| told.is_absolute()).collect();
            let usual = home.join(usual);
            if !places.contains(&usual) {
                places.push(usual);
            }
            places
        };
        Self { claude_code: both(claude_code, ".claude"), codex: both(codex, ".codex") }
    }

    /// Returns all transcripts except those of subagents, by client and path.
    pub(crate) fn transcripts(&self) -> Vec<Transcript> {
        let mut found = Vec::new();
        for place in &self.claude_code {
            for project in entries(&place.join("projects")) {
                let of_sessions = |name: &str| !name.starts_with("agent-");
                found.extend(files(&project, Client::ClaudeCode, of_sessions));
            }
        }
        for place in &self.codex {
            // One level each for the year, the month and the day.
            let mut directories = vec![place.join("sessions")];
            for _ in 0..3 {
                directories = directories.iter().flat_map(|directory| entries(directory)).collect();
            }
            for directory in directories {
                let of_sessions = |name: &str| name.starts_with("rollout-");
                found.extend(files(&directory, Client::Codex, of_sessions));
            }
        }
        found.sort_by(|one, other| (one.client, &one.path).cmp(&(other.client, &other.path)));
        found.dedup_by(|one, other| one.path == other.path);
        found
    }
}

/// Counts the past sessions beneath a home, or those of one project. Sessions without any activity
/// count as well, since only the beginnings are read.
pub(crate) fn count(home: &Path, project: Option<&Path>) -> usize {
    let transcripts = Places::of(home).transcripts();
    transcripts.iter().filter(|found| found.path.is_file() && found.is_within(project)).count()
}

impl Transcript {
    /// Returns whether its session worked in a directory or beneath it. Without a directory, every
    /// session qualifies.
    pub(crate) fn is_within(&self, directory: Option<&Path>) -> bool {
        directory.is_none_or(|directory| {
            self.cwd().is_some_and(|cwd| Path::new(&cwd).starts_with(directory))
        })
    }

    /// Returns the directory the session worked in, from the transcript's first lines.
    fn cwd(&self) -> Option<String> {
        let mut reader = self.client.reader(&self.path);
        let mut lines = Lines::new(BufReader::new(self.open().ok()?));
        for _ in 0..TRANSCRIPT_PEEK_LINES_MAX {
            let line = lines.next().ok()??;
            reader.read(&line);
            if reader.is_subagent() {
                return None;
            }
            if let Some(cwd) = reader.cwd() {
                return Some(cwd.to_owned());
            }
        }
        None
    }

    /// Reads the whole transcript.
    pub(crate) fn read(&self) -> io::Result<Past> {
        self.read_from(self.open()?)
    }

    /// Opens the file. Rejects a directory, which cannot be read, and a pipe, which would block.
    fn open(&self) -> io::Result<File> {
        if fs::metadata(&self.path)?.is_file() {
            File::open(&self.path)
        } else {
            Err(io::Error::other("it is no regular file"))
        }
    }

    fn read_from(&self, file: impl io::Read) -> io::Result<Past> {
        let mut reader = self.client.reader(&self.path);
        let mut lines = Lines::new(BufReader::new(file));
        let mut noted = SessionActivity::default();
        // A line without a time has the time of the line before.
        let mut time = Timestamp::default();
        while let Some(line) = lines.next()? {
            let told = line.get("timestamp").and_then(Value::as_str).and_then(Timestamp::parse);
            time = told.unwrap_or(time);
            for event in reader.read(&line) {
                noted.saw(&event, time);
            }
        }
        let session = reader.session().filter(|_| !reader.is_subagent());
        let Some(session) = session else {
            return Ok(Past { unread: lines.unread(), ..Past::default() });
        };
        let mut captured = SessionActivity::of(&format!("{}:{session}", self.client.name()));
        captured.absorb(&noted);
        Ok(Past { cwd: reader.cwd().map(str::to_owned), captured, unread: lines.unread() })
    }
}

/// Returns the directories in a directory, by name; none if it cannot be read.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    paths.sort();
    paths
}

/// Returns a directory's transcripts whose names are those of sessions.
fn files(directory: &Path, client: Client, of_sessions: impl Fn(&str) -> bool) -> Vec<Transcript> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let transcript = |entry: fs::DirEntry| {
        let path = entry.path();
        let name = path.file_name()?.to_str()?;
        let fits = path.extension().is_some_and(|kind| kind == "jsonl") && of_sessions(name);
        // An entry that is not a file, or cannot be examined, is reported when it is read.
        let about = fs::metadata(&path).ok().filter(|about| fits && about.is_file());
        let bytes = about.as_ref().map_or(0, fs::Metadata::len);
        let modified = about.and_then(|about| about.modified().ok());
        let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
        fits.then(|| Transcript { client, bytes, modified, path: path.clone() })
    };
    entries.filter_map(Result::ok).filter_map(transcript).collect()
}

#[cfg(test)]
mod tests;
