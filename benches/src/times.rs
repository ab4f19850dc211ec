//! Many durations of the same action, and their percentiles.

use std::fmt;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// A histogram in nanoseconds, to three digits.
pub(crate) struct Times(Histogram<u64>);

impl Times {
    /// Runs `each` `count` times and records how long each run took.
    pub(crate) fn of(count: usize, mut each: impl FnMut(usize)) -> Self {
        Self::measured(count, |number| {
            let start = Instant::now();
            each(number);
            start.elapsed()
        })
    }

    /// Runs `each` `count` times and records the durations that it returns. For actions of which
    /// only a part is measured.
    pub(crate) fn measured(count: usize, mut each: impl FnMut(usize) -> Duration) -> Self {
        let mut histogram = Histogram::new(3).expect("three digits are allowed");
        for number in 0..count {
            let nanoseconds = u64::try_from(each(number).as_nanos()).expect("less than 500 years");
            histogram.record(nanoseconds).expect("the histogram grows");
        }
        Self(histogram)
    }

    /// Returns the median.
    pub(crate) fn median(&self) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(0.5))
    }

    /// Returns the 99th percentile.
    pub(crate) fn p99(&self) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(0.99))
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p50 {}, p99 {}", show(self.median()), show(self.p99()))
    }
}

/// Formats a duration for people, to three digits.
pub(crate) fn show(time: Duration) -> String {
    let microseconds = time.as_secs_f64() * 1e6;
    match microseconds {
        ..1e3 => format!("{microseconds:.0} µs"),
        ..1e5 => format!("{:.2} ms", microseconds / 1e3),
        ..1e6 => format!("{:.0} ms", microseconds / 1e3),
        _ => format!("{:.2} s", microseconds / 1e6),
    }
}
