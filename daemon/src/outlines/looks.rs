//! The outlines that sessions saw last: in memory, and in one file for each session. A daemon that
//! starts again reads the file when the session looks next.
//!
//! A look is a line of JSON; the last line of a path counts. A line that cannot be read is logged,
//! and the session then gets that outline in full. Nothing is synced: a machine that loses power
//! may lose looks, never invent them.
//!
//! A look is kept before its answer leaves. If the daemon dies in between, the shim sends the call
//! again. Then the look before it counts, since the agent never saw the newer one.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anchord_memory::SessionId;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use super::Look;
use crate::limits::{LOOK_LINES_MAX, LOOKED_FILES_MAX, LOOKING_SESSIONS_MAX, LOOKS_BYTES_MAX};
use crate::projects::FileDigest;

/// The looks of each session, by path.
#[derive(Debug)]
pub(super) struct Looks {
    directory: PathBuf,
    sessions: Mutex<HashMap<SessionId, SessionLooks>>,
}

/// The looks of one session.
#[derive(Clone, Debug, Default)]
struct SessionLooks {
    seen: HashMap<String, FileLooks>,
    /// The lines of its file.
    lines: usize,
}

/// The looks at one file.
#[derive(Clone, Debug)]
struct FileLooks {
    last: Look,
    /// The look that counts if the call of the last one comes again.
    before: Option<Look>,
}

/// A line of a session's file.
#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    look: Look,
}

impl SessionLooks {
    /// Replaces the look at a file, and returns the one before.
    fn replace(&mut self, path: &str, look: Look) -> Option<Look> {
        if let Some(seen) = self.seen.get(path)
            && look.call.is_some()
            && seen.last.call == look.call
        {
            return seen.before.clone();
        }
        if !self.seen.contains_key(path) && self.seen.len() >= LOOKED_FILES_MAX {
            let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.last.time);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.seen.remove(&oldest);
            }
        }
        let before = self.seen.remove(path).map(|seen| seen.last);
        self.seen.insert(path.to_owned(), FileLooks { last: look, before: before.clone() });
        before
    }

    fn text(&self) -> io::Result<String> {
        let mut text = String::new();
        for (path, FileLooks { last, .. }) in &self.seen {
            text.push_str(&line(path, last)?);
        }
        Ok(text)
    }
}

impl Looks {
    /// Keeps looks in a directory, which need not exist.
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, sessions: Mutex::default() }
    }

    /// Replaces a session's look at a file, and returns the one before. Reads and writes files.
    pub(super) fn replace(&self, session: &SessionId, path: &str, look: Look) -> Option<Look> {
        let file = self.file(session);
        let is_known = self.sessions().contains_key(session);
        let kept = if is_known { SessionLooks::default() } else { kept(&file) };
        let (before, lines, whole) = {
            let mut sessions = self.sessions();
            if !sessions.contains_key(session) && sessions.len() >= LOOKING_SESSIONS_MAX {
                let oldest = sessions.iter().min_by_key(|(_, looks)| newest(looks));
                if let Some(oldest) = oldest.map(|(session, _)| session.clone()) {
                    sessions.remove(&oldest);
                }
            }
            let looks = sessions.entry(session.clone()).or_insert(kept);
            let before = looks.replace(path, look.clone());
            looks.lines += 1;
            let whole = (looks.lines > LOOK_LINES_MAX).then(|| looks.clone());
            if whole.is_some() {
                looks.lines = looks.seen.len();
            }
            (before, looks.lines, whole)
        };
        let written = match &whole {
            Some(looks) => looks.text().and_then(|text| replace_file(&file, &text)),
            None => line(path, &look).and_then(|line| self.append(&file, &line, lines == 1)),
        };
        if let Err(error) = written {
            tracing::warn!(%error, file = %file.display(), "could not keep what a session looked at");
        }
        before
    }

    /// Forgets all looks.
    pub(super) fn clear(&self) {
        self.sessions().clear();
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::error!(%error, directory = %self.directory.display(), "could not remove what sessions looked at");
            }
            _ => {}
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, SessionLooks>> {
        self.sessions.lock()
    }

    fn file(&self, session: &SessionId) -> PathBuf {
        let name = FileDigest::of(session.0.as_bytes());
        self.directory.join(format!("{}.jsonl", name.as_str()))
    }

    fn append(&self, file: &Path, line: &str, is_first: bool) -> io::Result<()> {
        if is_first {
            fs::create_dir_all(&self.directory)?;
            self.make_room()?;
        }
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
        file.write_all(line.as_bytes())
    }

    /// Removes the files of the sessions that looked longest ago.
    fn make_room(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let used = entry.metadata().and_then(|meta| meta.modified());
            files.push((used.unwrap_or(SystemTime::UNIX_EPOCH), entry.path()));
        }
        files.sort();
        let surplus = (files.len() + 1).saturating_sub(LOOKING_SESSIONS_MAX);
        files.iter().take(surplus).try_for_each(|(_, file)| fs::remove_file(file))
    }
}

/// Reads the looks that a daemon before this one kept.
fn kept(file: &Path) -> SessionLooks {
    let mut looks = SessionLooks::default();
    let text = match read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return looks,
        Err(error) => {
            tracing::warn!(%error, file = %file.display(), "could not read what a session looked at");
            return looks;
        }
    };
    for text in text.split_inclusive('\n') {
        match serde_json::from_str::<Line>(text) {
            Ok(Line { path, look }) => drop(looks.replace(&path, look)),
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "a look is not readable");
            }
        }
        looks.lines += 1;
    }
    // A line that was cut off must not spoil the next one.
    if !text.is_empty() && !text.ends_with('\n') {
        looks.lines = LOOK_LINES_MAX;
    }
    looks
}

fn newest(looks: &SessionLooks) -> Option<anchord_memory::Timestamp> {
    looks.seen.values().map(|seen| seen.last.time).max()
}

fn line(path: &str, look: &Look) -> io::Result<String> {
    let line = Line { path: path.to_owned(), look: look.clone() };
    Ok(serde_json::to_string(&line)? + "\n")
}

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(LOOKS_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    let beside = file.with_extension("new");
    let mut new =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    new.write_all(text.as_bytes())?;
    fs::rename(beside, file)
}

#[cfg(test)]
mod tests;
