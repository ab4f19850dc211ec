//! The live sessions: what each staged, saved and was given, and what it waits for.

use anchord_memory::render::{self, Cause};
use anchord_memory::{Memory, Reader, RecordId, SessionId};

use super::status::sessions;
use super::{AdminService, Answer};
use crate::api::{
    ErrorCode, ErrorReply, GivenQuery, GivenRecord, GivenReply, Lane, NowReply, SavedRecord,
    SessionSummary, WaitingApproval, Waits,
};
use crate::clock;
use crate::limits::{LANE_ITEMS_MAX, LANE_RECORDS_LOOKED_AT_MAX};
use crate::project::QueuedSession;
use crate::projects::ProjectId;
use crate::retrieval_log::{HookMoment, Recent};

/// Reports the live sessions.
pub(crate) async fn now(admin: &AdminService) -> NowReply {
    let recent = admin.sessions.projects.open.retrievals().recent().await;
    let live: Vec<Vec<SessionId>> =
        admin.sessions.table.all().iter().map(|status| status.session.ids()).collect();
    // A conversation that hooks named meanwhile has another id now.
    let newest = |id: String| {
        let ids = live.iter().find(|ids| ids.iter().any(|known| *known.0 == *id));
        ids.and_then(|ids| ids.last()).map_or(id.clone(), ToString::to_string)
    };
    let approvals: Vec<WaitingApproval> = admin
        .sessions
        .rules
        .pending()
        .into_iter()
        .map(|(id, pending)| WaitingApproval {
            id,
            action: pending.action,
            rules: pending.rules,
            session: newest(pending.session),
            since: pending.since.0,
        })
        .collect();
    let lane = |session: SessionSummary| {
        let own = live.iter().find(|ids| ids.last().is_some_and(|id| *id.0 == *session.id));
        let ids = own.cloned().unwrap_or_else(|| vec![SessionId::new(session.id.as_str())]);
        lane(admin, session, &ids, &recent, &approvals)
    };
    let lanes = sessions(&admin.sessions).into_iter().map(lane).collect();
    NowReply { lanes, approvals }
}

fn lane(
    admin: &AdminService,
    session: SessionSummary,
    ids: &[SessionId],
    recent: &[Recent],
    approvals: &[WaitingApproval],
) -> Lane {
    let is_own = |recent: &&Recent| ids.iter().any(|id| *id.0 == *recent.line.session);
    let given = recent.iter().filter(is_own).map(|recent| recent.line.clone()).collect();
    let project = session.project.as_ref().and_then(|project| project.id.parse().ok());
    let open = project.and_then(|id| admin.sessions.projects.open.get(ProjectId(id)));
    let mut lane =
        Lane { waits: None, session, staged: Vec::new(), staged_more: 0, saved: Vec::new(), given };
    let mut queued = Vec::new();
    if let Some(open) = open {
        let memory = open.memory();
        let parts = ids.iter().filter_map(|id| memory.staged_by(id));
        let staged: Vec<String> =
            parts.flat_map(|staged| render::hooks::staged_work(staged)).collect();
        lane.staged_more = staged.len().saturating_sub(LANE_ITEMS_MAX);
        lane.staged = staged.into_iter().take(LANE_ITEMS_MAX).collect();
        lane.saved = saved(&memory, ids);
        queued = open.owner.queued();
    }
    lane.waits = waits(&lane.session, queued, approvals);
    lane
}

/// Returns the records that a session wrote last.
fn saved(memory: &Memory, ids: &[SessionId]) -> Vec<SavedRecord> {
    memory
        .newest(None)
        .take(LANE_RECORDS_LOOKED_AT_MAX)
        .filter(|record| ids.contains(&record.updated.session))
        .take(LANE_ITEMS_MAX)
        .map(|record| SavedRecord {
            id: record.id,
            title: render::plain_name(record),
            time: record.updated.time.0,
        })
        .collect()
}

fn waits(
    session: &SessionSummary,
    queued: Vec<QueuedSession>,
    approvals: &[WaitingApproval],
) -> Option<Waits> {
    if let Some(own) = queued.into_iter().find(|queued| *queued.session.0 == *session.id) {
        let behind = own.behind.iter().map(ToString::to_string).collect();
        return Some(Waits::Writer { jobs: own.jobs, behind });
    }
    let own = approvals.iter().filter(|waiting| waiting.session == session.id);
    let ids: Vec<String> = own.map(|waiting| waiting.id.clone()).collect();
    if !ids.is_empty() {
        return Some(Waits::Approval { ids });
    }
    (!session.connected).then_some(Waits::Agent)
}

/// Returns the text of an answer, with the reason for each of its records.
pub(crate) async fn given(admin: &AdminService, query: &GivenQuery) -> Answer<GivenReply> {
    let projects = &admin.sessions.projects;
    let recent = projects.open.retrievals().recent().await;
    let is_wanted = |recent: &&Recent| {
        recent.line.session == query.session && recent.line.number == query.number
    };
    let Some(recent) = recent.iter().find(is_wanted) else {
        return Err(ErrorReply {
            code: ErrorCode::NotFound,
            error: "the text of this answer is no longer in memory".to_owned(),
            action: Some("The daemon keeps the last few of each session.".to_owned()),
        });
    };
    let ids: Vec<RecordId> = recent.line.ids.iter().filter_map(|id| id.parse().ok()).collect();
    let open = projects.open.all().into_iter();
    let own = open.into_iter().find(|open| projects.open.directory(open.id) == recent.directory);
    let personal = projects.open.get(ProjectId::PERSONAL);
    let (of_user, of_project): (Vec<RecordId>, Vec<RecordId>) =
        ids.iter().partition(|id| id.is_personal());
    let mut records = Vec::new();
    for (open, ids) in [(own, of_project), (personal, of_user)] {
        let Some(open) = open else { continue };
        let (memory, cause) = (open.memory(), cause(recent));
        let reader = Reader::session(SessionId::new(query.session.as_str()));
        let reasons = render::reasons(&memory, &reader, cause, &ids, clock::now());
        records.extend(reasons.into_iter().map(|(id, title, why)| GivenRecord { id, title, why }));
    }
    let place = |record: &GivenRecord| ids.iter().position(|id| *id == record.id);
    records.sort_by_key(place);
    Ok(GivenReply { text: recent.given.text.clone(), cause: recent.given.cause.clone(), records })
}

/// Returns the cause of an answer.
fn cause(recent: &Recent) -> Cause<'_> {
    let cause = recent.given.cause.as_deref().unwrap_or_default();
    let asked = |field: &str| recent.line.asked.get(field).and_then(|value| value.as_str());
    match HookMoment::named(&recent.line.tool) {
        Some(HookMoment::Prompt | HookMoment::Subagent) => Cause::Prompt(cause),
        Some(HookMoment::File) => Cause::File(cause),
        Some(HookMoment::Failure) => Cause::Failure(cause),
        Some(
            HookMoment::Start | HookMoment::Resumed | HookMoment::Restored | HookMoment::Compaction,
        ) => Cause::Load,
        None => match recent.line.tool.as_str() {
            "memory_search" => asked("query").map_or(Cause::Request, Cause::Search),
            tool if tool.ends_with("load") => Cause::Load,
            _ => Cause::Request,
        },
    }
}

#[cfg(test)]
mod tests;
