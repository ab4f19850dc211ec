//! Disks that never answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use super::*;

/// A disk that hangs until this is dropped.
fn hanging() -> (mpsc::Sender<()>, impl FnOnce() + Send + 'static) {
    let (release, held) = mpsc::channel();
    // An error is the end of the wait.
    (release, move || {
        let _ = held.recv();
    })
}

/// What comes of a look once it has taken too long. Time is moved by hand: it stands while a thread is at work.
async fn in_time<T: Send + 'static>(
    at: &'static str,
    looked: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Hangs> {
    let looking = tokio::spawn(look(Path::new(at), looked));
    tokio::task::yield_now().await;
    tokio::time::advance(limits::FILES_TIME_MAX).await;
    looking.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_hangs_is_told_and_takes_few_threads() {
    let mut held = Vec::new();
    for _ in 0..limits::LOOKS_AT_ONCE_MAX {
        let (release, hangs) = hanging();
        held.push(release);
        assert_eq!(in_time("/gone", hangs).await, Err(Hangs));
    }
    let begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&begun);
    assert_eq!(in_time("/gone", move || begins.store(true, Ordering::SeqCst)).await, Err(Hangs));
    assert!(!begun.load(Ordering::SeqCst), "it takes no more threads");
    assert_eq!(look(Path::new("/well"), || 7).await, Ok(7), "no other place suffers");

    drop(held);
    assert_eq!(
        look(Path::new("/gone"), || 8).await,
        Ok(8),
        "once it answers, it is looked at again"
    );
}
