//! The set-up of agents: what is there, what would change, and what was written. The crate
//! `anchord-agents` knows each agent's files.

pub(crate) mod manifest;
pub(crate) mod plan;
pub(crate) mod state;
#[cfg(test)]
mod tests;

use anchord_agents::setup::UserEnvironment;

use crate::exit::Error;

/// Returns the environment of the present user.
pub(crate) fn user_environment() -> Result<UserEnvironment, Error> {
    UserEnvironment::here().ok_or_else(|| Error::usage("no home directory: set HOME"))
}
