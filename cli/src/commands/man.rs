//! `anchord man`: writes the man pages, for those who make packages.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use crate::exit::Error;

/// Write the man pages of all commands into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord man ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// The directory; it is created
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let directory = &self.directory;
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        clap_mangen::generate_to(crate::help::command(), directory)
            .with_context(|| format!("cannot write into {}", directory.display()))?;
        Ok(writeln!(out, "the man pages are in {}", directory.display())?)
    }
}
