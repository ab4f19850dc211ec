//! Conversion of system times to the domain's.

use std::time::Duration;

use super::*;

#[test]
fn system_times_are_milliseconds_since_the_epoch() {
    for (time, millis) in [
        (UNIX_EPOCH, 0),
        (UNIX_EPOCH + Duration::from_micros(1_999), 1),
        (UNIX_EPOCH - Duration::from_millis(5), -5),
    ] {
        assert_eq!(timestamp(time), Timestamp(millis));
    }
}
