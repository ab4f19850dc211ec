//! `anchord why`: shows what hooks would give, and why nothing more.

use std::io::Write;

use serde_json::json;

use super::ProjectArg;
use crate::exit::Error;
use crate::tool;

/// Show what an agent would be given at a prompt or before it uses a file, and why nothing more
///
/// Assumes a new conversation: records that a session's start already gave are given again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord why --prompt 'run the tests'
  anchord why --file src/billing/tax.py")]
pub(crate) struct Args {
    #[command(flatten)]
    moment: MomentArgs,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct MomentArgs {
    /// Prompt that a person writes to an agent
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// A file that an agent is about to read or edit
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let MomentArgs { prompt, file } = self.moment;
        let file = file.map(|file| self.project.file(file));
        let arguments = json!({ "prompt": prompt, "file": file });
        tool::run(out, self.project.resolve()?, "memory_why", arguments, self.json).map(drop)
    }
}
