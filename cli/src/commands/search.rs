//! `anchord search`: prints what an agent would find.

use std::io::Write;
use std::process::ExitCode;

use anchord_memory::limits::ANSWER_TOKENS_MIN;
use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::text;
use crate::tool::{self, Scope};

/// Find records by words, tags, file or time, best first
///
/// Exits with 1 when nothing is found, as grep does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord search retry backoff
  anchord search '\"borrow checker\" -async' --kind lesson --kind note
  anchord search --tag rust --since yesterday --json | jq -r '.records[].id'
  anchord search port --at 12
  anchord search E0502 --explain --project ~/src/parser")]
pub(crate) struct Args {
    /// Words, "a phrase", -without; all of them together make the query
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Only records of this kind; may be repeated
    #[arg(long, value_parser = tool::kinds(), value_name = "KIND")]
    kind: Vec<String>,
    /// Only records with this tag; if repeated, with all of them
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only shared records, or only sessions' private notes [default: those that an agent finds,
    /// which are shared]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// About this file or directory, relative to the project's root
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Written since this time: 2026-11-02, yesterday, monday (midnight UTC), 2w, '3 days ago'
    #[arg(long, value_name = "DATE", value_parser = text::since)]
    since: Option<String>,
    /// Written before this time
    #[arg(long, value_name = "DATE", value_parser = text::since)]
    until: Option<String>,
    /// Maximum number of records
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Maximum number of tokens in the answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(ANSWER_TOKENS_MIN)..))]
    max_tokens: Option<u32>,
    /// Cursor from an earlier answer, to get what it left out
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Explain why each record was found
    #[arg(long)]
    explain: bool,
    /// Memory as it was at a revision or time, as 12, yesterday or '2026-11-02 09:30'
    #[arg(long, value_name = "REV|TIME", value_parser = text::moment)]
    at: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the text, the records in full, and the cursor of what was left out
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let arguments = json!({
            "query": self.query.join(" "),
            "kinds": self.kind,
            "tags": self.tag,
            "scope": self.scope,
            "file": self.file,
            "since": self.since,
            "until": self.until,
            "limit": self.limit,
            "max_tokens": self.max_tokens,
            "cursor": self.cursor,
            "explain": self.explain,
        });
        let memory = self.memory.resolve()?;
        let reply = tool::run_at(out, memory, "memory_search", arguments, self.at, self.json)?;
        Ok(ExitCode::from(u8::from(reply.records.is_empty())))
    }
}
