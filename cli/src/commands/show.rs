//! `anchord show`: one commit in full.

use std::io::Write;

use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::history;

/// Print one commit with all that it changed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord show 12
  anchord show 12 --json | jq '.records[].id'")]
pub(crate) struct Args {
    /// The number of the commit, as `anchord history` shows it
    #[arg(value_name = "REV", value_parser = history::revision)]
    revision: u64,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the commit and its differences
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let arguments = json!({ "revision": self.revision });
        history::answer(out, self.memory.resolve()?, "memory_history", arguments, self.json)
    }
}
