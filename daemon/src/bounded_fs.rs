//! Access to projects' files with a time limit, since their disks may hang. It never runs on a
//! worker thread.
//!
//! An access that hangs keeps its thread until the disk responds, and the number of threads is
//! limited. So only a few accesses to one place run at once. Further accesses to a disk that is
//! gone wait for their turn, and other places are unaffected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::blocking::run_blocking;
use crate::limits;

/// The disk did not respond in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the project's directory does not answer; is its disk mounted and reachable?")]
pub(crate) struct DiskTimeout;

/// Turns left for each place in use, by path. All daemons in a process share their threads.
static PLACES: Mutex<BTreeMap<PathBuf, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());

/// Runs `look`, which reads files at or beneath a place. Fails if the disk does not respond in
/// time.
pub(crate) async fn run<T: Send + 'static>(
    at: &Path,
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DiskTimeout> {
    let turns = turns(at);
    let looking = async move {
        let turn = turns.acquire_owned().await;
        run_blocking(move || {
            let _until_it_answers = turn;
            look()
        })
        .await
    };
    tokio::time::timeout(limits::FILES_TIME_MAX, looking).await.map_err(|_elapsed| DiskTimeout)
}

fn turns(at: &Path) -> Arc<Semaphore> {
    let mut places = PLACES.lock();
    // Every access that runs or waits holds a reference.
    places.retain(|_, turns| Arc::strong_count(turns) > 1);
    let new = || Arc::new(Semaphore::new(limits::LOOKS_AT_ONCE_MAX));
    Arc::clone(places.entry(at.to_owned()).or_insert_with(new))
}

#[cfg(test)]
mod tests;
