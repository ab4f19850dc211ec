//! `anchord backup`: writes everything that a journal holds to one file.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anchord_daemon::api::{
    self, BackupContent, BackupQuery, BackupSummary, ProjectQuery, ProjectStatus, StatusReply,
};
use anchord_daemon::store::{BackupHeader, BackupWriter, read_backup};
use anchord_memory::{Memory, Timestamp};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{MemoryArg, print_json, utf8};
use crate::client::Client;
use crate::exit::{Error, Kind};
use crate::show;

/// Write everything a memory holds to one file, while agents go on
///
/// The file has every version, private notes and staged work included; only you can read it. It is
/// read back and checked before the command ends. `anchord restore FILE` restores it, here or on
/// another machine. What is purged later stays in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord backup
  anchord backup --to ~/backups/
  anchord backup --user --to my-notes.jsonl.gz
  anchord journal verify my-notes.jsonl.gz")]
pub(crate) struct Args {
    /// The file to write, or a directory for it [default: the directory `backups` in anchord's
    /// data]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the file and its content
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let project = self.memory.resolve()?;
        let query = ProjectQuery { project: project.clone() };
        let status: ProjectStatus = client.get(api::PROJECT, &query)?;
        let made = Timestamp(jiff::Timestamp::now().as_millisecond());
        let path = self.target(&mut client, &status, made)?;
        let id = if project == api::USER { project.clone() } else { status.id };
        let header = BackupHeader::new::<Memory>(id, status.root, made);
        write(&mut client, &project, status.entries, &path, &header)?;
        let summary = checked(&path)?;
        if self.json {
            return print_json(out, &json!({ "file": utf8(path)?, "backup": summary }));
        }
        let bytes = fs::metadata(&path).map_or(0, |file| file.len());
        Ok(writeln!(
            out,
            "{}: {}, {}, read back and found whole",
            show::plain(&path.to_string_lossy()),
            content(&summary),
            show::bytes(bytes),
        )?)
    }

    /// Returns the path of the backup.
    fn target(
        &self,
        client: &mut Client,
        status: &ProjectStatus,
        made: Timestamp,
    ) -> Result<PathBuf, Error> {
        let name = || {
            let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
            let of: String = status.name.chars().map(plain).collect();
            let of = of.trim_start_matches('.');
            let time = jiff::Timestamp::from_millisecond(made.0).unwrap_or_default();
            format!("{of}-{}.jsonl.gz", time.strftime("%Y-%m-%dT%H%M%S"))
        };
        let given = if let Some(given) = &self.to {
            std::path::absolute(given).context("cannot name the file")?
        } else {
            let directory = directory(client)?;
            let mut builder = fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700)
                .create(&directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
            directory
        };
        Ok(if given.is_dir() { given.join(name()) } else { given })
    }
}

/// Returns the directory in which backups are written by default.
pub(super) fn directory(client: &mut Client) -> Result<PathBuf, Error> {
    let status: StatusReply = client.get(api::STATUS, &json!({}))?;
    Ok(PathBuf::from(status.instance.data).join("backups"))
}

/// Describes the content of a backup.
pub(super) fn content(summary: &BackupSummary) -> String {
    let BackupSummary { entries, revision, records, .. } = summary;
    let entries = if *entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
    format!("{entries} up to revision {}, {}", revision.0, show::count(*records, "record"))
}

/// Writes the entries up to `until` to a new file, which takes its name when it is whole.
fn write(
    client: &mut Client,
    project: &str,
    until: u64,
    path: &Path,
    header: &BackupHeader,
) -> Result<(), Error> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    let temporary = PathBuf::from(temporary);
    let cannot = || format!("cannot write {}", temporary.display());
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary);
    let file = file.with_context(cannot)?;
    let written = entries(client, project, until, &file, header).and_then(|()| {
        file.sync_all().with_context(cannot)?;
        fs::rename(&temporary, path)
            .with_context(|| format!("cannot rename {}", temporary.display()))?;
        Ok(())
    });
    if written.is_err() {
        // The error that is reported is the cause.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn entries(
    client: &mut Client,
    project: &str,
    until: u64,
    file: &File,
    header: &BackupHeader,
) -> Result<(), Error> {
    let cannot = "cannot write the backup";
    let mut backup = BackupWriter::new(BufWriter::new(file), header).context(cannot)?;
    let bar = bar(until);
    while backup.entries() < until {
        let from = backup.entries() + 1;
        let query = BackupQuery { project: project.to_owned(), from, until };
        let page = client.text(api::BACKUP, &query)?;
        for line in page.lines() {
            backup.line(line.as_bytes()).context(cannot)?;
        }
        if backup.entries() < from {
            return Err(Error::failed(format!("the daemon has no entry {from}")));
        }
        bar.set_position(backup.entries());
    }
    bar.finish_and_clear();
    let mut file = backup.finish().context(cannot)?;
    Ok(file.flush().context(cannot)?)
}

fn bar(entries: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} entries, {eta} left");
    ProgressBar::new(entries).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Reads a backup and checks it.
pub(super) fn checked(path: &Path) -> Result<BackupSummary, Error> {
    let named = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(named)?;
    let mut content = BackupContent::default();
    let header = read_backup::<Memory>(file, &mut |entry, _| {
        content.take(&entry);
        Ok(())
    });
    let header = header
        .map_err(|error| Error::new(Kind::Damaged, format!("{}: {error}", path.display())))?;
    Ok(content.summary(header))
}
