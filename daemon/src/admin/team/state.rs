//! Looks at the team of a memory: what this machine knows of it, and what its database says now.

use std::io;

use anchord_team::{Error, Member};

use super::unmerged;
use crate::admin::{Answer, internal, store_error, text};
use crate::api::{TeamMember, TeamState};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::TEAM_LOOK_MAX;
use crate::project::{OpenProject, TeamLook, TeamStatus};
use crate::sessions::SessionService;
use crate::store::{Away, TeamFault};
use crate::{team, team_copy};

/// Returns the team of a memory, if one shares it.
pub(super) async fn look(
    service: &SessionService,
    open: &OpenProject,
) -> Answer<Option<TeamState>> {
    let directory = service.projects.open.directory(open.id);
    let config = team::read(&directory).map_err(store_error)?;
    let memory = open.memory();
    let Some(status) = open.owner.team() else { return Ok(None) };
    let mut state = TeamState {
        id: memory.team().unwrap_or_default().to_owned(),
        revision: memory.revision().0,
        waiting: memory.held().count(),
        answered: status.seen().map(|time| time.0),
        error: team_fault(&status, memory.held().count()),
        ..TeamState::default()
    };
    let files = run_blocking(move || {
        let missing = team_copy::missing_in(&directory)?;
        Ok::<_, io::Error>((missing, unmerged::in_directory(&directory)?))
    });
    let files = files.await.map_err(|error| internal(&format!("cannot look for files: {error}")));
    let (missing, unmerged) = files?;
    state.missing = missing.iter().map(|path| text(path)).collect();
    state.unmerged = unmerged.iter().map(|path| text(path)).collect();
    let Some(config) = config else { return Ok(Some(state)) };
    (state.name, state.url) = (config.name, config.url.clone());
    state.id = config.project.to_string();
    let teams = service.projects.open.teams();
    let database = match teams.database(&config.url, &config.secret) {
        Ok(database) => database,
        Err(error) => {
            state.error = Some(error);
            return Ok(Some(state));
        }
    };
    let head = in_time(database.log(config.project).head()).await;
    let fault = head.as_ref().err().cloned();
    // Other reports say the same from now on.
    open.owner.note_team_look(TeamLook { ended: clock::now(), fault: fault.clone() });
    let status = open.owner.team().unwrap_or(status);
    state.answered = status.seen().map(|time| time.0);
    state.error = team_fault(&status, state.waiting).or(fault.map(|fault| fault.why));
    state.head = head.ok().map(|head| head.seq);
    if state.head.is_some()
        && let Ok(members) = in_time(database.members(config.project)).await
    {
        let member =
            |it: Member| TeamMember { role_name: it.role_name, name: it.name, role: it.role };
        state.members = members.into_iter().map(member).collect();
    }
    Ok(Some(state))
}

/// Says why the team's database cannot be used, or does not take what waits. Every report on a
/// team has its words from here.
pub(in crate::admin) fn team_fault(status: &TeamStatus, waiting: usize) -> Option<String> {
    if let Some(fault) = status.fault() {
        return Some(fault.why.clone());
    }
    // A database that answers may still not take what waits. A failure to reach it is past.
    let refused = status.refused.as_ref().filter(|fault| fault.away != Away::Unreached);
    refused.filter(|_| waiting > 0).map(|fault| fault.why.clone())
}

/// Awaits a call of the database for as long as a person waits for a status.
async fn in_time<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, TeamFault> {
    match tokio::time::timeout(TEAM_LOOK_MAX, call).await {
        Ok(answer) => answer.map_err(|error| team::fault(&error)),
        Err(_) => {
            let within = TEAM_LOOK_MAX.as_secs();
            let why =
                format!("failed to reach the database: it does not answer within {within} s");
            Err(TeamFault { away: Away::Unreached, why })
        }
    }
}

#[cfg(test)]
mod tests {
    use anchord_memory::Timestamp;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_not_answered_ends_in_time() {
        let silent = std::future::pending::<Result<(), Error>>();
        let said = in_time(silent).await.unwrap_err();
        assert!(said.why.contains("does not answer within 5 s"), "{said}");
        assert_eq!(said.away, Away::Unreached);
    }

    fn fault(away: Away, why: &str) -> Option<TeamFault> {
        Some(TeamFault { away, why: why.to_owned() })
    }

    #[test]
    fn a_failure_to_reach_the_database_is_past_once_it_answers() {
        let mut status = TeamStatus { error: fault(Away::Unreached, "gone"), ..status() };
        status.refused.clone_from(&status.error);
        assert_eq!(team_fault(&status, 1).as_deref(), Some("gone"));
        // A report has asked since.
        status.look = Some(TeamLook { ended: Timestamp(30), fault: None });
        assert_eq!(team_fault(&status, 1), None);
    }

    #[test]
    fn a_refusal_is_a_fault_while_something_waits() {
        let status = TeamStatus { refused: fault(Away::Refused, "a reader"), ..status() };
        assert_eq!(team_fault(&status, 1).as_deref(), Some("a reader"));
        assert_eq!(team_fault(&status, 0), None);
    }

    fn status() -> TeamStatus {
        let ended = Some(Timestamp(20));
        TeamStatus { answered: Some(Timestamp(10)), ended, ..TeamStatus::default() }
    }
}
