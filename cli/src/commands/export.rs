//! `anchord export`: the whole memory of a project as one document, or as another system's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anchord_daemon::api::{self, ExportFormat, ExportQuery};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;

use super::MemoryArg;
use crate::client::Client;
use crate::exit::Error;
use crate::show;

/// Print everything a project remembers
///
/// Your own notes are in every project but in no project's export: --user prints only them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord export > memory-of-parser.md
  anchord export --format json | jq '.records | length'
  anchord export --user --format json > my-notes.json
  anchord export --format snap-memory --to topics")]
pub(crate) struct Args {
    /// markdown for people, json for programs, or zipmem, compactor, infinite-context as that
    /// system's state; snap-memory as that system's folder
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    /// The folder for the files of snap-memory; it is created if necessary
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
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
    SnapMemory,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let format = match self.format {
            Format::Markdown => ExportFormat::Markdown,
            Format::Json => ExportFormat::Json,
            Format::Zipmem => ExportFormat::Zipmem,
            Format::Compactor => ExportFormat::Compactor,
            Format::InfiniteContext => ExportFormat::InfiniteContext,
            Format::SnapMemory => ExportFormat::SnapMemory,
        };
        let is_folder = format == ExportFormat::SnapMemory;
        if is_folder != self.to.is_some() {
            let what = "--format snap-memory writes several files, and the others one document";
            return Err(Error::usage(what).with_action("Use --to DIR with snap-memory alone."));
        }
        let query = ExportQuery { project: self.memory.resolve()?, format };
        let document = Client::started(&InstanceDir::locate()?)?.text(api::EXPORT, &query)?;
        if let Some(folder) = &self.to {
            let files: BTreeMap<String, String> =
                serde_json::from_str(&document).context("cannot read the daemon's answer")?;
            let written = write_all(folder, &files)?;
            return Ok(writeln!(out, "{}", report(written, files.len()))?);
        }
        out.write_all(document.as_bytes())?;
        if !document.ends_with('\n') {
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Words the number of files that were written, of all that the folder has.
fn report(written: usize, all: usize) -> String {
    let files = show::count(all as u64, "file");
    match all.saturating_sub(written) {
        0 => format!("wrote {files}"),
        1 => format!("wrote {written} of {files}; the other was there"),
        _ => format!("wrote {written} of {files}; the others were there"),
    }
}

/// Writes files into a folder. Returns the number of those that were not there yet. Nothing is
/// written if one of them is there with another content.
fn write_all(folder: &Path, files: &BTreeMap<String, String>) -> Result<usize, Error> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut new = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        match fs::read(&path) {
            Ok(there) if there == text.as_bytes() => {}
            Ok(_) => {
                let what = format!("{} is there with another content", path.display());
                return Err(Error::usage(what).with_action("Name an empty folder."));
            }
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => new.push((path, text)),
            Err(reason) => {
                let cannot = format!("cannot read {}", path.display());
                return Err(anyhow::Error::new(reason).context(cannot).into());
            }
        }
    }
    for (path, text) in &new {
        let cannot = || format!("cannot write {}", path.display());
        fs::File::create_new(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(cannot)?;
    }
    Ok(new.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_there_are_named_only_if_there_were_any() {
        assert_eq!(report(2, 2), "wrote 2 files");
        assert_eq!(report(1, 2), "wrote 1 of 2 files; the other was there");
        assert_eq!(report(0, 3), "wrote 0 of 3 files; the others were there");
    }
}
