//! The log of calls to a project's memory and their results: one line for each answer. It has two
//! files next to the project's journal; the older one is deleted when the newer one is full.
//!
//! No call waits for a line, and none fails because of one: a separate task counts tokens and
//! writes. Lines are not synced, and are dropped when the task is [`RETRIEVALS_QUEUED_MAX`] lines
//! behind. The content of a line has passed the filter in `secrets.rs`. Nothing here creates a
//! directory, so a deleted project stays deleted.
//!
//! The task also keeps the texts of the last answers to agents, in memory alone.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anchord_memory::tokens;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot, watch};

use crate::limits::{
    RETRIEVAL_ASKED_BYTES_MAX, RETRIEVAL_FILE_BYTES_MAX, RETRIEVAL_IDS_MAX, RETRIEVAL_PAUSE,
    RETRIEVALS_QUEUED_MAX, TEXTS_BYTES_MAX, TEXTS_OF_SESSION_MAX,
};
use crate::store::{Disk, RealDisk};

/// The current file and, below, the one before it.
const NEWER: &str = "retrievals.jsonl";
const OLDER: &str = "retrievals.1.jsonl";

/// The client's name for commands, in records and in the log. A person reads the result, not a
/// model.
pub const COMMAND_LINE: &str = "anchord-cli";

/// The name of checks of actions against rules, as if they were a tool.
pub const RULE_CHECK: &str = "rule_check";

/// A moment at which hooks give something. The log has it in place of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookMoment {
    /// A conversation starts.
    Start,
    /// A conversation continues.
    Resumed,
    /// A context was compacted.
    Restored,
    /// A person has sent a prompt.
    Prompt,
    /// A tool uses a file.
    File,
    /// A command has failed.
    Failure,
    /// A compaction begins.
    Compaction,
    /// A subagent starts.
    Subagent,
}

impl HookMoment {
    /// All moments.
    pub const ALL: [Self; 8] = [
        Self::Start,
        Self::Resumed,
        Self::Restored,
        Self::Prompt,
        Self::File,
        Self::Failure,
        Self::Compaction,
        Self::Subagent,
    ];

    /// Returns the name in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "hook start",
            Self::Resumed => "hook resumed",
            Self::Restored => "hook restored",
            Self::Prompt => "hook prompt",
            Self::File => "hook file",
            Self::Failure => "hook failure",
            Self::Compaction => "hook compaction",
            Self::Subagent => "hook subagent",
        }
    }

    /// Returns the moment with a name in the log; `None` for a tool.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|moment| moment.name() == name)
    }
}

/// Returns the files of a project's log, the older first. Either may be missing.
pub fn files(directory: &Path) -> [PathBuf; 2] {
    [directory.join(OLDER), directory.join(NEWER)]
}

/// A line of the log: one answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieval {
    /// The line's number in the project. A dropped line leaves no gap.
    pub number: u64,
    /// The time of the answer, in milliseconds since the Unix epoch.
    pub time: i64,
    /// The session that called.
    pub session: String,
    /// The client's own name, such as `claude-code`; `anchord-cli` for the command line.
    #[serde(default)]
    pub client: String,
    /// The tool.
    pub tool: String,
    /// The tool's arguments without secrets, or a clipped text if they are too long to be kept
    /// whole.
    #[serde(default)]
    pub asked: serde_json::Value,
    /// The records in the answer, in its order. Only the first if there are very many.
    #[serde(default)]
    pub ids: Vec<String>,
    /// The number of records beyond those in `ids`.
    #[serde(default)]
    pub more: u64,
    /// The tokens of the answer; 0 for a document that goes to a file.
    #[serde(default)]
    pub tokens: u32,
    /// Whether there was more than the answer has.
    #[serde(default)]
    pub truncated: bool,
    /// Whether the call failed, and the answer says why.
    #[serde(default)]
    pub refused: bool,
    /// The time from the call's turn to its answer, in microseconds.
    #[serde(default)]
    pub micros: u64,
    /// The number of lines just before this one that could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<NonZeroU64>,
}

/// The replacement for arguments that were purged.
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

/// An answer's text, and what caused it if the arguments do not say so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoggedAnswer {
    /// The text; empty for a document that goes to a file.
    pub(crate) text: String,
    /// The prompt, the file or the failed command of a hook event.
    pub(crate) cause: Option<String>,
}

impl From<String> for LoggedAnswer {
    fn from(text: String) -> Self {
        Self { text, cause: None }
    }
}

/// An answer that is still in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recent {
    /// The directory of the project.
    pub(crate) directory: PathBuf,
    /// The line of the log.
    pub(crate) line: Retrieval,
    /// The text and its cause.
    pub(crate) given: Arc<LoggedAnswer>,
}

impl Recent {
    fn bytes(&self) -> usize {
        self.given.text.len() + self.given.cause.as_ref().map_or(0, String::len)
    }
}

/// The logs of all projects. All clones use the same task, which ends with the last of them.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalLog {
    jobs: mpsc::Sender<Job>,
    tokens: Arc<AtomicU64>,
    written: watch::Receiver<u64>,
}

#[derive(Debug)]
enum Job {
    Write { directory: Option<PathBuf>, line: Box<Retrieval>, given: LoggedAnswer },
    Recent(oneshot::Sender<Vec<Recent>>),
    Fault { directory: PathBuf, reply: oneshot::Sender<Option<String>> },
    Read { directory: PathBuf, from: Start, limit: usize, reply: oneshot::Sender<Vec<Retrieval>> },
    Forget { directory: PathBuf, ids: BTreeSet<String>, reply: oneshot::Sender<io::Result<()>> },
    Flush(oneshot::Sender<()>),
}

/// The place where reading starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The last lines.
    Last,
    /// The line after this number.
    After(u64),
}

impl RetrievalLog {
    /// Starts the task. Must be called within a runtime.
    pub(crate) fn start() -> Self {
        let (jobs, queue) = mpsc::channel(RETRIEVALS_QUEUED_MAX);
        let (changed, written) = watch::channel(0);
        let tokens = Arc::default();
        tokio::spawn(run(queue, Arc::clone(&tokens), changed));
        Self { jobs, tokens, written }
    }

    /// Counts the tokens of an answer's text, and writes its line if the project has a directory.
    pub(crate) fn write(&self, directory: Option<PathBuf>, line: Retrieval, given: LoggedAnswer) {
        if self.jobs.try_send(Job::Write { directory, line: Box::new(line), given }).is_err() {
            tracing::debug!("the retrieval log is behind; a line was dropped");
        }
    }

    /// Reads at most `limit` lines, oldest first.
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

    /// Returns why a log lacks lines, if it does: it cannot be read, or takes no new lines.
    pub(crate) async fn fault(&self, directory: PathBuf) -> Option<String> {
        let (reply, fault) = oneshot::channel();
        let ended = || Some("the retrieval log has ended".to_owned());
        if self.jobs.send(Job::Fault { directory, reply }).await.is_err() {
            return ended();
        }
        fault.await.unwrap_or_else(|_| ended())
    }

    /// Returns the last answers to agents, the newest first.
    pub(crate) async fn recent(&self) -> Vec<Recent> {
        let (reply, answers) = oneshot::channel();
        if self.jobs.send(Job::Recent(reply)).await.is_err() {
            return Vec::new();
        }
        answers.await.unwrap_or_default()
    }

    /// Redacts the arguments in lines that name one of these records, or too many records to list
    /// them.
    ///
    /// # Errors
    /// Returns a message if a file could not be rewritten.
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

    /// Returns once everything passed earlier is in the files.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.jobs.send(Job::Flush(done)).await.is_ok() {
            // This fails if the task is gone, and then nothing is left to write.
            let _ = flushed.await;
        }
    }

    /// Returns a channel that changes with each line of any project, written or lost.
    pub(crate) fn written(&self) -> watch::Receiver<u64> {
        self.written.clone()
    }

    /// Returns the number of tokens in all answers to agents since the start.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }
}

async fn run(mut queue: mpsc::Receiver<Job>, tokens: Arc<AtomicU64>, changed: watch::Sender<u64>) {
    let mut writer = Writer::default();
    let mut jobs = Vec::new();
    while queue.recv_many(&mut jobs, RETRIEVALS_QUEUED_MAX).await > 0 {
        if jobs.iter().all(|job| matches!(job, Job::Write { .. })) {
            tokio::time::sleep(RETRIEVAL_PAUSE).await;
            while let Ok(job) = queue.try_recv() {
                jobs.push(job);
            }
        }
        let (taken, tokens) = (std::mem::take(&mut jobs), Arc::clone(&tokens));
        let served = tokio::task::spawn_blocking(move || {
            let lines = writer.serve_batch(taken, &tokens);
            (writer, lines)
        });
        let (next, lines) = served.await.unwrap_or_default();
        writer = next;
        if lines > 0 {
            changed.send_modify(|written| *written += lines);
        }
    }
}

/// The writing end of the logs.
#[derive(Debug, Default)]
struct Writer {
    /// The number of the last line of each log in use.
    last: HashMap<PathBuf, u64>,
    /// The logs whose last lines were lost.
    lost: HashMap<PathBuf, LostLines>,
    /// The last answers to agents, oldest first.
    recent: VecDeque<Recent>,
    /// The files that the batch under way appends to.
    opened: HashMap<PathBuf, File>,
}

/// The lines of a log that were lost since its last one. The next one has their number.
#[derive(Debug)]
struct LostLines {
    count: NonZeroU64,
    why: String,
}

impl Writer {
    /// Runs a batch of jobs. Returns the number of lines written or lost.
    fn serve_batch(&mut self, jobs: Vec<Job>, given: &AtomicU64) -> u64 {
        let lines = jobs.into_iter().map(|job| self.serve(job, given)).sum();
        // The next batch may find that somebody moved or removed a file.
        self.opened.clear();
        lines
    }

    /// Runs a job. Returns the number of lines written or lost.
    fn serve(&mut self, job: Job, given: &AtomicU64) -> u64 {
        match job {
            Job::Write { directory, mut line, given: answer } => {
                line.tokens = tokens::count(&answer.text);
                if line.client != COMMAND_LINE {
                    given.fetch_add(line.tokens.into(), Ordering::Relaxed);
                }
                let Some(directory) = directory else { return 0 };
                line.lost = self.lost.get(&directory).map(|lost| lost.count);
                match self.append(&directory, *line) {
                    Ok(line) => {
                        self.lost.remove(&directory);
                        self.keep(Recent { directory, line, given: Arc::new(answer) });
                        return 1;
                    }
                    Err(error) => {
                        tracing::debug!(%error, "a line of the retrieval log was lost");
                        // Where nothing is remembered, nothing is logged.
                        if error.kind() != io::ErrorKind::NotFound {
                            let before = self.lost.get(&directory).map(|lost| lost.count);
                            let count = before.map_or(NonZeroU64::MIN, |it| it.saturating_add(1));
                            let why = error.to_string();
                            self.lost.insert(directory, LostLines { count, why });
                            return 1;
                        }
                    }
                }
            }
            // A caller that is gone needs no answer.
            Job::Read { directory, from, limit, reply } => {
                let _ = reply.send(self.read(&directory, from, limit));
            }
            Job::Fault { directory, reply } => {
                let _ = reply.send(self.fault(&directory));
            }
            Job::Recent(reply) => {
                let _ = reply.send(self.recent.iter().rev().cloned().collect());
            }
            Job::Forget { directory, ids, reply } => {
                // A text may quote a record that its line does not name.
                self.recent.retain(|recent| ids.is_empty() || recent.directory != directory);
                // The files are replaced.
                self.opened.clear();
                let _ = reply.send(forget(&directory, &ids));
            }
            Job::Flush(done) => {
                let _ = done.send(());
            }
        }
        0
    }

    /// Keeps an answer to an agent while there is room. Each session keeps a few, so that a busy
    /// one does not displace the others'.
    fn keep(&mut self, recent: Recent) {
        if recent.line.client == COMMAND_LINE || recent.given.text.is_empty() {
            return;
        }
        let of_session = |kept: &&Recent| kept.line.session == recent.line.session;
        if self.recent.iter().filter(of_session).count() >= TEXTS_OF_SESSION_MAX
            && let Some(oldest) = self.recent.iter().position(|kept| of_session(&kept))
        {
            self.recent.remove(oldest);
        }
        self.recent.push_back(recent);
        let mut bytes: usize = self.recent.iter().map(Recent::bytes).sum();
        while bytes > TEXTS_BYTES_MAX
            && let Some(oldest) = self.recent.pop_front()
        {
            bytes -= oldest.bytes();
        }
    }

    /// Appends a line, and returns it as written.
    fn append(&mut self, directory: &Path, line: Retrieval) -> io::Result<Retrieval> {
        let number = self.last(directory)? + 1;
        let line = Retrieval { number, ..line }.shortened();
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let [older, newer] = files(directory);
        let file = match self.opened.entry(newer.clone()) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(place) => place.insert(open(&newer)?),
        };
        if file.metadata()?.len() + text.len() as u64 > RETRIEVAL_FILE_BYTES_MAX {
            std::fs::rename(&newer, &older)?;
            *file = open(&newer)?;
        }
        file.write_all(&text)?;
        self.last.insert(directory.to_owned(), number);
        Ok(line)
    }

    /// Returns the number of the last line. The first call also ends a line that an earlier daemon
    /// left half written.
    fn last(&mut self, directory: &Path) -> io::Result<u64> {
        if let Some(number) = self.last.get(directory) {
            return Ok(*number);
        }
        let [_, newer] = files(directory);
        if std::fs::read(&newer).is_ok_and(|text| text.last().is_some_and(|byte| *byte != b'\n')) {
            open(&newer)?.write_all(b"\n")?;
        }
        Ok(lines(directory).last().map_or(0, |line| line.number))
    }

    fn read(&mut self, directory: &Path, from: Start, limit: usize) -> Vec<Retrieval> {
        if let (Start::After(after), Some(last)) = (from, self.last.get(directory))
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

    fn fault(&self, directory: &Path) -> Option<String> {
        let [older, newer] = files(directory);
        let unread = [&older, &newer].into_iter().find_map(|file| match File::open(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Some(format!("cannot read {}: {error}", file.display()))
            }
            _ => None,
        });
        unread.or_else(|| {
            let place = if newer.exists() { &newer } else { directory };
            let why = match rustix::fs::access(place, rustix::fs::Access::WRITE_OK) {
                Ok(()) | Err(rustix::io::Errno::NOENT) => self.lost.get(directory)?.why.clone(),
                Err(error) => io::Error::from(error).to_string(),
            };
            Some(format!("no line can be added to {}: {why}", newer.display()))
        })
    }
}

/// Returns the readable lines. [`Writer::fault`] names a file that cannot be read.
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
            // A file that a crash left may hold anything.
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = open(&temporary)?;
            file.write_all(&text)?;
            file.sync_data()?;
            std::fs::rename(&temporary, &path)?;
            // Without this, a power cut could bring back what was reported as gone.
            RealDisk.sync_dir(directory)?;
        }
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    let links = rustix::fs::OFlags::NOFOLLOW.bits();
    let links = i32::try_from(links).unwrap_or_default();
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(links).open(path)
}

#[cfg(test)]
mod tests;
