//! One tool call, from any caller. Secrets are removed first, a panic is caught, and the call is
//! measured and logged with its result.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Audience, RecordId};
use futures::FutureExt;
use serde_json::{Map, Value};
use tracing::Instrument;

use super::answer::ToolAnswer;
use super::context::Context;
use super::error::{ToolError, defused};
use super::input::UnknownFields;
use super::service::ToolService;
use super::tool::ToolSpec;
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
    let request = Request { service, session: &session, spec, reads };
    let answering = async {
        let ran = request.run(arguments, line, audience).await;
        let took = started.elapsed();
        request.measure(&ran.outcome, took);
        if let Some(asked) = asked {
            request.log_read(asked, &ran.outcome, took);
        }
        let remark = request.remark(&ran, &removed).await;
        (ran.outcome, remark)
    };
    let (outcome, remark) = answering.instrument(span).await;
    Called { outcome, remark, id }
}

/// A session's request to run a tool.
#[derive(Clone, Copy)]
struct Request<'a> {
    service: &'a Arc<ToolService>,
    session: &'a Arc<Session>,
    spec: &'a ToolSpec,
    /// Whether it changes nothing.
    reads: bool,
}

/// The end of a tool's run.
struct Ran {
    outcome: Result<ToolAnswer, ToolError>,
    /// Fields of the call that no parameter accepts.
    unknown: UnknownFields,
    /// Whether the call was refused because its ids may name other records now.
    is_refused: bool,
}

impl Request<'_> {
    /// Runs the tool and catches its panic. Refuses a call with ids from before a merge.
    async fn run(
        self,
        arguments: Map<String, Value>,
        line: Option<Call>,
        audience: Audience,
    ) -> Ran {
        let step_backs = self.session.step_backs(&self.service.sessions);
        self.session.step_back(&step_backs);
        // An id of before may name another record now.
        let names_ids = arguments.values().any(names_records);
        if names_ids && self.session.take_renumbered(&self.service.sessions, true).await {
            let outcome = Err(ToolError::caller(RENUMBERED));
            return Ran { outcome, unknown: UnknownFields::default(), is_refused: true };
        }
        let context = self.context(line, audience);
        // The parameters are read before the first await. That, too, may panic.
        let running = async {
            let running = self.spec.run(context, arguments);
            running.await
        };
        let caught = AssertUnwindSafe(running).catch_unwind().await;
        let (outcome, unknown) = caught.unwrap_or_else(|_panic| {
            self.service.metrics().panicked();
            (Err(ToolError::Internal("a tool panicked".to_owned())), UnknownFields::default())
        });
        Ran { outcome, unknown, is_refused: false }
    }

    fn context(self, line: Option<Call>, audience: Audience) -> Context {
        Context {
            sessions: Arc::clone(&self.service.sessions),
            merging: Arc::clone(&self.service.merging),
            outlines: Arc::clone(&self.service.outlines),
            zipmem: Arc::clone(&self.service.zipmem),
            session: Arc::clone(self.session),
            call: line,
            audience: Arc::new(audience),
        }
    }

    /// Counts the call and its times.
    fn measure(self, outcome: &Result<ToolAnswer, ToolError>, took: Duration) {
        let metrics = self.service.metrics();
        metrics.tool_called(&self.spec.definition.name, outcome.is_ok(), took);
        let append = outcome.as_ref().ok().and_then(|answer| answer.append);
        if let Some(append) = append {
            metrics.committed(took, append);
        }
        if self.reads {
            let truncated = outcome.as_ref().is_ok_and(|answer| answer.truncated);
            metrics.retrieved(took, outcome.is_ok(), truncated);
        }
        let append_micros = append.map(|append| append.as_micros());
        tracing::info!(ok = outcome.is_ok(), micros = took.as_micros(), append_micros, "answered");
    }

    /// Logs a call that read: its tool and arguments, and what it gave.
    fn log_read(
        self,
        asked: Map<String, Value>,
        outcome: &Result<ToolAnswer, ToolError>,
        took: Duration,
    ) {
        let text = outcome.as_ref().map_or_else(ToString::to_string, |answer| answer.text.clone());
        let named = outcome.iter().flat_map(ToolAnswer::named);
        let line = Retrieval {
            tool: self.spec.definition.name.to_string(),
            asked: asked.into(),
            ids: named.map(|id| id.to_string()).collect(),
            truncated: outcome.as_ref().is_ok_and(|answer| answer.truncated),
            refused: outcome.is_err(),
            ..Retrieval::default()
        };
        self.session.log(&self.service.sessions, line, took, text);
    }

    /// Collects what the session should know besides the answer.
    async fn remark(self, ran: &Ran, removed: &Removed) -> Option<String> {
        // What is told once waits for an answer that has it.
        if !self.spec.has_remarks || matches!(ran.outcome, Err(ToolError::Internal(_))) {
            return None;
        }
        let of_ids = if ran.is_refused { None } else { self.remark_on_ids().await };
        let of_fields = ran.unknown.in_words().filter(|_| self.spec.names_unknown);
        let of_save = self.session.project().and_then(|open| open.take_told(&self.session.id));
        let of_lost = match self.session.project() {
            Some(project) => project.take_lost(&self.session.id).await,
            None => None,
        };
        let of_place = match self.session.take_remarks() {
            None => self.remark_on_no_memory(&ran.outcome).await,
            remark => remark,
        };
        let is_write = ran.outcome.is_ok() && !self.reads;
        let remarks: Vec<String> = remark_on_removed(removed, is_write)
            .into_iter()
            .chain(of_fields)
            .chain(of_place)
            .chain(of_save)
            .chain(of_lost)
            .chain(of_ids)
            .collect();
        (!remarks.is_empty()).then(|| remarks.join("\n"))
    }

    /// Says once that records may have got other ids.
    async fn remark_on_ids(self) -> Option<String> {
        self.session.project_id()?;
        let is_news = self.session.take_renumbered(&self.service.sessions, false).await;
        is_news.then(|| RENUMBERED.to_owned())
    }

    /// Returns what is known of a place without a memory, such as that it had one. Returns nothing
    /// if the answer says it. A read would look as if nothing had ever been recorded.
    async fn remark_on_no_memory(self, outcome: &Result<ToolAnswer, ToolError>) -> Option<String> {
        let is_said = outcome.as_ref().is_ok_and(|answer| answer.has_place_remark);
        // A tool that found a memory has told the session which.
        if !self.reads || is_said || self.session.project_id().is_some() {
            return None;
        }
        let view = self.session.view(&self.service.sessions).await.ok()?;
        view.remark.filter(|_| view.project.is_none())
    }
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

/// Runs a tool of the set `all`, or one that only commands have. `None` if there is no such tool.
pub(crate) async fn call_by_name(
    service: &Arc<ToolService>,
    session: Arc<Session>,
    tool: &str,
    arguments: Map<String, Value>,
    audience: Audience,
) -> Option<Called> {
    let spec = service.tool(tool)?;
    Some(call(service, session, &spec, arguments, None, audience).await)
}

/// Says what was removed from a call. A write that was done may have changed nothing.
fn remark_on_removed(removed: &Removed, is_write: bool) -> Option<String> {
    let kinds = removed.kinds();
    let advice = if is_write { " Note where it is kept, never the secret itself." } else { "" };
    let secrets = (!removed.no_secrets())
        .then(|| format!("A secret was taken out of the input ({kinds}).{advice}"));
    let injected = match (removed.had_injected(), removed.emptied() && !is_write) {
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
