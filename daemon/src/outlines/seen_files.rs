//! The versions of files that sessions saw outlined last: in memory, and in one file for each
//! session. A daemon that starts again reads that file when the session next asks for an outline.
//!
//! A version is a line of JSON; the last line of a path counts. A line that cannot be read is
//! logged, and the session then gets that outline in full. Nothing is synced: a machine that loses
//! power may lose lines, never invent them.
//!
//! A version is recorded before its answer leaves. If the daemon dies in between, the shim sends
//! the call again. Then the version before it counts, since the agent never saw the newer one.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anchord_memory::SessionId;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use super::SeenVersion;
use crate::limits::{SEEN_BYTES_MAX, SEEN_FILES_MAX, SEEN_LINES_MAX, SEEN_SESSIONS_MAX};
use crate::projects::FileDigest;

/// The files that each session saw.
#[derive(Debug)]
pub(super) struct SeenFiles {
    directory: PathBuf,
    sessions: Mutex<HashMap<SessionId, SessionFiles>>,
}

/// The files that one session saw, by path.
#[derive(Clone, Debug, Default)]
struct SessionFiles {
    seen: HashMap<String, SeenFile>,
    /// The lines of its file.
    lines: usize,
}

/// The versions of one file that a session saw.
#[derive(Clone, Debug)]
struct SeenFile {
    last: SeenVersion,
    /// The version that counts if the call that got the last one is sent again.
    before: Option<SeenVersion>,
}

/// A line of a session's file.
#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    version: SeenVersion,
}

impl SessionFiles {
    /// Replaces the version of a file that was seen last, and returns the one before.
    fn replace(&mut self, path: &str, version: SeenVersion) -> Option<SeenVersion> {
        if let Some(seen) = self.seen.get(path)
            && version.call.is_some()
            && seen.last.call == version.call
        {
            return seen.before.clone();
        }
        if !self.seen.contains_key(path) && self.seen.len() >= SEEN_FILES_MAX {
            let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.last.time);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.seen.remove(&oldest);
            }
        }
        let before = self.seen.remove(path).map(|seen| seen.last);
        self.seen.insert(path.to_owned(), SeenFile { last: version, before: before.clone() });
        before
    }

    fn text(&self) -> io::Result<String> {
        let mut text = String::new();
        for (path, SeenFile { last, .. }) in &self.seen {
            text.push_str(&line(path, last)?);
        }
        Ok(text)
    }
}

impl SeenFiles {
    /// Keeps the records in a directory, which need not exist.
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, sessions: Mutex::default() }
    }

    /// Replaces the version of a file that a session saw last, and returns the one before. Reads
    /// and writes files.
    pub(super) fn replace(
        &self,
        session: &SessionId,
        path: &str,
        version: SeenVersion,
    ) -> Option<SeenVersion> {
        let file = self.file(session);
        let is_known = self.sessions().contains_key(session);
        let kept = if is_known { SessionFiles::default() } else { kept(&file) };
        let (before, lines, whole) = {
            let mut sessions = self.sessions();
            if !sessions.contains_key(session) && sessions.len() >= SEEN_SESSIONS_MAX {
                let oldest = sessions.iter().min_by_key(|(_, files)| newest(files));
                if let Some(oldest) = oldest.map(|(session, _)| session.clone()) {
                    sessions.remove(&oldest);
                }
            }
            let files = sessions.entry(session.clone()).or_insert(kept);
            let before = files.replace(path, version.clone());
            files.lines += 1;
            let whole = (files.lines > SEEN_LINES_MAX).then(|| files.clone());
            if whole.is_some() {
                files.lines = files.seen.len();
            }
            (before, files.lines, whole)
        };
        let written = match &whole {
            Some(files) => files.text().and_then(|text| replace_file(&file, &text)),
            None => line(path, &version).and_then(|line| self.append(&file, &line, lines == 1)),
        };
        if let Err(error) = written {
            tracing::warn!(%error, file = %file.display(), "could not record what a session saw");
        }
        before
    }

    /// Forgets what all sessions saw.
    pub(super) fn clear(&self) {
        self.sessions().clear();
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::error!(%error, directory = %self.directory.display(), "could not remove the records of what sessions saw");
            }
            _ => {}
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, SessionFiles>> {
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

    /// Removes the records of the sessions that saw an outline longest ago.
    fn make_room(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let used = entry.metadata().and_then(|meta| meta.modified());
            files.push((used.unwrap_or(SystemTime::UNIX_EPOCH), entry.path()));
        }
        files.sort();
        let surplus = (files.len() + 1).saturating_sub(SEEN_SESSIONS_MAX);
        files.iter().take(surplus).try_for_each(|(_, file)| fs::remove_file(file))
    }
}

/// Reads what an earlier daemon recorded of a session.
fn kept(file: &Path) -> SessionFiles {
    let mut files = SessionFiles::default();
    let text = match read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return files,
        Err(error) => {
            tracing::warn!(%error, file = %file.display(), "could not read what a session saw");
            return files;
        }
    };
    for text in text.split_inclusive('\n') {
        match serde_json::from_str::<Line>(text) {
            Ok(Line { path, version }) => drop(files.replace(&path, version)),
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "a line of what a session saw is not readable");
            }
        }
        files.lines += 1;
    }
    // A line that was cut off must not spoil the next one.
    if !text.is_empty() && !text.ends_with('\n') {
        files.lines = SEEN_LINES_MAX;
    }
    files
}

fn newest(files: &SessionFiles) -> Option<anchord_memory::Timestamp> {
    files.seen.values().map(|seen| seen.last.time).max()
}

fn line(path: &str, version: &SeenVersion) -> io::Result<String> {
    let line = Line { path: path.to_owned(), version: version.clone() };
    Ok(serde_json::to_string(&line)? + "\n")
}

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(SEEN_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    let temporary = file.with_extension("new");
    let mut new =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    new.write_all(text.as_bytes())?;
    fs::rename(temporary, file)
}

#[cfg(test)]
mod tests;
