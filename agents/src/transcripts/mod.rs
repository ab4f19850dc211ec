//! Transcripts that clients keep on disk, read as the events that their hooks would have reported.
//!
//! A client's folder maps its lines to events. Everything else is the same for all clients.
//! Files are streamed by line. A line that is too long or unreadable is counted and skipped. The
//! rows of a database and the messages of a document are lines, too.
//! Nothing is written. A client may change its format at any time, so a reader ignores what it does
//! not know.

mod database;
mod document;
mod lines;

use std::collections::HashMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anchord_memory::lifecycle::Event;
use anchord_memory::{SessionActivity, Timestamp};
pub use database::Conversation;
pub(crate) use database::{Database, Each, Listed, bytes, listed, open, parsed, rows};
pub(crate) use document::Document;
pub use lines::Unread;
use lines::{LineSource, Lines};
use serde_json::Value;

use crate::limits::{TRANSCRIPT_ABOUT_BYTES_MAX, TRANSCRIPT_PEEK_LINES_MAX};
use crate::{CLIENTS, Client};

/// The transcripts that a client keeps in one form.
#[derive(Clone, Copy, Debug)]
pub struct Transcripts {
    /// The folder of its files, beneath the home directory unless a variable moves it. It tells the
    /// forms of a client apart.
    pub(crate) folder: &'static str,
    /// Lists the transcripts in that folder, without those of subagents.
    pub(crate) files: fn(&Path) -> Vec<PathBuf>,
    /// Creates a reader for the transcript at a path.
    pub(crate) reader: fn(&Path) -> Box<dyn Reader>,
    /// The form of a file.
    pub(crate) kept: Kept,
}

/// The form of a client's transcripts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept {
    /// A file for each conversation, with a line of JSON for each event.
    Lines,
    /// A file for each conversation, which is one JSON value.
    Document(Document),
    /// A database of all conversations.
    Rows(Database),
}

impl PartialEq for Transcripts {
    fn eq(&self, other: &Self) -> bool {
        self.folder == other.folder
    }
}

impl Eq for Transcripts {}

impl Transcripts {
    fn database(&self) -> Option<Database> {
        match self.kept {
            Kept::Rows(database) => Some(database),
            Kept::Lines | Kept::Document(_) => None,
        }
    }
}

/// Turns the lines of one transcript into events.
pub(crate) trait Reader {
    /// Returns a line's events, in order.
    fn read(&mut self, line: &Value) -> Vec<Event>;
    /// Returns the conversation that the lines so far belong to.
    fn origin(&self) -> &Origin;
    /// Returns a line's time, if it has one.
    fn time(&self, line: &Value) -> Option<Timestamp> {
        time_of(line)
    }
}

/// The conversation in a transcript, as far as its lines tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Its id.
    pub(crate) session: Option<String>,
    /// The directory it worked in.
    pub(crate) cwd: Option<String>,
    /// Whether it is a subagent's, and so part of another conversation.
    pub(crate) is_subagent: bool,
}

impl Origin {
    /// Returns the origin of a transcript that is named after its conversation.
    pub(crate) fn of_file(path: &Path) -> Self {
        let session = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
        Self { session, ..Self::default() }
    }

    /// Takes the id and the directory from fields of a line, unless they are known already.
    pub(crate) fn note(&mut self, line: &Value, session: &str, cwd: &str) {
        for (known, pointer) in [(&mut self.session, session), (&mut self.cwd, cwd)] {
            if known.is_none() {
                let named = line.pointer(pointer).and_then(Value::as_str);
                *known = named.filter(|named| !named.is_empty()).map(str::to_owned);
            }
        }
    }
}

/// A transcript on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The client that keeps it.
    pub client: &'static Client,
    /// Its form.
    form: &'static Transcripts,
    /// The path.
    pub path: PathBuf,
    /// The conversation, if the file is a database that could be read.
    pub conversation: Option<Conversation>,
    /// The length; 0 if it is not a file. Conversations of a database share its length.
    pub bytes: u64,
    /// The time of the last write.
    pub modified: SystemTime,
    /// The reason why a conversation of a database cannot be read, or all could not be listed.
    fault: Option<String>,
}

/// The content of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The directory it worked in; `None` if the transcript does not name it, or is not a
    /// conversation of its own.
    pub cwd: Option<String>,
    /// The activity of the session.
    pub captured: SessionActivity,
    /// Lines that could not be read.
    pub unread: Unread,
}

/// The folders in which clients keep transcripts: those that their variables name, and those
/// beneath a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<(&'static Client, &'static Transcripts, PathBuf)>);

impl Places {
    /// Returns the folders, by this process's variables.
    pub fn of(home: &Path) -> Self {
        Self::by_variables(home, |name| env::var_os(name).map(PathBuf::from))
    }

    /// Returns the folders, by the given variables.
    pub fn by_variables(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let mut places = Vec::new();
        let forms =
            readable().flat_map(|client| client.transcripts.iter().map(move |form| (client, form)));
        for (client, form) in forms {
            let set = client.environment.folder.and_then(&variable);
            places.extend(set.filter(|set| set.is_absolute()).map(|set| (client, form, set)));
            let usual = (client, form, home.join(form.folder));
            if !places.contains(&usual) {
                places.push(usual);
            }
        }
        Self(places)
    }

    /// Returns all transcripts except those of subagents, by client and path.
    pub fn transcripts(&self) -> Vec<Transcript> {
        let mut found = Vec::new();
        for (client, form, place) in &self.0 {
            let paths = (form.files)(place).into_iter();
            found.extend(paths.flat_map(|path| Transcript::at(client, form, path)));
        }
        let place =
            |found: &Transcript| (found.client, found.path.clone(), found.conversation.clone());
        found.sort_by_key(place);
        found.dedup_by_key(|found| {
            (found.path.clone(), found.conversation.clone(), found.fault.clone())
        });
        without_copies(found)
    }
}

/// Leaves out the files of conversations that a database of their client has, too: it has more. A
/// conversation whose directory the database does not name keeps that of its file.
fn without_copies(mut found: Vec<Transcript>) -> Vec<Transcript> {
    let of_database = |(at, found): (usize, &Transcript)| {
        let conversation = found.conversation.as_ref().filter(|_| found.fault.is_none())?;
        Some(((found.client.id, conversation.id.clone()), at))
    };
    let held: HashMap<_, _> = found.iter().enumerate().filter_map(of_database).collect();
    let original = |found: &Transcript| {
        let name = found.path.file_stem()?.to_str()?.to_owned();
        let at = held.get(&(found.client.id, name)).copied();
        at.filter(|_| found.form.database().is_none())
    };
    let originals: Vec<_> = found.iter().map(original).collect();
    for (copy, original) in originals.iter().enumerate() {
        let lacks = |found: &Transcript| found.conversation.as_ref()?.cwd.is_none().then_some(());
        let Some(at) = original.filter(|at| found.get(*at).and_then(lacks).is_some()) else {
            continue;
        };
        let cwd = found.get(copy).and_then(Transcript::cwd);
        if let Some(conversation) = found.get_mut(at).and_then(|of| of.conversation.as_mut()) {
            conversation.cwd = cwd;
        }
    }
    let kept = found.into_iter().zip(originals).filter(|(_, original)| original.is_none());
    kept.map(|(found, _)| found).collect()
}

/// Returns the clients whose transcripts can be read.
pub fn readable() -> impl Iterator<Item = &'static Client> {
    CLIENTS.iter().copied().filter(|client| !client.transcripts.is_empty())
}

/// Counts the past sessions beneath a home, or those of one project. Sessions without any activity
/// count as well, since only the beginnings are read.
pub fn count(home: &Path, project: Option<&Path>) -> usize {
    let transcripts = Places::of(home).transcripts();
    transcripts.iter().filter(|found| found.path.is_file() && found.is_within(project)).count()
}

impl Transcript {
    /// Returns the transcripts in a file. What cannot be listed is one that fails.
    fn at(client: &'static Client, form: &'static Transcripts, path: PathBuf) -> Vec<Self> {
        let whole = Self::new(client, form, path);
        let Some(database) = form.database() else { return vec![whole] };
        let listed = match database.listed(&whole.path) {
            Ok(listed) => listed,
            Err(reason) => return vec![Self { fault: Some(reason.to_string()), ..whole }],
        };
        let bytes = (whole.bytes / (listed.conversations.len() as u64).max(1)).max(1);
        let of = |conversation: Conversation| {
            let millis = u64::try_from(conversation.modified.0).unwrap_or_default();
            let modified = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
            Self { conversation: Some(conversation), bytes, modified, ..whole.clone() }
        };
        let unread = listed.unread.into_iter().map(|(id, reason)| {
            let conversation = Conversation { id, cwd: None, modified: Timestamp::default() };
            Self { fault: Some(reason), ..of(conversation) }
        });
        let unlisted = listed.unlisted.into_iter().map(|(path, reason)| {
            let modified = SystemTime::UNIX_EPOCH;
            Self { path, modified, fault: Some(reason), ..whole.clone() }
        });
        listed.conversations.into_iter().map(of).chain(unread).chain(unlisted).collect()
    }

    fn new(client: &'static Client, form: &'static Transcripts, path: PathBuf) -> Self {
        // An entry that is not a file, or cannot be examined, is reported when it is read.
        let about = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
        let bytes = about.as_ref().map_or(0, fs::Metadata::len);
        let modified = about.and_then(|about| about.modified().ok());
        let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
        Self { client, form, path, conversation: None, bytes, modified, fault: None }
    }

    /// Returns whether its session worked in a directory or beneath it. Without a directory, every
    /// session qualifies. So does what cannot be read as a file, since it may hold such sessions.
    pub fn is_within(&self, directory: Option<&Path>) -> bool {
        directory.is_none_or(|directory| {
            self.is_unlisted()
                || self.cwd().is_some_and(|cwd| Path::new(&cwd).starts_with(directory))
        })
    }

    /// Returns the directory the session worked in, from the transcript's first lines.
    fn cwd(&self) -> Option<String> {
        if let Some(conversation) = &self.conversation {
            return conversation.cwd.clone();
        }
        let mut reader = self.reader();
        if let Some(cwd) = &reader.origin().cwd {
            return Some(cwd.clone());
        }
        let mut lines = Lines::new(BufReader::new(self.open().ok()?));
        for _ in 0..TRANSCRIPT_PEEK_LINES_MAX {
            let line = lines.next().ok()??;
            reader.read(&line);
            let origin = reader.origin();
            if origin.is_subagent {
                return None;
            }
            if let Some(cwd) = &origin.cwd {
                return Some(cwd.clone());
            }
        }
        None
    }

    fn reader(&self) -> Box<dyn Reader> {
        (self.form.reader)(&self.path)
    }

    /// Returns whether it stands for transcripts that could not be listed, or that may be of any
    /// directory.
    fn is_unlisted(&self) -> bool {
        self.fault.is_some() || !self.path.is_file()
    }

    /// Returns the time of the last write.
    fn modified(&self) -> Timestamp {
        let since = self.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or_default())
    }

    /// Reads the whole transcript.
    pub fn read(&self) -> io::Result<Past> {
        if let Some(reason) = &self.fault {
            return Err(io::Error::other(reason.clone()));
        }
        match self.form.kept {
            Kept::Rows(database) => self.read_rows(&database),
            Kept::Document(document) => self.read_lines(document.lines(self.open()?)?),
            Kept::Lines => self.read_lines(Lines::new(BufReader::new(self.open()?))),
        }
    }

    fn read_rows(&self, database: &Database) -> io::Result<Past> {
        let conversation = self.conversation.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let mut reader = self.reader();
        let mut noted = SessionActivity::default();
        let mut each = |line: &Value, time| {
            for event in reader.read(line) {
                noted.saw(&event, time);
            }
        };
        let unread = database.read(&self.path, &conversation.id, &mut each)?;
        let mut captured = SessionActivity::of(&format!("{}:{}", self.client.id, conversation.id));
        captured.absorb(&noted);
        Ok(Past { cwd: conversation.cwd.clone(), captured, unread })
    }

    /// Opens the file. Rejects a directory, which may be one that could not be listed, and a pipe,
    /// which would block.
    fn open(&self) -> io::Result<File> {
        let about = fs::metadata(&self.path)?;
        if about.is_file() {
            return File::open(&self.path);
        }
        if about.is_dir() {
            fs::read_dir(&self.path)?;
        }
        Err(io::Error::other("it is not a regular file"))
    }

    fn read_lines(&self, mut lines: impl LineSource) -> io::Result<Past> {
        let mut reader = self.reader();
        let mut noted = SessionActivity::default();
        // A line without a time has the time of the line before, or else of the file.
        let mut time = self.modified();
        while let Some(line) = lines.next()? {
            time = reader.time(&line).unwrap_or(time);
            for event in reader.read(&line) {
                noted.saw(&event, time);
            }
        }
        let Origin { session, cwd, is_subagent } = reader.origin().clone();
        let Some(session) = session.filter(|_| !is_subagent) else {
            return Ok(Past { unread: lines.unread(), ..Past::default() });
        };
        let mut captured = SessionActivity::of(&format!("{}:{session}", self.client.id));
        captured.absorb(&noted);
        Ok(Past { cwd, captured, unread: lines.unread() })
    }
}

/// Reads a file beside a transcript. `None` if that fails; what it says of the transcript is then
/// not known.
pub(crate) fn beside(path: &Path) -> Option<String> {
    let is_read =
        |about: &fs::Metadata| about.is_file() && about.len() <= TRANSCRIPT_ABOUT_BYTES_MAX;
    fs::metadata(path).ok().filter(is_read)?;
    fs::read_to_string(path).ok()
}

/// Returns the time of a line: a text, or milliseconds since the epoch.
fn time_of(line: &Value) -> Option<Timestamp> {
    let text = line.get("timestamp").and_then(Value::as_str);
    let millis = line.get("ts").and_then(Value::as_i64);
    text.and_then(Timestamp::parse).or_else(|| millis.map(Timestamp))
}

/// Returns a person's prompt; `None` if it is blank.
pub(crate) fn prompted(prompt: String) -> Option<Event> {
    (!prompt.trim().is_empty()).then_some(Event::PromptSubmitted { prompt })
}

/// Returns the transcripts of each directory in a directory; those in its folder `within`, unless
/// that is empty. If the directory is there and cannot be read, returns itself, so that its reading
/// reports why.
pub(crate) fn files_in_each(
    directory: &Path,
    within: &str,
    of_sessions: impl Fn(&str) -> bool,
) -> Vec<PathBuf> {
    let each = match listed_directories(directory) {
        Ok(each) => each,
        Err(unread) => return unread,
    };
    let place = |each: PathBuf| if within.is_empty() { each } else { each.join(within) };
    each.into_iter().map(place).flat_map(|place| files(&place, &of_sessions)).collect()
}

/// Returns the directories in a directory, by name. If the directory is there and cannot be read,
/// returns itself, so that its reading reports why.
pub(crate) fn directories(directory: &Path) -> Vec<PathBuf> {
    listed_directories(directory).unwrap_or_else(|unread| unread)
}

fn listed_directories(directory: &Path) -> Result<Vec<PathBuf>, Vec<PathBuf>> {
    let mut paths = entries(directory)?;
    // One that cannot be examined stays, and is reported.
    paths.retain(|path| {
        let about = fs::metadata(path);
        about.map_or_else(|reason| reason.kind() != io::ErrorKind::NotFound, |about| about.is_dir())
    });
    paths.sort();
    Ok(paths)
}

/// Returns whether a name is that of a file of JSON lines.
pub(crate) fn is_lines(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|kind| kind == "jsonl")
}

/// Returns a directory's files whose names are those of sessions. If the directory is there and
/// cannot be read, returns itself, so that its reading reports why.
pub(crate) fn files(directory: &Path, of_sessions: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut paths = match entries(directory) {
        Ok(paths) => paths,
        Err(unread) => return unread,
    };
    paths.retain(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&of_sessions));
    paths
}

/// Returns the entries of a directory; none if it does not exist. An error is the directory itself.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, Vec<PathBuf>> {
    let read = fs::read_dir(directory);
    match read.and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect()) {
        Ok(paths) => Ok(paths),
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(_) => Err(vec![directory.to_owned()]),
    }
}

/// Returns a field that is a text, else an empty text.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
