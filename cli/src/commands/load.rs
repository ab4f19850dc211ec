//! `anchord load`: prints what an agent would get.

use std::io::Write;

use anchord_memory::Kind;
use anchord_memory::limits::LOAD_TOKENS_MIN;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::text;
use crate::tool;

/// Print what an agent would get at its start
///
/// Consumes no notice: the next agent still sees it. Memory of an earlier moment comes without your
/// own notes. --user prints these alone, and so does a load in your home directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord load
  anchord load --task 'the login is slow' --max-tokens 1000
  anchord load --section lessons --section notes
  anchord load --at yesterday
  anchord load --user
  anchord load --project ~/src/parser | less")]
pub(crate) struct Args {
    /// Only this section; may be repeated
    #[arg(long, value_name = "SECTION", value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::plural)))]
    section: Vec<String>,
    /// The agent's task: records about it get room first
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Maximum number of tokens in the answer [default: as configured]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(LOAD_TOKENS_MIN)..))]
    max_tokens: Option<u32>,
    /// Cursor from an earlier answer, to continue after it
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Memory as it was at a revision or time, as 12, yesterday or '2026-11-02 09:30'
    #[arg(long, value_name = "REV|TIME", value_parser = text::moment)]
    at: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the text, the records that it shows in full, and the cursor of what was cut
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let arguments = json!({
            "sections": self.section,
            "task": self.task,
            "max_tokens": self.max_tokens,
            "cursor": self.cursor,
        });
        let memory = self.memory.resolve()?;
        tool::run_at(out, memory, "memory_load", arguments, self.at, self.json).map(drop)
    }
}
