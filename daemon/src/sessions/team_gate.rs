//! Keeps sessions out of all projects until this machine has joined the team that its environment
//! names.
//!
//! A memory that begins on this machine alone would have to be merged later. In a container it
//! would end with the container.

use tokio::sync::watch;

use super::BindError;
use crate::limits::TEAM_JOIN_WAIT_MAX;

/// The way into the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Joining {
    /// The first attempt is under way.
    Trying,
    /// The last attempt failed, for this reason.
    Failed(String),
    /// Nothing is to be done.
    Done,
}

/// The gate. Without a team in the environment it is open from the start.
#[derive(Debug)]
pub(crate) struct TeamGate(watch::Sender<Joining>);

impl TeamGate {
    pub(crate) fn new(joining: Joining) -> Self {
        Self(watch::Sender::new(joining))
    }

    /// Reports the end of an attempt.
    pub(crate) fn report(&self, joining: Joining) {
        self.0.send_replace(joining);
    }

    pub(crate) fn now(&self) -> Joining {
        self.0.borrow().clone()
    }

    /// Returns once the machine has joined. Waits for the first attempt, but not for later ones.
    ///
    /// # Errors
    /// Fails if the last attempt did, or takes too long.
    pub(crate) async fn pass(&self) -> Result<(), BindError> {
        let mut joining = self.0.subscribe();
        let ended = joining.wait_for(|joining| *joining != Joining::Trying);
        let ended = tokio::time::timeout(TEAM_JOIN_WAIT_MAX, ended).await;
        // The sender lives as long as the gate.
        match ended.map(|joining| joining.map_or(Joining::Done, |joining| joining.clone())) {
            Ok(Joining::Done) => Ok(()),
            Ok(Joining::Failed(why)) => Err(BindError::NotJoined(why)),
            Ok(Joining::Trying) | Err(_) => Err(BindError::NotJoined(STILL.to_owned())),
        }
    }
}

/// The reason while the first attempt is under way.
const STILL: &str = "the database does not answer yet";

#[cfg(test)]
mod tests;
