//! `anchord note`: stores a note, as an agent would.

use std::io::Write;

use anchord_memory::limits::NOTE_BYTES_MAX;
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::text;
use crate::tool;

/// Store a note, or with a key a fact that a later one replaces
///
/// Agents find it as they find their own. What looks like a secret is taken out first, and the
/// answer says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord note 'The staging database is reset every night' --tag infra
  anchord note 'cargo nextest run' --key test.command
  anchord note --user 'prefers small pull requests'
  git diff --stat main | anchord note --summary 'what the branch touches' --expires 7d")]
pub(crate) struct Args {
    /// The text; - reads standard input, and so does omitting it when input is piped in
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Key that makes it a fact, which `anchord get KEY` finds and a later note with it replaces
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    key: Option<String>,
    /// Shown instead of a long text when room is short
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Tag that finds it; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// 1 to 10 [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    importance: Option<u8>,
    /// Time after which it no longer holds: 12h, 30d, tomorrow, 2026-12-01 (midnight UTC)
    #[arg(long, value_name = "WHEN", value_parser = text::when)]
    expires: Option<String>,
    /// Never archived, and first in a load
    #[arg(long)]
    pin: bool,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the text, and the record in full
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let content = text::required(self.text, text::Source::default(), NOTE_BYTES_MAX)?;
        let arguments = json!({
            "content": content,
            "key": self.key,
            "summary": self.summary,
            "tags": self.tag,
            "importance": self.importance,
            "expires": self.expires,
            "pinned": self.pin,
            "scope": self.memory.user.then_some("user"),
        });
        tool::run(out, self.memory.resolve()?, "memory_note", arguments, self.json).map(drop)
    }
}
