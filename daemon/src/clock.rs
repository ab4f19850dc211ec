//! The only file of the daemon that reads the clock. The domain gets the time as an argument.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anchord_memory::Timestamp;

/// Returns the time of day. It may jump, even backwards, so never measure with it.
pub fn now() -> Timestamp {
    timestamp(SystemTime::now())
}

/// Returns the start of a measurement or of a deadline. It is monotonic.
pub fn start() -> Instant {
    Instant::now()
}

/// Converts a system time, such as a file's, to the domain's. Fractions of a millisecond are cut
/// off.
pub fn timestamp(time: SystemTime) -> Timestamp {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()),
        Err(before) => i64::try_from(before.duration().as_millis()).map(i64::wrapping_neg),
    };
    Timestamp(millis.unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
