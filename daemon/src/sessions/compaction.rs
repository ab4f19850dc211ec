//! The budgets of a session's notes, and compaction on demand.
//!
//! [`Session::write`] keeps to them after each write, by the project's [`BudgetKeeper`]. Nothing
//! there calls back into a session.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anchord_agents::McpNames;
use anchord_memory::render::Tight;
use anchord_memory::{
    CompactionOutcome, CompactionPlan, Memory, NearDuplicates, Plan, Pool, Reader, Record, limits,
};
use anchord_proto::hello::ToolSet;

use super::error::BindError;
use super::service::SessionService;
use super::{Flags, Session, View};
use crate::budgets::{self, InForce};
use crate::project::{
    BudgetKeeper, Compacted, OpenProject, Operation, OwnNotes, PoolTarget, Reply, Transition,
    WriteCommand, WriteSet, add_append_times, carry_out, formula, plan_within,
};
use crate::store::Call;

/// The name under which the settings of a state directory's notes are kept.
const STATE_DIR: &str = "--state-dir";

/// The result of compacting.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub(crate) outcome: Reply<CompactionOutcome>,
    /// The time that the journal took.
    pub(crate) append: Option<Duration>,
}

impl Session {
    /// Compacts the pools that this session's write has taken above their budgets.
    pub(super) async fn keep_to_budget(
        &self,
        service: &SessionService,
        project: &OpenProject,
        written: WriteSet,
    ) -> Vec<Compacted> {
        let reader = self.own_reader(service, &project.memory());
        let own = OwnNotes { reader, holder: self.holder() };
        let keeper = BudgetKeeper::of_session(&service.config, self.id.clone(), own);
        keeper.keep(project, written).await
    }

    /// Plans how to bring a pool down to `percent` of its budget.
    pub(crate) async fn plan_compaction(
        &self,
        service: &SessionService,
        view: &View,
        pool: Pool,
        percent: u8,
    ) -> CompactionPlan {
        let memory = Arc::clone(&view.memory);
        let budget = self.in_force(service, &memory, &pool).budget;
        let formula = formula(&pool, budget, Some(&self.holder()));
        let (tokens, spare) = (budget.share(percent), BTreeSet::new());
        let target = PoolTarget { pool, tokens, spare, formula };
        let mut near = NearDuplicates::default();
        plan_within(&service.config, memory, view.accesses(), target, &mut near).await
    }

    /// Carries out a plan that a call asked for, on those records that have not changed since. All
    /// rounds but the last may run twice; the last reports the outcome of all.
    pub(crate) async fn compact(
        &self,
        service: &SessionService,
        plan: CompactionPlan,
        call: Option<&Call>,
    ) -> Result<Compaction, BindError> {
        let memory = self.view(service).await?.memory;
        let mut rounds = plan.rounds(&memory, limits::COMPACTION_COMMIT_BYTES_MAX);
        let last = rounds.pop();
        let write =
            |command| self.write_alone(service, None, Operation::staying("compact"), command);
        let (before, append) = carry_out(rounds, write).await?;
        let Some(last) = last else {
            return Ok(Compaction { outcome: Reply::Outcome(before), append });
        };
        let command: WriteCommand<Memory, Reply<CompactionOutcome>> = Arc::new(move |memory, _| {
            let Plan { changes, outcome } = last.apply(memory);
            Ok(Transition { changes, outcome: Reply::Outcome(outcome.after(&before)) })
        });
        let written =
            self.write_alone(service, call, Operation::staying("compact"), command).await?;
        Ok(Compaction {
            outcome: written.outcome,
            append: add_append_times(append, written.append),
        })
    }

    /// Returns whether a note's budget has room for it: even as the only note, it would not be set
    /// aside again.
    pub(crate) fn has_room_for(
        &self,
        service: &SessionService,
        memory: &Memory,
        record: &Record,
    ) -> bool {
        let pool = match record.owner() {
            None => Pool::Project,
            Some(_) => Pool::Own(self.own_reader(service, memory)),
        };
        let budget = self.in_force(service, memory, &pool).budget;
        let tokens = record.note().map_or(0, |note| u64::from(note.tokens));
        record.pinned || !budget.auto_compact || tokens <= budget.share(budget.to)
    }

    /// Returns which of the budgets that bound the session's view are nearly used up.
    pub(crate) fn tight(&self, service: &SessionService, memory: &Memory) -> Tight {
        let tight =
            |pool: Pool| self.in_force(service, memory, &pool).budget.is_tight(pool.used(memory));
        let own = Pool::Own(self.own_reader(service, memory));
        Tight { project: tight(Pool::Project), own: tight(own) }
    }

    /// Returns the budget of a pool.
    pub(crate) fn in_force(
        &self,
        service: &SessionService,
        memory: &Memory,
        pool: &Pool,
    ) -> InForce {
        match pool {
            Pool::Project => budgets::project(memory, &service.config),
            Pool::Own(_) => budgets::session(memory, &service.config, &self.holder()),
        }
    }

    /// Returns the holder of the budget for the session's own notes.
    pub(crate) fn holder(&self) -> budgets::Holder {
        let Flags { budget, tools, is_exact } = **self.flags.load();
        let is_compactor = tools == ToolSet::Compactor;
        // A directory of its own is one memory, with one budget for all clients.
        let client =
            if is_compactor && is_exact { STATE_DIR.to_owned() } else { self.client().to_string() };
        budgets::Holder { client, flag: budget, is_compactor }
    }

    /// Returns the reader whose own notes count together. With the compactor's tools, a client
    /// continues with the notes of its ended sessions. In a state directory, all sessions share
    /// their notes.
    pub(crate) fn own_reader(&self, service: &SessionService, memory: &Memory) -> Reader {
        let Flags { tools, is_exact, .. } = **self.flags.load();
        match (tools, is_exact) {
            (ToolSet::Compactor, true) => memory.sharing(self.id.clone()),
            (ToolSet::Compactor, false) => {
                let (live, client) = (service.table.live(), self.client());
                // Records of earlier builds have the client's name over MCP.
                let is_client = |by: &str| McpNames::recorded(by) == &*client;
                memory.successor(self.id.clone(), is_client, &live)
            }
            _ => self.reader(service),
        }
    }
}

#[cfg(test)]
mod tests;
