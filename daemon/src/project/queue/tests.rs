//! Turns, bounds, and no caller left waiting.

use std::pin::pin;

use futures::FutureExt;

use super::*;

type Job = (&'static str, usize);

fn session(name: &str) -> Lane {
    Lane::Session(SessionId::new(name))
}

async fn fill(queue: &FairQueue<Job>, name: &'static str, jobs: usize) {
    for number in 0..jobs {
        queue.push(&session(name), (name, number)).await.unwrap();
    }
}

fn taken(queue: &FairQueue<Job>, jobs_max: usize) -> Vec<Job> {
    match queue.take(jobs_max, Duration::ZERO) {
        Taken::Batch(jobs) => jobs,
        Taken::Idle | Taken::Nudged | Taken::Closed => Vec::new(),
    }
}

#[tokio::test]
async fn a_busy_session_delays_another_by_only_one_job() {
    let queue = FairQueue::new();
    fill(&queue, "busy", 20).await;
    fill(&queue, "late", 1).await;
    assert_eq!(taken(&queue, 2), [("busy", 0), ("late", 0)]);

    fill(&queue, "late", 2).await;
    assert_eq!(taken(&queue, 4), [("busy", 1), ("late", 0), ("busy", 2), ("late", 1)]);
    assert_eq!(queue.len(), 17);
    let rest: Vec<usize> = taken(&queue, usize::MAX).into_iter().map(|(_, job)| job).collect();
    assert_eq!(rest, (3..20).collect::<Vec<_>>(), "a session's own jobs keep their order");
}

#[tokio::test]
async fn turns_continue_from_one_batch_to_the_next() {
    let queue = FairQueue::new();
    for name in ["a", "b", "c"] {
        fill(&queue, name, 2).await;
    }
    let order: Vec<&str> =
        (0..6).flat_map(|_| taken(&queue, 1)).map(|(session, _)| session).collect();
    assert_eq!(order, ["a", "b", "c", "a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_full_lane_waits_then_reports_busy_without_blocking_others() {
    let queue = FairQueue::new();
    fill(&queue, "full", limits::QUEUE_LANE_JOBS_MAX).await;
    let full = session("full");
    let mut waiting = pin!(queue.push(&full, ("full", 99)));
    let nearly = limits::QUEUE_WAIT_MAX.saturating_sub(Duration::from_millis(1));
    assert!(tokio::time::timeout(nearly, &mut waiting).await.is_err());
    assert_eq!(waiting.await, Err(NotQueued::Busy));
    assert_eq!(queue.push(&session("other"), ("other", 0)).now_or_never(), Some(Ok(())));
    assert_eq!(queue.len(), limits::QUEUE_LANE_JOBS_MAX + 1, "what was refused is not queued");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_push_succeeds_once_there_is_room() {
    let queue = FairQueue::new();
    fill(&queue, "full", limits::QUEUE_LANE_JOBS_MAX).await;
    let (full, other) = (session("full"), session("full"));
    let mut first = pin!(queue.push(&full, ("full", 98)));
    let mut second = pin!(queue.push(&other, ("full", 99)));
    assert_eq!((&mut first).now_or_never(), None);
    assert_eq!((&mut second).now_or_never(), None);
    assert_eq!(taken(&queue, 1), [("full", 0)]);
    assert_eq!(first.await, Ok(()));
    assert_eq!((&mut second).now_or_never(), None, "there was room for one");
    assert_eq!(taken(&queue, 1), [("full", 1)]);
    assert_eq!(second.await, Ok(()));
}

#[tokio::test]
async fn a_cancelled_push_queues_nothing() {
    let queue = FairQueue::new();
    fill(&queue, "full", limits::QUEUE_LANE_JOBS_MAX).await;
    assert_eq!(queue.push(&session("full"), ("full", 99)).now_or_never(), None);
    let jobs = taken(&queue, usize::MAX);
    assert_eq!(jobs.len(), limits::QUEUE_LANE_JOBS_MAX);
    assert!(!jobs.contains(&("full", 99)));
}

#[tokio::test]
async fn closing_wakes_everyone_and_serves_what_is_queued() {
    let queue = FairQueue::new();
    let consumer = {
        let queue = Arc::clone(&queue);
        std::thread::spawn(move || {
            let mut jobs = 0;
            loop {
                match queue.take(1, Duration::from_mins(10)) {
                    Taken::Batch(batch) => jobs += batch.len(),
                    Taken::Idle | Taken::Nudged => panic!("it waits for ten minutes"),
                    Taken::Closed => return jobs,
                }
            }
        })
    };
    fill(&queue, "a", 3).await;
    queue.close();
    assert_eq!(consumer.join().unwrap(), 3);
    assert_eq!(queue.push(&session("a"), ("a", 4)).await, Err(NotQueued::Closed));
}

#[tokio::test(start_paused = true)]
async fn closing_wakes_pushers_waiting_for_room() {
    let queue = FairQueue::new();
    fill(&queue, "full", limits::QUEUE_LANE_JOBS_MAX).await;
    let full = session("full");
    let mut waiting = pin!(queue.push(&full, ("full", 99)));
    assert_eq!((&mut waiting).now_or_never(), None);
    queue.close();
    assert_eq!(waiting.await, Err(NotQueued::Closed));
    assert_eq!(taken(&queue, usize::MAX).len(), limits::QUEUE_LANE_JOBS_MAX);
    assert!(matches!(queue.take(1, Duration::ZERO), Taken::Closed));
}

#[test]
fn an_empty_queue_reports_idle_after_the_timeout() {
    let queue = FairQueue::<Job>::new();
    assert!(matches!(queue.take(1, Duration::ZERO), Taken::Idle));
}

#[tokio::test]
async fn those_who_wait_are_told_who_is_before_them() {
    let queue = FairQueue::new();
    for (lane, job) in [
        (session("a"), 1),
        (session("b"), 2),
        (session("b"), 3),
        (Lane::Daemon, 4),
        (session("c"), 5),
    ] {
        queue.push(&lane, job).await.unwrap();
    }
    let Taken::Batch(batch) = queue.take(1, Duration::ZERO) else { panic!("a job waits") };
    assert_eq!(batch, [1]);
    let queued: Vec<(String, usize, Vec<String>)> = queue
        .queued()
        .into_iter()
        .map(|it| {
            (it.session.to_string(), it.jobs, it.behind.iter().map(ToString::to_string).collect())
        })
        .collect();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        queued,
        [("b".to_owned(), 2, names(&["a"])), ("c".to_owned(), 1, names(&["a", "b"]))]
    );
}
