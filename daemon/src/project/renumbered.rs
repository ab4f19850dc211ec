//! Sessions that know ids from before a team's memory gave records others. A merge does that. So
//! does a database that is set back, since later records get the same numbers.

use std::collections::BTreeMap;

use anchord_memory::{SessionId, Timestamp};
use parking_lot::Mutex;

use super::{Marks, OpenProject};

/// The prefix of soft marks for sessions that were told. Each has the time of what they were told.
const TOLD: &str = "renumbered/";

/// The last time at which the records got other ids, if they did, and the sessions that were told.
#[derive(Debug)]
pub(super) struct Renumbered {
    at: Option<Timestamp>,
    /// For each, whether it may not have read that yet.
    told: Mutex<BTreeMap<SessionId, bool>>,
}

impl Renumbered {
    pub(super) fn new(at: Option<Timestamp>, marks: &Marks) -> Self {
        let of_now = at.map(|at| at.0.to_string());
        let told = marks.iter().filter(|(_, time)| of_now.as_ref() == Some(*time));
        let told = told.filter_map(|(key, _)| key.strip_prefix(TOLD)).map(SessionId::new);
        Self { at, told: Mutex::new(told.map(|session| (session, false)).collect()) }
    }
}

impl OpenProject {
    /// Returns whether a call of a session that began at a time must be told that ids have changed.
    /// These are the first call, and later ones that name ids, until one that names none. An agent
    /// sends several calls at once, before it reads an answer. If the mark is lost, the session is
    /// told again.
    pub(crate) async fn take_renumbered(
        &self,
        session: &SessionId,
        began: Timestamp,
        names_ids: bool,
    ) -> bool {
        let Renumbered { at, told } = &self.renumbered;
        let Some(at) = at.filter(|at| began < *at) else { return false };
        if let Some(is_unread) = told.lock().get_mut(session) {
            *is_unread &= names_ids;
            return *is_unread;
        }
        told.lock().insert(session.clone(), true);
        let (key, time) = (format!("{TOLD}{session}"), at.0.to_string());
        if let Err(error) = self.owner.ask(move |store, _| store.mark(&key, Some(&time))).await {
            tracing::debug!(%error, "a mark was lost; its session may be told again");
        }
        true
    }
}
