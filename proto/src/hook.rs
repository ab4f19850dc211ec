//! The daemon's one line to a hook.

use serde::{Deserialize, Serialize};

/// What a hook is to do: `{}` prints nothing, `{"stdout":"text"}` prints the text as it is, with no line break
/// added. Clients differ in what they read (JSON here, plain text there), and only the daemon knows them: the
/// hook neither reads nor changes the text. Unknown fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReply {
    /// What to print; none: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
}

#[cfg(test)]
mod tests;
