//! The outlines that sessions saw last. They are lost with the daemon, and then a session gets an
//! outline in full.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use anchord_memory::{SessionId, Timestamp};

use super::Look;
use crate::limits::{LOOKED_FILES_MAX, LOOKING_SESSIONS_MAX};

/// The looks of each session, by path.
#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<HashMap<SessionId, HashMap<String, Look>>>);

impl Looks {
    /// Replaces a session's look at a file, and returns the one before.
    pub(super) fn replace(&self, session: &SessionId, path: &str, look: Look) -> Option<Look> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !sessions.contains_key(session) && sessions.len() >= LOOKING_SESSIONS_MAX {
            let last = |looks: &HashMap<String, Look>| newest(looks);
            let oldest = sessions.iter().min_by_key(|(_, looks)| last(looks));
            if let Some(oldest) = oldest.map(|(session, _)| session.clone()) {
                sessions.remove(&oldest);
            }
        }
        let looks = sessions.entry(session.clone()).or_default();
        if !looks.contains_key(path) && looks.len() >= LOOKED_FILES_MAX {
            let oldest = looks.iter().min_by_key(|(_, look)| look.time);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                looks.remove(&oldest);
            }
        }
        looks.insert(path.to_owned(), look)
    }

    /// Forgets all looks.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn newest(looks: &HashMap<String, Look>) -> Option<Timestamp> {
    looks.values().map(|look| look.time).max()
}

#[cfg(test)]
mod tests;
