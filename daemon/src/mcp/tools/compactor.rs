//! `--tools compactor`: that system's tool names, parameters and replies over the same memory.
//!
//! Its items are the session's private notes. A session continues with the notes that earlier
//! sessions of its client left here, so that they last. The project's notes are items too; the
//! budget does not count them.

mod change;
mod compact;
mod read;
mod store;

use std::collections::BTreeSet;
use std::sync::Arc;

use anchord_memory::render::compactor as form;
use anchord_memory::render::compactor::Usage;
use anchord_memory::{
    Memory, Reader, RecordId, RecordState, Refusal, SessionId, Staged, hashed, limits,
};

use serde::Deserialize;

use super::params::wanted_tags;
use crate::budgets::{self, Holder};
use crate::config::Config;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::{Context, WritePlan};
use crate::mcp::error::ToolError;
use crate::mcp::tool::ToolSpec;
use crate::project::{Compacted, Outcome};
use crate::sessions::WriteOutcome;

pub(super) fn specs() -> Vec<ToolSpec> {
    let specs = [read::specs(), store::specs(), compact::specs(), change::specs()].concat();
    specs.into_iter().map(ToolSpec::silent_about_unknown).collect()
}

/// The caller: the part of a memory that it sees, and the budget for what it keeps active.
#[derive(Clone)]
struct Caller {
    session: SessionId,
    holder: Holder,
    live: BTreeSet<SessionId>,
    config: Arc<Config>,
}

impl Caller {
    fn of(context: &Context) -> Self {
        Self {
            session: context.session.id.clone(),
            holder: context.holder(),
            live: context.sessions.table.live(),
            config: Arc::clone(&context.sessions.config),
        }
    }

    fn reader(&self, memory: &Memory) -> Reader {
        memory.successor(self.session.clone(), &self.holder.client, &self.live)
    }

    fn usage(&self, memory: &Memory) -> Usage {
        let budget = budgets::session(memory, &self.config, &self.holder).budget;
        Usage::of(memory, &self.reader(memory), budget)
    }

    /// Writes, and keeps to the budget. `words` renders the outcome with the budget's use.
    async fn write<O: Outcome>(
        &self,
        context: &Context,
        operation: &'static str,
        plan: impl WritePlan<O>,
        words: impl FnOnce(&O, &Usage) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let written = context.commit(operation, Staged::default(), plan).await?;
        let usage = self.usage(&context.view().await?.memory);
        let mut text = written.outcome.in_words(|outcome| words(outcome, &usage));
        for Compacted { budget, outcome, full, .. } in &written.compacted {
            text.push_str(&form::set_aside(outcome));
            if let Some(full) = full {
                text.push_str(&form::full_of_pinned(full.pinned, budget));
            }
        }
        let WriteOutcome { records, append, .. } = written;
        Ok(ToolAnswer { text, records, append, ..ToolAnswer::default() })
    }
}

/// Tags in that system's format, or a list, which agents also send.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "tags separated by commas")]
enum Tags {
    Text(String),
    List(Vec<String>),
}

impl Default for Tags {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Tags {
    fn given(self) -> Vec<String> {
        match self {
            Self::Text(text) => text.split(',').map(str::to_owned).collect(),
            Self::List(tags) => tags,
        }
    }

    /// Returns the tags in their stored form, for a search.
    fn wanted(self) -> Vec<String> {
        wanted_tags(&self.given())
    }
}

/// Converts a part of the budget to percent, at least `percent_min`. A larger number is taken as
/// percent already if it is whole, and too large to be meant as a part of one.
fn percent(field: &str, part: f64, percent_min: u8) -> Result<u8, ToolError> {
    let already = part >= f64::from(limits::COMPACT_ABOVE_PERCENT_MIN) && part.fract() == 0.0;
    let percent = if already { part } else { (part * 100.0).round() };
    if (f64::from(percent_min)..=100.0).contains(&percent) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        return Ok(percent as u8);
    }
    let min = f64::from(percent_min) / 100.0;
    Err(ToolError::caller(format!("{field} is {part}; give a number from {min} to 1")))
}

/// Finds the item that an id names. The error has that system's words.
fn item(memory: &Memory, reader: &Reader, given: &str) -> Result<RecordId, Refusal> {
    let found = hashed::parse(given)
        .and_then(|id| memory.record(id))
        .filter(|record| record.state != RecordState::Forgotten && reader.sees(record));
    found.map(|record| record.id).ok_or_else(|| {
        let given: String = given.trim().chars().take(40).collect();
        Refusal::invalid(format!("Item [{given}]"), "not found")
    })
}

#[cfg(test)]
mod tests;
