//! What a project, or one client's own notes in it, has configured. What is not set here comes from the daemon's
//! configuration, and then from the built-in values.

use serde::{Deserialize, Serialize};

use crate::guide::CheckpointMode;
use crate::limits::{
    BUDGET_TOKENS, BUDGET_TOKENS_MAX, BUDGET_TOKENS_MIN, COMPACT_ABOVE_PERCENT,
    COMPACT_ABOVE_PERCENT_MIN, COMPACT_TO_PERCENT, HALF_LIFE_FACTOR_MAX, LOAD_TOKENS,
    LOAD_TOKENS_MIN, PROJECT_HALF_LIFE_FACTOR, SESSION_BUDGET_TOKENS, SESSION_BUDGETS,
    SUBAGENT_TYPE_CHARS_MAX, SUBAGENT_TYPES_MAX,
};

/// Settings; each may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Tokens of active notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
    /// Tokens of a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_tokens: Option<u32>,
    /// Whether a write compacts when the budget is nearly used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_compact: Option<bool>,
    /// Percent of the budget above which it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_above: Option<u8>,
    /// Percent of the budget that it comes down to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_to: Option<u8>,
    /// How much slower what the project shares fades than what one session keeps for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_life_factor: Option<u32>,
    /// How often agents are asked to checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_mode: Option<CheckpointMode>,
    /// Whether a prompt is told what memory has that is about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_recall: Option<bool>,
    /// Types of subagents that are given nothing at their start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_skip: Option<Vec<String>>,
}

/// A setting that cannot be as it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The field of [`Settings`].
    pub field: &'static str,
    /// What it was told to be, in words.
    pub value: String,
    /// What it may be, in words that follow "give".
    pub allowed: String,
}

impl Settings {
    /// Whether all that is set is within its bounds, wherever it was set.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), Unfit> {
        let within = |field, number: Option<u32>, min: u32, max: u32| {
            let unfit = number.filter(|number| !(min..=max).contains(number));
            unfit.map_or(Ok(()), |number| {
                let allowed = format!("a number from {min} to {max}");
                Err(Unfit { field, value: number.to_string(), allowed })
            })
        };
        let percent = |field, number: Option<u8>, min: u8| {
            within(field, number.map(u32::from), min.into(), 100)
        };
        within("budget_tokens", self.budget_tokens, BUDGET_TOKENS_MIN, BUDGET_TOKENS_MAX)?;
        within("load_tokens", self.load_tokens, LOAD_TOKENS_MIN, BUDGET_TOKENS_MAX)?;
        percent("compact_above", self.compact_above, COMPACT_ABOVE_PERCENT_MIN)?;
        within("half_life_factor", self.half_life_factor, 1, HALF_LIFE_FACTOR_MAX)?;
        percent("compact_to", self.compact_to, 1)?;
        let types = self.subagent_skip.as_deref().unwrap_or_default();
        let long = types.iter().any(|name| name.chars().count() > SUBAGENT_TYPE_CHARS_MAX);
        if long || types.len() > SUBAGENT_TYPES_MAX {
            return Err(Unfit {
                field: "subagent_skip",
                value: "too long".to_owned(),
                allowed: format!(
                    "{SUBAGENT_TYPES_MAX} types of {SUBAGENT_TYPE_CHARS_MAX} characters at most"
                ),
            });
        }
        Ok(())
    }

    /// These, and where they say nothing, those.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            budget_tokens: self.budget_tokens.or(other.budget_tokens),
            load_tokens: self.load_tokens.or(other.load_tokens),
            auto_compact: self.auto_compact.or(other.auto_compact),
            compact_above: self.compact_above.or(other.compact_above),
            compact_to: self.compact_to.or(other.compact_to),
            half_life_factor: self.half_life_factor.or(other.half_life_factor),
            checkpoint_mode: self.checkpoint_mode.or(other.checkpoint_mode),
            prompt_recall: self.prompt_recall.or(other.prompt_recall),
            subagent_skip: self.subagent_skip.clone().or_else(|| other.subagent_skip.clone()),
        }
    }

    /// Tokens of a load, the built-in number when none is set.
    pub fn load_tokens(&self) -> u32 {
        self.load_tokens.unwrap_or(LOAD_TOKENS)
    }

    /// How much slower what the project shares fades, the built-in number when none is set.
    pub fn half_life_factor(&self) -> u32 {
        self.half_life_factor.unwrap_or(PROJECT_HALF_LIFE_FACTOR)
    }

    /// The budget of the project's notes.
    pub fn project_budget(&self) -> Budget {
        self.budget(BUDGET_TOKENS)
    }

    /// The budget of a session's own notes, which depends on its client where nothing is set.
    pub fn session_budget(&self, client: &str) -> Budget {
        self.budget(session_budget_tokens(client))
    }

    fn budget(&self, tokens: u32) -> Budget {
        let above = self.compact_above.unwrap_or(COMPACT_ABOVE_PERCENT);
        Budget {
            tokens: self.budget_tokens.unwrap_or(tokens),
            auto_compact: self.auto_compact.unwrap_or(true),
            above,
            // Coming down to more than where it began would compact at every write.
            to: self.compact_to.unwrap_or(COMPACT_TO_PERCENT).min(above),
        }
    }
}

/// What a client's sessions have for their own notes unless something else is set.
fn session_budget_tokens(client: &str) -> u32 {
    let client = client.to_lowercase();
    let known = SESSION_BUDGETS.iter().find(|(name, _)| client.starts_with(name));
    known.map_or(SESSION_BUDGET_TOKENS, |(_, tokens)| *tokens)
}

/// A budget in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens that active notes may have.
    pub tokens: u32,
    /// Whether a write that goes above `above` compacts.
    pub auto_compact: bool,
    /// Percent of the budget above which a write compacts.
    pub above: u8,
    /// Percent of the budget that compaction comes down to.
    pub to: u8,
}

impl Budget {
    /// Tokens that are `percent` of the budget, rounded down.
    pub fn share(&self, percent: u8) -> u64 {
        u64::from(self.tokens) * u64::from(percent) / 100
    }

    /// Whether a write that leaves `used` tokens active has to compact.
    pub fn is_exceeded(&self, used: u64) -> bool {
        self.auto_compact && used > self.share(self.above)
    }

    /// Whether answers show summaries in place of long texts.
    pub fn is_tight(&self, used: u64) -> bool {
        used > self.share(crate::limits::TIGHT_ABOVE_PERCENT)
    }
}

#[cfg(test)]
mod tests;
