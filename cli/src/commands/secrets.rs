//! `anchord secrets`: scans what is stored for secrets.

use std::io::Write;

use anchord_daemon::api::{self, ProjectQuery, SecretsReply};
use anchord_proto::instance::InstanceDir;

use super::{MemoryArg, print_json};
use crate::client::Client;
use crate::exit::{Error, Kind};
use crate::history::person;
use crate::show;
use crate::table::{Align, Table};

/// Search what is stored for secrets
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Scan(ScanArgs),
}

/// Search all versions of all records for what looks like a secret; exits with 1 if there is
/// one
///
/// Names records and kinds, never the secret. New secrets are taken out before they are stored;
/// this finds those from before, or of a form that an older anchord did not know.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord secrets scan
  anchord secrets scan --json | jq -r '.records[].id'")]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let Self::Scan(args) = self;
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let project = args.memory.resolve()?;
        let query = ProjectQuery { project };
        let found: SecretsReply = client.get(api::SECRETS, &query)?;
        if args.json {
            print_json(out, &found)?;
        } else {
            show_found(out, &found)?;
        }
        out.flush()?;
        verdict(&found)
    }
}

fn show_found(out: &mut dyn Write, found: &SecretsReply) -> Result<(), Error> {
    let root = show::plain(&found.project.root);
    if found.is_clean() {
        return Ok(writeln!(out, "{root}: no secrets in {} journal lines", found.entries)?);
    }
    writeln!(out, "{root}: secrets in {} journal lines", found.entries)?;
    let mut table = Table::new(&[
        ("where", Align::Left),
        ("versions", Align::Left),
        ("looks like", Align::Left),
    ]);
    for record in &found.records {
        let versions: Vec<String> = record.versions.iter().map(u32::to_string).collect();
        table.row([record.id.clone(), versions.join(" "), record.kinds.join(", ")]);
    }
    for entry in &found.others {
        let place = format!("{} (entry {})", show::plain(&entry.place), entry.seq);
        table.row([place, "-".to_owned(), entry.kinds.join(", ")]);
    }
    Ok(table.print(out)?)
}

fn verdict(found: &SecretsReply) -> Result<(), Error> {
    if found.is_clean() {
        return Ok(());
    }
    let ids: Vec<&str> = found.records.iter().map(|record| record.id.as_str()).collect();
    let action = if ids.is_empty() {
        let purge = person().command(&["purge", "--query", "TEXT"]);
        format!("{purge} takes a text out of checkpoints and replies.")
    } else {
        let purge = person().command(&[&["purge"], ids.as_slice()].concat());
        format!(
            "{purge} takes these off the disk, with the checkpoints they came from.\n  \
             Then change the secrets: they were readable."
        )
    };
    Err(Error::new(Kind::Failed, "there are secrets in what is stored").with_action(action))
}

#[cfg(test)]
mod tests;
