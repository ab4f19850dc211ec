//! The daemon's knowledge of conversations between two of their events.

use std::collections::BTreeSet;
use std::time::Duration;

use super::conversations::Conversations;
use crate::limits;
use crate::projects::ProjectId;
use parking_lot::Mutex;

/// The daemon's knowledge of conversations, apart from their sessions.
#[derive(Debug, Default)]
pub(crate) struct HookState {
    pub(super) conversations: Conversations,
    /// Unknown names of clients, events and fields that are already logged.
    unknown: Mutex<BTreeSet<(String, String)>>,
}

impl HookState {
    /// Forgets what conversations of a project were shown, because something was purged from it.
    /// Clients that request a text again get a new one.
    pub(crate) fn forget_given_of(&self, project: ProjectId) {
        self.conversations.forget_given_of(project);
    }

    /// Logs a name that this build does not know, once.
    pub(super) fn unknown(&self, client: &str, what: &str) {
        let clip = |text: &str| text.chars().take(80).collect::<String>();
        let name = (clip(client), clip(what));
        let mut unknown = self.unknown.lock();
        if unknown.len() < limits::UNKNOWN_NAMES_MAX && unknown.insert(name.clone()) {
            drop(unknown);
            tracing::info!(
                client = name.0,
                what = name.1,
                "a hook reported what this build ignores"
            );
        }
    }
}

/// Time limits for the steps of a load, counted from its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// The limit for opening the memory.
    pub(super) open: Duration,
    /// The limit for looking up everything but records.
    pub(super) look: Duration,
    /// The limit for rendering the whole load.
    pub(super) render: Duration,
    /// The limit for rendering a part of it.
    pub(super) part: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            open: limits::HOOK_OPEN_TIME_MAX,
            look: limits::HOOK_LOOK_TIME_MAX,
            render: limits::HOOK_RENDER_TIME_MAX,
            part: limits::HOOK_PART_TIME_MAX,
        }
    }
}
