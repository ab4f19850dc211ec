//! `anchord journal`: shows, verifies or repairs the journal on disk, and rebuilds the index from
//! it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anchord_daemon::api::{
    self, IndexState, Problem, ProjectParams, ProjectQuery, ProjectStatus, RebuildReply,
    RepairParams, RepairRange, RepairReply, ReplacedContent, VerifyReply,
};
use anchord_proto::instance::InstanceDir;

use super::{MemoryArg, backup, print_json};
use crate::client::Client;
use crate::confirm::confirmed;
use crate::exit::{Error, Kind};
use crate::history::person;
use crate::show;
use crate::table::{Align, Table};

/// Show, verify, rebuild or repair a project's journal
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Show(ShowArgs),
    Verify(VerifyArgs),
    Rebuild(RebuildArgs),
    Repair(RepairArgs),
}

/// Show journal entries, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord journal show
  anchord journal show --from 1 --limit 100 --json | jq -r .op")]
pub(crate) struct ShowArgs {
    /// The first entry [default: the last entries]
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// Number of entries
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print the entries as JSON, one line each
    #[arg(long)]
    json: bool,
}

/// Read the whole journal and compare the index with it, or read a backup; exits with 5 if
/// something is damaged
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord journal verify
  anchord journal verify --project ~/src/parser --json
  anchord journal verify ~/backups/parser-2026-11-24T123005.jsonl.gz")]
pub(crate) struct VerifyArgs {
    /// A backup to check instead, for which no daemon is needed
    #[arg(value_name = "FILE", conflicts_with_all = ["project", "user"])]
    backup: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Rebuild the index from snapshot and journal; the memory itself is not touched
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord journal rebuild
  anchord journal rebuild --project ~/src/parser")]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Restore a damaged journal from what is left of it, its index and its snapshots
///
/// Shows which entries come from where and what is lost, and asks; without a terminal it wants
/// --yes. The files that were there are kept under other names, beside the new ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord journal repair
  anchord journal repair --project ~/src/parser --yes --json")]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    memory: MemoryArg,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Print JSON: what was done
    #[arg(long)]
    json: bool,
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        if let Self::Verify(VerifyArgs { backup: Some(file), json, .. }) = &self {
            return verify_backup(out, file, *json);
        }
        let mut client = Client::started(&InstanceDir::locate()?)?;
        match self {
            Self::Show(args) => args.run(out, &mut client),
            Self::Verify(args) => args.run(out, &mut client),
            Self::Rebuild(args) => args.run(out, &mut client),
            Self::Repair(args) => args.run(out, &mut client),
        }
    }
}

impl ShowArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let project = self.memory.resolve()?;
        let from = self.from.map_or_else(|| last(client, &project, self.limit), Ok)?;
        if self.json {
            return client
                .entries(&project, from, self.limit, &mut |text, _| Ok(writeln!(out, "{text}")?));
        }
        let mut table = Table::new(&[
            ("seq", Align::Right),
            ("revision", Align::Right),
            ("time (UTC)", Align::Left),
            ("session", Align::Left),
            ("operation", Align::Left),
            ("changes", Align::Left),
        ]);
        client.entries(&project, from, self.limit, &mut |_, line| {
            table.row([
                line.seq.to_string(),
                line.revision.map_or_else(|| "-".to_owned(), |revision| revision.to_string()),
                time(line.time),
                line.session.as_deref().map_or_else(|| "-".to_owned(), short),
                line.op.clone(),
                changes(&line.changes),
            ]);
            Ok(())
        })?;
        Ok(table.print(out)?)
    }
}

/// Returns the number of the first of the last `limit` entries.
fn last(client: &mut Client, project: &str, limit: u32) -> Result<u64, Error> {
    let query = ProjectQuery { project: project.to_owned() };
    let status: ProjectStatus = client.get(api::PROJECT, &query)?;
    Ok(status.entries.saturating_sub(limit.into()) + 1)
}

/// Checks a backup and describes it.
fn verify_backup(out: &mut dyn Write, file: &Path, json: bool) -> Result<(), Error> {
    let summary = backup::checked(file)?;
    if json {
        return print_json(out, &summary);
    }
    Ok(writeln!(out, "Intact. {}", backup::described(&summary))?)
}

impl VerifyArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let params = ProjectParams { project: self.memory.resolve()? };
        let reply: VerifyReply = client.post(api::JOURNAL_VERIFY, &params)?;
        if self.json {
            print_json(out, &reply)?;
        } else {
            write!(out, "{}", verdict(&reply))?;
        }
        if reply.is_sound() {
            return Ok(());
        }
        out.flush()?;
        let rebuild = person().command(&["journal", "rebuild"]);
        Err(if reply.problems.is_empty() {
            Error::new(Kind::Damaged, "the index differs from the journal")
                .with_action(format!("Run {rebuild}."))
        } else if reply.problems.iter().any(|problem| problem.is_unread) {
            let why = "a file could not be read or written, which says nothing of what is in it";
            Error::new(Kind::Failed, why)
                .with_action("Try again. If it stays so, look at the disk and at permissions.")
        } else if reply.problems.iter().all(Problem::is_of_snapshot) {
            Error::new(Kind::Damaged, "a snapshot is damaged; the journal has everything")
                .with_action(format!("Run {rebuild}, which does without it."))
        } else {
            let repair = person().command(&["journal", "repair"]);
            Error::new(Kind::Damaged, "the journal is damaged").with_action(format!(
                "The project stays open for reading. {repair} shows what can be restored."
            ))
        })
    }
}

fn verdict(reply: &VerifyReply) -> String {
    let intact = if reply.is_cut {
        "intact before the first bad place, and those after it were not read:"
    } else {
        "intact in"
    };
    let mut lines = vec![format!(
        "{}: {} {intact} {}, {}",
        reply.project.root,
        show::entries(reply.entries),
        show::count(reply.segments.into(), "segment"),
        show::bytes(reply.bytes),
    )];
    lines.extend(reply.problems.iter().map(|Problem { file, line, what, .. }| {
        match (file, line) {
            (file, _) if file.is_empty() => format!("  {what}"),
            (file, 0) => format!("  {file}: {what}"),
            (file, line) => format!("  {file} line {line}: {what}"),
        }
    }));
    match &reply.index {
        // Beside a bad journal, it would read as if all were well.
        IndexState::InUse if !reply.is_sound() => {}
        IndexState::InUse => lines.push("The index needs no repair.".to_owned()),
        IndexState::OutOfUse { reason } => {
            lines.push(format!("The index is not used until it is rebuilt: {reason}"));
        }
    }
    lines.into_iter().map(|line| show::plain(&line) + "\n").collect()
}

impl RebuildArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let params = ProjectParams { project: self.memory.resolve()? };
        let reply: RebuildReply = client.post(api::JOURNAL_REBUILD, &params)?;
        if self.json {
            return print_json(out, &reply);
        }
        Ok(writeln!(
            out,
            "{}: {} entries read, {} rows written, {} ms",
            show::plain(&reply.project.root),
            reply.entries,
            reply.rows,
            reply.took_ms
        )?)
    }
}

impl RepairArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let project = self.memory.resolve()?;
        let mut params = RepairParams { project, plan: None };
        let planned: RepairReply = client.post(api::JOURNAL_REPAIR, &params)?;
        if !self.json {
            write!(out, "{}", plan(&planned))?;
            out.flush()?;
        }
        if !planned.is_needed {
            return if self.json { print_json(out, &planned) } else { Ok(()) };
        }
        if !confirmed("Repair it like this?", self.yes)? {
            return Ok(writeln!(out, "nothing was changed")?);
        }
        params.plan = Some(planned.plan);
        let done: RepairReply = client.post(api::JOURNAL_REPAIR, &params)?;
        if self.json {
            return print_json(out, &done);
        }
        Ok(writeln!(
            out,
            "repaired, read again and found sound: {}",
            show::entries(done.plan.entries)
        )?)
    }
}

/// Describes a plan to repair a journal.
fn plan(reply: &RepairReply) -> String {
    let RepairReply { project, read_only, plan, is_needed, .. } = reply;
    let mut lines = vec![match read_only {
        Some(why) => format!("{}: {why}", project.root),
        None => format!("{}: {}", project.root, show::entries(plan.entries)),
    }];
    if !is_needed {
        lines.push(match read_only {
            Some(_) => "  no repair can change that".to_owned(),
            None => "  nothing to repair".to_owned(),
        });
        return lines.into_iter().map(|line| show::plain(&line) + "\n").collect();
    }
    lines.push(format!("  from the journal: {} as they were written", show::entries(plan.kept)));
    if !plan.restored.is_empty() {
        lines.push(format!(
            "  from the index or a snapshot: the outcome of {}; the entries themselves are lost",
            numbers(&plan.restored)
        ));
    }
    if plan.is_supplemented && plan.restored.is_empty() {
        lines.push(
            "  from the index or a snapshot: changes that the journal does not have".to_owned(),
        );
    }
    if let Some(entry) = plan.diverged {
        lines.push(format!(
            "  entry {entry} of the journal is not the one that the index followed: that one is \
             lost, and perhaps others before it; their outcome is kept"
        ));
    }
    if !plan.replaced.is_empty() {
        lines.push(format!(
            "  lost from view, since the index or a snapshot has it otherwise: {}",
            replaced(&plan.replaced)
        ));
    }
    if !plan.lost.is_empty() {
        lines.push(format!("  lost: {}", numbers(&plan.lost)));
    }
    if plan.foreign > 0 {
        let segments = show::count(plan.foreign, "segment");
        lines.push(format!(
            "  {segments} of another memory's journal, which {} put aside",
            if plan.foreign == 1 { "is" } else { "are" }
        ));
    }
    if plan.is_older {
        lines.push(
            "  The journal is from before a repair or purge that the index knows.".to_owned(),
        );
    }
    if plan.bad > 0 {
        let places = show::count(plan.bad, "place");
        lines.push(format!("  {places} in the journal missing or damaged"));
    }
    lines.push("  The files that are there are kept as `*.kept-…` and `sled.aside`.".to_owned());
    lines.into_iter().map(|line| show::plain(&line) + "\n").collect()
}

/// Names contents with their entries: `n5@1 (entry 3), n6@2 (entry 4)`.
fn replaced(all: &[ReplacedContent]) -> String {
    let named =
        |ReplacedContent { entry, content }: &ReplacedContent| format!("{content} (entry {entry})");
    all.iter().map(named).collect::<Vec<_>>().join(", ")
}

/// Names entries by their numbers: `entry 3`, `entries 3, 5-8`.
fn numbers(ranges: &[RepairRange]) -> String {
    let named = |RepairRange { first, last }: &RepairRange| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let names: Vec<String> = ranges.iter().map(named).collect();
    let is_one = matches!(ranges, [RepairRange { first, last }] if first == last);
    format!("{} {}", if is_one { "entry" } else { "entries" }, names.join(", "))
}

/// Describes what an entry changed: each operation once, with the ids that it wrote.
fn changes(changes: &[serde_json::Value]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for change in changes {
        let Some((name, body)) = change.as_object().and_then(|fields| fields.iter().next()) else {
            continue;
        };
        let id = body.get("id").and_then(serde_json::Value::as_str);
        match groups.iter_mut().find(|(known, _)| known == name) {
            Some((_, ids)) => ids.extend(id),
            None => groups.push((name, id.into_iter().collect())),
        }
    }
    let words: Vec<String> = groups
        .into_iter()
        .map(|(name, ids)| format!("{name} {}", ids.join(" ")).trim_end().to_owned())
        .collect();
    words.join(", ")
}

pub(super) fn time(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| milliseconds.to_string(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// Shortens an id but keeps sessions distinct. Takes its end, since ids created at the same time
/// begin alike.
pub(super) fn short(id: &str) -> String {
    let length = id.chars().count();
    id.chars().skip(length.saturating_sub(8)).collect()
}

#[cfg(test)]
mod tests;
