//! `anchord pin`: keeps records from being archived, and puts them first in a load.

use std::io::Write;

use anchord_memory::RecordId;
use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::tool;

/// Keep records active whatever the budget says, and first in a load
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord pin b12
  anchord list --tag rule --json | jq -r '.records[].id' | xargs anchord pin")]
pub(crate) struct Args {
    #[command(flatten)]
    records: Records,
}

/// Records to pin or unpin, and the memory that they are in.
#[derive(Debug, clap::Args)]
pub(super) struct Records {
    /// Ids as `anchord list` shows them
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: for each, the text and the record as it is now
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        self.records.set(out, "pin", true)
    }
}

impl Records {
    /// Pins or unpins the records.
    pub(super) fn set(self, out: &mut dyn Write, verb: &str, pinned: bool) -> Result<(), Error> {
        let memory = |id: &str| {
            if id.parse::<RecordId>().is_ok() {
                return self.memory.resolve_for(id);
            }
            let action = "`anchord list` shows ids; `anchord get KEY` shows that of a fact.";
            let message = format!("failed to {verb}: `{id}` is not a record's id");
            Err(Error::usage(message).with_action(action))
        };
        tool::for_each(out, &self.ids, self.json, memory, |caller, id| {
            caller.send("memory_update", json!({ "id": id, "pinned": pinned }))
        })
    }
}
