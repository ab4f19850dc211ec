//! Events in agents' conversations, reported by their hooks: one line in, one answer out.
//!
//! A client's adapter, in the crate `agents`, reads its payload into the closed set of events. Each
//! event has a policy, which reads the session's memory, stages work and answers. The adapter
//! writes the answer in its client's format. An event that fails must not make the agent fail: its
//! answer is empty, and the failure is counted and logged.

mod action;
mod activity;
mod compaction;
mod conversations;
mod ending;
mod prompt;
mod ready;
mod service;
mod start;
pub(crate) mod state;
mod subagent;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use anchord_agents::events::{Adapter, Envelope, ParsedEvent, Unreadable};
use anchord_memory::lifecycle::{Answer, Event, StartSource, ToolRun, ToolUse};
use anchord_memory::render::LoadText;
use anchord_memory::render::hooks::RenderedContext;
use anchord_memory::{NoticeId, RecordId, Revision};
use anchord_proto::hello::Hello;
use anchord_proto::hook::HookReply;
use anchord_proto::host;
use futures::FutureExt;

use self::conversations::{ConversationState, Conversations, Name, WaitingText};
pub(crate) use activity::{stage_of, stage_silent};

pub(crate) use self::service::HookService;
use crate::retrieval_log::{Given, Retrieval};
use crate::sessions::{
    self, BindError, EventSource, MatchConfidence, Replaced, ResolvedSession, Session,
    SessionsElsewhere,
};
use crate::{clock, limits, secrets};

/// Programs with which clients run hooks.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "fish"];

/// The reason an event was not handled.
#[derive(Debug, thiserror::Error)]
enum HookError {
    /// The payload is not a valid event.
    #[error("failed to read an event: {0}")]
    Unreadable(#[from] Unreadable),
    /// The session has no project, or its memory cannot be opened.
    #[error("failed to {0}")]
    Bind(#[from] BindError),
    /// A fault in anchord.
    #[error("a hook panicked")]
    Panicked,
}

/// One event while its policy handles it.
struct Call<'a> {
    service: &'a Arc<HookService>,
    envelope: &'a Envelope,
    session: Arc<Session>,
    confidence: MatchConfidence,
    name: Name,
}

impl Call<'_> {
    fn conversations(&self) -> &Conversations {
        &self.service.state.conversations
    }

    /// Returns the name of the context that the answer goes to. A subagent has a context of its
    /// own.
    fn context(&self) -> Name {
        let (client, conversation) = &self.name;
        match &self.envelope.agent {
            Some(agent) => (client, format!("{conversation}//{}", agent.id)),
            None => self.name.clone(),
        }
    }

    /// Reads or changes the state of the context that the answer goes to.
    fn with_context<T>(&self, look: impl FnOnce(&mut ConversationState) -> T) -> T {
        self.conversations().with(&self.context(), |conversation| {
            conversation.session = Some(Arc::clone(&self.session));
            look(conversation)
        })
    }
}

/// The answer to an event, and what is logged about it.
#[derive(Debug, Default)]
struct HookResponse {
    answer: Answer,
    /// The records shown; `None` if nothing is shown, or nothing new.
    shown: Option<Shown>,
}

/// The part of memory that an answer shows.
#[derive(Debug)]
struct Shown {
    ids: Vec<RecordId>,
    /// The shown records that the text gives in full.
    whole: Vec<RecordId>,
    /// Whether there was more to show.
    truncated: bool,
    notices: Vec<NoticeId>,
}

impl HookResponse {
    /// Answers with a text for the model's context. An empty text is no answer.
    fn context(context: RenderedContext) -> Self {
        let RenderedContext { text, shown: ids, whole, truncated } = context;
        if text.is_empty() {
            return Self::default();
        }
        let shown = Shown { ids, whole, truncated, notices: Vec::new() };
        Self { answer: Answer::Context(text), shown: Some(shown) }
    }

    /// Answers with a load for the model's context.
    fn load(load: LoadText) -> Self {
        let LoadText { text, notices_shown, shown, whole, truncated, .. } = load;
        let mut response = Self::context(RenderedContext { text, shown, whole, truncated });
        if let Some(shown) = &mut response.shown {
            shown.notices = notices_shown;
        }
        response
    }

    /// Answers with what a compaction must keep.
    fn instructions(context: RenderedContext) -> Self {
        match Self::context(context) {
            Self { answer: Answer::Context(text), shown } => {
                Self { answer: Answer::Instructions(text), shown }
            }
            nothing => nothing,
        }
    }
}

/// The result of handling an event.
#[derive(Debug, Default)]
pub(crate) struct Handled {
    /// The hook's instructions.
    pub(crate) reply: HookReply,
    /// The new content of the reply, if any.
    delivery: Option<Box<Delivery>>,
}

/// The revisions up to which a conversation and its session were informed before an event.
#[derive(Clone, Copy, Debug)]
struct RevisionsKnown {
    conversation: Option<Revision>,
    session: Option<Revision>,
}

/// The content that a hook delivers to a model, and the state to update once it is delivered or
/// lost.
#[derive(Debug)]
struct Delivery {
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
        let Some(delivery) = self.delivery else { return };
        let Delivery { session, event, shown, line: (line, took, text), .. } = *delivery;
        let cause = cause_of(&event);
        if let Some(project) = session.project() {
            project.mark_shown(shown.notices);
        }
        session.log(&service.sessions, line, took, Given { text, cause });
    }

    /// Takes back an answer that the hook did not receive because it had left. The model's context
    /// has none of it, so the next event or load has to give it.
    pub(crate) fn undelivered(self, service: &HookService) {
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

/// Handles the event in a line that a hook sent.
pub(crate) async fn handle(service: &Arc<HookService>, hello: &Hello, line: &[u8]) -> Handled {
    let started = clock::start();
    let client = hello.client.as_deref().unwrap_or_default();
    let Some(adapter) = Adapter::of(client) else {
        service.state.unknown(client, "the client");
        return Handled::default();
    };
    let mut event = None;
    let handling = handled(service, hello, adapter, line, &mut event);
    let handled = AssertUnwindSafe(handling).catch_unwind().await.unwrap_or_else(|_panic| {
        service.metrics().panicked();
        Err(HookError::Panicked)
    });
    let event = event.unwrap_or_else(|| "unknown".to_owned());
    service.metrics().hook_handled(adapter.client, &event, handled.is_ok(), started.elapsed());
    handled.unwrap_or_else(|error| {
        tracing::warn!(client = adapter.client, event, %error, "a hook was not answered");
        service.metrics().hook_failed(adapter.client, &event, &error.to_string(), clock::now());
        Handled { reply: HookReply { stdout: None, failed: true }, delivery: None }
    })
}

/// Handles a payload. Sets `event` to the event's name as soon as that is known.
async fn handled(
    service: &Arc<HookService>,
    hello: &Hello,
    adapter: Adapter,
    line: &[u8],
    event: &mut Option<String>,
) -> Result<Handled, HookError> {
    let started = clock::start();
    let Some(envelope) = read(service, adapter, line, event)? else {
        return Ok(Handled::default());
    };
    let name: Name = (envelope.client, envelope.agent_session.clone());
    let rebuilt = Event::SessionStarted { source: StartSource::Rebuilt };
    let conversations = &service.state.conversations;
    let is_double = envelope.event != rebuilt
        && conversations.is_double(&name, digest(hello, line), &envelope.event);
    if is_double {
        service.metrics().hook_doubled();
        // A rule stops a tool however often the client asks.
        if !matches!(envelope.event, Event::ToolBegins(_)) {
            return Ok(Handled::default());
        }
    }
    let arrival = Arrival { hello, asks: adapter.asks, is_double };
    let answered = match answer(service, &arrival, &envelope).await {
        // A home directory is not a project. Nothing is wrong, and there is nothing to say.
        Err(HookError::Bind(BindError::NotAProject(_))) => return Ok(Handled::default()),
        answered => answered?,
    };
    let text = adapter.write(&envelope, &answered.response.answer);
    if text.is_empty() {
        keep_for_prompt(service, &envelope, &answered.context, answered.response);
        return Ok(Handled::default());
    }
    let delivery = answered.delivery(*envelope, started.elapsed());
    Ok(Handled { reply: HookReply { stdout: Some(text), failed: false }, delivery })
}

/// Reads the event in a payload. `None` if it has none to handle.
fn read(
    service: &HookService,
    adapter: Adapter,
    line: &[u8],
    event: &mut Option<String>,
) -> Result<Option<Box<Envelope>>, HookError> {
    let (parsed, unknown) = adapter.read(line)?;
    for field in unknown {
        service.state.unknown(adapter.client, &format!("field {field}"));
    }
    match parsed {
        ParsedEvent::Event(envelope) => {
            *event = Some(envelope.name.clone());
            return Ok(Some(envelope));
        }
        ParsedEvent::Unknown(name) => {
            service.state.unknown(adapter.client, &format!("event {name}"));
        }
        ParsedEvent::Skipped(trigger) => {
            tracing::debug!(client = adapter.client, ?trigger, "no conversation with a person");
            service.metrics().hook_skipped();
            *event = Some("skipped".to_owned());
        }
        ParsedEvent::Nothing => *event = Some("nothing".to_owned()),
    }
    Ok(None)
}

/// Keeps a text that the client cannot carry at an action for the next prompt. A subagent gets no
/// further prompt, so its text is dropped.
fn keep_for_prompt(
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

/// The answer to an event, its session, and the revisions known before.
struct Answered {
    session: Arc<Session>,
    name: Name,
    context: Name,
    before: RevisionsKnown,
    response: HookResponse,
}

impl Answered {
    /// Returns the content to deliver, if the answer shows any.
    fn delivery(self, envelope: Envelope, took: Duration) -> Option<Box<Delivery>> {
        let Self { session, name, context, before, response } = self;
        let shown = response.shown?;
        let (Answer::Context(text) | Answer::Instructions(text)) = response.answer else {
            return None;
        };
        let line = Retrieval {
            tool: shown_at(&envelope).to_owned(),
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

/// The circumstances in which an event arrived.
struct Arrival<'a> {
    hello: &'a Hello,
    /// Whether the client asks a person by itself.
    asks: bool,
    /// Whether the same event came a moment ago.
    is_double: bool,
}

async fn answer(
    service: &Arc<HookService>,
    arrival: &Arrival<'_>,
    envelope: &Envelope,
) -> Result<Answered, HookError> {
    let source = source(arrival.hello, envelope);
    let ResolvedSession { session, confidence, replaced } =
        service.sessions.resolve_event(&source).await?;
    let name = name_in(&session, &source);
    match replaced {
        Some(Replaced::Same(before)) => {
            session.continues(&before);
            sessions::hand_over(&service.sessions, &before, &session).await?;
        }
        Some(Replaced::Cleared(before)) => {
            let agent_session = before.agent_session.as_deref().unwrap_or_default();
            activity::stage_and_forget(
                service,
                &(source.client, agent_session.to_owned()),
                &before,
            )
            .await?;
            sessions::keep_and_end(&service.sessions, &before).await?;
        }
        None => {}
    }
    let call = Call { service, envelope, session, confidence, name };
    let known = call.conversations().with(&call.name, |conversation| {
        conversation.session = Some(Arc::clone(&call.session));
        conversation.revision_known
    });
    let before = RevisionsKnown { conversation: known, session: call.session.revision_seen() };
    tracing::debug!(
        session = %call.session.id,
        confidence = call.confidence.name(),
        event = envelope.name,
        "an event"
    );
    let response = match &envelope.event {
        Event::SessionStarted { source } => start::started(&call, *source).await,
        Event::PromptSubmitted { prompt } => prompt::submitted(&call, prompt).await,
        Event::ToolBegins(begins) => action::begins(&call, begins, arrival).await,
        Event::ToolRan(run) => action::ran(&call, run).await,
        Event::CompactionBegins { messages } => compaction::begins(&call, *messages).await,
        Event::Compacted { summary, messages } => {
            compaction::ended(&call, summary.as_deref(), *messages).await
        }
        Event::TurnEnded { .. } => ending::turn(&call).await,
        Event::SubagentStarted(agent) => subagent::started(&call, agent).await,
        Event::SubagentEnded(agent) => subagent::ended(&call, agent).await,
        Event::SessionEnded | Event::Reset => ending::session(&call).await,
    };
    Ok(Answered {
        response: response?,
        before,
        context: call.context(),
        session: call.session,
        name: call.name,
    })
}

/// Returns the log's name for an event that shows something.
fn shown_at(envelope: &Envelope) -> &'static str {
    match &envelope.event {
        Event::SessionStarted { source: StartSource::Compact } => "hook restored",
        Event::SessionStarted { source: StartSource::Resume } => "hook resumed",
        Event::SessionStarted { .. } | Event::PromptSubmitted { .. }
            if envelope.agent.is_some() =>
        {
            "hook subagent"
        }
        Event::SessionStarted { .. } => "hook start",
        Event::PromptSubmitted { .. } => "hook prompt",
        Event::CompactionBegins { .. } => "hook compaction",
        Event::SubagentStarted(_) => "hook subagent",
        Event::ToolBegins(_) => "hook file",
        Event::ToolRan(run) if run.command.is_none() => "hook file",
        Event::ToolRan(_) => "hook failure",
        _ => "hook",
    }
}

/// Collects what identifies the source of an event. Reads the process table.
fn source(hello: &Hello, envelope: &Envelope) -> EventSource {
    let processes = match envelope.pid {
        Some(pid) => vec![pid],
        None => ancestors(hello.agent_pid),
    };
    // A hook lives for milliseconds, so the agent's process is the one that counts.
    let agent = processes.first().copied().unwrap_or(hello.pid);
    let elsewhere = envelope.cwd.as_ref().filter(|cwd| hello.cwd.as_ref() != Some(cwd));
    let cwd = elsewhere.is_none();
    EventSource {
        client: envelope.client,
        agent_session: envelope.agent_session.clone(),
        named: envelope.run.clone().unwrap_or_else(|| envelope.agent_session.clone()),
        hello: Hello {
            pid: agent,
            pid_start: host::process_start(agent),
            agent_pid: Some(agent),
            cwd: elsewhere.cloned().or_else(|| hello.cwd.clone()),
            cwd_dev: hello.cwd_dev.filter(|_| cwd),
            cwd_ino: hello.cwd_ino.filter(|_| cwd),
            agent_session: Some(envelope.agent_session.clone()),
            ..hello.clone()
        },
        processes,
        goes_on: !matches!(envelope.event, Event::SessionEnded | Event::Reset),
        clears: envelope.event == Event::SessionStarted { source: StartSource::Clear },
        elsewhere: SessionsElsewhere::default(),
    }
}

/// Names the state of a conversation in one project. What it was given elsewhere, and its pending
/// activity there, do not count here.
fn name_in(session: &Session, source: &EventSource) -> Name {
    let plain = source.plain_id();
    let mark = session.id.0.strip_prefix(plain.0.as_ref()).unwrap_or_default();
    (source.client, format!("{}{mark}", source.agent_session))
}

/// Returns the processes above a hook, nearest first, without the shells with which clients run
/// hooks.
fn ancestors(parent: Option<u32>) -> Vec<u32> {
    let known = |pid: u32| {
        let (above, name) = host::process_parent(pid).unwrap_or_default();
        (pid, above, SHELLS.contains(&name.as_str()))
    };
    let all = std::iter::successors(parent.map(known), |(_, above, _)| {
        Some(*above).filter(|above| *above > 1).map(known)
    });
    let agents = all.filter(|(_, _, shell)| !shell).map(|(pid, _, _)| pid);
    agents.take(limits::HOOK_ANCESTORS_MAX).collect()
}

/// Hashes a payload, and the directory it comes from. It contains ids of prompts, turns and calls,
/// so different events differ.
fn digest(hello: &Hello, line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&hello.project, &hello.cwd).hash(&mut hasher);
    line.trim_ascii().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
