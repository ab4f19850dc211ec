//! What the texts of hooks are made from: the memory of a session, as its renderings want it.

use anchord_memory::Kind;
use anchord_memory::render::{self, LiveSession, LoadText, LoadView};

use super::Call;
use crate::sessions::{View, session_key};
use crate::{budgets, clock};

/// The load, framed.
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
    let topic = view.memory.bound(&session_key(&call.session)).map(str::to_owned);
    let gone = view.gone_files(topic.as_deref()).await;
    let last = call.session.remarks(call.daemon, view).await;
    let load = LoadView {
        project: &name,
        sections: &Kind::ALL,
        chars_max: None,
        tokens_max: Some(settings.load_tokens()),
        task: None,
        topic: topic.as_deref(),
        gone: &gone,
        tight: call.session.tight(call.daemon, &view.memory),
        cursor: None,
        reader: &reader,
        session: &call.session.id,
        notices_seen: &seen,
        live: &live,
        others_changed: None,
        now: clock::now(),
        last: &last,
    };
    render::lifecycle::session_start(&view.memory, &load)
}
