//! `anchord purge`: shows content, then removes it from disk for good.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use anchord_daemon::api::{self, PurgeParams, PurgeReply};
use anchord_memory::{RecordId, Shell, shell_line};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;

use super::{MemoryArg, backup, print_json};
use crate::client::Client;
use crate::confirm::confirmed;
use crate::exit::Error;
use crate::limits::PURGE_QUERY_BYTES_MAX;
use crate::show;
use crate::table::{Align, Table};
use crate::tool::typed;

/// Take records off the disk for good, in all their versions
///
/// History, which forgetting keeps, goes as well. Shows what goes, and asks; without a terminal it
/// needs --yes. The ids stay used, and the same text is not taken in again. Copies outside of
/// anchord (backups, exports, an agent's own files) are for you to find.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord purge n12 b3
  anchord purge deploy.password
  anchord purge --query 'hunter2'
  anchord purge --query - --yes < secret.txt
  anchord purge n12 --project ~/src/parser --yes --json
  anchord purge u2")]
pub(crate) struct Args {
    /// Records by their ids, as `anchord list` and `anchord secrets scan` show them, or facts by
    /// their keys
    #[arg(value_name = "ID|KEY", required_unless_present = "query")]
    ids: Vec<String>,
    /// Every record that contains exactly this text, in any version. With -, reads all of standard
    /// input, which keeps the text out of the shell's history and needs --yes
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Print JSON: what was done
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Resolves the one memory that everything is purged from.
    fn target(&self) -> Result<String, Error> {
        let is_personal = |name: &&String| name.parse().is_ok_and(RecordId::is_personal);
        let of_user: Vec<&String> = self.ids.iter().filter(is_personal).collect();
        if of_user.is_empty() || self.memory.names_two() {
            return self.memory.resolve();
        }
        if (of_user.len() < self.ids.len() || self.query.is_some()) && !self.memory.user {
            let purge = shell_line(
                ["anchord", "purge"].into_iter().chain(of_user.into_iter().map(String::as_str)),
            );
            return Err(Error::usage(
                "some of this is in your own notes and the rest in a project",
            )
            .with_action(format!(
                "Purge them separately: `{purge}` takes your own notes off the disk."
            )));
        }
        Ok(api::USER.to_owned())
    }

    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let project = self.target()?;
        let query = match self.query {
            Some(dash) if dash == "-" => Some(text_in(io::stdin().lock())?),
            query => query,
        };
        let mut client = Client::started(&InstanceDir::locate()?)?;
        // Not the rest of the line, which may have the text that has to go.
        let typed = if project == api::USER {
            // The ids alone may have named this memory, whatever the options name.
            vec!["--user".to_owned()]
        } else {
            Shell { typed: typed() }.memory()
        };
        let mut params = PurgeParams { project, ids: self.ids, query, dry_run: true, typed };
        let plan: PurgeReply = client.post(api::PURGE, &params)?;
        if !self.json {
            show_plan(out, &plan)?;
            out.flush()?;
        }
        if plan.is_empty() {
            return if self.json { print_json(out, &plan) } else { name_asides(out, &plan) };
        }
        if !confirmed("Purge this for good?", self.yes)? {
            return Ok(writeln!(out, "nothing was purged")?);
        }
        params.dry_run = false;
        let done: PurgeReply = client.post(api::PURGE, &params)?;
        if self.json {
            return print_json(out, &done);
        }
        show_result(out, &done)?;
        name_asides(out, &done)?;
        name_backups(out, &backup::directory(&mut client)?)
    }
}

/// The copies that a purge in a team cannot reach by itself.
const OF_TEAM: &str = "\
The team's other machines follow as they reach the database. Its own backups, replicas and
write-ahead log keep the text until they expire.";

/// The copies that a purge leaves in git.
const OF_GIT: &str = "\
Commit the removal. git's history and other branches keep what was committed of it; git's own tools
rewrite them.";

fn show_result(out: &mut dyn Write, done: &PurgeReply) -> Result<(), Error> {
    let revision = done.revision.map(|revision| format!(" as revision {revision}"));
    writeln!(out, "purged{}", revision.unwrap_or_default())?;
    if done.files > 0 {
        writeln!(out, "blackened in {}", show::count(done.files.into(), "other file"))?;
    }
    for path in &done.shared {
        writeln!(out, "removed {}", show::plain(path))?;
    }
    if !done.shared.is_empty() {
        writeln!(out, "{OF_GIT}")?;
    }
    if done.team {
        writeln!(out, "{OF_TEAM}")?;
    }
    for path in &done.failed {
        writeln!(out, "NOT purged, look yourself: {}", show::plain(path))?;
    }
    Ok(())
}

fn listed(ids: &[String]) -> String {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    show::listed(&ids, "and")
}

/// Names the earlier memories of the project, since a purge does not change them.
fn name_asides(out: &mut dyn Write, reply: &PurgeReply) -> Result<(), Error> {
    for aside in &reply.asides {
        let shown = show::plain(aside);
        writeln!(
            out,
            "NOT purged: the memory before the team, in {shown}. Delete it if it has this."
        )?;
    }
    Ok(())
}

/// Says how many backups are in their usual directory, since a purge does not change them.
fn name_backups(out: &mut dyn Write, directory: &Path) -> Result<(), Error> {
    let shown = show::plain(&directory.to_string_lossy());
    let number = match fs::read_dir(directory) {
        Ok(files) => {
            let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
            names.filter(|name| name.ends_with(".jsonl.gz")).count() as u64
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => {
            return Ok(writeln!(out, "NOT looked through, look yourself: {shown}: {error}")?);
        }
    };
    if number > 0 {
        let backups = show::count(number, "backup");
        writeln!(out, "Backups are not purged: {backups} in {shown} may still contain this.")?;
    }
    Ok(())
}

/// Reads the whole input without one line break at its end, which programs that write a line add. A
/// part of the text would not do: a single line of it may be in unrelated records.
fn text_in(input: impl Read) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let mut input = input.take(PURGE_QUERY_BYTES_MAX + 1);
    input.read_to_end(&mut bytes).context("cannot read the text to purge by")?;
    if bytes.len() as u64 > PURGE_QUERY_BYTES_MAX {
        return Err(Error::usage(format!(
            "the text to purge by has more than {PURGE_QUERY_BYTES_MAX} bytes, which no record holds"
        ))
        .with_action("Give the part of it that must not stay."));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| {
        Error::usage("the text to purge by is not UTF-8, as all that is stored is")
            .with_action("Give a part of it that is text, or the ids of the records.")
    })?;
    let whole = text
        .strip_suffix('\n')
        .map_or(text.len(), |rest| rest.strip_suffix('\r').unwrap_or(rest).len());
    text.truncate(whole);
    Ok(text)
}

fn show_plan(out: &mut dyn Write, plan: &PurgeReply) -> Result<(), Error> {
    if plan.is_empty() {
        if plan.already.is_empty() {
            writeln!(out, "nothing to purge: no record, file or log contains the text")?;
        } else {
            writeln!(out, "Purged before: {}. Nothing is left to purge.", listed(&plan.already))?;
        }
        return Ok(());
    }
    let team =
        if plan.team { ", from the team's database and from its other machines" } else { "" };
    writeln!(out, "This goes from {}{team}:", show::plain(&plan.project.root))?;
    let mut table =
        Table::new(&[("id", Align::Left), ("versions", Align::Right), ("", Align::Left)]);
    for record in &plan.records {
        let (id, title) = (record.id.clone(), show::plain(&record.title));
        table.row([id, record.versions.to_string(), title]);
    }
    if !plan.records.is_empty() {
        table.print(out)?;
    }
    if plan.checkpoints > 0 {
        let checkpoints = show::count(plan.checkpoints.into(), "checkpoint");
        writeln!(out, "  what {checkpoints} held of it")?;
    }
    if plan.files > 0 {
        let files = show::count(plan.files.into(), "other file");
        writeln!(out, "  what {files} held of it, such as logs")?;
    }
    for path in &plan.shared {
        writeln!(out, "  the file {}", show::plain(path))?;
    }
    if !plan.already.is_empty() {
        writeln!(out, "Purged before: {}.", listed(&plan.already))?;
    }
    if !plan.elsewhere.is_empty() {
        let ids = listed(&plan.elsewhere);
        let (contain, them) = match &plan.elsewhere[..] {
            [_] => ("contains", "it"),
            _ => ("contain", "them"),
        };
        writeln!(out, "{ids} also {contain} the same text; name {them} to purge {them}, too.")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
