//! Changes the given settings and leaves the rest.

use super::Plan;
use crate::change::Change;
use crate::memory::Memory;
use crate::refusal::Refusal;
use crate::settings::{Settings, Unfit};

/// Changes the settings of the project, or those for one client's own notes. Returns all settings
/// in effect afterwards; writes nothing if they are unchanged.
///
/// # Errors
/// Fails if a number is out of bounds or a list is too long.
pub fn plan_configure(
    memory: &Memory,
    client: Option<&str>,
    new: &Settings,
) -> Result<Plan<Settings>, Refusal> {
    let checked = if client.is_some() { new.check_own() } else { new.check() };
    checked.map_err(|Unfit { field, value, allowed }| {
        Refusal::invalid(field, format!("is {value}; give {allowed}"))
    })?;
    let before = memory.settings(client).map(|known| Settings::clone(known)).unwrap_or_default();
    let settings = new.or(&before);
    let changes = if settings == before {
        Vec::new()
    } else {
        let client = client.map(str::to_owned);
        // A team shares the project's settings; those of a client's own notes stay here.
        let shared = client.is_none() && memory.team().is_some();
        vec![Change::Configure { client, settings: settings.clone(), shared }]
    };
    Ok(Plan { changes, outcome: settings })
}
