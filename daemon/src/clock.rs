//! The only file of the daemon that reads the clock. The domain is told the time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anchord_memory::Timestamp;

/// The time of day. It may jump, also backwards: never measure with it.
pub fn now() -> Timestamp {
    timestamp(SystemTime::now())
}

/// The start of a measurement or of a deadline; monotonic.
pub fn start() -> Instant {
    Instant::now()
}

/// A file's or another system time as the domain counts it. Fractions of a millisecond are cut off.
pub fn timestamp(time: SystemTime) -> Timestamp {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()),
        Err(before) => i64::try_from(before.duration().as_millis()).map(i64::wrapping_neg),
    };
    Timestamp(millis.unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
