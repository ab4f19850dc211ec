//! Sessions that know ids from before a team's memory gave records others. A merge does that. So
//! does a database that is set back, since later records get the same numbers.

use std::collections::BTreeMap;
use std::path::Path;

use anchord_memory::{Revision, SessionId, Timestamp};
use parking_lot::Mutex;

use super::{Marks, OpenProject};
use crate::blocking::run_blocking;
use crate::team::{self, TeamConfig};

/// The prefix of soft marks for sessions that were told. Each has the time of what they were told.
const TOLD: &str = "renumbered/";

/// The prefix of such marks for sessions that were told which of their commits were lost.
const TOLD_OF_LOST: &str = "told-of-lost/";

/// A step back of a copy of a team's journal, since the database had lost commits. Later commits
/// get the revisions of the lost ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepBack {
    /// The time of it.
    pub(crate) at: Timestamp,
    /// The last commit that remained.
    pub(crate) to: Revision,
}

/// The time of the last step back that somebody's revisions count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepBacksSeen(pub(crate) Timestamp);

impl StepBacksSeen {
    /// Counts those before a time as seen. One of the same millisecond still counts.
    pub(crate) fn before(now: Timestamp) -> Self {
        Self(Timestamp(now.0 - 1))
    }

    /// Takes those not seen yet. Returns the lowest revision of them, if there are any.
    pub(crate) fn take(&mut self, step_backs: &[StepBack]) -> Option<Revision> {
        let later = step_backs.iter().filter(|step| step.at > self.0);
        let lowest = later.clone().map(|step| step.to).min()?;
        self.0 = later.map(|step| step.at).max()?;
        Some(lowest)
    }
}

/// The last time at which the records got other ids, if they did, and the sessions that were told.
#[derive(Debug, Default)]
pub(super) struct Renumbered {
    at: Option<Timestamp>,
    /// For each, whether it may not have read that yet.
    told: Mutex<BTreeMap<SessionId, bool>>,
    /// For each that is still to be told, which of its commits the database has lost.
    lost: Mutex<BTreeMap<SessionId, String>>,
}

/// Returns the texts about lost commits that their sessions were not told yet.
pub(crate) fn untold(config: &TeamConfig, marks: &Marks) -> BTreeMap<SessionId, String> {
    let now = config.renumbered.map(|at| at.0.to_string());
    let is_told = |session: &SessionId| {
        let mark = marks.get(&format!("{TOLD_OF_LOST}{session}"));
        mark.is_some() && mark == now.as_ref()
    };
    let left = config.lost.iter().filter(|(session, _)| !is_told(session));
    left.map(|(session, text)| (session.clone(), text.clone())).collect()
}

impl Renumbered {
    /// Reads what a team's file says, while nobody else writes it. Removes from it what sessions
    /// were told, since a purge does not look for it there.
    pub(super) async fn read(config: TeamConfig, directory: &Path, marks: &Marks) -> Self {
        let (at, lost) = (config.renumbered, untold(&config, marks));
        if lost.len() < config.lost.len() {
            let config = TeamConfig { lost: lost.clone(), ..config };
            let directory = directory.to_owned();
            if let Err(error) = run_blocking(move || team::write(&directory, &config)).await {
                tracing::debug!(%error, "what sessions were told remains in a team's file");
            }
        }
        Self { lost: Mutex::new(lost), ..Self::new(at, marks) }
    }

    fn new(at: Option<Timestamp>, marks: &Marks) -> Self {
        let of_now = at.map(|at| at.0.to_string());
        let told = marks.iter().filter(|(_, time)| of_now.as_ref() == Some(*time));
        let told = told.filter_map(|(key, _)| key.strip_prefix(TOLD)).map(SessionId::new);
        let told = Mutex::new(told.map(|session| (session, false)).collect());
        Self { at, told, lost: Mutex::default() }
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
        let Renumbered { at, told, .. } = &self.renumbered;
        let Some(at) = at.filter(|at| began < *at) else { return false };
        if let Some(is_unread) = told.lock().get_mut(session) {
            *is_unread &= names_ids;
            return *is_unread;
        }
        told.lock().insert(session.clone(), true);
        self.mark_told(format!("{TOLD}{session}"), at).await;
        true
    }

    /// Takes the text that says which commits of a session the database has lost, for its next
    /// answer. If the mark is lost, the session is told again.
    pub(crate) async fn take_lost(&self, session: &SessionId) -> Option<String> {
        let text = self.renumbered.lost.lock().remove(session)?;
        if let Some(at) = self.renumbered.at {
            self.mark_told(format!("{TOLD_OF_LOST}{session}"), at).await;
        }
        Some(text)
    }

    async fn mark_told(&self, key: String, at: Timestamp) {
        let time = at.0.to_string();
        if let Err(error) = self.owner.ask(move |store, _| store.mark(&key, Some(&time))).await {
            tracing::debug!(%error, "a mark was lost; its session may be told again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_steps_back_the_lowest_counts_and_earlier_ones_do_not() {
        let step = |at, to| StepBack { at: Timestamp(at), to: Revision(to) };
        let all = [step(1, 5), step(2, 7), step(3, 9)];
        for (start, lowest) in [(1, Some(5)), (2, Some(7)), (3, Some(9)), (4, None)] {
            let mut seen = StepBacksSeen::before(Timestamp(start));
            assert_eq!(seen.take(&all), lowest.map(Revision));
            assert_eq!(seen.take(&all), None, "each counts once");
        }
    }
}
