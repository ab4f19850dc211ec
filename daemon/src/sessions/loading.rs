//! Collects the contents of a session's load, for a tool or a hook.

use std::collections::BTreeSet;
use std::sync::Arc;

use anchord_memory::render::{EndedSession, LoadView, Tight};
use anchord_memory::{Audience, Kind, Memory, NoticeId, Reader, SessionId, Timestamp};

use super::service::SessionService;
use super::{Session, View, session_key};
use crate::budgets;
use crate::projects::ProjectId;
use crate::rules::FileRules;

/// Everything that a load looks up.
#[derive(Debug)]
pub(crate) struct LoadInputs {
    project: String,
    /// The user's own memory. Empty if nothing was ever written to it.
    personal: Arc<Memory>,
    load_tokens: u32,
    topic: Option<String>,
    gone: BTreeSet<String>,
    tight: Tight,
    reader: Reader,
    session: SessionId,
    notices_seen: BTreeSet<NoticeId>,
    /// The clients of the other live sessions.
    live: Vec<String>,
    /// Ended sessions whose work is still staged.
    just_ended: Vec<EndedSession>,
    read_only: Option<String>,
    /// The rules of the project's file.
    rules: FileRules,
    now: Timestamp,
    last: String,
}

impl Session {
    /// Looks up everything that a load of this session shows besides records. Shows the named topic
    /// in full, or else the session's own.
    pub(crate) async fn loading(
        &self,
        service: &SessionService,
        view: &View,
        topic: Option<&str>,
    ) -> LoadInputs {
        let seen = view.project.as_ref().map(|project| project.notices_shown());
        let live = self.others_live(service, view).into_iter();
        let mut last = self.remarks(service, view).await;
        // Beside an earlier memory, the user's own notes would be those of now. In the user's own
        // memory, they would be there twice.
        let personal = if view.is_past() || self.is_in_personal() {
            None
        } else {
            service.projects.open_known(ProjectId::PERSONAL).await.unwrap_or_else(|error| {
                last.extend(["The user's own notes cannot be read: ", &error.to_string(), "\n"]);
                None
            })
        };
        last.push_str(&view.team(Some(&self.id)));
        let topic = topic.or_else(|| view.memory.bound(&session_key(self)));
        LoadInputs {
            project: view.place.name(service),
            personal: personal.map(|open| open.memory()).unwrap_or_default(),
            load_tokens: budgets::project_settings(&view.memory, &service.config).load_tokens(),
            gone: view.gone_files(topic).await,
            topic: topic.map(str::to_owned),
            tight: self.tight(service, &view.memory),
            reader: self.reader(service),
            session: self.id.clone(),
            notices_seen: seen.unwrap_or_default(),
            live: live.map(|live| live.client.to_string()).collect(),
            just_ended: self.just_ended(service, view).await,
            read_only: view.project.as_ref().and_then(|open| open.owner.health().read_only.clone()),
            // Beside an earlier memory, they would be those of now.
            rules: if view.is_past() {
                FileRules::default()
            } else {
                service.rules.file(view.place.located()).await
            },
            now: view.now(),
            last,
        }
    }

    /// Collects what a load shows besides records, without reading a disk.
    pub(crate) fn loading_at_hand(&self, service: &SessionService, view: &View) -> LoadInputs {
        let seen = view.project.as_ref().map(|project| project.notices_shown());
        LoadInputs {
            project: view.place.name(service),
            personal: Arc::default(),
            load_tokens: budgets::project_settings(&view.memory, &service.config).load_tokens(),
            gone: BTreeSet::new(),
            topic: view.memory.bound(&session_key(self)).map(str::to_owned),
            tight: self.tight(service, &view.memory),
            reader: self.reader(service),
            session: self.id.clone(),
            notices_seen: seen.unwrap_or_default(),
            live: Vec::new(),
            just_ended: Vec::new(),
            read_only: view.project.as_ref().and_then(|open| open.owner.health().read_only.clone()),
            rules: service.rules.file_at_hand(view.place.located()).unwrap_or_default(),
            now: view.now(),
            last: view.team(Some(&self.id)),
        }
    }
}

impl LoadInputs {
    /// Returns the user's own memory.
    pub(crate) fn personal_memory(&self) -> &Memory {
        &self.personal
    }

    /// Returns the load at a session's start: every section, within the configured token budget.
    pub(crate) fn view(&self) -> LoadView<'_> {
        LoadView {
            project: &self.project,
            sections: &Kind::ALL,
            chars_max: None,
            tokens_max: Some(self.load_tokens),
            task: None,
            topic: self.topic.as_deref(),
            gone: &self.gone,
            tight: self.tight,
            cursor: None,
            reader: &self.reader,
            session: &self.session,
            notices_seen: &self.notices_seen,
            live: &self.live,
            others_changed: None,
            now: self.now,
            personal: Some(&self.personal),
            just_ended: &self.just_ended,
            read_only: self.read_only.as_deref(),
            file_rules: self.rules.view(),
            last: &self.last,
            part: false,
            audience: &Audience::Agent,
        }
    }
}
