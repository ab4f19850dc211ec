//! `anchord get`: one record in full, or several.

use std::io::Write;

use anchord_memory::RecordId;
use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::history::person;
use crate::tool;

/// Print records in full, by their ids, or a fact by its key
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord get n12
  anchord get n12 l7 b3
  anchord get test.command
  anchord get test.command --version 1
  anchord get a3 --expand --project ~/src/parser")]
pub(crate) struct Args {
    /// Ids as `anchord list` shows them (b12, a3, l7, n9, s4; u2 for your own note), or else a key
    #[arg(value_name = "ID|KEY", required = true)]
    names: Vec<String>,
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
        let is_key = |name: &&String| name.parse::<RecordId>().is_err();
        let (field, name) = match (self.names.as_slice(), self.names.iter().find(is_key)) {
            ([key], Some(_)) => ("key", json!(key)),
            (_, Some(key)) => {
                let get = person().command(&["get", key]);
                let why = format!("`{key}` is not an id, and a key goes alone: {get}");
                return Err(Error::usage(why));
            }
            (ids, None) => ("id", json!(ids)),
        };
        // A project's memory also gives the user's own notes, but not the other way round.
        let is_of_project = |name: &&String| !name.parse().is_ok_and(RecordId::is_personal);
        let decisive = self.names.iter().find(is_of_project).or(self.names.first());
        let memory = self.memory.resolve_for(decisive.map_or("", String::as_str))?;
        let arguments = json!({
            field: name,
            "version": self.version,
            "expand": self.expand,
            "cursor": self.cursor,
        });
        let reply = tool::run(out, memory, "memory_get", arguments, self.json)?;
        if reply.refused.is_empty() {
            return Ok(());
        }
        out.flush()?;
        Err(Error::failed(reply.refused.join("\nerror: ")))
    }
}
