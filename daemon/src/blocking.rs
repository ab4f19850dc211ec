//! Runs blocking work off the runtime's [`WORKER_THREADS`](crate::limits::WORKER_THREADS) worker
//! threads. A blocked worker delays every session.

use tokio::task::JoinHandle;

/// Runs `work`, which reads a whole memory or waits for a disk, on a blocking thread. Resumes its
/// panic in the caller.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    join_or_resume_panic(tokio::task::spawn_blocking(work)).await
}

/// Awaits a task and resumes its panic in the caller.
pub(crate) async fn join_or_resume_panic<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Tasks are never aborted, so only the end of the runtime leads here.
            Err(_cancelled) => std::future::pending().await,
        },
    }
}
