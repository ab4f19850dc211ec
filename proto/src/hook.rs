//! The daemon's one line to a hook.

use serde::{Deserialize, Serialize};

/// The hook's instruction: `{}` prints nothing, `{"stdout":"text"}` prints the text unchanged,
/// without adding a line break. Clients differ in what they read (JSON here, plain text there), and
/// only the daemon knows them. The hook neither reads nor changes the text. Unknown fields are
/// ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReply {
    /// The text to print; `None` prints nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Whether the daemon failed on the event. The hook then continues as if there were no daemon.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

#[cfg(test)]
mod tests;
