//! The budgets in force and their sources. The setting nearest to the session wins.

use std::fmt;

use anchord_agents::{Client, McpNames};
use anchord_memory::limits::{BUDGET_TOKENS_MAX, SESSION_BUDGET_TOKENS_MIN};
use anchord_memory::{Budget, Formula, Memory, Settings};

use crate::config::Config;

/// A budget and the source of its number of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InForce {
    pub(crate) budget: Budget,
    pub(crate) from: &'static str,
}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Budget { tokens, auto_compact, above, to } = self.budget;
        write!(f, "{tokens} tokens ({}); ", self.from)?;
        if auto_compact {
            write!(f, "above {above}% compacted to {to}%")
        } else {
            f.write_str("compacted on demand alone")
        }
    }
}

/// The parts of a session that decide its budget.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holder {
    /// The client's own name.
    pub(crate) client: String,
    /// The budget that its shim was started with. A value out of bounds counts as the nearest one
    /// within.
    pub(crate) flag: Option<u32>,
    /// Whether the session uses the compactor's tools.
    pub(crate) is_compactor: bool,
}

impl Holder {
    /// Returns the formula by which a session's own notes are scored within a budget.
    pub(crate) fn formula(&self, budget: Budget) -> Formula {
        if self.is_compactor {
            Formula::Compactor { budget_tokens: budget.tokens }
        } else {
            Formula::Own
        }
    }
}

/// Returns a project's settings: its own before the file's before the built-in ones.
pub(crate) fn project_settings(memory: &Memory, config: &Config) -> Settings {
    memory.settings(None).map_or_else(|| config.memory.clone(), |own| own.or(&config.memory))
}

/// Returns the budget of the project's notes.
pub(crate) fn project(memory: &Memory, config: &Config) -> InForce {
    let own = memory.settings(None).and_then(|settings| settings.budget_tokens);
    let from = match (own, config.memory.budget_tokens) {
        (Some(_), _) => "set with memory_configure",
        (None, Some(_)) => "from config.toml",
        (None, None) => "the default",
    };
    InForce { budget: project_settings(memory, config).project_budget(), from }
}

/// The use of a project's budget, as far as the project itself knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    /// Tokens of the project's active notes.
    tokens: u64,
    /// The budget set in the project.
    budget: Option<u32>,
}

impl Filled {
    pub(crate) fn of(memory: &Memory) -> Self {
        let budget = memory.settings(None).and_then(|settings| settings.budget_tokens);
        Self { tokens: memory.totals().note_tokens, budget }
    }

    /// Returns the share of the budget that is used.
    pub(crate) fn share(self, config: &Config) -> f64 {
        let own = Settings { budget_tokens: self.budget, ..Settings::default() };
        let budget = own.or(&config.memory).project_budget().tokens;
        let tokens = u32::try_from(self.tokens).unwrap_or(u32::MAX);
        f64::from(tokens) / f64::from(budget.max(1))
    }
}

/// Returns the budget of a session's private notes. Other clients' settings do not affect it.
pub(crate) fn session(memory: &Memory, config: &Config, holder: &Holder) -> InForce {
    let bounded = |tokens: u32| tokens.clamp(SESSION_BUDGET_TOKENS_MIN, BUDGET_TOKENS_MAX);
    let flag = Settings { budget_tokens: holder.flag.map(bounded), ..Settings::default() };
    let name = settings_name(memory, &holder.client);
    let own = memory.settings(Some(name)).map(|own| Settings::clone(own));
    let own = own.unwrap_or_default();
    let from = if own.budget_tokens.is_some() {
        "set with memory_configure"
    } else if holder.flag.is_some() {
        "from --budget"
    } else if config.session_memory.budget_tokens.is_some() {
        "from config.toml"
    } else {
        "the client's default"
    };
    let settings = own.or(&flag).or(&config.session_memory);
    let client = Client::named(&holder.client);
    let client = client.or_else(|| Client::named_over_mcp(&holder.client));
    let tokens = client.and_then(|client| client.limits.session_tokens);
    InForce { budget: settings.session_budget(tokens), from }
}

/// Returns the name under which a memory has a client's settings. Earlier builds kept them under
/// the name that the client gives over MCP.
pub(crate) fn settings_name<'a>(memory: &'a Memory, client: &'a str) -> &'a str {
    if memory.settings(Some(client)).is_some() {
        return client;
    }
    let mut names = memory.all_settings().filter_map(|(name, _)| name);
    names.find(|name| McpNames::recorded(name) == client).unwrap_or(client)
}

#[cfg(test)]
mod tests;
