//! `anchord diff`: the difference between two revisions.

use std::io::Write;

use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::history;

/// Print what differs between two revisions, or between one and now
///
/// Revision 0 is the empty memory. Private notes are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord diff 12
  anchord diff 12 15
  anchord diff 0 --json | jq '.records | length'")]
pub(crate) struct Args {
    /// The earlier revision
    #[arg(value_name = "REV", value_parser = history::revision)]
    from: u64,
    /// The later revision [default: the newest]
    #[arg(value_name = "REV", value_parser = history::revision)]
    to: Option<u64>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the records that differ, field by field
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let arguments = json!({ "from": self.from, "to": self.to });
        history::answer(out, self.memory.resolve()?, "memory_diff", arguments, self.json)
    }
}
