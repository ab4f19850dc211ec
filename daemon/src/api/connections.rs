//! Connected shims, as the status shows them.

use serde::{Deserialize, Serialize};

/// A connected shim, listed even before its first call creates a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionStatus {
    /// The shim's build. A shim that was started before an update keeps running the old build.
    pub build: String,
    /// The shim's process id, as the shim sees it.
    pub pid: u32,
    /// The agent's process id, as the shim sees it.
    pub agent_pid: Option<u32>,
    /// Whether the shim runs in another PID namespace or on another boot, as in a container or on
    /// another machine. Neither process id means anything here then.
    pub elsewhere: bool,
}
