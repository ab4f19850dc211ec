//! `anchord team … --all`: the same for every project of this machine.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anchord_daemon::api::{
    self, ProjectStatus, ProjectsReply, TeamAction, TeamParams, TeamPlace, TeamProjectsReply,
    TeamReply,
};
use anchord_proto::instance::InstanceDir;
use serde::Serialize;

use super::{home, print_json, remarks, show, state};
use crate::client::Client;
use crate::exit::Error;

/// The outcome for one project, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Outcome {
    /// The directory of the project.
    root: String,
    #[serde(flatten)]
    reply: Option<TeamReply>,
    /// The reason why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Outcome {
    fn of(known: ProjectStatus, reply: Result<TeamReply, Error>) -> Self {
        let worded = |error: &Error| match &error.action {
            Some(action) => format!("{}; {action}", error.message),
            None => error.message.clone(),
        };
        let error = reply.as_ref().err().map(worded);
        Self { root: known.root, reply: reply.ok(), error }
    }
}

/// Returns the names of the projects that a database shows.
pub(super) fn names(place: &TeamPlace) -> Result<Vec<String>, Error> {
    let reply: TeamProjectsReply = client()?.post(api::TEAM_PROJECTS, place)?;
    Ok(reply.names)
}

/// Says which projects of a database have no project of their name on this machine.
pub(super) fn name_the_rest(names: &[String], out: &mut dyn Write) -> Result<(), Error> {
    if names.is_empty() {
        let who = "ask a maintainer to invite you: `anchord team invite`";
        writeln!(out, "the database shows you no project; {who}")?;
    }
    let known = projects(&mut client()?)?;
    let is_here = |name: &&String| known.iter().any(|known| known.name == **name);
    for name in names.iter().filter(|name| !is_here(name)) {
        let name = show::plain(name);
        writeln!(
            out,
            "{name}: no project of this name here; in its clone, run the same without --all"
        )?;
    }
    Ok(())
}

/// Does it for the wanted projects, one after the other, and continues after a failure. A project
/// that cannot be looked at has failed.
pub(super) fn run(
    action: &TeamAction,
    wanted: impl Fn(&ProjectStatus) -> bool,
    done: impl Fn(&TeamReply) -> String,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut client = client()?;
    let home = home();
    let mut outcomes = Vec::new();
    // Only what a team shares can be left, and only what none shares be created or joined.
    let is_shared = matches!(action, TeamAction::Leave);
    for known in projects(&mut client)?.into_iter().filter(wanted) {
        let reply = match post(&mut client, &known, &TeamAction::Look) {
            Ok(reply) if reply.team.is_some() != is_shared => continue,
            Ok(_) => post(&mut client, &known, action),
            Err(error) => Err(error),
        };
        let outcome = Outcome::of(known, reply);
        if !json {
            write!(out, "{}", rendered(&outcome, &done, home.as_deref()))?;
            out.flush()?;
        }
        outcomes.push(outcome);
    }
    if json {
        print_json(out, &outcomes)?;
    } else if outcomes.is_empty() {
        writeln!(out, "nothing to do for any project of this machine")?;
    }
    check(&outcomes)
}

/// Renders the outcome for one project. Below its line are the place of the memory before, and what
/// could not be added as it was.
fn rendered(outcome: &Outcome, done: impl Fn(&TeamReply) -> String, home: Option<&Path>) -> String {
    let root = show::path(&outcome.root, home);
    let Some(reply) = &outcome.reply else {
        let why = show::plain(outcome.error.as_deref().unwrap_or_default());
        return format!("{root}: {why}\n");
    };
    let mut text = format!("{root}: {}\n", done(reply));
    if let Some(aside) = &reply.aside {
        let _ = writeln!(text, "  the memory before is in {}", show::path(aside, home));
    }
    for remark in &reply.remarks {
        let _ = writeln!(text, "  {}", show::plain(remark));
    }
    text
}

/// Returns whether no team shares a project, and nothing is left of one.
fn is_untouched(reply: &TeamReply) -> bool {
    reply.team.is_none()
        && reply.asides.is_empty()
        && reply.lost.is_empty()
        && reply.remarks.is_empty()
}

/// Shows the team of each project that one shares, and what was set aside for one.
pub(super) fn status(json: bool, out: &mut dyn Write) -> Result<(), Error> {
    let mut client = client()?;
    let home = home();
    let mut outcomes = Vec::new();
    for known in projects(&mut client)? {
        let reply = post(&mut client, &known, &TeamAction::Look);
        if matches!(&reply, Ok(reply) if is_untouched(reply)) {
            continue;
        }
        let outcome = Outcome::of(known, reply);
        match (&outcome.reply, &outcome.error) {
            _ if json => {}
            (Some(reply), _) => {
                write!(out, "{}{}", remarks(reply), state(reply, home.as_deref()))?;
            }
            (None, error) => {
                let why = show::plain(error.as_deref().unwrap_or_default());
                writeln!(out, "{}: {why}", show::path(&outcome.root, home.as_deref()))?;
            }
        }
        outcomes.push(outcome);
    }
    if json {
        print_json(out, &outcomes)?;
    } else if outcomes.is_empty() {
        writeln!(out, "no team shares a project of this machine")?;
    }
    check(&outcomes)
}

/// Fails if it failed for a project.
fn check(outcomes: &[Outcome]) -> Result<(), Error> {
    let failed = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    if failed == 0 {
        return Ok(());
    }
    let count = show::count(outcomes.len() as u64, "project");
    Err(Error::failed(format!("{failed} of {count} failed; the reasons are above")))
}

fn client() -> Result<Client, Error> {
    Client::started(&InstanceDir::locate()?)
}

fn post(
    client: &mut Client,
    known: &ProjectStatus,
    action: &TeamAction,
) -> Result<TeamReply, Error> {
    let params = TeamParams { project: known.id.clone(), action: action.clone() };
    client.post(api::PROJECT_TEAM, &params)
}

/// Returns the projects whose directory is there.
fn projects(client: &mut Client) -> Result<Vec<ProjectStatus>, Error> {
    let known: ProjectsReply = client.get(api::PROJECTS, &())?;
    let is_here = |known: &ProjectStatus| known.exists && known.id != api::USER;
    Ok(known.projects.into_iter().filter(is_here).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_project_says_where_its_memory_of_before_is() {
        let reply = TeamReply {
            aside: Some("/home/ada/data/web.aside-1".to_owned()),
            remarks: vec!["1 rule is a proposal here until you accept it".to_owned()],
            ..TeamReply::default()
        };
        let root = "/home/ada/web".to_owned();
        let outcome = Outcome { root, reply: Some(reply), error: None };
        assert_eq!(
            rendered(&outcome, |_| "shared as web".to_owned(), Some(Path::new("/home/ada"))),
            "~/web: shared as web
  the memory before is in ~/data/web.aside-1
  1 rule is a proposal here until you accept it
"
        );
        let printed = serde_json::to_value(&outcome).unwrap();
        assert_eq!(printed["aside"], "/home/ada/data/web.aside-1");
    }
}
