//! Staging of pending activity: what hooks record of a conversation by rule. It is staged in the
//! conversation's own session, as private work that survives the daemon.

use std::sync::Arc;

use anchord_memory::guide::CheckpointMode;
use anchord_memory::{
    Change, HistoryLine, Memory, Provenance, Refusal, SessionActivity, Staged, TopicPart,
    plan_bind, plan_capture, plan_checkpoint, topic_named_after,
};

use futures::future::join_all;

use super::conversations::Name;
use super::service::HookService;
use super::{HookCall, HookError};
use crate::blocking::join_or_resume_panic;
use crate::project::{Operation, Transition, WriteCommand};
use crate::projects::ProjectId;
use crate::sessions::{BindError, Session, session_key};
use crate::{budgets, clock, limits};

impl HookCall<'_> {
    /// Adds the event to the pending activity.
    pub(super) fn note(&self) {
        let event = &self.envelope.event;
        self.conversations().with(&self.name, |conversation| {
            self.name_activity(&mut conversation.pending);
            conversation.pending.saw(event, clock::now());
        });
    }

    /// Sets the key of the conversation, by which its topic is found.
    fn name_activity(&self, activity: &mut SessionActivity) {
        if activity.key().is_empty() {
            *activity = SessionActivity::of(&format!("{}:{}", self.name.0, self.name.1));
        }
    }

    /// Returns the pending activity.
    pub(super) fn pending_activity(&self) -> SessionActivity {
        let mut activity =
            self.conversations().with(&self.name, |conversation| conversation.pending.clone());
        self.name_activity(&mut activity);
        activity
    }

    /// Stages pending activity, so that it survives the daemon.
    pub(super) async fn stage_pending_activity(&self) -> Result<(), HookError> {
        Ok(stage(self.service, &self.name, &self.session, Which::Significant).await?)
    }

    /// Stages a line for the history of the conversation's topic. Without a topic there is no
    /// history to write.
    pub(super) async fn stage_history(
        &self,
        line: Option<String>,
        without_topic: WithoutTopic,
    ) -> Result<(), HookError> {
        let memory = self.session.view(&self.service.sessions).await?.memory;
        let key = session_key(&self.session);
        if only_shows(self.service, &memory)
            || (without_topic == WithoutTopic::Skip && memory.bound(&key).is_none())
        {
            return Ok(());
        }
        let session = Arc::clone(&self.session);
        let command: WriteCommand<Memory> = Arc::new(move |memory, now| {
            let changes = history(memory, &session.provenance(now), &key, line.as_deref())?;
            Ok(Transition::silent(changes))
        });
        let operation = Operation::staying("thread");
        self.session.write(&self.service.sessions, None, operation, command).await?;
        Ok(())
    }
}

/// The treatment of a conversation without a topic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutTopic {
    /// It is bound to a new topic.
    Bind,
    /// Nothing is staged.
    Skip,
}

/// Returns whether hooks store nothing in this project.
fn only_shows(service: &HookService, memory: &Memory) -> bool {
    let mode = budgets::project_settings(memory, &service.sessions.config).checkpoint_mode;
    mode == Some(CheckpointMode::Conservative)
}

/// Stages pending activity of conversations that have been silent for at least `since`.
pub(crate) async fn stage_silent(service: &Arc<HookService>, since: std::time::Duration) {
    let silent = service.state.conversations.silent(since).into_iter().map(async |(name, session)| {
        let stage = stage(service, &name, &session, Which::Significant);
        match tokio::time::timeout(limits::JOB_TIME_MAX, stage).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!(session = %session.id, %error, "what was noted is not staged yet");
            }
            Err(_late) => {
                tracing::warn!(session = %session.id, "staging pending activity takes long");
            }
        }
    });
    join_all(silent).await;
}

/// Stages all pending activity in a project, so that a scan of its journal finds it.
pub(crate) async fn stage_of(
    service: &Arc<HookService>,
    project: ProjectId,
) -> Result<(), BindError> {
    for (name, session) in service.state.conversations.with_pending_activity() {
        // A conversation with pending activity only may not have bound its project yet.
        if session.project_id().is_none() && session.view(&service.sessions).await.is_err() {
            continue;
        }
        if session.project_id() == Some(project) {
            stage(service, &name, &session, Which::All).await?;
        }
    }
    Ok(())
}

/// Stages the pending activity of a conversation that ended without an event, then forgets it.
pub(super) async fn stage_and_forget(
    service: &Arc<HookService>,
    name: &Name,
    session: &Arc<Session>,
) -> Result<(), BindError> {
    stage(service, name, session, Which::Significant).await?;
    service.state.conversations.end(name);
    Ok(())
}

/// The pending activity to stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// Activity that is enough for a session row, or adds to activity staged before. Other activity
    /// waits.
    Significant,
    All,
}

/// Stages pending activity. If the write fails, the activity stays pending. Continues when the
/// caller is cancelled, since activity that was already taken would be lost half-way.
async fn stage(
    service: &Arc<HookService>,
    name: &Name,
    session: &Arc<Session>,
    which: Which,
) -> Result<(), BindError> {
    let (service, name, session) = (Arc::clone(service), name.clone(), Arc::clone(session));
    join_or_resume_panic(tokio::spawn(async move {
        take_and_write(&service, &name, &session, which).await
    }))
    .await
}

async fn take_and_write(
    service: &Arc<HookService>,
    name: &Name,
    session: &Arc<Session>,
    which: Which,
) -> Result<(), BindError> {
    let conversations = &service.state.conversations;
    let activity = conversations.with(name, |conversation| {
        let empty = SessionActivity::of(conversation.pending.key());
        std::mem::replace(&mut conversation.pending, empty)
    });
    if activity.is_empty() {
        return Ok(());
    }
    let staged = write(service, session, &activity, which).await;
    if !matches!(staged, Ok(true)) {
        conversations.with(name, |conversation| {
            let mut all = activity;
            all.absorb(&conversation.pending);
            conversation.pending = all;
        });
    }
    staged.map(|_| ())
}

async fn write(
    service: &Arc<HookService>,
    session: &Arc<Session>,
    activity: &SessionActivity,
    which: Which,
) -> Result<bool, BindError> {
    let memory = session.view(&service.sessions).await?.memory;
    if only_shows(service, &memory) {
        return Ok(true);
    }
    let before = || memory.staged_by(&session.id).is_some_and(|staged| staged.captured.is_some());
    if which == Which::Significant && !activity.leaves_row() && !before() {
        return Ok(false);
    }
    let place = session.place(&service.sessions).await?;
    let activity = match place.root().and_then(|root| root.to_str()) {
        Some(root) => activity.clone().relative_to(root),
        None => activity.clone(),
    };
    let writer = Arc::clone(session);
    let command: WriteCommand<Memory> = Arc::new(move |memory, now| {
        let plan = plan_capture(memory, &writer.provenance(now), activity.clone());
        Ok(Transition::silent(plan.map(|plan| plan.changes).unwrap_or_default()))
    });
    session.write(&service.sessions, None, Operation::staying("capture"), command).await?;
    Ok(true)
}

/// Plans the conversation's binding to a topic, and a line for the topic's history.
fn history(
    memory: &Memory,
    by: &Provenance,
    key: &str,
    line: Option<&str>,
) -> Result<Vec<Change>, Refusal> {
    let named = topic_named_after(key, by.time);
    let topic = memory.bound(key).unwrap_or(&named);
    let mut changes = plan_bind(memory, key, Some(topic))?.changes;
    if let Some(line) = line {
        let history = vec![HistoryLine::new(line)];
        let part = TopicPart { name: Some(topic.to_owned()), history, ..TopicPart::default() };
        let part = Staged { topics: vec![part], ..Staged::default() };
        changes.extend(plan_checkpoint(memory, by, part)?.changes);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests;
