//! Saves of a memory that a team shares, between this machine's journal and the team's.

use std::sync::Arc;

use anchord_memory::{ArchivePlan, Held, HeldKey, Memory, SaveOutcome, plan_release, plan_restage};

use super::{OpenProject, Operation, Reply, Transition, WriteCommand, WriteError, WriteSet};
use crate::store::{Call, StoreError};

/// Returns the command that folds a held save, and reports it as a save does.
pub(crate) fn releasing(
    key: HeldKey,
    archive: Option<ArchivePlan>,
) -> WriteCommand<Memory, Reply<SaveOutcome>> {
    Arc::new(move |memory, _| {
        let plan = plan_release(memory, &key, archive.as_ref());
        let plan = plan.map_err(|refusal| refusal.to_string())?;
        let outcome = match plan.outcome {
            Some(outcome) => Reply::Outcome(outcome),
            None => Reply::Words(String::new()),
        };
        Ok(Transition { changes: plan.changes, outcome })
    })
}

/// Returns the reason for which the team's database did not take a write that may work later.
pub(crate) fn waits_for_team(error: &WriteError) -> Option<&str> {
    let WriteError::NotSaved(error) = error else { return None };
    match &**error {
        StoreError::TeamAway { why }
        | StoreError::TeamRefused { why }
        | StoreError::TeamSilent { why }
        | StoreError::TeamBusy { why } => Some(why),
        _ => None,
    }
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
                let command = releasing(key.clone(), None);
                let operation = Operation::releasing(operation);
                self.owner.write(session.clone(), call, operation, command)
            };
            let done = match write(call).await {
                // The shim has its answer, and does not ask again.
                Err(WriteError::Stale) => write(None).await,
                done => done,
            };
            match done {
                Ok(done) => written.push(WriteSet::split(done).0),
                // Its own call was faster, so nothing is held any more. Or it expects another
                // revision, and is staged to be judged against that.
                Err(WriteError::Refused(_)) => self.restage(&key).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }
}
