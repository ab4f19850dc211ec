//! Looks at the team of a memory: what this machine knows of it, and what its database says now.

use std::io;

use anchord_team::{Error, Member};

use super::unmerged;
use crate::admin::{Answer, internal, store_error, text};
use crate::api::{TeamMember, TeamState};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::TEAM_LOOK_MAX;
use crate::project::OpenProject;
use crate::sessions::SessionService;
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
        answered: status.answered.map(|time| time.0),
        error: status.error.as_ref().map(ToString::to_string),
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
    match in_time(database.log(config.project).head()).await {
        Ok(head) => {
            // A database that is read may still refuse what waits. A failure to reach it is past.
            let refused = status.refused.as_ref().filter(|_| state.waiting > 0);
            let refused = refused.filter(|fault| !fault.away.is_unanswered());
            let apart = status.error.as_ref().filter(|_| status.is_apart);
            let fault = apart.or(refused).map(ToString::to_string);
            (state.head, state.error) = (Some(head.seq), fault);
            state.answered = Some(clock::now().0);
        }
        Err(error) => state.error = Some(error),
    }
    if state.head.is_some()
        && let Ok(members) = in_time(database.members(config.project)).await
    {
        let member =
            |it: Member| TeamMember { role_name: it.role_name, name: it.name, role: it.role };
        state.members = members.into_iter().map(member).collect();
    }
    Ok(Some(state))
}

/// Awaits a call of the database for as long as a person waits for a status.
async fn in_time<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
    match tokio::time::timeout(TEAM_LOOK_MAX, call).await {
        Ok(answer) => answer.map_err(|error| format!("failed to {error}")),
        Err(_) => Err(format!(
            "failed to reach the database: it does not answer within {} s",
            TEAM_LOOK_MAX.as_secs()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_not_answered_ends_in_time() {
        let silent = std::future::pending::<Result<(), Error>>();
        let said = in_time(silent).await.unwrap_err();
        assert!(said.contains("does not answer within 5 s"), "{said}");
    }
}
