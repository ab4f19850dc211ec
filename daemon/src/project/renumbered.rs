//! Sessions that know ids from before a merge into a team's memory, in which records got others.

use std::collections::BTreeSet;

use anchord_memory::{SessionId, Timestamp};
use parking_lot::Mutex;

use super::{Marks, OpenProject};

/// The prefix of soft marks for sessions that were told.
const TOLD: &str = "renumbered/";

/// The time at which the records got other ids, if they did, and the sessions that were told.
#[derive(Debug)]
pub(super) struct Renumbered {
    at: Option<Timestamp>,
    told: Mutex<BTreeSet<SessionId>>,
}

impl Renumbered {
    pub(super) fn new(at: Option<Timestamp>, marks: &Marks) -> Self {
        let told = marks.keys().filter_map(|key| key.strip_prefix(TOLD)).map(SessionId::new);
        Self { at, told: Mutex::new(told.collect()) }
    }
}

impl OpenProject {
    /// Returns whether a session that began at a time may know ids from before a merge, and has not
    /// been told of it. It counts as told from now on. If the mark is lost, it is told again.
    pub(crate) async fn take_renumbered(&self, session: &SessionId, began: Timestamp) -> bool {
        let Renumbered { at, told } = &self.renumbered;
        let may_know = at.is_some_and(|at| began < at);
        if !may_know || !told.lock().insert(session.clone()) {
            return false;
        }
        let key = format!("{TOLD}{session}");
        if let Err(error) = self.owner.ask(move |store, _| store.mark(&key, Some("1"))).await {
            tracing::debug!(%error, "a mark was lost; its session may be told again");
        }
        true
    }
}
