//! Compaction for tools: on demand, and the words for what a write set aside to stay within a
//! budget.

use anchord_memory::{CompactionOutcome, CompactionPlan, Memory, Pool, Timestamp, render};

use super::answer::ToolAnswer;
use super::context::Context;
use super::error::ToolError;
use crate::clock;
use crate::project::Compacted;
use crate::sessions::{Compaction, View};

impl Context {
    /// Plans how to bring a pool down to `percent` of its budget.
    pub(crate) async fn compaction(&self, view: &View, pool: Pool, percent: u8) -> CompactionPlan {
        self.session.plan_compaction(&self.sessions, view, pool, percent).await
    }

    /// Carries out the parts of a plan that are still up to date. `words` renders the outcome for
    /// the tool set.
    pub(crate) async fn compact(
        &self,
        plan: CompactionPlan,
        words: impl FnOnce(&Memory, &CompactionOutcome, Timestamp) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let done = self.session.compact(&self.sessions, plan, self.call.as_ref()).await?;
        let Compaction { outcome, append } = done;
        let memory = self.view().await?.memory;
        let text = outcome.in_words(|outcome| words(&memory, outcome, clock::now()));
        Ok(ToolAnswer { append, ..text.into() })
    }

    /// Words what a write set aside to stay within the budgets of notes.
    pub(crate) async fn word_set_aside(
        &self,
        compacted: &[Compacted],
    ) -> Result<String, ToolError> {
        let mut text = String::new();
        if compacted.is_empty() {
            return Ok(text);
        }
        let memory = self.view().await?.memory;
        for Compacted { budget, outcome, full, .. } in compacted {
            if !outcome.is_nothing() {
                let now = clock::now();
                text.push_str(&render::compaction(&memory, outcome, now, &self.audience));
            }
            if let Some(full) = full {
                text.push_str(&render::full_of_pinned(full, budget, &self.audience));
            }
        }
        Ok(text)
    }
}
