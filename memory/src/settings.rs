//! The settings of a project, or of one client's own notes in it. An unset value comes from the
//! daemon's configuration, and then from the built-in defaults.

use serde::{Deserialize, Serialize};

use crate::guide::CheckpointMode;
use crate::limits::{
    BUDGET_TOKENS, BUDGET_TOKENS_MAX, BUDGET_TOKENS_MIN, COMPACT_ABOVE_PERCENT,
    COMPACT_ABOVE_PERCENT_MIN, COMPACT_TO_PERCENT, HALF_LIFE_FACTOR_MAX, LOAD_TOKENS,
    LOAD_TOKENS_MIN, PROJECT_HALF_LIFE_FACTOR, SESSION_BUDGET_TOKENS, SESSION_BUDGET_TOKENS_MIN,
    SUBAGENT_TYPE_CHARS_MAX, SUBAGENT_TYPES_MAX,
};

/// Settings; each may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The token budget of active notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
    /// The token budget of a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_tokens: Option<u32>,
    /// Whether a write compacts when the budget is nearly used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_compact: Option<bool>,
    /// The percentage of the budget above which it compacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_above: Option<u8>,
    /// The percentage of the budget that it comes down to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_to: Option<u8>,
    /// The factor by which shared notes fade more slowly than a session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_life_factor: Option<u32>,
    /// The frequency at which agents are asked to checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_mode: Option<CheckpointMode>,
    /// Whether records about a prompt are given at that prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_recall: Option<bool>,
    /// The types of subagents that are given nothing at their start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_skip: Option<Vec<String>>,
}

/// A setting with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The field of [`Settings`].
    pub field: &'static str,
    /// The value, in words.
    pub value: String,
    /// The allowed values, in words that follow "give".
    pub allowed: String,
}

impl Settings {
    /// Checks that all values are within their bounds, wherever they were set.
    ///
    /// # Errors
    /// Returns the first invalid value.
    pub fn check(&self) -> Result<(), Unfit> {
        self.check_with(BUDGET_TOKENS_MIN)
    }

    /// Checks the settings of a client's own notes, whose budget may be smaller.
    ///
    /// # Errors
    /// Returns the first invalid value.
    pub fn check_own(&self) -> Result<(), Unfit> {
        self.check_with(SESSION_BUDGET_TOKENS_MIN)
    }

    fn check_with(&self, budget_tokens_min: u32) -> Result<(), Unfit> {
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
        within("budget_tokens", self.budget_tokens, budget_tokens_min, BUDGET_TOKENS_MAX)?;
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

    /// Returns these settings, with `other`'s values where these have none.
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

    /// Returns the token budget of a load, or the default.
    pub fn load_tokens(&self) -> u32 {
        self.load_tokens.unwrap_or(LOAD_TOKENS)
    }

    /// Returns the factor by which shared notes fade more slowly, or the default.
    pub fn half_life_factor(&self) -> u32 {
        self.half_life_factor.unwrap_or(PROJECT_HALF_LIFE_FACTOR)
    }

    /// Returns the budget of the project's notes.
    pub fn project_budget(&self) -> Budget {
        self.budget(BUDGET_TOKENS)
    }

    /// Returns the budget of a session's own notes. `tokens` is the default of its client, if that
    /// has one.
    pub fn session_budget(&self, tokens: Option<u32>) -> Budget {
        self.budget(tokens.unwrap_or(SESSION_BUDGET_TOKENS))
    }

    fn budget(&self, tokens: u32) -> Budget {
        let above = self.compact_above.unwrap_or(COMPACT_ABOVE_PERCENT);
        Budget {
            tokens: self.budget_tokens.unwrap_or(tokens),
            auto_compact: self.auto_compact.unwrap_or(true),
            above,
            // A target above the trigger would compact at every write.
            to: self.compact_to.unwrap_or(COMPACT_TO_PERCENT).min(above),
        }
    }
}

/// A budget in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The tokens that active notes may have.
    pub tokens: u32,
    /// Whether a write that exceeds `above` compacts.
    pub auto_compact: bool,
    /// The percentage of the budget above which a write compacts.
    pub above: u8,
    /// The percentage of the budget that compaction comes down to.
    pub to: u8,
}

impl Budget {
    /// Returns `percent` of the budget in tokens, rounded down.
    pub fn share(&self, percent: u8) -> u64 {
        u64::from(self.tokens) * u64::from(percent) / 100
    }

    /// Returns whether a write that leaves `used` tokens active has to compact.
    pub fn is_exceeded(&self, used: u64) -> bool {
        self.auto_compact && used > self.share(self.above)
    }

    /// Returns whether answers show summaries in place of long texts.
    pub fn is_tight(&self, used: u64) -> bool {
        used > self.share(crate::limits::TIGHT_ABOVE_PERCENT)
    }
}

#[cfg(test)]
mod tests;
