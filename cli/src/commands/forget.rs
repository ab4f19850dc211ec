//! `anchord forget`: removes records from load and search; history keeps them.

use std::io::Write;

use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::tool;

/// Take records that are wrong or obsolete out of memory; history keeps them
///
/// A record that cannot be forgotten does not stop the others. `anchord purge` takes a record out
/// of history as well.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord forget n12
  anchord forget n12 l7 --project ~/src/parser
  anchord forget u2
  anchord list --tag scratch --json | jq -r '.records[].id' | xargs anchord forget")]
pub(crate) struct Args {
    /// Ids as `anchord list` shows them, or facts by their keys
    #[arg(value_name = "ID|KEY", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: for each, the text and the record as it is now
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let memory = |name: &str| self.memory.resolve_for(name);
        tool::for_each(out, &self.names, self.json, memory, |caller, name| {
            caller.call("memory_forget", json!({ "id": name }))
        })
    }
}
