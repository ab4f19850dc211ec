//! Counters and latencies of hooks.

use std::collections::BTreeMap;
use std::time::Duration;

use anchord_memory::Timestamp;
use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::{Registry, Unit};

use super::{Latencies, Metrics, Times};

/// Counters of hooks since the daemon started, and their latencies inside it.
#[derive(Debug, Default)]
pub(super) struct HookMetrics {
    events: Family<EventLabels, Counter>,
    doubled: Counter,
    skipped: Counter,
    times: Times,
    seen: Mutex<HookCounts>,
}

#[derive(Debug, Default)]
struct HookCounts {
    /// Counts by client and event.
    events: BTreeMap<(&'static str, String), u64>,
    last_failure: Option<HookFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    client: &'static str,
    event: String,
    ok: String,
}

/// An event whose answer was empty because something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookFailure {
    pub(crate) time: Timestamp,
    pub(crate) client: &'static str,
    pub(crate) event: String,
    pub(crate) error: String,
}

/// Hook events so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct HooksSeen {
    /// Events by client and name.
    pub(crate) events: BTreeMap<(&'static str, String), u64>,
    /// Events that arrived twice and were answered once.
    pub(crate) doubled: u64,
    /// Events of runs that no person started.
    pub(crate) skipped: u64,
    /// Latencies from an event's arrival to its answer.
    pub(crate) latencies: Latencies,
    /// The last event that failed.
    pub(crate) last_failure: Option<HookFailure>,
}

impl HookMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        let events = self.events.clone();
        registry.register("hooks", "Events of hooks by client, event and outcome", events);
        let doubled = self.doubled.clone();
        registry.register("hooks_doubled", "Events that came twice, answered once", doubled);
        let skipped = self.skipped.clone();
        registry.register("hooks_skipped", "Events of runs that no person started", skipped);
        registry.register_with_unit(
            "hook",
            "Time from an event's arrival to its answer",
            Unit::Seconds,
            self.times.seconds.clone(),
        );
    }
}

impl Metrics {
    /// Records a hook that was answered.
    pub(crate) fn hook_handled(&self, client: &'static str, event: &str, ok: bool, took: Duration) {
        let labels = EventLabels { client, event: event.to_owned(), ok: ok.to_string() };
        self.hooks.events.get_or_create(&labels).inc();
        self.hooks.times.observe(took);
        let mut seen = self.hooks.seen.lock();
        *seen.events.entry((client, event.to_owned())).or_default() += 1;
    }

    /// Records a hook whose answer was empty because something failed.
    pub(crate) fn hook_failed(
        &self,
        client: &'static str,
        event: &str,
        error: &str,
        time: Timestamp,
    ) {
        let failure =
            HookFailure { time, client, event: event.to_owned(), error: error.to_owned() };
        let mut seen = self.hooks.seen.lock();
        seen.last_failure = Some(failure);
    }

    /// Counts an event that arrived twice.
    pub(crate) fn hook_doubled(&self) {
        self.hooks.doubled.inc();
    }

    /// Counts an event of a run that no person started.
    pub(crate) fn hook_skipped(&self) {
        self.hooks.skipped.inc();
    }

    /// Returns the hook events since the start.
    pub(crate) fn hooks(&self) -> HooksSeen {
        let seen = self.hooks.seen.lock();
        HooksSeen {
            events: seen.events.clone(),
            doubled: self.hooks.doubled.get(),
            skipped: self.hooks.skipped.get(),
            latencies: self.hooks.times.latencies(),
            last_failure: seen.last_failure.clone(),
        }
    }
}
