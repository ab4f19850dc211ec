//! What the texts of hooks are made from: the memory of a session, as its renderings want it.

use anchord_memory::render::{self, LiveSession, LoadText, LoadView};
use anchord_memory::{Kind, injected, limits};

use super::Call;
use crate::sessions::View;
use crate::{budgets, clock};

/// The load, within what the frame leaves of a hook's answer.
pub(super) async fn session_start(call: &Call<'_>, view: &View) -> LoadText {
    let name = view.place.name(call.daemon);
    let seen = view.project.as_ref().map(|project| project.notices_shown()).unwrap_or_default();
    let live: Vec<LiveSession> = call
        .session
        .others_live(call.daemon, view)
        .into_iter()
        .map(|live| LiveSession { client: live.client.to_string() })
        .collect();
    let settings = budgets::project_settings(&view.memory, &call.daemon.config);
    let reader = call.session.reader(call.daemon);
    let last = call.session.remarks(call.daemon, view).await;
    let load = LoadView {
        project: &name,
        sections: &Kind::ALL,
        chars_max: Some(limits::ANSWER_CHARS_MAX - injected::FRAME_CHARS),
        tokens_max: Some(settings.load_tokens()),
        task: None,
        tight: settings.project_budget().is_tight(view.memory.totals().note_tokens),
        cursor: None,
        reader: &reader,
        session: &call.session.id,
        notices_seen: &seen,
        live: &live,
        others_changed: None,
        now: clock::now(),
        last: &last,
    };
    render::load(&view.memory, &load).unwrap_or_else(|refusal| {
        tracing::error!(%refusal, "a load without parameters was refused");
        LoadText::default()
    })
}
