//! The delivery of a response: its log line, and the conversation's state once the hook received
//! it, or left before that.

use std::sync::Arc;
use std::time::Duration;

use anchord_agents::events::Envelope;
use anchord_memory::Revision;
use anchord_memory::lifecycle::{Answer, Event, StartSource, ToolRun, ToolUse};
use anchord_memory::render::hooks::RenderedContext;
use anchord_proto::hook::HookReply;

use super::conversations::{Name, WaitingText};
use super::response::{DeliveredCheck, HookResponse, Shown};
use super::service::HookService;
use crate::retrieval_log::{HookMoment, LoggedAnswer, Retrieval};
use crate::sessions::Session;
use crate::{limits, rules, secrets};

/// The result of handling an event.
#[derive(Debug, Default)]
pub(crate) struct Handled {
    /// The hook's instructions.
    pub(crate) reply: HookReply,
    /// The new content of the reply, if any.
    pub(super) delivery: Option<Box<Delivery>>,
    /// The check against rules whose result the reply has.
    pub(super) check: Option<Box<DeliveredCheck>>,
}

/// The revisions up to which a conversation and its session were informed before an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct RevisionsKnown {
    pub(super) conversation: Option<Revision>,
    pub(super) session: Option<Revision>,
}

/// The content that a hook delivers to a model, and the state to update once it is delivered or
/// lost.
#[derive(Debug)]
pub(super) struct Delivery {
    name: Name,
    session: Arc<Session>,
    /// The conversation or subagent whose context receives it.
    context: Name,
    event: Event,
    /// The subagent that receives it.
    agent: Option<String>,
    before: RevisionsKnown,
    shown: Shown,
    /// The log line, the duration, and the text.
    line: (Retrieval, Duration, String),
}

impl Handled {
    /// Records that the hook received its answer.
    pub(crate) fn delivered(self, service: &HookService) {
        if let Some(check) = self.check {
            let DeliveredCheck { session, line, took, event: (name, digest), .. } = *check;
            if service.state.conversations.is_first_check(&name, digest) {
                session.log(&service.sessions, line, took, String::new());
            }
        }
        let Some(delivery) = self.delivery else { return };
        let Delivery { session, event, shown, line: (line, took, text), .. } = *delivery;
        let cause = cause_of(&event);
        if let Some(project) = session.project() {
            project.mark_shown(shown.notices);
        }
        session.log(&service.sessions, line, took, LoggedAnswer { text, cause });
    }

    /// Takes back an answer that the hook did not receive because it had left. The model's context
    /// has none of it, so the next event or load has to give it. Logs that an action was not
    /// checked. The hook may do that too, and `anchord log` then shows its line alone.
    pub(crate) fn undelivered(self, service: &HookService) {
        if let Some(check) = self.check
            && !check.is_double
        {
            let DeliveredCheck { session, line, took, .. } = *check;
            session.log(&service.sessions, rules::logged_late(line), took, String::new());
        }
        let Some(delivery) = self.delivery else { return };
        let Delivery { name, context, session, event, agent, before, shown, .. } = *delivery;
        let conversations = &service.state.conversations;
        conversations.with(&context, |conversation| {
            conversation.take_back(&shown.ids, &shown.whole, &files_of(&event));
        });
        conversations.with(&name, |conversation| match (event, agent) {
            // A subagent's task gave nothing to the conversation itself.
            (Event::PromptSubmitted { .. }, Some(_)) => {}
            (Event::PromptSubmitted { .. }, None) => {
                // Texts that waited for this prompt are lost, so their files count as new again.
                conversation.forget_files();
                conversation.revision_known = before.conversation;
                session.set_revision_seen(before.session);
            }
            (_, Some(agent)) => {
                conversation.rebuilt.remove(&agent);
            }
            (Event::SessionStarted { source }, None) => {
                // An emptied context does not hold earlier news either.
                let holds = source != StartSource::Clear;
                conversation.revision_known = before.conversation.filter(|_| holds);
                session.set_revision_seen(before.session.filter(|_| holds));
                session.set_injected(None);
                conversation.forget_given();
            }
            // Instructions for a compaction are part of a context that it replaces anyway.
            _ => {}
        });
    }
}

/// The answer to an event, its session, and the revisions known before.
pub(super) struct Answered {
    pub(super) session: Arc<Session>,
    pub(super) name: Name,
    pub(super) context: Name,
    pub(super) before: RevisionsKnown,
    pub(super) response: HookResponse,
}

impl Answered {
    /// Returns the content to deliver, if the answer shows any.
    pub(super) fn delivery(self, envelope: Envelope, took: Duration) -> Option<Box<Delivery>> {
        let Self { session, name, context, before, response } = self;
        let shown = response.shown?;
        let (Answer::Context(text) | Answer::Instructions(text)) = response.answer else {
            return None;
        };
        let line = Retrieval {
            tool: moment_of(&envelope).map_or("hook", HookMoment::name).to_owned(),
            ids: shown.ids.iter().map(ToString::to_string).collect(),
            truncated: shown.truncated,
            ..Retrieval::default()
        };
        let line = (line, took, text);
        let agent = match &envelope.event {
            Event::SubagentStarted(agent) => Some(agent.id.clone()),
            _ => envelope.agent.map(|agent| agent.id),
        };
        let event = envelope.event;
        Some(Box::new(Delivery { name, session, context, event, agent, before, shown, line }))
    }
}

/// Keeps a text that the client cannot carry at an action for the next prompt. A subagent gets no
/// further prompt, so its text is dropped.
pub(super) fn keep_for_prompt(
    service: &HookService,
    envelope: &Envelope,
    name: &Name,
    response: HookResponse,
) {
    let is_action = matches!(envelope.event, Event::ToolBegins(_) | Event::ToolRan(_));
    let files = files_of(&envelope.event);
    if let (true, None, Answer::Context(text), Some(shown)) =
        (is_action, &envelope.agent, response.answer, response.shown)
    {
        let Shown { ids: shown, whole, truncated, notices: _ } = shown;
        let context = RenderedContext { text, shown, whole, truncated };
        let waiting = WaitingText { context, files };
        service.state.conversations.with(name, |conversation| conversation.keep_waiting(waiting));
    }
}

/// Returns what caused a text, for those who look at it later.
fn cause_of(event: &Event) -> Option<String> {
    let cause = match event {
        Event::PromptSubmitted { prompt } => prompt.clone(),
        Event::ToolBegins(begins) => begins.files.first()?.clone(),
        Event::ToolRan(run) => match &run.command {
            Some(run) => run.command.clone(),
            None => run.read.iter().chain(&run.edited).next()?.clone(),
        },
        _ => return None,
    };
    let end = cause.floor_char_boundary(limits::RETRIEVAL_ASKED_BYTES_MAX);
    Some(secrets::clean(cause.get(..end).unwrap_or_default()).into_owned())
}

/// Returns the files of the tool that an event is about.
fn files_of(event: &Event) -> Vec<String> {
    match event {
        Event::ToolBegins(ToolUse { files, .. }) => files.clone(),
        Event::ToolRan(ToolRun { read, edited, .. }) => {
            read.iter().chain(edited).cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the moment that the log has for an event; `None` for events that show nothing.
fn moment_of(envelope: &Envelope) -> Option<HookMoment> {
    let is_of_subagent = envelope.agent.is_some();
    Some(match &envelope.event {
        Event::SessionStarted { source: StartSource::Compact } => HookMoment::Restored,
        Event::SessionStarted { source: StartSource::Resume | StartSource::Fork } => {
            HookMoment::Resumed
        }
        Event::SessionStarted { .. } | Event::PromptSubmitted { .. } if is_of_subagent => {
            HookMoment::Subagent
        }
        Event::SessionStarted { .. } => HookMoment::Start,
        Event::PromptSubmitted { .. } => HookMoment::Prompt,
        Event::CompactionBegins { .. } => HookMoment::Compaction,
        Event::SubagentStarted(_) => HookMoment::Subagent,
        Event::ToolBegins(_) => HookMoment::File,
        Event::ToolRan(run) if run.command.is_none() => HookMoment::File,
        Event::ToolRan(_) => HookMoment::Failure,
        Event::Compacted { .. }
        | Event::TurnEnded { .. }
        | Event::SubagentEnded(_)
        | Event::SessionEnded
        | Event::Reset => return None,
    })
}
