//! A team's journal in memory, whose network does what a test wants.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{CopyMark, Revision};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::store::{
    Arrived, Away, TeamAppended, TeamEntry, TeamError, TeamFault, TeamJournal, TeamPoint,
};

/// The network between a machine and the team's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Calls are answered.
    Up,
    /// No call arrives.
    Down,
    /// Calls arrive, and their answers do not.
    NoAnswers,
    /// Appends with an entry of this operation are refused.
    Refusing(&'static str),
    /// Calls wait until this changes.
    Stalled,
    /// Calls that only read wait until this changes.
    StalledReads,
    /// One append is answered. Later calls wait until this changes.
    Once,
    /// Calls panic.
    Panicking,
}

/// An entry, and the machine that wrote it.
type Written<C> = (String, TeamEntry<C>);

fn mark(revision: Revision) -> CopyMark {
    CopyMark { digest: format!("{:064}", revision.0).into(), epoch: 0 }
}

fn unreached(why: &str) -> TeamError {
    TeamError::NotWritten(TeamFault { away: Away::Unreached, why: why.to_owned() })
}

/// A team's journal, as several machines reach it.
#[derive(Clone)]
pub struct MemTeam<C> {
    entries: Arc<Mutex<Vec<Written<C>>>>,
    machine: String,
    network: Arc<watch::Sender<Network>>,
    reply_entries_max: usize,
    /// The time that each append was given.
    times: Arc<Mutex<Vec<Duration>>>,
}

impl<C> fmt::Debug for MemTeam<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemTeam").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl<C: Clone + Send + 'static> MemTeam<C> {
    /// Returns an empty journal, as this machine reaches it.
    pub fn new(machine: &str) -> Self {
        let network = Arc::new(watch::Sender::new(Network::Up));
        Self {
            entries: Arc::default(),
            machine: machine.to_owned(),
            network,
            reply_entries_max: usize::MAX,
            times: Arc::default(),
        }
    }

    /// Returns the same journal as another machine reaches it, over a network of its own.
    #[must_use]
    pub fn from(&self, machine: &str) -> Self {
        Self { entries: Arc::clone(&self.entries), ..Self::new(machine) }
    }

    /// Returns the same journal with replies of so many entries.
    #[must_use]
    pub fn in_replies_of(self, reply_entries_max: usize) -> Self {
        Self { reply_entries_max, ..self }
    }

    /// Changes the network of this machine.
    pub fn set(&self, network: Network) {
        self.network.send_replace(network);
    }

    /// Returns the number of calls that are under way.
    pub fn calls(&self) -> usize {
        self.network.receiver_count()
    }

    /// Returns the times that this machine's appends were given, in order.
    pub fn times(&self) -> Vec<Duration> {
        self.times.lock().clone()
    }

    /// Returns all entries, in order.
    pub fn all(&self) -> Vec<TeamEntry<C>> {
        self.entries.lock().iter().map(|(_, entry)| entry.clone()).collect()
    }

    /// Removes the entries after a commit, as a restore of an old backup does.
    pub fn lose_after(&self, last: Revision) {
        self.entries.lock().retain(|(_, entry)| entry.revision <= last);
    }

    fn after(&self, after: Revision) -> Result<Vec<Arrived<C>>, TeamError> {
        let entries = self.entries.lock();
        if entries.last().map_or(Revision(0), |(_, entry)| entry.revision) < after {
            return Err(TeamError::Apart("the journal ends before".to_owned()));
        }
        let later = entries.iter().filter(|(_, entry)| entry.revision > after);
        Ok(later.map(|written| self.arrived(written)).collect())
    }

    fn arrived(&self, (machine, entry): &Written<C>) -> Arrived<C> {
        let entry = TeamEntry { is_own: *machine == self.machine, ..entry.clone() };
        let member = (!entry.is_own).then(|| machine.as_str().into());
        Arrived { mark: mark(entry.revision), member, entry }
    }

    fn write(
        &self,
        expected: Revision,
        batch: Vec<TeamEntry<C>>,
    ) -> Result<TeamAppended<C>, TeamError> {
        let later = self.after(expected)?;
        let mut entries = self.entries.lock();
        let is_repeated = |entry: &TeamEntry<C>| batch.iter().any(|new| new.key == entry.key);
        let repeated = entries.iter().filter(|(_, entry)| is_repeated(entry));
        let older = repeated.filter(|(_, entry)| entry.revision <= expected);
        let mut first: Vec<Arrived<C>> = older.map(|written| self.arrived(written)).collect();
        first.extend(later);
        if !first.is_empty() {
            return Ok(TeamAppended::Moved(first));
        }
        let marks = batch.iter().map(|entry| mark(entry.revision)).collect();
        entries.extend(batch.into_iter().map(|entry| (self.machine.clone(), entry)));
        Ok(TeamAppended::Committed(marks))
    }

    /// Waits while the network is stalled.
    async fn reached(&self) -> Result<Network, TeamError> {
        let mut network = self.network.subscribe();
        let network = *network
            .wait_for(|network| *network != Network::Stalled)
            .await
            .map_err(|_closed| unreached("the test is over"))?;
        assert_ne!(network, Network::Panicking, "asked for by a test");
        match network {
            Network::Down => Err(unreached("the network is down")),
            network => Ok(network),
        }
    }
}

impl<C: Clone + Send + Sync + 'static> TeamJournal<C> for MemTeam<C> {
    fn append(
        &self,
        expected: TeamPoint,
        batch: Vec<TeamEntry<C>>,
        time_max: Duration,
    ) -> BoxFuture<'static, Result<TeamAppended<C>, TeamError>> {
        let this = self.clone();
        this.times.lock().push(time_max);
        async move {
            let reached = tokio::time::timeout(time_max, this.reached()).await;
            let network = reached.unwrap_or(Err(TeamError::Slow))?;
            let is_refused =
                |entry: &TeamEntry<C>| matches!(network, Network::Refusing(it) if it == entry.operation);
            if batch.iter().any(is_refused) {
                return Err(TeamError::Refused("that is a maintainer's".to_owned()));
            }
            let appended = this.write(expected.revision, batch)?;
            match network {
                Network::NoAnswers => Err(TeamError::Unknown(unreached("no answer").fault())),
                Network::Once => {
                    this.set(Network::Stalled);
                    Ok(appended)
                }
                _ => Ok(appended),
            }
        }
        .boxed()
    }

    fn entries(&self, after: TeamPoint) -> BoxFuture<'static, Result<Vec<Arrived<C>>, TeamError>> {
        let this = self.clone();
        async move {
            this.reached().await?;
            let mut network = this.network.subscribe();
            let _ = network.wait_for(|network| *network != Network::StalledReads).await;
            let mut entries = this.after(after.revision)?;
            entries.truncate(this.reply_entries_max);
            Ok(entries)
        }
        .boxed()
    }
}
