//! The one place where a test waits without an event to wait for.

use std::time::{Duration, Instant};

/// Between two looks.
const STEP: Duration = Duration::from_millis(2);

/// Long enough for anything that is going to happen, on a loaded machine of two cores: longer than a shim waits for a
/// daemon.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Asks until there is an answer. Panics after `deadline`, saying what did not come.
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
