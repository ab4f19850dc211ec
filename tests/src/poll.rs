//! The one place where a test waits without an event to wait for.

use std::time::{Duration, Instant};

/// The time between two attempts.
const STEP: Duration = Duration::from_millis(2);

/// Long enough for anything that will happen, on a loaded machine with two cores. It is longer than
/// a shim waits for a daemon.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Calls `look` until it returns a value. Panics after `deadline` and names what did not happen.
#[track_caller]
pub fn poll<T>(deadline: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited {deadline:?} in vain until {what}");
        std::thread::sleep(STEP);
    }
}
