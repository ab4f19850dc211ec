//! `anchord restore`: sets a project, or one record, back to an earlier moment by a new commit.

use std::io::Write;

use serde_json::json;

use super::MemoryArg;
use super::undo::{How, roll_back};
use crate::exit::Error;

/// Set memory, or one record, back to what it was at a revision or time
///
/// Everything that came later is taken back by one commit, the work of all sessions included.
/// `anchord undo` brings it back. Private notes and staged work stay. What was purged stays purged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord restore --to 12 --dry-run
  anchord restore --to yesterday
  anchord restore --to '2026-11-02 09:30'
  anchord restore --to 12 --record n7")]
pub(crate) struct Args {
    /// A revision, as `anchord history` shows it, or a time: 2h, yesterday, 2026-11-02
    #[arg(long, value_name = "REV|TIME")]
    to: String,
    /// Only this record, by its id or key
    #[arg(long, value_name = "ID|KEY")]
    record: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    #[command(flatten)]
    how: How,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let revision = self.to.trim().parse::<u64>().ok();
        let time = revision.is_none().then_some(&self.to);
        let arguments = json!({ "to_revision": revision, "to_time": time, "record": self.record });
        let memory = self.memory.resolve_for(self.record.as_deref().unwrap_or_default())?;
        roll_back(out, memory, arguments, &self.how)
    }
}
