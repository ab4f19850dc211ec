//! `anchord team`: a memory that a team shares through a PostgreSQL database.

mod all;

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anchord_daemon::api::{
    self, LostCommits, ProjectStatus, Role, Secret, TeamAction, TeamParams, TeamPlace, TeamReply,
    TeamState, TeamSummary,
};
use anchord_memory::Timestamp;
use anchord_proto::instance::InstanceDir;
use clap::ValueEnum;

use super::{ProjectArg, home, print_json};
use crate::client::Client;
use crate::exit::Error;
use crate::show;

/// Share a project's memory with a team, through its PostgreSQL database
///
/// Records, saves and settings of the project go to the database. Notes of one session, recorded
/// activity and your own notes stay on this machine, and so does staged work until its session
/// saves or ends.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Create(CreateArgs),
    Join(JoinArgs),
    Leave(LeaveArgs),
    Status(StatusArgs),
    Invite(InviteArgs),
    Remove(RemoveArgs),
}

/// A project in the database of a team.
#[derive(Debug, clap::Args)]
struct PlaceArgs {
    /// The address of the database, without a password
    #[arg(value_name = "URL")]
    url: String,
    /// The project's name in the database [default: the name of the directory]
    #[arg(long, conflicts_with = "all")]
    name: Option<String>,
    /// Read the password from a file that only you may read
    #[arg(long, value_name = "FILE", conflicts_with = "password_command")]
    password_file: Option<PathBuf>,
    /// Read the password from the output of a command
    #[arg(long, value_name = "COMMAND")]
    password_command: Option<String>,
    #[command(flatten)]
    projects: ProjectsArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The projects that a command is for.
#[derive(Debug, clap::Args)]
struct ProjectsArg {
    #[command(flatten)]
    project: ProjectArg,
    /// Do it for every project in `anchord project list`, each under its own name
    #[arg(long)]
    all: bool,
}

/// Create a project in the database from this memory
///
/// Creates the tables, too, if the database has none. All earlier commits go there, without what
/// stays on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord team create postgres://ada@db.example.com/anchord --password-file ~/.anchord-team
  anchord team create postgres://ada@localhost/anchord --name api
  anchord team create postgres://ada@localhost/anchord --all")]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

/// Join a project in the database
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord team join postgres://bob@db.example.com/anchord --password-command 'pass anchord'
  anchord team join postgres://bob@localhost/anchord --name api --merge
  anchord team join postgres://bob@localhost/anchord --all")]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Add what this memory has to the team's; it is set aside first
    #[arg(long)]
    merge: bool,
}

/// Make the memory this machine's own again, with all that it has
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord team leave --keep
  anchord team leave --keep --all")]
pub(crate) struct LeaveArgs {
    /// Keep the memory on this machine; the database keeps its own copy
    #[arg(long, required = true)]
    keep: bool,
    #[command(flatten)]
    projects: ProjectsArg,
}

/// Show the team of a memory: database, revisions, waiting saves, members
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord team status
  anchord team status --all
  anchord team status --json | jq .team.waiting")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    projects: ProjectsArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Print the SQL that adds a member, or run it
///
/// Needs a maintainer. The SQL has no password: set one with psql's \\password, or let the server
/// know the role by a certificate.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord team invite bob | psql anchord
  anchord team invite bob --called 'Bob Example' --role reader --run")]
pub(crate) struct InviteArgs {
    /// The member's database role
    #[arg(value_name = "DATABASE_ROLE")]
    member: String,
    /// The name that others see [default: the database role]
    #[arg(long, value_name = "NAME")]
    called: Option<String>,
    /// The member's rights
    #[arg(long, value_enum, default_value_t = RoleArg::Writer)]
    role: RoleArg,
    /// Run it as your own database role, for a role that exists
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    project: ProjectArg,
}

/// Print the SQL that removes a member, or run it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord team remove bob | psql anchord
  anchord team remove bob --run")]
pub(crate) struct RemoveArgs {
    /// The member's database role
    #[arg(value_name = "DATABASE_ROLE")]
    member: String,
    /// Run it as your own database role
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    project: ProjectArg,
}

/// The rights of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleArg {
    /// Reads
    Reader,
    /// Reads and writes
    Writer,
    /// Also changes rules, settings and members, and purges
    Maintainer,
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        match self {
            Self::Create(CreateArgs { place }) => {
                place.run(TeamAction::Create, |known| known.revision > 0, out)
            }
            Self::Join(JoinArgs { place, merge }) => {
                let action = |place| TeamAction::Join { place, merge };
                if !place.projects.is_all()? {
                    return place.run(action, |_| true, out);
                }
                let names = all::names(&place.place()?)?;
                if !place.json {
                    all::name_the_rest(&names, out)?;
                }
                place.run(action, |known| names.contains(&known.name), out)
            }
            Self::Leave(args) => args.run(out),
            Self::Status(args) => args.run(out),
            Self::Invite(args) => args.run(out),
            Self::Remove(args) => args.run(out),
        }
    }
}

impl ProjectsArg {
    fn is_all(&self) -> Result<bool, Error> {
        if self.all && self.project.is_given() {
            return Err(Error::usage("--all is for every project; leave out --project"));
        }
        Ok(self.all)
    }
}

impl PlaceArgs {
    fn place(&self) -> Result<TeamPlace, Error> {
        let secret = match (&self.password_file, &self.password_command) {
            (Some(file), _) => Secret::File(std::path::absolute(file)?),
            (None, Some(command)) => Secret::Command(command.clone()),
            (None, None) => Secret::None,
        };
        Ok(TeamPlace { url: self.url.clone(), name: self.name.clone(), secret })
    }

    /// Shares one project, or with --all those that are wanted and that no team shares yet.
    fn run(
        &self,
        action: impl Fn(TeamPlace) -> TeamAction,
        wanted: impl Fn(&ProjectStatus) -> bool,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let place = self.place()?;
        if self.projects.is_all()? {
            let done = |reply: &TeamReply| match &reply.team {
                Some(team) => format!("shared as {}", show::plain(&team.name)),
                None => "not shared".to_owned(),
            };
            return all::run(&action(place), wanted, done, self.json, out);
        }
        let reply = request(&self.projects.project, action(place))?;
        if self.json {
            return print_json(out, &reply);
        }
        if let Some(aside) = &reply.aside {
            let home = home();
            writeln!(out, "the memory before is in {}", show::path(aside, home.as_deref()))?;
        }
        write!(out, "{}", remarks(&reply))?;
        Ok(write!(out, "{}", state(&reply, home().as_deref()))?)
    }
}

impl LeaveArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        debug_assert!(self.keep, "clap requires it");
        if self.projects.is_all()? {
            let home = home();
            let done = |reply: &TeamReply| {
                let mut text = "this machine's own now".to_owned();
                for lost in &reply.lost {
                    let _ = write!(text, "; {}", lost_commits(lost, home.as_deref()));
                }
                text
            };
            return all::run(&TeamAction::Leave, |_| true, done, false, out);
        }
        let reply = request(&self.projects.project, TeamAction::Leave)?;
        writeln!(out, "the memory is this machine's own now; the database keeps its copy")?;
        let mut text = remarks(&reply);
        missing(&mut text, &reply, home().as_deref());
        Ok(write!(out, "{text}")?)
    }
}

impl StatusArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        if self.projects.is_all()? {
            return all::status(self.json, out);
        }
        let reply = request(&self.projects.project, TeamAction::Look)?;
        if self.json {
            return print_json(out, &reply);
        }
        write!(out, "{}", remarks(&reply))?;
        Ok(write!(out, "{}", state(&reply, home().as_deref()))?)
    }
}

impl InviteArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let role = match self.role {
            RoleArg::Reader => Role::Reader,
            RoleArg::Writer => Role::Writer,
            RoleArg::Maintainer => Role::Maintainer,
        };
        let name = self.called.unwrap_or_else(|| self.member.clone());
        let done = format!("{} is a member now", show::plain(&self.member));
        let action = TeamAction::Invite { role_name: self.member, name, role, run: self.run };
        answer(request(&self.project, action)?, &done, out)
    }
}

impl RemoveArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let done = format!("{} is no member any more", show::plain(&self.member));
        let action = TeamAction::Remove { role_name: self.member, run: self.run };
        answer(request(&self.project, action)?, &done, out)
    }
}

/// Prints the SQL, or what was done.
fn answer(reply: TeamReply, done: &str, out: &mut dyn Write) -> Result<(), Error> {
    match reply.sql {
        Some(sql) => Ok(write!(out, "{sql}")?),
        None => Ok(writeln!(out, "{done}")?),
    }
}

fn request(project: &ProjectArg, action: TeamAction) -> Result<TeamReply, Error> {
    let mut client = Client::started(&InstanceDir::locate()?)?;
    let params = TeamParams { project: project.resolve()?, action };
    client.post(api::PROJECT_TEAM, &params)
}

/// Describes a memory's team in one line, as the daemon last saw its database.
pub(super) fn line(team: &TeamSummary, now: i64) -> String {
    let mut text = format!("shared with a team as {}", show::plain(&team.name));
    if team.waiting > 0 {
        let verb = if team.waiting == 1 { "waits" } else { "wait" };
        let _ = write!(text, ", {} {verb}", show::count(team.waiting as u64, "save"));
    }
    match (&team.error, team.answered) {
        (None, Some(_)) => text.push_str("; the database answers"),
        (None, None) => text.push_str("; the database was not asked yet"),
        (Some(error), answered) => {
            if let Some(answered) = answered {
                let _ = write!(text, "; the database answered {}", show::ago(now, answered));
            }
            let _ = write!(text, "; {}", show::plain(error));
        }
    }
    text
}

/// Names the command that completes a merge which ended half-way. Its password is as it was given.
pub(super) fn merge_again(team: &TeamState) -> String {
    format!("the same `anchord team join {} … --merge` completes it", team.url)
}

/// Renders the team of a memory.
fn state(reply: &TeamReply, home: Option<&Path>) -> String {
    let root = reply.project.as_ref().map(|project| show::path(&project.root, home));
    let root = root.unwrap_or_else(|| "this project".into());
    let mut text = String::new();
    let Some(team) = &reply.team else {
        let _ = writeln!(text, "{root}: no team shares this memory");
        missing(&mut text, reply, home);
        asides(&mut text, reply, home);
        return text;
    };
    let _ = writeln!(text, "{root}: shared as {}", show::plain(&team.name));
    let _ = writeln!(text, "  database   {}", show::plain(&team.url));
    let revision = match team.head {
        Some(head) if team.apart => {
            format!("{} on this machine, {head} in the database", team.revision)
        }
        Some(head) if head == team.revision => format!("{head}, as in the database"),
        Some(head) => format!("{} of {head} in the database", team.revision),
        None => format!("{} on this machine", team.revision),
    };
    let _ = writeln!(text, "  revision   {revision}");
    if team.waiting > 0 {
        let saves = show::count(team.waiting as u64, "save");
        let them = if team.waiting == 1 { "it" } else { "them" };
        let until = match (team.head, &team.error) {
            (Some(_), Some(_)) => format!("kept here until the database takes {them}"),
            (Some(_), None) => "sent to the database in a moment".to_owned(),
            (None, _) if team.needs_person => {
                "kept here until the fault below is mended".to_owned()
            }
            (None, _) => "folded once the database answers".to_owned(),
        };
        let _ = writeln!(text, "  waiting    {saves}, {until}");
    }
    missing(&mut text, reply, home);
    if !team.unmerged.is_empty() {
        let again = show::plain(&merge_again(team));
        let _ = writeln!(text, "  unmerged   not all that was here before was added; {again}");
    }
    asides(&mut text, reply, home);
    if let Some(error) = &team.error {
        let _ = writeln!(text, "  fault      {}", show::plain(error));
        if let Some(answered) = team.answered {
            let _ = writeln!(text, "  answered   {}", Timestamp(answered).second());
        }
    }
    for member in &team.members {
        let (name, role) = (show::plain(&member.name), show::plain(&member.role_name));
        let _ =
            writeln!(text, "  {:<11}{name} ({role})", format!("{:?}", member.role).to_lowercase());
    }
    text
}

fn remarks(reply: &TeamReply) -> String {
    reply.remarks.iter().map(|remark| format!("{}\n", show::plain(remark))).collect()
}

fn missing(text: &mut String, reply: &TeamReply, home: Option<&Path>) {
    for lost in &reply.lost {
        let _ = writeln!(text, "  missing    {}", lost_commits(lost, home));
    }
}

/// Names a file with commits that the database has lost, and says how many were made again.
pub(super) fn lost_commits(lost: &LostCommits, home: Option<&Path>) -> String {
    let file = show::path(&lost.file, home);
    let again = match lost.again {
        0 => String::new(),
        1 => format!("; 1 of {} was made again since", lost.commits),
        again => format!("; {again} of {} were made again since", lost.commits),
    };
    format!("commits that the database has lost are in {file}{again}")
}

fn asides(text: &mut String, reply: &TeamReply, home: Option<&Path>) {
    for aside in &reply.asides {
        let aside = show::path(aside, home);
        let _ = writeln!(text, "  set aside  a memory from before it joined is in {aside}");
    }
}

#[cfg(test)]
mod tests;
