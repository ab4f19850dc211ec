//! `anchord show`: one commit in full.

use std::io::Write;

use serde_json::json;

use super::{MemoryArg, print_json};
use crate::exit::Error;
use crate::pager::paged;
use crate::past;
use crate::tool::Caller;

/// Print one commit with all that it changed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord show 12
  anchord show 12 --json | jq '.records[].id'")]
pub(crate) struct Args {
    /// The number of the commit, as `anchord history` shows it
    #[arg(value_name = "REV")]
    revision: u64,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the commit and its differences
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let mut caller = Caller::new(self.memory.resolve()?)?;
        let arguments = json!({ "revision": self.revision });
        let (view, _) = past::ask(&mut caller, "memory_history", arguments)?;
        if self.json {
            return print_json(out, &view);
        }
        paged(out, |out| past::print(out, &view))
    }
}
