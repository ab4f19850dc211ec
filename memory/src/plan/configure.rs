//! Configuring: what is said changes, the rest stays.

use super::Plan;
use crate::change::Change;
use crate::limits::{
    BUDGET_TOKENS_MAX, BUDGET_TOKENS_MIN, COMPACT_ABOVE_PERCENT_MIN, LOAD_TOKENS_MIN,
    SUBAGENT_TYPE_CHARS_MAX, SUBAGENT_TYPES_MAX,
};
use crate::memory::Memory;
use crate::refusal::Refusal;
use crate::settings::Settings;

/// Changes what is configured for the project, or for one client's own notes. Gives all that is configured
/// then; nothing is written when it is so already.
///
/// # Errors
/// When a number is out of its bounds, or a list too long.
pub fn plan_configure(
    memory: &Memory,
    client: Option<&str>,
    told: &Settings,
) -> Result<Plan<Settings>, Refusal> {
    within("budget_tokens", told.budget_tokens, BUDGET_TOKENS_MIN, BUDGET_TOKENS_MAX)?;
    within("load_tokens", told.load_tokens, LOAD_TOKENS_MIN, BUDGET_TOKENS_MAX)?;
    within(
        "compact_above",
        told.compact_above.map(u32::from),
        COMPACT_ABOVE_PERCENT_MIN.into(),
        100,
    )?;
    within("half_life_factor", told.half_life_factor, 1, 10_000)?;
    within("compact_to", told.compact_to.map(u32::from), 1, 100)?;
    if let Some(types) = &told.subagent_skip {
        let long = types.iter().any(|name| name.chars().count() > SUBAGENT_TYPE_CHARS_MAX);
        if long || types.len() > SUBAGENT_TYPES_MAX {
            let why = format!(
                "takes {SUBAGENT_TYPES_MAX} types of {SUBAGENT_TYPE_CHARS_MAX} characters at most"
            );
            return Err(Refusal::invalid("subagent_skip", why));
        }
    }
    let before = memory.settings(client).map(|known| Settings::clone(known)).unwrap_or_default();
    let settings = told.or(&before);
    let changes = if settings == before {
        Vec::new()
    } else {
        let client = client.map(str::to_owned);
        vec![Change::Configure { client, settings: settings.clone() }]
    };
    Ok(Plan { changes, outcome: settings })
}

fn within(field: &str, number: Option<u32>, min: u32, max: u32) -> Result<(), Refusal> {
    match number.filter(|number| !(min..=max).contains(number)) {
        None => Ok(()),
        Some(number) => {
            Err(Refusal::invalid(field, format!("is {number}; give a number from {min} to {max}")))
        }
    }
}
