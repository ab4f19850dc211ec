//! `anchord backup`: writes everything that a journal holds to one file.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anchord_daemon::api::{
    self, BackupContent, BackupQuery, BackupSummary, ProjectQuery, ProjectStatus, StatusReply,
};
use anchord_daemon::store::{BackupHeader, BackupWriter, read_backup};
use anchord_memory::{Memory, Timestamp};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use serde_json::json;

use super::{MemoryArg, print_json, utf8};
use crate::client::Client;
use crate::exit::{Error, Kind};
use crate::progress;
use crate::show;

/// Write everything a memory holds to one file, while agents work
///
/// The file has every version, private notes and staged work included; only you can read it. It is
/// read back and verified before the command ends. `anchord restore FILE` restores it, here or on
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
        let (id, root) = if project == api::USER {
            (project.clone(), status.name)
        } else {
            (status.id, status.root)
        };
        let header = BackupHeader::new::<Memory>(id, root, made);
        write(&mut client, &project, status.entries, &path, &header)?;
        let summary = checked(&path)?;
        if self.json {
            return print_json(out, &json!({ "file": utf8(path)?, "backup": summary }));
        }
        let bytes = fs::metadata(&path).map_or(0, |file| file.len());
        Ok(writeln!(
            out,
            "{}: {}, {}, verified",
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
            create_directory(given)?;
            std::path::absolute(given).context("cannot name the file")?
        } else {
            let directory = directory(client)?;
            let mut builder = fs::DirBuilder::new();
            let created = builder.recursive(true).mode(0o700).create(&directory);
            created.with_context(|| format!("cannot create {}", directory.display()))?;
            directory
        };
        Ok(if given.is_dir() { given.join(name()) } else { given })
    }
}

/// Creates the directory that a path with a slash at its end names. The one above must be there,
/// since it may be a disk that is not mounted.
fn create_directory(given: &Path) -> Result<(), Error> {
    if !given.as_os_str().as_encoded_bytes().ends_with(b"/") || given.is_dir() {
        return Ok(());
    }
    let created = fs::DirBuilder::new().mode(0o700).create(given);
    Ok(created.with_context(|| format!("cannot create {}", given.display()))?)
}

/// Returns the directory in which backups are written by default.
pub(super) fn directory(client: &mut Client) -> Result<PathBuf, Error> {
    let status: StatusReply = client.get(api::STATUS, &json!({}))?;
    Ok(PathBuf::from(status.instance.data).join("backups"))
}

/// Describes a backup: what it was made of, when, and its content.
pub(super) fn described(summary: &BackupSummary) -> String {
    let of = match summary.root.as_str() {
        "" => String::new(),
        root => format!(" of {}", show::plain(root)),
    };
    format!("Backup{of}, made {}: {}.", summary.made.minute(), content(summary))
}

/// Describes the content of a backup.
pub(super) fn content(summary: &BackupSummary) -> String {
    let BackupSummary { entries, revision, records, .. } = summary;
    let (entries, records) = (show::entries(*entries), show::count(*records, "record"));
    format!("{entries} up to revision {}, {records}", revision.0)
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
    let cannot = || format!("cannot write {}", path.display());
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
    let bar = progress::bar(until, "{bar:30} {pos} of {len} entries, {eta} left");
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

/// Reads a backup and checks it.
pub(super) fn checked(path: &Path) -> Result<BackupSummary, Error> {
    let named = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(named)?;
    let mut content = BackupContent::default();
    let header = read_backup::<Memory>(file, &mut |entry, _| {
        content.take(&entry);
        Ok(())
    });
    let header = header.map_err(|error| {
        let kind = if error.is_damage() { Kind::Damaged } else { Kind::Failed };
        Error::new(kind, format!("{}: {error}", path.display()))
    })?;
    Ok(content.summary(header))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_ends_in_a_slash_is_a_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let named = |name: &str| scratch.path().join(name);
        for name in ["backups/", "backups/"] {
            create_directory(&named(name)).unwrap();
            assert!(named(name).is_dir());
        }
        create_directory(&named("file")).unwrap();
        assert!(!named("file").exists());
        let error = create_directory(&named("missing/backups/")).unwrap_err();
        assert!(error.message.starts_with("cannot create "), "{error}");
    }
}
