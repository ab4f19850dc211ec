//! Writes that are on disk when they are answered: the time for one, and the number per second.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anchord_tests::{Agent, Instance, Project, write};

use serde_json::json;

use crate::floor;
use crate::table::Row;
use crate::times::Times;

const SAVES: usize = 1_000;
const TIME: Duration = Duration::from_secs(5);

/// The approximate size of such a line in the journal.
const LINE_BYTES: usize = 1024;

/// Measures saves of one session, one after the other.
pub(crate) fn save() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("first"));
    let times = Times::of(SAVES, |number| {
        agent.tool("memory_save", &write::save(&format!("title {}", number % 100)));
    });
    vec![Row {
        what: "`memory_save`, one session".to_owned(),
        measured: times.to_string(),
        floor: format!("{} (append + fdatasync)", floor::append_and_sync(SAVES, LINE_BYTES)),
        target: "",
    }]
}

/// Measures checkpoints of several sessions in one project, each as fast as they are answered.
pub(crate) fn throughput() -> Vec<Row> {
    let floor = floor::appends_per_second(TIME, LINE_BYTES);
    [1, 8, 64]
        .into_iter()
        .map(|sessions| Row {
            what: format!("checkpoints a second, {sessions} sessions in one project"),
            measured: format!("{:.0}", checkpoints_per_second(sessions)),
            floor: format!("{floor:.0} (append + fdatasync)"),
            target: "",
        })
        .collect()
}

fn checkpoints_per_second(sessions: usize) -> f64 {
    let instance = Instance::shipped();
    let project = Project::git();
    instance.start_daemon();
    let (start, end) = (Barrier::new(sessions + 1), AtomicBool::new(false));
    let written = AtomicU64::new(0);
    let took = std::thread::scope(|scope| {
        for session in 0..sessions {
            let (instance, project) = (&instance, &project);
            let (start, end, written) = (&start, &end, &written);
            scope.spawn(move || {
                let mut agent = Agent::open(instance, project.path());
                // A summary replaces the one before, so the staged work does not grow, but the
                // journal does.
                let arguments =
                    json!({"summary": format!("session {session}: {}", ".".repeat(200))});
                agent.tool("memory_checkpoint", &arguments);
                start.wait();
                while !end.load(Ordering::Relaxed) {
                    agent.tool("memory_checkpoint", &arguments);
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        start.wait();
        let begin = Instant::now();
        std::thread::park_timeout(TIME);
        end.store(true, Ordering::Relaxed);
        begin.elapsed()
    });
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 in a few seconds")]
    let written = written.into_inner() as f64;
    written / took.as_secs_f64()
}
