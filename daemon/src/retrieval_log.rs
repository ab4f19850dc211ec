//! What was asked of a project's memory and what was given: a line for each answer, in two files beside the
//! project's journal, the older of which goes when the newer is full.
//!
//! No call waits for a line, and none fails for it: a task of its own counts tokens and writes. Lines are not
//! synced, and when the task is behind by [`RETRIEVALS_QUEUED_MAX`] they are dropped. What a line holds has passed
//! the filter in `secrets.rs`. Nothing here makes a directory, so that a deleted project stays deleted.

use std::collections::{BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anchord_memory::tokens;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot, watch};

use crate::limits::{
    RETRIEVAL_ASKED_BYTES_MAX, RETRIEVAL_FILE_BYTES_MAX, RETRIEVAL_IDS_MAX, RETRIEVALS_QUEUED_MAX,
};
use crate::store::{Disk, RealDisk};

/// The file that is written, and the one before it.
const NEWER: &str = "retrievals.jsonl";
const OLDER: &str = "retrievals.1.jsonl";

/// What records and the log name as the client of a command: a person reads what it is given, no model.
pub(crate) const COMMAND_LINE: &str = "anchord-cli";

/// The files of a project's log, the older first; either may be missing.
pub fn files(directory: &Path) -> [PathBuf; 2] {
    [directory.join(OLDER), directory.join(NEWER)]
}

/// An answer: a line of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieval {
    /// Counts the project's lines; one that was dropped leaves no gap.
    pub number: u64,
    /// When it was given, in milliseconds since the Unix epoch.
    pub time: i64,
    /// Who asked.
    pub session: String,
    /// The client's own name, `claude-code`; `anchord-cli` for the command line.
    #[serde(default)]
    pub client: String,
    /// The tool.
    pub tool: String,
    /// The tool's arguments without secrets; a text when they are too long to be kept whole.
    #[serde(default)]
    pub asked: serde_json::Value,
    /// The records given, in the order of the answer; the first of them when they are very many.
    #[serde(default)]
    pub ids: Vec<String>,
    /// How many records more than `ids` names.
    #[serde(default)]
    pub more: u64,
    /// Of the answer; none of a document for a file.
    #[serde(default)]
    pub tokens: u32,
    /// Whether there was more than the answer has.
    #[serde(default)]
    pub truncated: bool,
    /// Whether the answer says why there is none.
    #[serde(default)]
    pub refused: bool,
    /// From the call's turn to its answer, in microseconds.
    #[serde(default)]
    pub micros: u64,
}

/// Stands in the place of a question that was purged.
const GONE: &str = "[purged]";

impl Retrieval {
    fn names(&self, ids: &BTreeSet<String>) -> bool {
        self.asked != GONE && (self.more > 0 || self.ids.iter().any(|id| ids.contains(id)))
    }

    fn shortened(mut self) -> Self {
        let over = self.ids.len().saturating_sub(RETRIEVAL_IDS_MAX);
        self.ids.truncate(RETRIEVAL_IDS_MAX);
        self.more += over as u64;
        let asked = self.asked.to_string();
        if asked.len() > RETRIEVAL_ASKED_BYTES_MAX {
            let end = asked.floor_char_boundary(RETRIEVAL_ASKED_BYTES_MAX);
            self.asked = format!("{}…", asked.get(..end).unwrap_or_default()).into();
        }
        self
    }
}

/// The logs of all projects. Clones lead to the same task, which ends with the last of them.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalLog {
    jobs: mpsc::Sender<Job>,
    tokens: Arc<AtomicU64>,
    written: watch::Receiver<u64>,
}

#[derive(Debug)]
enum Job {
    Write { directory: Option<PathBuf>, line: Box<Retrieval>, text: String },
    Read { directory: PathBuf, from: Start, limit: usize, reply: oneshot::Sender<Vec<Retrieval>> },
    Forget { directory: PathBuf, ids: BTreeSet<String>, reply: oneshot::Sender<io::Result<()>> },
    Flush(oneshot::Sender<()>),
}

/// Where reading starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the last lines.
    Last,
    /// After the line with this number.
    After(u64),
}

impl RetrievalLog {
    /// Starts the task; within a runtime.
    pub(crate) fn start() -> Self {
        let (jobs, queue) = mpsc::channel(RETRIEVALS_QUEUED_MAX);
        let (changed, written) = watch::channel(0);
        let tokens = Arc::default();
        tokio::spawn(run(queue, Arc::clone(&tokens), changed));
        Self { jobs, tokens, written }
    }

    /// Counts the tokens of an answer's text, and writes its line where the project has a directory. A document for a
    /// file is no text.
    pub(crate) fn write(&self, directory: Option<PathBuf>, line: Retrieval, text: String) {
        if self.jobs.try_send(Job::Write { directory, line: Box::new(line), text }).is_err() {
            tracing::debug!("the retrieval log is behind; a line was dropped");
        }
    }

    /// Lines, oldest first, `limit` at most.
    pub(crate) async fn read(
        &self,
        directory: PathBuf,
        from: Start,
        limit: usize,
    ) -> Vec<Retrieval> {
        let (reply, lines) = oneshot::channel();
        let sent = self.jobs.send(Job::Read { directory, from, limit, reply }).await;
        if sent.is_err() {
            return Vec::new();
        }
        lines.await.unwrap_or_default()
    }

    /// Empties the questions of the lines that name one of these records, or too many records to name them all.
    ///
    /// # Errors
    /// In words, when a file could not be written anew.
    pub(crate) async fn forget(
        &self,
        directory: PathBuf,
        ids: BTreeSet<String>,
    ) -> Result<(), String> {
        let (reply, done) = oneshot::channel();
        if self.jobs.send(Job::Forget { directory, ids, reply }).await.is_err() {
            return Err("the retrieval log has ended".to_owned());
        }
        let done = done.await.unwrap_or_else(|ended| Err(io::Error::other(ended)));
        done.map_err(|error| format!("cannot write the retrieval log anew: {error}"))
    }

    /// Returns when everything given before is in the files.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.jobs.send(Job::Flush(done)).await.is_ok() {
            // Fails when the task is gone, and then nothing is left to write.
            let _ = flushed.await;
        }
    }

    /// Changes with each line, of whichever project.
    pub(crate) fn written(&self) -> watch::Receiver<u64> {
        self.written.clone()
    }

    /// Tokens of all answers to agents since the start.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }
}

async fn run(mut queue: mpsc::Receiver<Job>, tokens: Arc<AtomicU64>, changed: watch::Sender<u64>) {
    let mut writer = Writer::default();
    let mut jobs = Vec::new();
    while queue.recv_many(&mut jobs, RETRIEVALS_QUEUED_MAX).await > 0 {
        let (taken, tokens) = (std::mem::take(&mut jobs), Arc::clone(&tokens));
        let served = tokio::task::spawn_blocking(move || {
            let lines: u64 = taken.into_iter().map(|job| writer.serve(job, &tokens)).sum();
            (writer, lines)
        });
        let (next, lines) = served.await.unwrap_or_default();
        writer = next;
        if lines > 0 {
            changed.send_modify(|written| *written += lines);
        }
    }
}

/// The number of the last line of each log that was looked at.
#[derive(Debug, Default)]
struct Writer(HashMap<PathBuf, u64>);

impl Writer {
    /// How many lines it wrote.
    fn serve(&mut self, job: Job, given: &AtomicU64) -> u64 {
        match job {
            Job::Write { directory, mut line, text } => {
                line.tokens = tokens::count(&text);
                if line.client != COMMAND_LINE {
                    given.fetch_add(line.tokens.into(), Ordering::Relaxed);
                }
                let Some(directory) = directory else { return 0 };
                match self.append(&directory, *line) {
                    Ok(()) => return 1,
                    Err(error) => tracing::debug!(%error, "a line of the retrieval log was lost"),
                }
            }
            // Whoever asked and has gone wants no answer.
            Job::Read { directory, from, limit, reply } => {
                let _ = reply.send(self.read(&directory, from, limit));
            }
            Job::Forget { directory, ids, reply } => {
                let _ = reply.send(forget(&directory, &ids));
            }
            Job::Flush(done) => {
                let _ = done.send(());
            }
        }
        0
    }

    fn append(&mut self, directory: &Path, line: Retrieval) -> io::Result<()> {
        let number = self.last(directory)? + 1;
        let mut text = serde_json::to_vec(&Retrieval { number, ..line }.shortened())?;
        text.push(b'\n');
        let [older, newer] = files(directory);
        let mut file = open(&newer)?;
        if file.metadata()?.len() + text.len() as u64 > RETRIEVAL_FILE_BYTES_MAX {
            std::fs::rename(&newer, &older)?;
            file = open(&newer)?;
        }
        file.write_all(&text)?;
        self.0.insert(directory.to_owned(), number);
        Ok(())
    }

    /// The number of the last line. The first look also ends a line that an earlier daemon left half written.
    fn last(&mut self, directory: &Path) -> io::Result<u64> {
        if let Some(number) = self.0.get(directory) {
            return Ok(*number);
        }
        let [_, newer] = files(directory);
        if std::fs::read(&newer).is_ok_and(|text| text.last().is_some_and(|byte| *byte != b'\n')) {
            open(&newer)?.write_all(b"\n")?;
        }
        Ok(lines(directory).last().map_or(0, |line| line.number))
    }

    fn read(&mut self, directory: &Path, from: Start, limit: usize) -> Vec<Retrieval> {
        if let (Start::After(after), Some(last)) = (from, self.0.get(directory))
            && *last <= after
        {
            return Vec::new();
        }
        let mut lines: Vec<Retrieval> = lines(directory).collect();
        match from {
            Start::Last => lines.drain(..lines.len().saturating_sub(limit)).for_each(drop),
            Start::After(after) => {
                lines.retain(|line| line.number > after);
                lines.truncate(limit);
            }
        }
        lines
    }
}

/// The lines that can be read.
fn lines(directory: &Path) -> impl Iterator<Item = Retrieval> {
    files(directory).into_iter().filter_map(|file| std::fs::read(file).ok()).flat_map(|bytes| {
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect::<Vec<_>>()
    })
}

fn forget(directory: &Path, ids: &BTreeSet<String>) -> io::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    for path in files(directory) {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let mut changed = false;
        let mut text = Vec::with_capacity(bytes.len());
        for raw in bytes.split_inclusive(|byte| *byte == b'\n') {
            match serde_json::from_slice::<Retrieval>(raw) {
                Ok(line) if line.names(ids) => {
                    let gone = Retrieval { asked: GONE.into(), ..line };
                    serde_json::to_writer(&mut text, &gone)?;
                    text.push(b'\n');
                    changed = true;
                }
                _ => text.extend_from_slice(raw),
            }
        }
        if changed {
            let temporary = path.with_extension("tmp");
            // One that a crash left may hold anything.
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = open(&temporary)?;
            file.write_all(&text)?;
            file.sync_data()?;
            std::fs::rename(&temporary, &path)?;
            // Or a power cut brings back what is told to be gone.
            RealDisk.sync_dir(directory)?;
        }
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<std::fs::File> {
    let links = rustix::fs::OFlags::NOFOLLOW.bits();
    let links = i32::try_from(links).unwrap_or_default();
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(links).open(path)
}

#[cfg(test)]
mod tests;
