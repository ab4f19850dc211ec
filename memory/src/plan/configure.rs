//! Configuring: what is said changes, the rest stays.

use super::Plan;
use crate::change::Change;
use crate::memory::Memory;
use crate::refusal::Refusal;
use crate::settings::{Settings, Unfit};

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
    told.check().map_err(|Unfit { field, value, allowed }| {
        Refusal::invalid(field, format!("is {value}; give {allowed}"))
    })?;
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
