//! `anchord list`: prints records, newest first, one line each.

use std::io::Write;

use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::tool;

/// List records, newest first, one line each
///
/// The list includes sessions' private notes, and your own for every project (u2). `anchord get`
/// and `anchord forget` take these by their ids.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord list
  anchord list --kind note --tag infra --limit 50
  anchord list --user
  anchord list --json | jq -r '.records[] | [.id, .created.client] | @tsv'")]
pub(crate) struct Args {
    /// Only records of this kind; may be repeated
    #[arg(long, value_parser = tool::kinds(), value_name = "KIND")]
    kind: Vec<String>,
    /// Only records with this tag; if repeated, with all of them
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Maximum number of records
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Cursor from an earlier answer, to continue after it
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the text, the records in full, and the cursor of what comes after them
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let arguments = json!({
            "kinds": self.kind,
            "tags": self.tag,
            "limit": self.limit,
            "cursor": self.cursor,
        });
        tool::run(out, self.memory.resolve()?, "memory_list", arguments, self.json).map(drop)
    }
}
