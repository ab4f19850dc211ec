//! `anchord team … --all`: the same for every project of this machine.

use std::io::Write;

use anchord_daemon::api::{
    self, ProjectStatus, ProjectsReply, TeamAction, TeamParams, TeamPlace, TeamReply,
};
use anchord_proto::instance::InstanceDir;
use serde::Serialize;

use super::{home, print_json, show, state};
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

/// Returns the names of the projects that a database shows.
pub(super) fn names(place: &TeamPlace) -> Result<Vec<String>, Error> {
    let action = TeamAction::Projects(place.clone());
    Ok(post(&mut client()?, api::USER, &action)?.names)
}

/// Says which projects of a database have no project of their name on this machine.
pub(super) fn name_the_rest(names: &[String], out: &mut dyn Write) -> Result<(), Error> {
    let known: ProjectsReply = client()?.get(api::PROJECTS, &())?;
    let is_here = |name: &&String| known.projects.iter().any(|known| known.name == **name);
    for name in names.iter().filter(|name| !is_here(name)) {
        let name = show::plain(name);
        writeln!(out, "{name} is no project here yet; run `anchord team join` in its directory")?;
    }
    Ok(())
}

/// Does it for the wanted projects, one after the other, and goes on after a failure. Whether a
/// team has a project already is passed beside it.
pub(super) fn run(
    action: &TeamAction,
    wanted: impl Fn(&ProjectStatus, bool) -> bool,
    done: impl Fn(&TeamReply) -> String,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut client = client()?;
    let mut outcomes = Vec::new();
    for (known, team) in projects(&mut client)? {
        let is_shared = matches!(&team, Ok(reply) if reply.team.is_some());
        if !wanted(&known, is_shared) {
            continue;
        }
        let reply = team.and_then(|_| post(&mut client, &known.id, action));
        let text = match &reply {
            Ok(reply) => done(reply),
            Err(error) => show::plain(&worded(error)),
        };
        if !json {
            writeln!(out, "{}: {text}", show::path(&known.root, home().as_deref()))?;
            out.flush()?;
        }
        let error = reply.as_ref().err().map(worded);
        outcomes.push(Outcome { root: known.root, reply: reply.ok(), error });
    }
    if json {
        print_json(out, &outcomes)?;
    } else if outcomes.is_empty() {
        writeln!(out, "there is no project to do that for")?;
    }
    let failed = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    if failed == 0 {
        return Ok(());
    }
    let count = show::count(outcomes.len() as u64, "project");
    Err(Error::failed(format!("{failed} of {count} failed, as said above")))
}

/// Shows the team of each project that one shares.
pub(super) fn status(json: bool, out: &mut dyn Write) -> Result<(), Error> {
    let mut shared = Vec::new();
    for (_, reply) in projects(&mut client()?)? {
        let reply = reply?;
        if reply.team.is_some() {
            shared.push(reply);
        }
    }
    if json {
        return print_json(out, &shared);
    }
    if shared.is_empty() {
        writeln!(out, "no team shares a project of this machine")?;
    }
    for reply in &shared {
        write!(out, "{}", state(reply, home().as_deref()))?;
    }
    Ok(())
}

fn client() -> Result<Client, Error> {
    Client::started(&InstanceDir::locate()?)
}

fn post(client: &mut Client, project: &str, action: &TeamAction) -> Result<TeamReply, Error> {
    let params = TeamParams { project: project.to_owned(), action: action.clone() };
    client.post(api::PROJECT_TEAM, &params)
}

/// A project, and its team if the daemon could look.
type Known = (ProjectStatus, Result<TeamReply, Error>);

/// Returns the projects whose directory is there.
fn projects(client: &mut Client) -> Result<Vec<Known>, Error> {
    let known: ProjectsReply = client.get(api::PROJECTS, &())?;
    let there = known.projects.into_iter().filter(|known| known.exists && known.id != api::USER);
    Ok(there
        .map(|known| {
            let team = post(client, &known.id, &TeamAction::Look);
            (known, team)
        })
        .collect())
}

fn worded(error: &Error) -> String {
    match &error.action {
        Some(action) => format!("{}; {action}", error.message),
        None => error.message.clone(),
    }
}
