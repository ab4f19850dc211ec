//! Prepares a load in time: a hook leaves after a second, and then the agent gets nothing.
//!
//! Opening a large memory, a disk that hangs, and rendering may each take too long. The answer then
//! contains what is ready, and names the call that shows the rest.

use std::sync::Arc;
use std::time::Instant;

use anchord_memory::render::hooks::{RenderedContext, not_shown};
use anchord_memory::render::{LoadText, LoadView};
use anchord_memory::{Memory, Revision};

use super::response::HookResponse;
use super::{HookCall, HookError};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::ANCHORS_TIME_MAX;
use crate::rules::FileRules;
use crate::sessions::View;

/// A load, as far as it is ready.
pub(super) struct ReadyLoad {
    pub(super) text: LoadText,
    /// The revision that the load shows.
    pub(super) revision: Revision,
    /// Whether the load shows everything that there is to show.
    pub(super) is_whole: bool,
}

impl ReadyLoad {
    /// Records what the context now holds. After a partial load, `memory_load` still gives
    /// everything.
    pub(super) fn answer(self, call: &HookCall<'_>) -> HookResponse {
        let Self { text, revision, is_whole } = self;
        call.session.set_revision_seen(Some(revision));
        call.session.set_injected(Some(revision).filter(|_| is_whole));
        call.conversations().with(&call.name, |conversation| {
            conversation.revision_known = Some(revision);
            conversation.context_since.get_or_insert(revision);
            conversation.given.extend(text.whole.iter().copied());
        });
        HookResponse::load(text)
    }
}

/// Answers that the memory could not be opened or rendered in time.
pub(super) fn answer_not_shown(call: &HookCall<'_>) -> HookResponse {
    call.session.set_injected(None);
    HookResponse::context(RenderedContext { text: not_shown(), ..RenderedContext::default() })
}

/// Renders as much of a load as is possible in time; `None` if that is nothing.
/// `task` is the subject of the conversation, if it is known.
pub(super) async fn ready_load(
    call: &HookCall<'_>,
    task: Option<String>,
    render: impl Fn(&Memory, &LoadView<'_>) -> LoadText + Send + Sync + 'static,
) -> Result<Option<ReadyLoad>, HookError> {
    let (begin, patience) = (clock::start(), call.service.patience);
    let opening = async {
        let (session, sessions) = (&call.session, &call.service.sessions);
        match &task {
            Some(_) => session.searchable_view(sessions).await,
            None => session.view(sessions).await,
        }
    };
    let Some(view) = in_time(begin + patience.open, opening).await else {
        return Ok(None);
    };
    let view = view?;
    let active: Vec<_> = view.memory.active_with_code().cloned().collect();
    let view = view.with_anchors(&call.service.sessions, ANCHORS_TIME_MAX, &active).await;
    let looked = call.session.loading(&call.service.sessions, &view, None);
    let looked = in_time(begin + patience.look, looked).await;
    let until = looked.is_some().then(|| begin + patience.render);
    let loading =
        looked.unwrap_or_else(|| call.session.loading_at_hand(&call.service.sessions, &view));
    let (loading, render) = (Arc::new(loading), Arc::new(render));
    let rendered = |part: bool| {
        let (memory, loading) = (Arc::clone(&view.memory), Arc::clone(&loading));
        let (task, render) = (task.clone(), Arc::clone(&render));
        run_blocking(move || {
            render(&memory, &LoadView { task: task.as_deref(), part, ..loading.view() })
        })
    };
    let whole = match until {
        Some(until) => in_time(until, rendered(false)).await,
        None => None,
    };
    let is_whole = whole.is_some();
    let text = match whole {
        Some(text) => Some(text),
        None => in_time(begin + patience.part, rendered(true)).await,
    };
    Ok(text.map(|text| ReadyLoad { text, revision: view.memory.revision(), is_whole }))
}

/// Reads the rules of the project's file for an event that began at `begin`, in the time that a
/// load has for it. Otherwise returns them as they were last read, or that they were not.
pub(super) async fn ready_file_rules(
    call: &HookCall<'_>,
    view: &View,
    begin: Instant,
) -> FileRules {
    let (rules, located) = (&call.service.sessions.rules, view.place.located());
    let read = in_time(begin + call.service.patience.look, rules.file(located)).await;
    read.or_else(|| rules.file_at_hand(located))
        .unwrap_or_else(|| FileRules::unreadable("it was not read in time".to_owned()))
}

/// Awaits work until a deadline; `None` if it is not done by then.
async fn in_time<T>(until: Instant, work: impl Future<Output = T>) -> Option<T> {
    if clock::start() >= until {
        return None;
    }
    tokio::time::timeout_at(until.into(), work).await.ok()
}
