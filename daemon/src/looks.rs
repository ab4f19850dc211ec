//! Looks at the files of projects, whose disks may hang: never on a thread that serves others, and each for a while only.
//!
//! A look that hangs keeps its thread until the disk answers, and threads are not without end. So few look at one place
//! at once: whoever asks again of a disk that is gone waits for its turn, and no other place suffers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::beside::beside;
use crate::limits;

/// The disk did not answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the project's directory does not answer; is its disk mounted and reachable?")]
pub(crate) struct Hangs;

/// Places that are looked at, by path, each with the turns that are left. All daemons of a process share their threads.
static PLACES: Mutex<BTreeMap<PathBuf, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());

/// Runs what touches files at or beneath a place.
pub(crate) async fn look<T: Send + 'static>(
    at: &Path,
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Hangs> {
    let turns = turns(at);
    let looking = async move {
        let turn = turns.acquire_owned().await;
        beside(move || {
            let _until_it_answers = turn;
            look()
        })
        .await
    };
    tokio::time::timeout(limits::FILES_TIME_MAX, looking).await.map_err(|_elapsed| Hangs)
}

fn turns(at: &Path) -> Arc<Semaphore> {
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    // Whoever looks or waits holds it, too.
    places.retain(|_, turns| Arc::strong_count(turns) > 1);
    let new = || Arc::new(Semaphore::new(limits::LOOKS_AT_ONCE_MAX));
    Arc::clone(places.entry(at.to_owned()).or_insert_with(new))
}

#[cfg(test)]
mod tests;
