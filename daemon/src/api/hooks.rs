//! What agents' hooks told, in the status.

use serde::{Deserialize, Serialize};

/// Hooks since the daemon started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HooksStatus {
    /// Events by client and name.
    pub events: Vec<HookEventsStatus>,
    /// Events that came twice within seconds and were answered once: a client has the hooks in two places.
    pub doubled: u64,
    /// Events of runs that no person started (heartbeat, cron, upkeep), skipped.
    pub skipped: u64,
    /// Half of the events were answered within this time of their arrival, in microseconds.
    pub p50_micros: u64,
    /// 99 of 100 were.
    pub p99_micros: u64,
    /// The last event that was answered with nothing because something failed.
    pub last_failure: Option<HookFailureStatus>,
}

impl HooksStatus {
    /// Events in all.
    pub fn total(&self) -> u64 {
        self.events.iter().map(|events| events.count).sum()
    }
}

/// Events of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookEventsStatus {
    /// The client, as its hooks name it: `claude-code`.
    pub client: String,
    /// The event, as the client names it; `nothing`, `skipped` and `unknown` for those that were not handled.
    pub event: String,
    /// How many.
    pub count: u64,
}

/// An event that was answered with nothing because something failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookFailureStatus {
    /// When.
    pub time: i64,
    /// The client.
    pub client: String,
    /// The event.
    pub event: String,
    /// What failed, and where the text has it, what to do.
    pub error: String,
}
