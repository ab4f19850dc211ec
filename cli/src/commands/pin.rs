//! `anchord pin`: keeps records from being archived, and puts them first in a load.

use std::io::Write;

use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::tool;

/// Keep records active regardless of the budget, and first in a load
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord pin b12
  anchord pin test.command
  anchord list --tag rule --json | jq -r '.records[].id' | xargs anchord pin")]
pub(crate) struct Args {
    #[command(flatten)]
    records: Records,
}

/// Records to pin or unpin, and the memory that they are in.
#[derive(Debug, clap::Args)]
pub(super) struct Records {
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
        self.records.pin(out)
    }
}

impl Records {
    fn pin(self, out: &mut dyn Write) -> Result<(), Error> {
        self.set(out, true)
    }

    /// Unpins the records.
    pub(super) fn unpin(self, out: &mut dyn Write) -> Result<(), Error> {
        self.set(out, false)
    }

    fn set(self, out: &mut dyn Write, pinned: bool) -> Result<(), Error> {
        let memory = |name: &str| self.memory.resolve_for(name);
        tool::for_each(out, &self.names, self.json, memory, |caller, name| {
            caller.send("memory_update", json!({ "id": name, "pinned": pinned }))
        })
    }
}
