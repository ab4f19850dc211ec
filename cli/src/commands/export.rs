//! `anchord export`: the whole memory of a project as one document.

use std::io::Write;

use anchord_daemon::api::{self, ExportFormat, ExportQuery};
use anchord_proto::instance::InstanceDir;

use super::MemoryArg;
use crate::client::Client;
use crate::exit::Error;

/// Print everything a project remembers
///
/// Your own notes are in every project but in no project's export: --user prints only them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord export > memory-of-parser.md
  anchord export --format json | jq '.records | length'
  anchord export --user --format json > my-notes.json")]
pub(crate) struct Args {
    /// markdown for people, json for programs, or zipmem, compactor, infinite-context as that
    /// system's state
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    #[command(flatten)]
    memory: MemoryArg,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Markdown,
    Json,
    Zipmem,
    Compactor,
    InfiniteContext,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let format = match self.format {
            Format::Markdown => ExportFormat::Markdown,
            Format::Json => ExportFormat::Json,
            Format::Zipmem => ExportFormat::Zipmem,
            Format::Compactor => ExportFormat::Compactor,
            Format::InfiniteContext => ExportFormat::InfiniteContext,
        };
        let query = ExportQuery { project: self.memory.resolve()?, format };
        let document = Client::started(&InstanceDir::locate()?)?.text(api::EXPORT, &query)?;
        out.write_all(document.as_bytes())?;
        if !document.ends_with('\n') {
            writeln!(out)?;
        }
        Ok(())
    }
}
