//! Merging of texts by a model, where `config.toml` names providers.
//!
//! The daemon calls none. After it has answered, it starts the process `anchord merge`, one at a
//! time, and that process calls. The daemon counts the calls of a day, and keeps the count on disk.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anchord_memory::{RecordId, Timestamp};
use futures::FutureExt as _;
use parking_lot::Mutex;

use crate::blocking::run_blocking;
use crate::config::{Config, MergeConfig};
use crate::limits::{MERGE_ERROR_CHARS_MAX, MERGE_JOBS_WAITING_MAX};
use crate::project::ProjectService;
use crate::projects::ProjectId;
use crate::{clock, secrets};

/// The soft mark that has the calls of a day: `2026-11-25 7`.
pub(crate) const MERGE_CALLS: &str = "merge-calls";

/// A text that waits to be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeJob {
    pub(crate) project: ProjectId,
    pub(crate) topic: String,
    pub(crate) notes: Vec<RecordId>,
}

impl MergeJob {
    /// Returns the arguments of the process.
    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = ["merge", "--project"].map(OsString::from).into();
        arguments.push(self.project.to_string().into());
        // One argument, since a topic's name may look like an option.
        arguments.push(format!("--topic={}", self.topic).into());
        for note in &self.notes {
            arguments.push("--note".into());
            arguments.push(note.to_string().into());
        }
        arguments
    }
}

/// Starts merges and counts their calls.
#[derive(Debug)]
pub(crate) struct MergeService {
    config: Arc<Config>,
    projects: Arc<ProjectService>,
    /// The program `anchord`; `None` if it cannot be found.
    program: Option<PathBuf>,
    waiting: Mutex<Waiting>,
    calls: Mutex<DayCalls>,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<MergeJob>,
    is_running: bool,
}

/// The calls of one day, UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DayCalls {
    day: String,
    calls: u32,
}

impl DayCalls {
    /// Reads the mark; a mark that cannot be read counts for no day.
    fn parse(mark: &str) -> Option<Self> {
        let (day, calls) = mark.split_once(' ')?;
        Some(Self { day: day.to_owned(), calls: calls.parse().ok()? })
    }

    fn print(&self) -> String {
        format!("{} {}", self.day, self.calls)
    }

    /// Grants at most `wanted` of the calls that are left on a day.
    fn grant(&mut self, day: &str, wanted: u32, calls_max: u32) -> u32 {
        if self.day != day {
            *self = Self { day: day.to_owned(), calls: 0 };
        }
        let granted = wanted.min(calls_max.saturating_sub(self.calls));
        self.calls += granted;
        granted
    }

    /// Takes back calls that were not made. Those of an earlier day are gone.
    fn give_back(&mut self, day: &str, calls: u32) {
        if self.day == day {
            self.calls = self.calls.saturating_sub(calls);
        }
    }
}

impl MergeService {
    /// Creates the service. `calls` is the value of the mark [`MERGE_CALLS`].
    pub(crate) fn new(
        config: Arc<Config>,
        projects: Arc<ProjectService>,
        calls: Option<&str>,
    ) -> Self {
        Self {
            config,
            projects,
            program: std::env::current_exe().ok(),
            waiting: Mutex::default(),
            calls: Mutex::new(calls.and_then(DayCalls::parse).unwrap_or_default()),
        }
    }

    /// Returns the settings.
    pub(crate) fn config(&self) -> &MergeConfig {
        &self.config.merge
    }

    /// Queues a text to be merged. Returns whether it will be.
    pub(crate) fn request(self: &Arc<Self>, job: MergeJob) -> bool {
        let config = self.config();
        if config.providers.is_empty() || config.calls_per_day == 0 {
            return false;
        }
        let Some(program) = self.program.clone() else { return false };
        let mut waiting = self.waiting.lock();
        if waiting.jobs.len() >= MERGE_JOBS_WAITING_MAX {
            return false;
        }
        waiting.jobs.push_back(job);
        if !waiting.is_running {
            waiting.is_running = true;
            let service = Arc::clone(self);
            tokio::spawn(async move { service.work(move |job| run(&program, job)).await });
        }
        true
    }

    /// Calls `run` for each text that waits, until none does. A panic ends only that text's turn.
    async fn work(&self, run: impl Fn(&MergeJob) + Send + Sync + 'static) {
        let run = Arc::new(run);
        while let Some(job) = self.next() {
            let (run, project) = (Arc::clone(&run), job.project);
            let running = AssertUnwindSafe(run_blocking(move || run(&job)));
            if running.catch_unwind().await.is_err() {
                tracing::error!(%project, "merging a text panicked");
            }
        }
    }

    fn next(&self) -> Option<MergeJob> {
        let mut waiting = self.waiting.lock();
        let job = waiting.jobs.pop_front();
        waiting.is_running = job.is_some();
        job
    }

    /// Grants calls for today and counts them.
    pub(crate) async fn grant(&self, wanted: u32) -> u32 {
        let max = self.config().calls_per_day;
        self.count(|calls, day| calls.grant(day, wanted, max)).await
    }

    /// Takes back granted calls that were not made.
    pub(crate) async fn give_back(&self, calls: u32) {
        if calls > 0 {
            self.count(|count, day| count.give_back(day, calls)).await;
        }
    }

    async fn count<T>(&self, change: impl FnOnce(&mut DayCalls, &str) -> T) -> T {
        let (result, mark) = {
            let mut calls = self.calls.lock();
            let result = change(&mut calls, &day(clock::now()));
            (result, calls.print())
        };
        let kept = self.projects.registry.ask(move |store, _| {
            store.mark(MERGE_CALLS, Some(&mark));
            store.flush();
        });
        if let Err(error) = kept.await {
            tracing::warn!(%error, "the count of a day's calls of providers is not on disk");
        }
        result
    }
}

fn day(now: Timestamp) -> String {
    now.date()
}

/// Runs the process and logs its end. It limits its own time.
fn run(program: &PathBuf, job: &MergeJob) {
    let ended = Command::new(program)
        .args(job.arguments())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    match ended {
        Ok(output) if output.status.success() => {
            tracing::info!(project = %job.project, "a model merged a text");
        }
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr);
            let error: String = error.trim().chars().take(MERGE_ERROR_CHARS_MAX).collect();
            let error = secrets::clean(&error);
            tracing::warn!(project = %job.project, status = %output.status, %error, "no model merged a text");
        }
        Err(error) => tracing::warn!(%error, "cannot start `anchord merge`"),
    }
}

#[cfg(test)]
mod tests {
    //! The count of a day, and the arguments of the process.

    use anchord_memory::Kind;

    use super::*;
    use crate::testing::World;

    #[tokio::test]
    async fn a_panic_does_not_end_merging() {
        let world = World::new().await;
        let projects = Arc::clone(&world.daemon.projects);
        let service = MergeService::new(Arc::default(), projects, None);
        let job = |topic: &str| MergeJob {
            project: ProjectId::PERSONAL,
            topic: topic.to_owned(),
            notes: Vec::new(),
        };
        *service.waiting.lock() =
            Waiting { jobs: ["bad", "good"].map(job).into(), is_running: true };
        let done = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&done);
        let run = move |job: &MergeJob| {
            assert_eq!(job.topic, "good");
            list.lock().push(job.topic.clone());
        };
        service.work(run).await;
        assert_eq!(*done.lock(), ["good"]);
        assert!(!service.waiting.lock().is_running, "the next request starts it again");
    }

    #[test]
    fn calls_of_a_day_are_granted_up_to_the_limit() {
        let mut calls = DayCalls::default();
        assert_eq!(calls.grant("2026-11-25", 6, 10), 6);
        assert_eq!(calls.grant("2026-11-25", 6, 10), 4);
        assert_eq!(calls.grant("2026-11-25", 6, 10), 0);
        calls.give_back("2026-11-25", 3);
        assert_eq!(calls.grant("2026-11-25", 6, 10), 3);
        assert_eq!(calls.grant("2026-11-26", 6, 10), 6, "a new day");
        calls.give_back("2026-11-25", 6);
        assert_eq!(calls.calls, 6, "calls of an earlier day are gone");
    }

    #[test]
    fn the_count_survives_as_a_mark() {
        let calls = DayCalls { day: "2026-11-25".to_owned(), calls: 7 };
        assert_eq!(DayCalls::parse(&calls.print()), Some(calls));
        assert_eq!(DayCalls::parse("nonsense"), None);
        assert_eq!(DayCalls::parse("2026-11-25 many"), None);
    }

    #[test]
    fn a_topic_cannot_pass_for_an_option() {
        let job = MergeJob {
            project: ProjectId::PERSONAL,
            topic: "--dry-run".to_owned(),
            notes: vec![RecordId::new(Kind::Note, 7)],
        };
        let arguments = job.arguments();
        assert_eq!(arguments[3..], ["--topic=--dry-run", "--note", "n7"]);
    }
}
