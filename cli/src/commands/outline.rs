//! `anchord outline`: prints a file's structure, or the files of a directory.

use std::io::Write;

use serde_json::json;

use super::ProjectArg;
use crate::exit::Error;
use crate::tool;

/// Print a file's items with their lines, its imports and its summary, or the files of a directory
///
/// Outlines are kept by content, so the second look is fast. Files that git ignores and files of
/// secrets are not read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord outline src/main.rs
  anchord outline src/main.rs --lines 120-300
  anchord outline src
  anchord outline src/main.rs --json | jq -r '.outline.items[] | [.first, .name] | @tsv'")]
pub(crate) struct Args {
    /// A file or directory of the project
    #[arg(value_name = "PATH")]
    path: String,
    /// Only items on these lines
    #[arg(long, value_name = "FIRST-LAST")]
    lines: Option<String>,
    /// Maximum number of tokens of the text
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON: the text, and all items
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let arguments = json!({
            "path": self.project.file(self.path),
            "lines": self.lines,
            "max_tokens": self.max_tokens,
        });
        tool::run(out, self.project.resolve()?, "memory_outline", arguments, self.json).map(drop)
    }
}
