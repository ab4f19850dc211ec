//! Decide, then do. A planner reads a [`Memory`](crate::Memory) and returns a [`Plan`], a value
//! that can be shown, journalled and applied. A planner that refuses has written nothing.

mod add;
mod bind;
mod capture;
mod checkpoint;
mod compact;
mod configure;
mod contradict;
mod find;
mod fix;
mod forget;
mod held;
mod keep;
mod note;
mod rewrite;
mod row;
mod rule;
mod save;
mod snap;
mod take_in;
mod team;
mod topic;
mod undo;
mod update;
mod upkeep;

pub use add::{AddOutcome, plan_add};
pub use bind::{BindOutcome, in_conversation, plan_bind};
pub use capture::plan_capture;
pub use checkpoint::{CheckpointOutcome, plan_checkpoint, plan_checkpoint_within};
pub use compact::CompactionOutcome;
pub use configure::plan_configure;
pub use contradict::{Contradiction, contradicting};
pub use find::{find, find_fact, find_topic, former_facts};
pub use forget::{ForgetOutcome, plan_forget};
pub use held::{Released, ToldBy, plan_hold, plan_release, plan_restage, plan_say_left};
pub use keep::{plan_adopt, plan_keep};
pub use note::{FailedNote, NoteOutcome, NotesOutcome, StoredNote, WhyNot, plan_notes};
pub use rewrite::{Rewrite, plan_rewrite};
pub(crate) use rule::{Proposed, propose};
pub use rule::{
    RuleAuthor, RuleOutcome, plan_rule, plan_rule_standing, refuse_rule_changes, rules_in_force,
};
pub use save::{Save, SaveOutcome, plan_save};
pub use snap::{SnapCheckpoint, SnapOutcome, plan_snap, snap_record};
pub use take_in::{Rivals, TakeItem, TakeOutcome, plan_take_in, shared_rivals, why_refused};
pub use team::{plan_leave, plan_take_private, plan_team, plan_withhold, shared_part};
pub use topic::{BriefOutcome, TopicOutcome, plan_brief, plan_topic};
pub use undo::{
    LaterChanges, LeftRecord, UndoBasis, UndoConflict, UndoEnd, UndoOutcome, UndoTarget, Undone,
    UndoneRecord, WhyLeft, plan_undo,
};
pub use update::{Update, UpdateOutcome, is_expired, plan_update, plan_use};
pub use upkeep::{AnchorMove, plan_upkeep};

pub(crate) use contradict::contradictions;
pub(crate) use find::at_version;
pub(crate) use fix::put_fixes;
pub(crate) use row::{Row, add_entries, notice_of_end, put_row, stored_row, stored_row_of};
pub(crate) use snap::{file_of, snap_file_of, snap_name_of};

use crate::change::Change;
use crate::ids::{Revision, Timestamp};
use crate::memory::Memory;
use crate::refusal::Refusal;

/// The changes to journal and apply as one entry, and the outcome for the reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<O> {
    /// The changes, in order; empty if nothing changes.
    pub changes: Vec<Change>,
    /// The outcome once the changes are applied.
    pub outcome: O,
}

impl<O> Plan<O> {
    /// Makes another outcome of this one, such as the words of a reply.
    #[must_use]
    pub fn map<P>(self, outcome: impl FnOnce(O) -> P) -> Plan<P> {
        Plan { changes: self.changes, outcome: outcome(self.outcome) }
    }

    /// Adds changes after the plan's own.
    #[must_use]
    pub fn and(mut self, more: Vec<Change>) -> Self {
        self.changes.extend(more);
        self
    }
}

/// Refuses a write that expects memory to be at another revision, and has what was written since.
fn conflict(memory: &Memory, expected: Revision, time: Timestamp) -> Refusal {
    let mut changed: Vec<_> = memory.written_since(expected).cloned().collect();
    changed.reverse();
    Refusal::Conflict {
        record: None,
        expected: expected.0,
        current: memory.revision().0,
        changed,
        time,
    }
}

#[cfg(test)]
mod tests;
