//! Hook events, as the status shows them.

use serde::{Deserialize, Serialize};

/// Counts of hook events since the daemon started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HooksStatus {
    /// Events by client and name.
    pub events: Vec<HookEventsStatus>,
    /// Events that arrived twice within seconds and were answered once. A client then has the hooks
    /// configured in two places.
    pub doubled: u64,
    /// Events that were skipped because no person started their run (heartbeat, cron, upkeep).
    pub skipped: u64,
    /// The median time from an event's arrival to its answer, in microseconds.
    pub p50_micros: u64,
    /// The 99th percentile of that time, in microseconds.
    pub p99_micros: u64,
    /// The last event whose answer was empty because something failed.
    pub last_failure: Option<HookFailureStatus>,
}

impl HooksStatus {
    /// Returns the total number of events.
    pub fn total(&self) -> u64 {
        self.events.iter().map(|events| events.count).sum()
    }
}

/// The count of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookEventsStatus {
    /// The client, as its hooks name it, such as `claude-code`.
    pub client: String,
    /// The event, as the client names it. Events that were not handled have the names `nothing`,
    /// `skipped` and `unknown`.
    pub event: String,
    /// The number of these events.
    pub count: u64,
}

/// An event whose answer was empty because something failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookFailureStatus {
    /// The time of the failure.
    pub time: i64,
    /// The client.
    pub client: String,
    /// The event.
    pub event: String,
    /// The error and, if its text has one, the remedy.
    pub error: String,
}
