//! The agents' tools for the command line, and the log of calls and results, commands included.
//!
//! A command runs the same tool in an ephemeral session that ends with the call.

use std::sync::Arc;

use anchord_memory::{Audience, Revision, Shell, parse_past_up_to};

use super::{AdminService, Answer, ask, bind_error, is_home, store_error, target, write_error};
use crate::api::{
    self, AsOf, ErrorCode, ErrorReply, LogQuery, LogReply, PlannedCompaction, ToolParams, ToolReply,
};
use crate::bounded_fs;
use crate::clock;
use crate::limits;
use crate::mcp::{Called, Reach, ToolAnswer, ToolError, ToolService, call_by_name, internal_text};
use crate::project::OpenProject;
use crate::project::history::{HistoryError, Moment, PastMemory};
use crate::retrieval_log::{COMMAND_LINE, Start};
use crate::secrets;
use crate::sessions::{Session, SessionLocation, SessionService};

/// Runs a tool.
pub(crate) async fn call_tool(tools: &Arc<ToolService>, params: ToolParams) -> Answer<ToolReply> {
    let ToolParams { project, tool, arguments, typed, at } = params;
    let reach = tools.reach(&tool);
    if reach == Some(Reach::Session) {
        return Err(ErrorReply {
            code: ErrorCode::BadRequest,
            error: format!("{tool} is for sessions, and a command is not one"),
            action: Some("`anchord note` and `anchord add` store something at once".to_owned()),
        });
    }
    let is_of_user = reach >= Some(Reach::User);
    if project == api::USER && !is_of_user {
        return Err(ErrorReply {
            code: ErrorCode::BadRequest,
            error: format!("{tool} is about a project, and the user's own notes are not one"),
            action: None,
        });
    }
    let place = match place(&tools.sessions, &project).await {
        Err(_) if is_of_user && is_home(&tools.sessions, &project).await? => {
            SessionLocation::Personal
        }
        place => place?,
    };
    let mut session = Session::ephemeral(COMMAND_LINE, place);
    let (mut as_of, mut came_later) = (None, false);
    if let Some(at) = at {
        if reach != Some(Reach::Past) {
            return Err(ErrorReply {
                code: ErrorCode::BadRequest,
                error: format!("{tool} does not read an earlier memory"),
                action: None,
            });
        }
        let (past, newest) = past(&tools.sessions, &session, &at).await?;
        came_later = newest > past.memory.revision();
        as_of = Some(AsOf { revision: past.memory.revision(), committed: past.committed });
        session = session.in_past(past);
    }
    let session = Arc::new(session);
    let audience = audience(&typed);
    let called = call_by_name(tools, session, &tool, arguments, audience.clone()).await;
    let Some(Called { outcome, remark, id }) = called else {
        return Err(ErrorReply {
            code: ErrorCode::NotFound,
            error: format!("this daemon has no tool {tool}"),
            action: Some("it may be older than this command: run `anchord restart`".to_owned()),
        });
    };
    match outcome {
        Ok(mut answer) => {
            // The tool's own words are about a memory that somebody has yet to write to.
            if as_of.as_ref().is_some_and(|as_of| as_of.committed.is_none()) {
                answer.text =
                    if came_later { nothing_then(&audience) } else { NOTHING_YET.to_owned() };
            }
            Ok(ToolReply { remark, as_of, ..reply(answer) })
        }
        Err(ToolError::Caller(mistake)) => {
            let code = if mistake.is_usage { ErrorCode::BadRequest } else { ErrorCode::Failed };
            Err(ErrorReply { code, error: mistake.to_string(), action: remark })
        }
        Err(ToolError::Damaged(error)) => {
            Err(ErrorReply { code: ErrorCode::Damaged, error, action: remark })
        }
        Err(ToolError::Internal(what)) => Err(ErrorReply {
            code: ErrorCode::Internal,
            error: internal_text(&id, &what),
            action: None,
        }),
    }
}

/// Returns what a command gets of a tool's answer.
fn reply(mut answer: ToolAnswer) -> ToolReply {
    let refused = std::mem::take(&mut answer.refused);
    let ToolAnswer { text, records, truncated, rest, plan, history, outline, passes, .. } = answer;
    ToolReply {
        text,
        remark: None,
        records: records.iter().map(|record| record.as_ref().clone()).collect(),
        truncated,
        cursor: rest.as_ref().map(|rest| rest.cursor.clone()),
        left_out: rest.and_then(|rest| rest.left_out).map(|left| left as u64),
        refused,
        plan: plan.as_deref().map(PlannedCompaction::from),
        history: history.map(Arc::unwrap_or_clone),
        passes,
        outline: outline.map(|of| api::FileOutline {
            path: of.path,
            digest: of.digest,
            cached: of.is_cached,
            tokens_given: of.tokens_given,
            tokens_saved: of.tokens_saved,
            outline: Arc::unwrap_or_clone(of.outline),
        }),
        as_of: None,
    }
}

/// The answer of every tool about a memory that has no commit at all.
const NOTHING_YET: &str = "Nothing is recorded yet.\n";

/// Returns the answer of every tool about a memory before its first commit.
fn nothing_then(audience: &Audience) -> String {
    let history = audience.command(&["history"]);
    format!("Nothing was recorded then. {history} lists what came later.\n")
}

/// Reads the memory of a session as it was at a moment: a revision or a time. Also returns the
/// newest revision.
async fn past(
    service: &SessionService,
    session: &Session,
    at: &str,
) -> Answer<(PastMemory, Revision)> {
    let refused = |error: String| ErrorReply { code: ErrorCode::BadRequest, error, action: None };
    let (at, now) = (at.trim(), clock::now());
    let moment = match at.parse() {
        Ok(revision) => Moment::Revision(Revision(revision)),
        Err(_) => Moment::Time(
            parse_past_up_to(at, now)
                .map_err(|error| refused(format!("--at {error}; a revision is a number")))?,
        ),
    };
    let view = session.view(service).await.map_err(bind_error)?;
    let Some(project) = view.project else {
        return match moment {
            Moment::Revision(Revision(revision)) if revision > 0 => {
                Err(refused(format!("there is no revision {revision} yet; nothing is recorded")))
            }
            _ => Ok((
                PastMemory { memory: Arc::default(), committed: None, now },
                Revision::default(),
            )),
        };
    };
    let past = project.past(moment).await.map_err(|error| match error {
        HistoryError::Refused(why) => refused(why),
        HistoryError::Store(error) => store_error(error),
        HistoryError::Writer(error) => write_error(error),
    })?;
    Ok((past, project.memory().revision()))
}

/// Returns the reader of a reply. A reply may repeat the command line, so secrets are removed from
/// it as they are from the arguments.
fn audience(typed: &[String]) -> Audience {
    if typed.is_empty() {
        return Audience::Agent;
    }
    let typed = typed.iter().map(|word| secrets::clean(word).into_owned()).collect();
    Audience::Person(Shell { typed })
}

/// Creates the ephemeral session of a command that reads a project but belongs to no tool.
pub(super) fn ephemeral_session(project: &Arc<OpenProject>) -> Session {
    let session = Session::ephemeral(COMMAND_LINE, SessionLocation::without_files(project.id));
    session.within(project)
}

/// Returns the location in which a command works: a directory, or a project that it names.
pub(super) async fn place(service: &SessionService, project: &str) -> Answer<SessionLocation> {
    let asked = ask(service, project).await?;
    let registry = service.projects.registry.snapshot();
    match (asked.located, asked.id) {
        (Some(located), _) => Ok(SessionLocation::Here(located)),
        (None, Some(id)) => {
            if id.is_personal() {
                return Ok(SessionLocation::Personal);
            }
            let Some(root) = registry.project(id).map(|record| record.root.clone()) else {
                return Ok(SessionLocation::Foreign(id));
            };
            let surroundings = service.surroundings.clone();
            let named = bounded_fs::run(&root, move || {
                SessionLocation::named(id, &registry, &surroundings)
            });
            // The registry knows the project even if its disk does not respond.
            Ok(named.await.ok().flatten().unwrap_or(SessionLocation::Foreign(id)))
        }
        (None, None) => Err(super::not_found(project)),
    }
}

/// Returns lines of a project's retrieval log. With `wait`, waits for a line until the time limit,
/// unless none can come.
pub(crate) async fn retrievals(admin: &AdminService, query: LogQuery) -> Answer<LogReply> {
    let projects = &admin.sessions.projects;
    let target = target(&admin.sessions, &query.project).await?;
    let log = projects.open.retrievals();
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let limit = limit.min(limits::RETRIEVAL_PAGE_LINES_MAX);
    let start = query.after.map_or(Start::Last, Start::After);
    let mut written = log.written();
    let stopping = admin.shutdown.token();
    let over = tokio::time::sleep(limits::RETRIEVAL_WAIT_MAX);
    tokio::pin!(over);
    loop {
        written.mark_unchanged();
        let directory = projects.open.directory(target.id);
        let lines = log.read(directory.clone(), start, limit).await;
        let reply = LogReply { lines, fault: log.fault(directory).await };
        if !reply.lines.is_empty() || reply.fault.is_some() || !query.wait {
            return Ok(reply);
        }
        tokio::select! {
            changed = written.changed() => if changed.is_err() { return Ok(reply) },
            () = &mut over => return Ok(reply),
            () = stopping.cancelled() => return Ok(reply),
        }
    }
}

#[cfg(test)]
mod tests;
