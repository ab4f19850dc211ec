//! Shims that are connected, in the status.

use serde::{Deserialize, Serialize};

/// A shim that is connected, also before its first call makes it a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionStatus {
    /// Its build; a shim that was started before an update goes on with the old one.
    pub build: String,
    /// Its process, as it knows itself.
    pub pid: u32,
    /// The agent's process, the same.
    pub agent_pid: Option<u32>,
    /// In another PID namespace or on another boot, a container or another machine: neither number means anything
    /// here.
    pub elsewhere: bool,
}
