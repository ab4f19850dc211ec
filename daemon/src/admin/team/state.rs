//! Looks at the team of a memory: what this machine knows of it, and what its database says now.

use anchord_memory::Timestamp;
use anchord_team::{Error, Member};

use super::unmerged;
use crate::admin::{Answer, internal, store_error, text};
use crate::api::{LostCommits, TeamMember, TeamState};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::TEAM_LOOK_MAX;
use crate::project::{OpenProject, TeamLook, TeamStatus, Untaken};
use crate::sessions::SessionService;
use crate::store::{Away, TeamFault};
use crate::team_copy::Missing;
use crate::{team, team_copy};

/// Returns the team of a memory, and the files with commits that its database has lost if they are
/// to be counted. That reads the whole journal. If it fails, a remark says so.
pub(super) async fn of(
    service: &SessionService,
    open: &OpenProject,
    counts_lost: bool,
    remarks: &mut Vec<String>,
) -> Answer<(Option<TeamState>, Vec<LostCommits>)> {
    let team = look(service, open).await?;
    if !counts_lost {
        return Ok((team, Vec::new()));
    }
    let lost = lost(service, open).await.unwrap_or_else(|why| {
        remarks.push(why);
        Vec::new()
    });
    Ok((team, lost))
}

/// Returns the team of a memory, if one shares it.
async fn look(service: &SessionService, open: &OpenProject) -> Answer<Option<TeamState>> {
    let directory = service.projects.open.directory(open.id);
    let config = team::read(&directory).map_err(store_error)?;
    let memory = open.memory();
    let Some(status) = open.owner.team() else { return Ok(None) };
    let mut state = TeamState {
        id: memory.team().unwrap_or_default().to_owned(),
        revision: memory.revision().0,
        waiting: memory.held().count(),
        answered: status.seen().map(|time| time.0),
        error: team_fault(&status, memory.held().count(), clock::now()),
        ..TeamState::default()
    };
    let files = run_blocking(move || unmerged::in_directory(&directory)).await;
    let files = files.map_err(|error| internal(&format!("cannot look for files: {error}")))?;
    state.unmerged = files.iter().map(|path| text(path)).collect();
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
    open.owner.note_team_look(TeamLook { ended: clock::now(), fault });
    let status = open.owner.team().unwrap_or(status);
    state.answered = status.seen().map(|time| time.0);
    state.error = team_fault(&status, state.waiting, clock::now());
    state.needs_person = status.fault().is_some_and(|fault| fault.away == Away::Barred);
    state.apart = status.is_apart;
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
pub(in crate::admin) fn team_fault(
    status: &TeamStatus,
    waiting: usize,
    now: Timestamp,
) -> Option<String> {
    if let Some(fault) = status.outage() {
        return Some(fault.why.clone());
    }
    if let Some(Untaken { fault, since, .. }) = status.slow_commits(waiting, now) {
        return Some(format!("no write has gone through since {}: {fault}", since.second()));
    }
    // What was not answered is past, since the database answers.
    let refused = status.refused.as_ref().filter(|it| !it.fault.away.is_unanswered());
    refused.filter(|_| waiting > 0).map(|untaken| untaken.fault.why.clone())
}

/// Returns the files with commits that a team's database has lost. They stay when the team is left.
async fn lost(service: &SessionService, open: &OpenProject) -> Result<Vec<LostCommits>, String> {
    let directory = service.projects.open.directory(open.id);
    let files = run_blocking(move || team_copy::missing_in(&directory)).await;
    let files = files.map_err(|error| format!("cannot look for files: {error}"))?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let names = files.iter().map(|path| text(path)).collect::<Vec<_>>().join(", ");
    let unread = |why: String| {
        format!("commits that the database has lost are in {names}, and cannot be counted: {why}")
    };
    let reading = open.owner.ask(|store, _| store.reading()).await;
    let reading = reading.map_err(|error| unread(error.to_string()))?;
    let counted = run_blocking(move || team_copy::count_missing(files, &reading)).await;
    let counted = counted.map_err(|error| unread(error.to_string()))?;
    let named =
        |it: Missing| LostCommits { file: text(&it.path), commits: it.commits, again: it.again };
    Ok(counted.into_iter().map(named).collect())
}

/// Awaits a call of the database for as long as a person waits for a status.
async fn in_time<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, TeamFault> {
    if let Ok(answer) = tokio::time::timeout(TEAM_LOOK_MAX, call).await {
        return answer.map_err(|error| team::fault(&error));
    }
    let within = TEAM_LOOK_MAX.as_secs();
    let why = format!("failed to reach the database: it does not answer within {within} s");
    Err(TeamFault { away: Away::Unreached, why })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::{TeamAction, TeamParams};
    use crate::limits::TEAM_SLOW_SHOWN_MILLIS;
    use crate::testing::World;

    #[tokio::test]
    async fn a_file_that_cannot_be_read_is_a_remark_and_no_failure() {
        let world = World::new().await;
        world.shim().await.call("memory_note", json!({ "content": "The port is 1." })).await;
        let projects = &world.daemon.projects;
        let id = projects.registry.snapshot().projects().next().unwrap().id;
        let file = projects.open.directory(id).join("missing-1-2.jsonl");
        std::fs::create_dir(&file).unwrap();
        let params = TeamParams { project: id.to_string(), action: TeamAction::Look };
        let reply = crate::admin::team::team(&world.daemon.sessions, params).await.unwrap();
        assert!(reply.lost.is_empty(), "{reply:?}");
        let [remark] = &reply.remarks[..] else { panic!("no remark: {reply:?}") };
        assert!(remark.contains(&format!("{}, and cannot be counted", text(&file))), "{remark}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_not_answered_ends_in_time() {
        let silent = std::future::pending::<Result<(), Error>>();
        let said = in_time(silent).await.unwrap_err();
        assert!(said.why.contains("does not answer within 5 s"), "{said}");
        assert_eq!(said.away, Away::Unreached);
    }

    fn fault(away: Away, why: &str) -> TeamFault {
        TeamFault { away, why: why.to_owned() }
    }

    #[test]
    fn a_failure_to_reach_the_database_is_past_once_it_answers() {
        let gone = fault(Away::Unreached, "gone");
        let refused = Some(untaken(gone.clone()));
        let mut status = TeamStatus { error: Some(gone), refused, ..status() };
        assert_eq!(team_fault(&status, 1, NOW).as_deref(), Some("gone"));
        // A report has asked since.
        status.look = Some(TeamLook { ended: Timestamp(30_000), fault: None });
        assert_eq!(team_fault(&status, 1, NOW), None);
    }

    #[test]
    fn a_refusal_is_a_fault_while_something_waits() {
        let refused = Some(untaken(fault(Away::Refused, "a reader")));
        let status = TeamStatus { refused, ..status() };
        assert_eq!(team_fault(&status, 1, NOW).as_deref(), Some("a reader"));
        assert_eq!(team_fault(&status, 0, NOW), None);
    }

    #[test]
    fn a_database_that_is_read_and_takes_no_commits_says_so_and_since_when() {
        let slow = fault(Away::Slow, "too slow");
        let refused = Some(untaken(slow.clone()));
        let mut status = TeamStatus { error: Some(slow), refused, ..status() };
        let said = Some("no write has gone through since 1970-01-01 00:00:15 UTC: too slow");
        assert_eq!(team_fault(&status, 0, NOW).as_deref(), said);
        // A report has asked since, and was answered.
        status.look = Some(TeamLook { ended: Timestamp(30_000), fault: None });
        assert_eq!(team_fault(&status, 0, NOW).as_deref(), said);
        let later = Timestamp(NOW.0 + TEAM_SLOW_SHOWN_MILLIS);
        assert_eq!(team_fault(&status, 1, later).as_deref(), said);
        assert_eq!(team_fault(&status, 0, later), None, "nothing is tried any more");
        let gone = Some(fault(Away::Unreached, "gone"));
        status.look = Some(TeamLook { ended: Timestamp(30_000), fault: gone });
        assert_eq!(team_fault(&status, 1, later).as_deref(), Some("gone"));
    }

    const NOW: Timestamp = Timestamp(30_000);

    fn untaken(fault: TeamFault) -> Untaken {
        Untaken { fault, since: Timestamp(15_000), last: Timestamp(20_000) }
    }

    fn status() -> TeamStatus {
        let ended = Some(Timestamp(20_000));
        TeamStatus { answered: Some(Timestamp(10_000)), ended, ..TeamStatus::default() }
    }
}
