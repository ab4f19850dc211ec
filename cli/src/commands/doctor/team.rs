//! Checks the memories that a team shares: whether their databases answer, and accept this machine.

use anchord_daemon::api::{
    self, LostCommits, ProjectStatus, StatusReply, TeamAction, TeamParams, TeamReply, TeamState,
};
use anchord_proto::instance::InstanceDir;

use super::{Finding, is_reported};
use crate::client::Client;
use crate::commands::team::{lost_commits, merge_again};
use crate::exit::Error;
use crate::show;

const ABOUT: &str = "team";

/// Asks the database of every project that a team shares.
pub(super) fn findings(dir: &InstanceDir, status: &StatusReply, found: &mut Vec<Finding>) {
    if let Some(why) = &status.joining {
        let what =
            format!("this machine has not joined the team that its environment names: {why}");
        let action = "It tries again every few seconds. Until then agents have no memory here.";
        found.push(Finding::problem(ABOUT, what, action));
    }
    for project in &status.projects {
        match team(dir, project) {
            Ok(reply) => {
                if let Some(state) = &reply.team {
                    found.push(finding(project, state));
                    found.extend(unmerged(project, state));
                }
                found.extend(reply.lost.iter().map(|lost| missing(project, lost)));
                let uncounted =
                    |why: &String| Finding::note(ABOUT, format!("{}: {why}", project.name));
                found.extend(reply.remarks.iter().map(uncounted));
                let is_merged = reply.team.as_ref().is_none_or(|it| it.unmerged.is_empty());
                found.extend(reply.asides.iter().map(|place| aside(project, place, is_merged)));
            }
            Err(error) if is_reported(found, project, &error) => {}
            Err(error) => {
                let what = format!("{}: {}", project.name, error.message);
                let action =
                    error.action.unwrap_or_else(|| "Run `anchord doctor` again.".to_owned());
                found.push(Finding::problem(ABOUT, what, action));
            }
        }
    }
}

fn team(dir: &InstanceDir, project: &ProjectStatus) -> Result<TeamReply, Error> {
    let params = TeamParams { project: project.id.clone(), action: TeamAction::Look };
    Client::running(dir)?.post(api::PROJECT_TEAM, &params)
}

/// Names a file with commits that the database has lost.
fn missing(project: &ProjectStatus, lost: &LostCommits) -> Finding {
    let what = format!("{}: {}", project.name, lost_commits(lost, None));
    let action = if lost.again == lost.commits {
        "Delete the file: nothing in it is missing."
    } else {
        "Write again what you need of them, and delete the file."
    };
    Finding::note(ABOUT, what).action(action)
}

/// Says that a merge ended half-way, if one did.
fn unmerged(project: &ProjectStatus, state: &TeamState) -> Option<Finding> {
    let file = state.unmerged.first()?;
    let what = format!(
        "{}: not all that it had before it joined was added to the team's memory; the rest is in \
         {file}",
        project.name
    );
    let action = format!("A merge ended half-way: {}.", merge_again(state));
    Some(Finding::problem(ABOUT, what, action))
}

/// Names a directory with the memory that the project had before. Until its merge is complete, it
/// is not to be deleted.
fn aside(project: &ProjectStatus, directory: &str, is_merged: bool) -> Finding {
    let what = format!("{}: the memory before it joined is in {directory}", project.name);
    let until = if is_merged { "you miss nothing" } else { "the merge is complete" };
    let unreached = "No command looks into it, and a purge does not reach it.";
    Finding::note(ABOUT, what).action(format!("{unreached} Delete it once {until}."))
}

/// Words the state of a team's memory.
pub(super) fn finding(project: &ProjectStatus, state: &TeamState) -> Finding {
    let waiting = match state.waiting {
        0 => String::new(),
        waiting => format!(", {} not shared yet", show::count(waiting as u64, "save")),
    };
    let shared = format!("{}: shared as {}{waiting}", project.name, state.name);
    match &state.error {
        None => Finding::good(ABOUT, format!("{shared}; the database answers")),
        Some(why) => {
            let until = if state.needs_person {
                "That does not pass by itself. Until it is fixed, saves stay on this machine."
            } else {
                "Saves stay on this machine until the database takes them."
            };
            let action =
                format!("{until} `anchord team status --project {}` shows them.", project.id);
            Finding::problem(ABOUT, format!("{shared}; {why}"), action)
        }
    }
}
