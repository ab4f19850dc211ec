//! `--tools compactor`: that system's tool names, parameters and replies over the same memory.
//!
//! Its items are the session's private notes. A session continues with the notes that earlier
//! sessions of its client left here, so that they last. The project's notes are items too; the
//! budget does not count them.

mod change;
mod compact;
mod read;
mod store;

use anchord_memory::render::compactor as form;
use anchord_memory::render::compactor::Usage;
use anchord_memory::{
    Formula, ItemIds, Memory, Reader, RecordId, RecordState, Refusal, Staged, limits,
};

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::params::wanted_tags;
use crate::budgets;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::input::whole_number;
use crate::mcp::tool::ToolSpec;
use crate::project::{Compacted, Outcome};
use crate::sessions::{WriteOutcome, WritePlan};

pub(super) fn specs() -> Vec<ToolSpec> {
    let specs = [read::specs(), store::specs(), compact::specs(), change::specs()].concat();
    specs.into_iter().map(ToolSpec::silent_about_unknown).collect()
}

/// The caller: the part of a memory that it sees, and the budget for what it keeps active.
#[derive(Clone)]
struct Caller {
    context: Context,
}

impl Caller {
    fn of(context: &Context) -> Self {
        Self { context: context.clone() }
    }

    fn reader(&self, memory: &Memory) -> Reader {
        self.context.session.own_reader(&self.context.sessions, memory)
    }

    fn usage(&self, memory: &Memory) -> Usage {
        let holder = self.context.holder();
        let budget = budgets::session(memory, &self.context.sessions.config, &holder).budget;
        Usage::of(memory, &self.reader(memory), budget)
    }

    /// Returns the formula by which items are scored.
    fn formula(&self, memory: &Memory) -> Formula {
        self.context.holder().formula(self.usage(memory).budget)
    }

    /// Writes, and keeps to the budget. `words` renders the outcome with the budget's use and the
    /// items' ids.
    async fn write<O: Outcome>(
        &self,
        context: &Context,
        operation: &'static str,
        plan: impl WritePlan<O>,
        words: impl FnOnce(&O, &Usage, ItemIds) -> String,
    ) -> Result<ToolAnswer, ToolError> {
        let written = context.commit(operation, Staged::default(), plan).await?;
        let view = context.view().await?;
        let (usage, ids) = (self.usage(&view.memory), view.item_ids());
        let mut text = written.outcome.in_words(|outcome| words(outcome, &usage, ids));
        for Compacted { budget, outcome, full, .. } in &written.compacted {
            text.push_str(&form::set_aside(outcome, ids));
            if let Some(full) = full {
                text.push_str(&form::full_of_pinned(full.pinned, budget));
            }
        }
        let WriteOutcome { records, append, .. } = written;
        Ok(ToolAnswer { text, records, append, ..ToolAnswer::default() })
    }
}

/// Reads an importance. As in the original, one below 1 is the default, and one above 10 is 10.
fn importance<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let given = Value::deserialize(from)?;
    if given.is_null() {
        return Ok(None);
    }
    let number = whole_number(&given).ok_or_else(|| {
        let shown: String = given.to_string().chars().take(40).collect();
        serde::de::Error::custom(format!("is {shown}; give a number from 1 to 10"))
    })?;
    let within = u8::try_from(number.min(limits::IMPORTANCE_MAX.into())).ok();
    Ok(within.filter(|number| *number > 0).or(Some(limits::IMPORTANCE)))
}

/// Returns a number of items to show. As in the original, none or fewer is the default.
fn count(given: i64, default: usize, most: usize) -> usize {
    let given = usize::try_from(given).unwrap_or(0);
    if given == 0 { default } else { given.min(most) }
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
fn item(memory: &Memory, reader: &Reader, ids: ItemIds, given: &str) -> Result<RecordId, Refusal> {
    let found = ids
        .parse(given)
        .and_then(|id| memory.record(id))
        .filter(|record| record.state != RecordState::Forgotten && reader.sees(record));
    found.map(|record| record.id).ok_or_else(|| {
        let given: String = given.trim().chars().take(40).collect();
        Refusal::invalid(format!("Item [{given}]"), "not found")
    })
}

#[cfg(test)]
mod tests;
