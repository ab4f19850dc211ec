//! `anchord compact`: brings notes down to a share of their budget.

use std::io::Write;

use serde_json::json;

use super::MemoryArg;
use crate::exit::Error;
use crate::tool;

/// Reduce notes to a share of their budget, or show what that would do
///
/// Long texts are replaced by their summaries, near duplicates are folded, and the least valuable
/// notes are archived. Nothing is lost: an archived note is still found, and comes back when it is
/// used. Sessions' private notes have budgets of their own, which sessions keep by themselves.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord compact --dry-run
  anchord compact --target-usage 0.5
  anchord compact --project ~/src/parser --json")]
pub(crate) struct Args {
    /// Share of the budget to reduce notes to, 0 to 1 [default: as configured]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    target_usage: Option<f64>,
    /// Show the plan and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the text and the records that changed, or the plan of a dry run, by ids
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let arguments = json!({ "target_usage": self.target_usage, "dry_run": self.dry_run });
        tool::run(out, self.memory.resolve()?, "memory_compact", arguments, self.json).map(drop)
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a number from 0 to 1, such as 0.7".to_owned())
}
