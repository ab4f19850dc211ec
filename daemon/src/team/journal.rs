//! A team's journal in its database, in the types of this program.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Change, CopyMark, Revision, SessionId, Timestamp};
use anchord_team::{
    AppendError, Appended, Entry, Error as DatabaseError, Following, Head, Key, Log, NewEntry,
    Point, Replacement, Rewritten,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::limits;
use crate::store::{
    Arrived, Away, EntryKey, TeamAppended, TeamEntry, TeamError, TeamFault, TeamJournal, TeamPoint,
};

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
        expected: TeamPoint,
        batch: Vec<TeamEntry<Change>>,
        time_max: Duration,
    ) -> BoxFuture<'static, Result<TeamAppended<Change>, TeamError>> {
        let this = self.clone();
        async move {
            let batch = batch.into_iter().map(|entry| this.stored(entry));
            let batch = batch.collect::<Result<Vec<_>, _>>()?;
            let appended = this.log.append_within(place(&expected), &batch, time_max).await;
            match appended.map_err(worded)? {
                Appended::Committed { digests, epoch } => {
                    let marks = digests.into_iter().map(|digest| mark(digest, epoch));
                    Ok(TeamAppended::Committed(marks.collect()))
                }
                Appended::HeadMoved { .. } => Ok(TeamAppended::Moved(this.after(&expected).await?)),
                Appended::Repeated(known) => {
                    // It is committed, whatever keeps this machine from reading it now.
                    let unknown = |error: TeamError| TeamError::Unknown(error.fault());
                    let epoch = expected.mark.as_ref().map_or(0, |mark| mark.epoch);
                    let older = known.into_iter().filter(|entry| entry.seq <= expected.revision.0);
                    let older = older.map(|entry| this.read(entry, epoch));
                    let mut first = older.collect::<Result<Vec<_>, _>>().map_err(unknown)?;
                    first.extend(this.after(&expected).await.map_err(unknown)?);
                    Ok(TeamAppended::Moved(first))
                }
            }
        }
        .boxed()
    }

    fn entries(
        &self,
        after: TeamPoint,
    ) -> BoxFuture<'static, Result<Vec<Arrived<Change>>, TeamError>> {
        let this = self.clone();
        async move { this.after(&after).await }.boxed()
    }
}

impl CommitJournal {
    /// Returns the last commit.
    pub(crate) async fn head(&self) -> Result<Revision, String> {
        let head = self.log.head().await.map_err(|error| fault(&error).why)?;
        Ok(Revision(head.seq))
    }

    /// Replaces texts of committed entries, and appends the one that says so, if `expected` is the
    /// last place. Returns whether it was.
    pub(crate) async fn rewrite(
        &self,
        expected: &TeamPoint,
        replacements: Vec<TeamReplacement>,
        last: TeamEntry<Change>,
    ) -> Result<bool, TeamError> {
        let replacements = replacements.into_iter().map(|replacement| {
            let TeamReplacement { revision, changes, reply } = replacement;
            Ok(Replacement {
                seq: revision.0,
                changes: serde_json::to_string(&changes).map_err(unsent)?,
                reply: reply.as_ref().map(Value::to_string),
            })
        });
        let replacements = replacements.collect::<Result<Vec<_>, TeamError>>()?;
        let last = self.stored(last)?;
        // Another machine may have replaced all of them.
        if replacements.is_empty() {
            let appended = self.log.append(place(expected), std::slice::from_ref(&last)).await;
            return Ok(!matches!(appended.map_err(worded)?, Appended::HeadMoved { .. }));
        }
        let rewritten = self.log.rewrite(place(expected), &replacements, &last).await;
        Ok(!matches!(rewritten.map_err(worded)?, Rewritten::HeadMoved { .. }))
    }

    async fn after(&self, after: &TeamPoint) -> Result<Vec<Arrived<Change>>, TeamError> {
        let (entries, bytes) = (limits::TEAM_READ_ENTRIES_MAX, limits::TEAM_READ_BYTES_MAX);
        let followed = self.log.follow(&place(after), entries, bytes).await;
        match followed.map_err(|error| TeamError::NotWritten(fault(&error)))? {
            Following::Entries { entries, epoch } => {
                entries.into_iter().map(|entry| self.read(entry, epoch)).collect()
            }
            Following::Apart(head) => Err(TeamError::Apart(apart(after, &head))),
        }
    }

    fn stored(&self, entry: TeamEntry<Change>) -> Result<NewEntry, TeamError> {
        Ok(NewEntry {
            key: Key { instance: entry.key.instance.to_string(), number: entry.key.number },
            machine: self.machine.to_string(),
            time: entry.time.0,
            session: entry.session.map(|session| session.to_string()),
            operation: entry.operation,
            changes: serde_json::to_string(&entry.changes).map_err(unsent)?,
            reply: entry.reply.as_ref().map(Value::to_string),
        })
    }

    fn read(&self, entry: Entry, epoch: u64) -> Result<Arrived<Change>, TeamError> {
        let Entry { seq, digest, member, name, content: entry } = entry;
        let unread = |error: serde_json::Error| {
            let why = format!("revision {seq} cannot be read, update anchord: {error}");
            TeamError::NotWritten(TeamFault::refused(why))
        };
        let entry = TeamEntry {
            revision: Revision(seq),
            is_own: *self.machine == *entry.machine,
            time: Timestamp(entry.time),
            changes: serde_json::from_str(&entry.changes).map_err(unread)?,
            reply: entry.reply.as_deref().map(serde_json::from_str).transpose().map_err(unread)?,
            key: EntryKey { instance: entry.key.instance.into(), number: entry.key.number },
            session: entry.session.map(SessionId::new),
            operation: entry.operation,
        };
        // One who has left the team has the name of the role.
        let member = (!entry.is_own).then(|| name.unwrap_or(member).into());
        Ok(Arrived { entry, mark: mark(digest, epoch), member })
    }
}

/// New texts for an entry of a team's journal.
#[derive(Clone, Debug)]
pub(crate) struct TeamReplacement {
    /// The entry.
    pub(crate) revision: Revision,
    /// Its changes.
    pub(crate) changes: Vec<Change>,
    /// Its reply.
    pub(crate) reply: Option<Value>,
}

fn mark(digest: String, epoch: u64) -> CopyMark {
    CopyMark { digest: digest.into(), epoch }
}

fn place(point: &TeamPoint) -> Point {
    let digest = point.mark.as_ref().map(|mark| mark.digest.to_string());
    Point { seq: point.revision.0, digest }
}

/// Says why the journal does not contain the place that this machine's copy has reached.
pub(super) fn apart(copy: &TeamPoint, head: &Head) -> String {
    if copy.mark.as_ref().is_some_and(|mark| head.epoch > mark.epoch) {
        return "something was purged from the team's memory, and this copy follows; try again in \
                a moment"
            .to_owned();
    }
    let (last, seen) = (head.seq, copy.revision.0);
    let found = if last < seen {
        format!(
            "the database ends at revision {last} and lacks what this machine has seen up to {seen}"
        )
    } else {
        format!("the database has other commits up to revision {seen} than this machine has seen")
    };
    format!("{found}; the copy here follows it, and keeps what is missing there in a file")
}

fn unsent(error: serde_json::Error) -> TeamError {
    TeamError::NotWritten(TeamFault::refused(error.to_string()))
}

pub(super) fn worded(error: AppendError) -> TeamError {
    match error {
        // Nobody repeats blindly what may be done already.
        AppendError::Unknown(DatabaseError::Slow) => TeamError::Unknown(TeamError::Slow.fault()),
        AppendError::NotWritten(DatabaseError::Slow) => TeamError::Slow,
        AppendError::NotWritten(DatabaseError::Refused(why)) => TeamError::Refused(why),
        AppendError::NotWritten(error) => TeamError::NotWritten(fault(&error)),
        AppendError::Unknown(error) => TeamError::Unknown(fault(&error)),
    }
}

/// Returns the fault of a call that failed.
pub(crate) fn fault(error: &DatabaseError) -> TeamFault {
    let away = match error {
        DatabaseError::Unreachable(_) => Away::Unreached,
        DatabaseError::Slow => Away::Slow,
        DatabaseError::NotAMember
        | DatabaseError::SchemaMissing
        | DatabaseError::Refused(_)
        | DatabaseError::Secret(_) => Away::Barred,
        _ => Away::Refused,
    };
    TeamFault { away, why: format!("failed to {error}") }
}

/// The journal of a memory that a team shares, when the file that names the database cannot be
/// read. It has the reason.
#[derive(Debug)]
pub(super) struct Unlinked(pub(super) String);

impl Unlinked {
    fn why(&self) -> TeamError {
        TeamError::NotWritten(TeamFault::refused(self.0.clone()))
    }
}

impl TeamJournal<Change> for Unlinked {
    fn append(
        &self,
        _expected: TeamPoint,
        _batch: Vec<TeamEntry<Change>>,
        _time_max: Duration,
    ) -> BoxFuture<'static, Result<TeamAppended<Change>, TeamError>> {
        let why = self.why();
        async move { Err(why) }.boxed()
    }

    fn entries(
        &self,
        _after: TeamPoint,
    ) -> BoxFuture<'static, Result<Vec<Arrived<Change>>, TeamError>> {
        let why = self.why();
        async move { Err(why) }.boxed()
    }
}
