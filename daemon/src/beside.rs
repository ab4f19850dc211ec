//! Work that goes on beside the threads that serve sessions: there are only
//! [`WORKER_THREADS`](crate::limits::WORKER_THREADS) of those, and who keeps one for long keeps everybody waiting.

use tokio::task::JoinHandle;

/// Does work that reads all of a memory, or waits for a disk, on a thread for such work; its panic goes on in the one who
/// waits.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    unwound(tokio::task::spawn_blocking(work)).await
}

/// What a task gives; its panic goes on in the one who waits.
pub(crate) async fn unwound<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Tasks are never aborted; only the runtime's own end leads here.
            Err(_cancelled) => std::future::pending().await,
        },
    }
}
