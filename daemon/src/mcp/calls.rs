//! One tool call, from any caller. Secrets are removed first, a panic is caught, and the call is
//! measured and logged with its result.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Audience, RecordId};
use anchord_proto::hello::ToolSet;
use futures::FutureExt;
use serde_json::{Map, Value};
use tracing::Instrument;

use super::answer::ToolAnswer;
use super::context::Context;
use super::error::{ToolError, defused};
use super::input::UnknownFields;
use super::service::ToolService;
use super::tool::ToolSpec;
use super::tools;
use crate::clock;
use crate::retrieval_log::Retrieval;
use crate::secrets::{self, Removed};
use crate::sessions::Session;
use crate::store::Call;

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Called {
    /// The tool's answer.
    pub(crate) outcome: Result<ToolAnswer, ToolError>,
    /// A remark about what was removed from the call or ignored in it.
    pub(crate) remark: Option<String>,
    /// The id of the call in the log.
    pub(crate) id: String,
}

impl Called {
    /// Makes the answer, the error and the remark safe to show to a model.
    pub(super) fn defused(self) -> Self {
        let safe = |answer: ToolAnswer| ToolAnswer { text: defused(answer.text), ..answer };
        let outcome = self.outcome.map(safe).map_err(ToolError::defused);
        Self { outcome, remark: self.remark.map(defused), ..self }
    }
}

/// The first answer to a session after its records have got other ids.
const RENUMBERED: &str = "Records may have other ids now: this memory was merged into a team's, or the team's \
    database was set back. Find a record again (memory_search) before you name it by its id.";

/// Runs a tool for a session. `line` is the shim's line, if a shim sent the call. The answer is
/// worded for `audience`.
pub(super) async fn call(
    service: &Arc<ToolService>,
    session: Arc<Session>,
    spec: &ToolSpec,
    mut arguments: Map<String, Value>,
    line: Option<Call>,
    audience: Audience,
) -> Called {
    let started = clock::start();
    let tool = spec.definition.name.as_ref();
    let id = request_id();
    let span = tracing::info_span!("request", id, tool, session = %session.id);
    let mut removed = Removed::default();
    secrets::clean_fields(&mut arguments, &mut removed);
    let asked = spec.reads(&arguments).then(|| arguments.clone());
    let reads = asked.is_some();
    let context = Context {
        sessions: Arc::clone(&service.sessions),
        merging: Arc::clone(&service.merging),
        outlines: Arc::clone(&service.outlines),
        zipmem: Arc::clone(&service.zipmem),
        session: Arc::clone(&session),
        call: line,
        audience: Arc::new(audience),
    };
    session.step_back(&session.step_backs(&service.sessions));
    // An id of before may name another record now.
    let names_ids = arguments.values().any(names_records);
    let is_refused = names_ids && session.take_renumbered(&service.sessions, true).await;
    let (outcome, unknown) = if is_refused {
        (Err(ToolError::caller(RENUMBERED)), UnknownFields::default())
    } else {
        // The parameters are read before the first await. That, too, may panic.
        let running = async {
            let running = spec.run(context, arguments);
            running.await
        };
        let running = AssertUnwindSafe(running).catch_unwind();
        running.instrument(span.clone()).await.unwrap_or_else(|_panic| {
            service.metrics().panicked();
            (Err(ToolError::Internal("a tool panicked".to_owned())), UnknownFields::default())
        })
    };
    let took = started.elapsed();
    let is_renumbered = !is_refused
        && session.project_id().is_some()
        && session.take_renumbered(&service.sessions, false).await;
    let append = outcome.as_ref().ok().and_then(|answer| answer.append);
    service.metrics().tool_called(tool, outcome.is_ok(), took);
    if let Some(append) = append {
        service.metrics().committed(took, append);
    }
    if let Some(asked) = asked {
        log_read(service, &session, (tool, asked), &outcome, took);
    }
    let append_micros = append.map(|append| append.as_micros());
    span.in_scope(|| {
        tracing::info!(ok = outcome.is_ok(), micros = took.as_micros(), append_micros, "answered");
    });
    let stored = outcome.is_ok() && !reads;
    let unknown = unknown.in_words().filter(|_| spec.names_unknown);
    let of_save = session.project().and_then(|project| project.take_told(&session.id));
    let of_lost = match session.project() {
        Some(project) => project.take_lost(&session.id).await,
        None => None,
    };
    let of_ids = is_renumbered.then(|| RENUMBERED.to_owned());
    let of_place = match session.take_remark() {
        // A tool that found a memory has told the session which.
        None if reads && session.project_id().is_none() => {
            no_memory_here(service, &session, &outcome).instrument(span).await
        }
        remark => remark,
    };
    let remarks: Vec<String> = remark(&removed, stored)
        .into_iter()
        .chain(unknown)
        .chain(of_place)
        .chain(of_save)
        .chain(of_lost)
        .chain(of_ids)
        .collect();
    let remark = (!remarks.is_empty()).then(|| remarks.join("\n"));
    Called { outcome, remark, id }
}

/// Measures and logs a call that read: its tool and arguments, and what it gave.
fn log_read(
    service: &ToolService,
    session: &Session,
    (tool, asked): (&str, Map<String, Value>),
    outcome: &Result<ToolAnswer, ToolError>,
    took: Duration,
) {
    let truncated = outcome.as_ref().is_ok_and(|answer| answer.truncated);
    service.metrics().retrieved(took, outcome.is_ok(), truncated);
    let text = outcome.as_ref().map_or_else(ToString::to_string, |answer| answer.text.clone());
    let records = outcome.iter().flat_map(|answer| &answer.records);
    let line = Retrieval {
        tool: tool.to_owned(),
        asked: asked.into(),
        ids: records.map(|record| record.id.to_string()).collect(),
        truncated,
        refused: outcome.is_err(),
        ..Retrieval::default()
    };
    session.log(&service.sessions, line, took, text);
}

/// Returns whether an argument is nothing but ids of records. Agents give the field many names.
fn names_records(argument: &Value) -> bool {
    match argument {
        Value::String(text) => {
            let is_end = |c: char| c.is_whitespace() || [',', ';'].contains(&c);
            let mut ids = text.split(is_end).filter(|id| !id.is_empty()).peekable();
            ids.peek().is_some() && ids.all(|id| id.parse::<RecordId>().is_ok())
        }
        Value::Array(items) => items.iter().any(names_records),
        _ => false,
    }
}

/// Returns what is known of a place without a memory, such as that it had one, unless the answer
/// says it. A read would look as if nothing had ever been recorded.
async fn no_memory_here(
    service: &ToolService,
    session: &Arc<Session>,
    outcome: &Result<ToolAnswer, ToolError>,
) -> Option<String> {
    let view = session.view(&service.sessions).await.ok()?;
    let remark = view.remark.filter(|_| view.project.is_none())?;
    let is_said = outcome.as_ref().is_ok_and(|answer| answer.text.contains(&remark));
    (!is_said).then_some(remark)
}

/// Runs a tool of the set `all`, or one that only commands have. `None` if there is no such tool.
pub(crate) async fn call_by_name(
    service: &Arc<ToolService>,
    session: Arc<Session>,
    tool: &str,
    arguments: Map<String, Value>,
    audience: Audience,
) -> Option<Called> {
    let tools = service.tools(ToolSet::All);
    let spec = tools.get(tool).cloned().or_else(|| tools::of_commands(tool))?;
    Some(call(service, session, &spec, arguments, None, audience).await)
}

fn remark(removed: &Removed, stored: bool) -> Option<String> {
    let kinds = removed.kinds();
    let secrets = match (removed.no_secrets(), stored) {
        (true, _) => None,
        (_, true) => Some(format!(
            "A secret was taken out ({kinds}) and the rest was stored. Note where it is kept, never the secret \
             itself."
        )),
        (_, false) => Some(format!("A secret was taken out of this call first ({kinds}).")),
    };
    let injected = match (removed.had_injected(), removed.emptied() && !stored) {
        (false, _) => None,
        (true, false) => Some("anchord's own injected text was taken out."),
        (true, true) => Some(
            "A text of this call was nothing but what anchord had injected. That is in memory already: write what \
             is yours.",
        ),
    };
    let remarks: Vec<String> = secrets.into_iter().chain(injected.map(str::to_owned)).collect();
    (!remarks.is_empty()).then(|| remarks.join("\n"))
}

/// Creates an id that is short enough to read out and long enough to be unique in a week's logs.
pub(super) fn request_id() -> String {
    let mut id = uuid::Uuid::new_v4().simple().to_string();
    id.truncate(12);
    id
}

/// Words a fault in anchord. The caller gets the id under which the log has the request.
pub(crate) fn internal_text(id: &str, what: &str) -> String {
    tracing::error!(id, what, "internal error");
    format!("internal error {id}; `anchord status` names the log that has it")
}

#[cfg(test)]
mod tests;
