//! `anchord get`: one record in full.

use std::io::Write;

use anchord_memory::RecordId;
use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::tool;

/// Print one record in full, by its id or a fact's key
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord get n12
  anchord get test.command
  anchord get test.command --version 1
  anchord get a3 --expand --project ~/src/parser")]
pub(crate) struct Args {
    /// An id as `anchord list` shows it (b12, a3, l7, n9, s4; u2 for your own note), or else a key
    #[arg(value_name = "ID|KEY")]
    name: String,
    /// An earlier version; the answer says whether it is current
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// For an anchor: also its lines as they are in the file now
    #[arg(long)]
    expand: bool,
    /// Cursor from an earlier answer, to get what did not fit
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the text, and the record in full
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let field = if self.name.parse::<RecordId>().is_ok() { "id" } else { "key" };
        let arguments = json!({
            field: self.name,
            "version": self.version,
            "expand": self.expand,
            "cursor": self.cursor,
        });
        tool::run(out, self.memory.resolve_for(&self.name)?, "memory_get", arguments, self.json)
            .map(drop)
    }
}
