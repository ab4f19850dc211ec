//! Events in agents' conversations, reported by their hooks: one line in, one answer out.
//!
//! A client's adapter, in the crate `agents`, reads its payload into the closed set of events. Each
//! event has a policy, which reads the session's memory, stages work and answers. The adapter
//! writes the answer in its client's format. An event that fails must not make the agent fail: the
//! failure is counted and logged, and the answer is empty. A start's answer says that the memory
//! cannot be read, since nothing would mean that nothing is recorded.

mod action;
mod activity;
mod compaction;
mod conversations;
mod delivery;
mod ending;
mod prompt;
mod ready;
mod rebuilt;
mod response;
mod service;
mod source;
mod start;
pub(crate) mod state;
mod subagent;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anchord_agents::events::{Adapter, Envelope, ParsedEvent, Unreadable};
use anchord_memory::lifecycle::{Answer, Event, StartSource};
use anchord_memory::{Memory, RecordId, render};
use anchord_proto::hello::Hello;
use anchord_proto::hook::HookReply;
use futures::FutureExt;

use self::conversations::{ConversationState, Conversations, Name};
use self::delivery::{Answered, RevisionsKnown, keep_for_prompt};
use self::source::{event_source, name_in};
use crate::clock;
use crate::projects::NotAProject;
use crate::sessions::{self, BindError, MatchConfidence, Replaced, ResolvedSession, Session};
pub(crate) use activity::{stage_of, stage_silent};
pub(crate) use delivery::Handled;
pub(crate) use service::HookService;

/// The reason an event was not handled.
#[derive(Debug, thiserror::Error)]
enum HookError {
    /// The payload is not a valid event.
    #[error("failed to read an event: {0}")]
    Unreadable(#[from] Unreadable),
    /// The session has no project, or its memory cannot be opened.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A fault in anchord.
    #[error("a hook panicked")]
    Panicked,
}

/// A failed event, and the text that tells the agent about it.
struct Failure {
    error: HookError,
    text: Option<String>,
}

impl<E: Into<HookError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into(), text: None }
    }
}

/// One event while its policy handles it.
struct HookCall<'a> {
    service: &'a Arc<HookService>,
    envelope: &'a Envelope,
    session: Arc<Session>,
    confidence: MatchConfidence,
    name: Name,
}

impl HookCall<'_> {
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
        let step_backs = self.session.step_backs(&self.service.sessions);
        self.conversations().with(&self.context(), |conversation| {
            conversation.step_back(&step_backs);
            conversation.session = Some(Arc::clone(&self.session));
            look(conversation)
        })
    }

    /// Returns the records whose text is in that context. Hooks gave them in full, or the
    /// conversation itself wrote them. Nobody wrote those made by rule.
    fn in_context(&self, memory: &Memory) -> BTreeSet<RecordId> {
        let (mut known, since) = self.with_context(|conversation| {
            if self.envelope.agent.is_none() {
                conversation.begin_lost_context();
            }
            (conversation.given.clone(), conversation.context_since)
        });
        if let Some(since) = since {
            let own = self.session.ids();
            let written = memory.written_since(since).filter(|record| {
                // A record with parts by others is not in the context as a whole.
                !record.is_captured()
                    && own.contains(&record.created.session)
                    && own.contains(&record.updated.session)
            });
            known.extend(written.map(|record| record.id));
        }
        known
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
        Err(HookError::Panicked.into())
    });
    let event = event.unwrap_or_else(|| "unknown".to_owned());
    service.metrics().hook_handled(adapter.client, &event, handled.is_ok(), started.elapsed());
    handled.unwrap_or_else(|Failure { error, text }| {
        tracing::warn!(client = adapter.client, event, %error, "a hook was not answered");
        service.metrics().hook_failed(adapter.client, &event, &error.to_string(), clock::now());
        let reply = HookReply { failed: text.is_none(), stdout: text };
        Handled { reply, ..Handled::default() }
    })
}

/// Handles a payload. Sets `event` to the event's name as soon as that is known.
async fn handled(
    service: &Arc<HookService>,
    hello: &Hello,
    adapter: Adapter,
    line: &[u8],
    event: &mut Option<String>,
) -> Result<Handled, Failure> {
    let started = clock::start();
    let Some(envelope) = read(service, adapter, line, event)? else {
        return Ok(Handled::default());
    };
    let name: Name = (envelope.client, envelope.agent_session.clone());
    let rebuilt = Event::SessionStarted { source: StartSource::Rebuilt };
    let conversations = &service.state.conversations;
    let digest = digest(hello, line);
    let is_double =
        envelope.event != rebuilt && conversations.is_double(&name, digest, &envelope.event);
    if is_double {
        service.metrics().hook_doubled();
        // A rule stops a tool however often the client asks.
        if !matches!(envelope.event, Event::ToolBegins(_)) {
            return Ok(Handled::default());
        }
    }
    let arrival = Arrival { hello, asks: adapter.asks, is_double, digest };
    let mut answered = match answer(service, &arrival, &envelope).await {
        // A home directory is not a project. Nothing is wrong, and there is nothing to say, unless
        // it is only the hook's own directory.
        Err(HookError::Bind(BindError::NotAProject(NotAProject::Excluded { .. })))
            if envelope.cwd.is_some() =>
        {
            return Ok(Handled::default());
        }
        Err(HookError::Bind(error)) => {
            let unnamed = match (&envelope.cwd, envelope.names_cwd) {
                (Some(_), _) => "",
                (None, true) => "the event's `cwd` is not an absolute path, and ",
                (None, false) => "the event names no `cwd`, and ",
            };
            let why = format!("{unnamed}{error}");
            let text = says_unreadable(service, adapter, &envelope, &why);
            return Err(Failure { error: error.into(), text });
        }
        answered => answered?,
    };
    let check = answered.response.check.take();
    let text = adapter.write(&envelope, &answered.response.answer);
    if text.is_empty() {
        keep_for_prompt(service, &envelope, &answered.context, answered.response);
        return Ok(Handled { check, ..Handled::default() });
    }
    let delivery = answered.delivery(*envelope, started.elapsed());
    Ok(Handled { reply: HookReply { stdout: Some(text), failed: false }, delivery, check })
}

/// Words that the memory cannot be read, at a start and otherwise at a conversation's first prompt.
/// `None` at other events, or if the client takes no text.
fn says_unreadable(
    service: &HookService,
    adapter: Adapter,
    envelope: &Envelope,
    why: &str,
) -> Option<String> {
    let is_start = matches!(envelope.event, Event::SessionStarted { .. });
    if !is_start && !matches!(envelope.event, Event::PromptSubmitted { .. }) {
        return None;
    }
    let answer = Answer::Context(render::hooks::unreadable(why));
    let text = Some(adapter.write(envelope, &answer)).filter(|text| !text.is_empty())?;
    let name: Name = (envelope.client, envelope.agent_session.clone());
    let known = &service.state.conversations;
    let knows = known.with(&name, |it| std::mem::replace(&mut it.knows_unreadable, true));
    (is_start || !knows).then_some(text)
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

/// The circumstances in which an event arrived.
struct Arrival<'a> {
    hello: &'a Hello,
    /// Whether the client asks a person by itself.
    asks: bool,
    /// Whether the same event came a moment ago.
    is_double: bool,
    /// The digest of the event.
    digest: u64,
}

async fn answer(
    service: &Arc<HookService>,
    arrival: &Arrival<'_>,
    envelope: &Envelope,
) -> Result<Answered, HookError> {
    let source = event_source(arrival.hello, envelope);
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
    let call = HookCall { service, envelope, session, confidence, name };
    let step_backs = call.session.step_backs(&service.sessions);
    call.session.step_back(&step_backs);
    let known = call.conversations().with(&call.name, |conversation| {
        conversation.step_back(&step_backs);
        conversation.enter(&call.session);
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
