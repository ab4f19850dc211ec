//! `anchord diff`: the difference between two revisions.

use std::io::Write;

use serde_json::json;

use super::{MemoryArg, print_json};
use crate::exit::Error;
use crate::pager::paged;
use crate::past;
use crate::tool::Caller;

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
    #[arg(value_name = "REV")]
    from: u64,
    /// The later revision [default: the newest]
    #[arg(value_name = "REV")]
    to: Option<u64>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the records that differ, field by field
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let mut caller = Caller::new(self.memory.resolve()?)?;
        let arguments = json!({ "from": self.from, "to": self.to });
        let (view, _) = past::ask(&mut caller, "memory_diff", arguments)?;
        if self.json {
            return print_json(out, &view);
        }
        paged(out, |out| past::print(out, &view))
    }
}
