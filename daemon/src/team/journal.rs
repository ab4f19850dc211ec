//! A team's journal in its database, in the types of this program.

use std::sync::Arc;

use anchord_memory::{Change, Revision, SessionId, Timestamp};
use anchord_team::{AppendError, Appended, Entry, Error as DatabaseError, Key, Log, NewEntry};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::limits;
use crate::store::{EntryKey, TeamAppended, TeamEntry, TeamError, TeamJournal};

/// One project's journal in a team's database.
#[derive(Clone, Debug)]
pub(crate) struct CommitJournal {
    log: Log,
    machine: Arc<str>,
}

impl CommitJournal {
    pub(super) fn new(log: Log, machine: Arc<str>) -> Self {
        Self { log, machine }
    }
}

impl TeamJournal<Change> for CommitJournal {
    fn append(
        &self,
        expected: Revision,
        batch: Vec<TeamEntry<Change>>,
    ) -> BoxFuture<'static, Result<TeamAppended<Change>, TeamError>> {
        let this = self.clone();
        async move {
            let batch = batch.into_iter().map(|entry| this.stored(entry));
            let batch = batch.collect::<Result<Vec<_>, _>>()?;
            let appended = this.log.append(expected.0, &batch).await;
            match appended.map_err(worded)? {
                Appended::Committed { .. } => Ok(TeamAppended::Committed),
                Appended::HeadMoved { .. } => Ok(TeamAppended::Moved(this.after(expected).await?)),
                Appended::Repeated(known) => {
                    let older = known.into_iter().filter(|entry| entry.seq <= expected.0);
                    let mut first =
                        older.map(|entry| this.read(entry)).collect::<Result<Vec<_>, _>>()?;
                    first.extend(this.after(expected).await?);
                    Ok(TeamAppended::Moved(first))
                }
            }
        }
        .boxed()
    }

    fn entries(
        &self,
        after: Revision,
    ) -> BoxFuture<'static, Result<Vec<TeamEntry<Change>>, TeamError>> {
        let this = self.clone();
        async move { this.after(after).await }.boxed()
    }
}

impl CommitJournal {
    async fn after(&self, after: Revision) -> Result<Vec<TeamEntry<Change>>, TeamError> {
        let (entries, bytes) = (limits::TEAM_READ_ENTRIES_MAX, limits::TEAM_READ_BYTES_MAX);
        let entries = self.log.entries(after.0, entries, bytes).await;
        let entries = entries.map_err(|error| TeamError::NotWritten(failed(&error)))?;
        if entries.is_empty() {
            let head = self.log.head().await;
            let head = head.map_err(|error| TeamError::NotWritten(failed(&error)))?;
            if head.seq < after.0 {
                return Err(TeamError::NotWritten(format!(
                    "the database ends at revision {}, and this machine has seen {}; restore the \
                     database, or ask its administrator",
                    head.seq, after.0
                )));
            }
        }
        entries.into_iter().map(|entry| self.read(entry)).collect()
    }

    fn stored(&self, entry: TeamEntry<Change>) -> Result<NewEntry, TeamError> {
        let json = |error: serde_json::Error| TeamError::NotWritten(error.to_string());
        Ok(NewEntry {
            key: Key { instance: entry.key.instance.to_string(), number: entry.key.number },
            machine: self.machine.to_string(),
            time: entry.time.0,
            session: entry.session.map(|session| session.to_string()),
            operation: entry.operation,
            changes: serde_json::to_string(&entry.changes).map_err(json)?,
            reply: entry.reply.as_ref().map(Value::to_string),
        })
    }

    fn read(&self, entry: Entry) -> Result<TeamEntry<Change>, TeamError> {
        let Entry { seq, content: entry, .. } = entry;
        let unread = |error: serde_json::Error| {
            TeamError::NotWritten(format!("revision {seq} cannot be read, update anchord: {error}"))
        };
        Ok(TeamEntry {
            revision: Revision(seq),
            is_own: *self.machine == *entry.machine,
            time: Timestamp(entry.time),
            changes: serde_json::from_str(&entry.changes).map_err(unread)?,
            reply: entry.reply.as_deref().map(serde_json::from_str).transpose().map_err(unread)?,
            key: EntryKey { instance: entry.key.instance.into(), number: entry.key.number },
            session: entry.session.map(SessionId::new),
            operation: entry.operation,
        })
    }
}

fn worded(error: AppendError) -> TeamError {
    match error {
        AppendError::NotWritten(error) => TeamError::NotWritten(failed(&error)),
        AppendError::Unknown(error) => TeamError::Unknown(failed(&error)),
    }
}

fn failed(error: &DatabaseError) -> String {
    format!("failed to {error}")
}

/// The journal of a memory that a team shares, when the file that names the database cannot be
/// read. It has the reason.
#[derive(Debug)]
pub(super) struct Unlinked(pub(super) String);

impl Unlinked {
    fn why(&self) -> TeamError {
        TeamError::NotWritten(self.0.clone())
    }
}

impl TeamJournal<Change> for Unlinked {
    fn append(
        &self,
        _expected: Revision,
        _batch: Vec<TeamEntry<Change>>,
    ) -> BoxFuture<'static, Result<TeamAppended<Change>, TeamError>> {
        let why = self.why();
        async move { Err(why) }.boxed()
    }

    fn entries(
        &self,
        _after: Revision,
    ) -> BoxFuture<'static, Result<Vec<TeamEntry<Change>>, TeamError>> {
        let why = self.why();
        async move { Err(why) }.boxed()
    }
}
