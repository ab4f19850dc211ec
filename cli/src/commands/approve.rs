//! `anchord approve`: lets an action pass that a rule asks a person about.

use std::io::Write;

use anchord_daemon::api;
use serde_json::json;

use crate::exit::Error;
use crate::tool;

/// Let an action pass that a rule wants a person to approve, for 10 minutes
///
/// Agents with a prompt of their own ask there. Others name the command to run. Without an id,
/// lists the actions that wait.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord approve
  anchord approve 3fa2c19b")]
pub(crate) struct Args {
    /// The action's id, as the agent names it
    id: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let arguments = json!({ "id": self.id });
        tool::run(out, api::USER.to_owned(), "memory_approve", arguments, self.json).map(drop)
    }
}
