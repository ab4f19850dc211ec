//! Saves of a memory that a team shares, between this machine's journal and the team's.

use std::sync::Arc;

use anchord_memory::{
    ArchivePlan, Held, HeldKey, Memory, Released, SaveOutcome, SessionId, ToldBy, plan_release,
    plan_restage, plan_say_left, render,
};

use super::write::OWN_STORED;
use super::{OpenProject, Operation, Reply, Transition, WriteCommand, WriteError, WriteSet};
use crate::limits;
use crate::store::{Call, StoreError, TeamFault};

/// Returns the command that folds a held save, and reports it as a save does. Of the work of an
/// ended session, it reports what was not taken.
pub(crate) fn releasing(
    key: HeldKey,
    archive: Option<ArchivePlan>,
    told_by: ToldBy,
) -> WriteCommand<Memory, Reply<SaveOutcome>> {
    Arc::new(move |memory, _| {
        let plan = plan_release(memory, &key, archive.as_ref(), told_by)?;
        let outcome = match plan.outcome {
            Released::Save(outcome) => Reply::Outcome(*outcome),
            Released::End(left) => Reply::Words(left),
        };
        Ok(Transition { changes: plan.changes, outcome })
    })
}

/// Returns the fault for which the team's database did not take a write that may work later.
pub(crate) fn waits_for_team(error: &WriteError) -> Option<TeamFault> {
    let error = match error {
        WriteError::NotSaved(error) => &**error,
        WriteError::Refused(_)
        | WriteError::Busy
        | WriteError::Closed
        | WriteError::Stale
        | WriteError::Unreadable(_)
        | WriteError::Internal => return None,
    };
    match error {
        StoreError::TeamAway(fault)
        | StoreError::TeamRefused(fault)
        | StoreError::TeamSilent(fault)
        | StoreError::TeamBusy(fault) => Some(fault.clone()),
        StoreError::NotSaved { .. }
        | StoreError::NoSpace { .. }
        | StoreError::Uncertain { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::ShuttingDown
        | StoreError::TooLarge { .. }
        | StoreError::HeadMoved { .. }
        | StoreError::NoCopy { .. }
        | StoreError::TeamDamaged { .. }
        | StoreError::OutOfOrder { .. }
        | StoreError::Damaged { .. }
        | StoreError::Missing { .. }
        | StoreError::WrongMachine { .. }
        | StoreError::OfAnother { .. }
        | StoreError::NetworkDisk { .. }
        | StoreError::Io { .. } => None,
    }
}

/// Returns the failure of a write whose private part was stored. The failures are those of
/// [`waits_for_team`]; others come back as they are.
pub(crate) fn own_stored(error: WriteError) -> WriteError {
    let more = |fault: &TeamFault| TeamFault { why: format!("{fault}{OWN_STORED}"), ..*fault };
    let failed = match &error {
        WriteError::NotSaved(failed) => match &**failed {
            StoreError::TeamAway(fault) => StoreError::TeamAway(more(fault)),
            StoreError::TeamRefused(fault) => StoreError::TeamRefused(more(fault)),
            StoreError::TeamSilent(fault) => StoreError::TeamSilent(more(fault)),
            StoreError::TeamBusy(fault) => StoreError::TeamBusy(more(fault)),
            _ => return error,
        },
        _ => return error,
    };
    WriteError::NotSaved(Arc::new(failed))
}

impl OpenProject {
    /// Stages again what is held under a key and was refused.
    ///
    /// # Errors
    /// Fails if it cannot be written on this machine.
    pub(crate) async fn restage(&self, key: &HeldKey) -> Result<(), WriteError> {
        let key = key.clone();
        let command: WriteCommand<Memory> =
            Arc::new(move |memory, _| Ok(Transition::from(plan_restage(memory, &key))));
        self.owner.write(None, None, Operation::staying("hold"), command).await.map(drop)
    }

    /// Folds what waits for the team's database, the oldest first, until it fails. Returns what was
    /// written.
    ///
    /// # Errors
    /// Returns the failure of the first one that still waits.
    pub(crate) async fn release(
        &self,
        wanted: impl Fn(&Held) -> bool,
    ) -> Result<Vec<WriteSet>, WriteError> {
        let mut held: Vec<Arc<Held>> = self.memory().held().cloned().collect();
        held.retain(|held| wanted(held));
        held.sort_by_key(|held| held.time);
        let mut written = Vec::new();
        for held in held {
            let session = Some(held.session.clone());
            let key = held.key.clone();
            // A save is a line of a shim, which may ask for its answer again.
            let (operation, call) = match &held.summary {
                Some(_) => {
                    let instance = Arc::clone(&key.instance);
                    ("save", Some(Call { instance, number: key.number, acknowledged: 0 }))
                }
                None => ("keep", None),
            };
            let write = |call| {
                let command = releasing(key.clone(), None, ToldBy::Row);
                let operation = Operation::releasing(operation);
                self.owner.write(session.clone(), call, operation, command)
            };
            let done = match write(call).await {
                // The shim has its answer, and does not ask again.
                Err(WriteError::Stale) => write(None).await,
                done => done,
            };
            match done {
                Ok(done) => {
                    let (write_set, outcome, _) = WriteSet::split(done);
                    written.push(write_set);
                    self.say_left(&held, outcome).await?;
                }
                // Its own call was faster, so nothing is held any more. Or it expects another
                // revision, and is staged to be judged against that.
                Err(WriteError::Refused(why)) => {
                    if self.memory().held_as(&key).is_some() {
                        self.tell(&held.session, render::save_refused_later(&why.to_string()));
                    }
                    self.restage(&key).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Says what was not taken of a save whose call was answered long ago. A session that goes on
    /// gets it with its next answer. The row of one that ended without a save gets it on this
    /// machine; that of a save has it already.
    async fn say_left(&self, held: &Held, outcome: Reply<SaveOutcome>) -> Result<(), WriteError> {
        match outcome {
            Reply::Outcome(outcome) => {
                if let Some(text) = render::save_later(&outcome) {
                    self.tell(&held.session, text);
                }
                Ok(())
            }
            Reply::Words(left) if left.is_empty() || held.summary.is_some() => Ok(()),
            Reply::Words(left) => {
                let held = held.clone();
                let command: WriteCommand<Memory> = Arc::new(move |memory, _| {
                    Ok(Transition::from(plan_say_left(memory, &held, left.clone())))
                });
                self.owner.write(None, None, Operation::staying("keep"), command).await.map(drop)
            }
        }
    }

    /// Keeps a text for a session, to go with its next answer.
    pub(crate) fn tell(&self, session: &SessionId, text: String) {
        let mut told = self.told.lock();
        if told.len() >= limits::TOLD_SESSIONS_MAX && !told.contains_key(session) {
            // Most of them are of sessions that have ended, whose rows say it.
            told.pop_first();
        }
        told.entry(session.clone()).or_default().add(&text);
    }

    /// Takes what waits to go with a session's next answer.
    pub(crate) fn take_told(&self, session: &SessionId) -> Option<String> {
        Some(self.told.lock().remove(session)?.into_text())
    }
}

/// Adds a text to what a session is to be told, unless it is there already.
pub(crate) fn add_told(waiting: &mut String, text: &str) {
    if waiting.contains(text) {
        return;
    }
    let mut told = Told::default();
    told.add(waiting);
    told.add(text);
    *waiting = told.into_text();
}

/// Texts that go with a session's next answer.
#[derive(Debug, Default)]
pub(super) struct Told {
    text: String,
    /// The number of texts for which there was no room.
    more: usize,
}

impl Told {
    fn add(&mut self, text: &str) {
        let room = limits::TOLD_BYTES_MAX.saturating_sub(self.text.len());
        if text.len() <= room {
            self.text.push_str(text);
        } else if self.text.is_empty() {
            let (begin, _) = text.split_at(text.floor_char_boundary(room));
            self.text.push_str(begin);
            self.text.push_str("…\n");
        } else {
            self.more += 1;
        }
    }

    fn into_text(self) -> String {
        self.text + &render::told_more(self.more)
    }
}

#[cfg(test)]
mod tests;
