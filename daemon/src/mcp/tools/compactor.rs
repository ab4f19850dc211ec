//! `--tools compactor`: that system's tool names, parameters and replies over the same memory.
//!
//! What it stores is the session's own, and a session goes on with what earlier sessions of its client left here, so
//! that it lasts. The project's notes are items, too; the budget does not count them.

mod change;
mod read;
mod store;

use std::collections::BTreeSet;

use anchord_memory::render::compactor as form;
use anchord_memory::render::compactor::Usage;
use anchord_memory::{Change, Memory, Reader, RecordId, Refusal, SessionId, Standing};

use crate::budgets::{self, Holder};
use crate::config::Config;
use crate::mcp::context::Context;
use crate::mcp::tool::ToolSpec;

/// The tools.
pub(super) fn specs() -> Vec<ToolSpec> {
    [read::specs(), store::specs(), change::specs()].concat()
}

/// Who calls: what it sees of a memory, and what it may keep active there.
#[derive(Clone)]
struct Caller {
    session: SessionId,
    holder: Holder,
    live: BTreeSet<SessionId>,
    config: Config,
}

impl Caller {
    fn of(context: &Context) -> Self {
        Self {
            session: context.session.id.clone(),
            holder: context.holder(),
            live: context.daemon.sessions().live(),
            config: context.daemon.config.clone(),
        }
    }

    fn reader(&self, memory: &Memory) -> Reader {
        Reader::successor(memory, self.session.clone(), &self.holder.client, &self.live)
    }

    fn usage(&self, memory: &Memory) -> Usage {
        let budget = budgets::session(memory, &self.config, &self.holder).budget;
        Usage::of(memory, &self.reader(memory), budget)
    }

    /// The same once these changes are made.
    fn usage_after(&self, memory: &Memory, changes: &[Change]) -> Usage {
        let mut after = memory.clone();
        after.apply(memory.seq(), changes);
        self.usage(&after)
    }
}

/// The item that an id means, with the words of that system when there is none.
fn item(memory: &Memory, reader: &Reader, given: &str) -> Result<RecordId, Refusal> {
    let found = form::parse_id(given)
        .and_then(|id| memory.record(id))
        .filter(|record| record.standing != Standing::Forgotten && reader.sees(record));
    found.map(|record| record.id).ok_or_else(|| Refusal::Invalid {
        field: format!("Item [{}]", given.trim().chars().take(40).collect::<String>()),
        why: "not found".to_owned(),
    })
}

#[cfg(test)]
mod tests;
