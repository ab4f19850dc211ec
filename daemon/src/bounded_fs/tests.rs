//! Disks that never respond.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use super::*;

/// Returns an access that hangs until the sender is dropped.
fn hanging() -> (mpsc::Sender<()>, impl FnOnce() + Send + 'static) {
    let (release, held) = mpsc::channel();
    // An error ends the wait.
    (release, move || {
        let _ = held.recv();
    })
}

/// Returns the result of an access that takes too long. The test advances the time, which stops
/// while a thread works.
async fn in_time<T: Send + 'static>(
    at: &'static str,
    looked: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DiskTimeout> {
    let looking = tokio::spawn(run(Path::new(at), looked));
    tokio::task::yield_now().await;
    tokio::time::advance(limits::FILES_TIME_MAX).await;
    looking.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_hanging_disk_times_out_and_uses_few_threads() {
    let mut held = Vec::new();
    for _ in 0..limits::LOOKS_AT_ONCE_MAX {
        let (release, hangs) = hanging();
        held.push(release);
        assert_eq!(in_time("/gone", hangs).await, Err(DiskTimeout));
    }
    let begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&begun);
    assert_eq!(
        in_time("/gone", move || begins.store(true, Ordering::SeqCst)).await,
        Err(DiskTimeout)
    );
    assert!(!begun.load(Ordering::SeqCst), "it takes no more threads");
    assert_eq!(run(Path::new("/well"), || 7).await, Ok(7), "no other place suffers");

    drop(held);
    assert_eq!(
        run(Path::new("/gone"), || 8).await,
        Ok(8),
        "once it answers, it is looked at again"
    );
}
