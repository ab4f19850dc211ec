//! What happens in agents' conversations, told by their hooks: one line in, one answer out.
//!
//! An adapter reads the client's payload into the closed set of events; the policy of each event looks at the memory of
//! the session it belongs to, stages what it has to, and answers; the adapter says the answer as its client reads it. An
//! event that cannot be handled is no reason for an agent to fail: it is answered with nothing, counted and logged.

mod clients;
mod compaction;
mod ending;
mod envelope;
mod noted;
mod prompt;
mod start;
mod subagent;
mod threads;
mod words;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anchord_memory::RecordId;
use anchord_memory::lifecycle::{Answer, Event, StartSource};
use anchord_memory::render::lifecycle::Told;
use anchord_proto::hello::Hello;
use anchord_proto::hook::HookReply;
use anchord_proto::host;
use futures::FutureExt;

use self::clients::{Adapter, Heard, Unreadable};
use self::envelope::Envelope;
use self::threads::{Name, Thread, Threads};
pub(crate) use noted::stage_silent;

use crate::daemon::Daemon;
use crate::retrieval_log::Retrieval;
use crate::sessions::{self, BindError, Joined, Replaced, Session, Sure, Teller};
use crate::{clock, limits};

/// Programs that clients run hooks by.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "fish"];

/// What the daemon knows of conversations besides their sessions.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    threads: Threads,
    /// Names of clients, events and fields that this build does not know, logged already.
    unknown: Mutex<BTreeSet<(String, String)>>,
}

/// Why an event was not handled.
#[derive(Debug, thiserror::Error)]
enum HookError {
    /// The payload is none.
    #[error("failed to read an event: {0}")]
    Unreadable(#[from] Unreadable),
    /// The session has no project, or its memory cannot be had.
    #[error("failed to {0}")]
    Bind(#[from] BindError),
    /// Our own fault.
    #[error("a hook panicked")]
    Panicked,
}

/// One event in the hands of its policy.
struct Call<'a> {
    daemon: &'a Arc<Daemon>,
    envelope: &'a Envelope,
    session: Arc<Session>,
    sure: Sure,
    name: Name,
}

impl Call<'_> {
    fn threads(&self) -> &Threads {
        &self.daemon.lifecycle().threads
    }
}

/// What is said to an event, and what is logged of it.
#[derive(Debug, Default)]
struct Said {
    answer: Answer,
    /// What it shows; none where nothing is shown, or nothing that was not shown before.
    shown: Option<Shown>,
}

/// What of memory is shown.
#[derive(Debug)]
struct Shown {
    ids: Vec<RecordId>,
    /// Whether there was more.
    truncated: bool,
}

impl Said {
    /// A text for the model's context; an empty one is nothing.
    fn context(told: Told) -> Self {
        let Told { text, shown: ids, truncated } = told;
        if text.is_empty() {
            return Self::default();
        }
        Self { answer: Answer::Context(text), shown: Some(Shown { ids, truncated }) }
    }

    /// What a compaction is to keep.
    fn instructions(told: Told) -> Self {
        match Self::context(told) {
            Self { answer: Answer::Context(text), shown } => {
                Self { answer: Answer::Instructions(text), shown }
            }
            nothing => nothing,
        }
    }
}

/// What came of an event.
#[derive(Debug, Default)]
pub(crate) struct Handled {
    /// What the hook is to do.
    pub(crate) reply: HookReply,
    /// Whose it is, where the reply is for its model.
    told: Option<(Name, Arc<Session>)>,
}

impl Handled {
    /// The hook had left before it was told: nothing of it is in the model's context.
    pub(crate) fn unheard(self, daemon: &Daemon) {
        if let Some((name, session)) = self.told {
            session.set_injected(None);
            daemon.lifecycle().threads.with(&name, Thread::forget_shown);
        }
    }
}

/// Handles the event in a line that a hook sent.
pub(crate) async fn handle(daemon: &Arc<Daemon>, hello: &Hello, line: &[u8]) -> Handled {
    let started = clock::start();
    let client = hello.client.as_deref().unwrap_or_default();
    let Some(adapter) = Adapter::of(client) else {
        daemon.lifecycle().unknown(client, "the client");
        return Handled::default();
    };
    let mut event = None;
    let handling = handled(daemon, hello, adapter, line, &mut event, started);
    let handled = AssertUnwindSafe(handling).catch_unwind().await.unwrap_or_else(|_panic| {
        daemon.metrics().panicked();
        Err(HookError::Panicked)
    });
    let event = event.unwrap_or_else(|| "unknown".to_owned());
    daemon.metrics().hook_handled(adapter.client, &event, handled.is_ok(), started.elapsed());
    handled.unwrap_or_else(|error| {
        tracing::warn!(client = adapter.client, event, %error, "a hook was not answered");
        daemon.metrics().hook_failed(adapter.client, &event, &error.to_string(), clock::now());
        Handled::default()
    })
}

/// Handles a payload; says what its event is called as soon as that is known.
async fn handled(
    daemon: &Arc<Daemon>,
    hello: &Hello,
    adapter: Adapter,
    line: &[u8],
    event: &mut Option<String>,
    started: Instant,
) -> Result<Handled, HookError> {
    let (heard, unknown) = adapter.read(line)?;
    for field in unknown {
        daemon.lifecycle().unknown(adapter.client, &format!("field {field}"));
    }
    let envelope = match heard {
        Heard::Event(envelope) => envelope,
        Heard::Unknown(name) => {
            daemon.lifecycle().unknown(adapter.client, &format!("event {name}"));
            return Ok(Handled::default());
        }
        Heard::Skipped(trigger) => {
            tracing::debug!(client = adapter.client, ?trigger, "no conversation with a person");
            daemon.metrics().hook_skipped();
            *event = Some("skipped".to_owned());
            return Ok(Handled::default());
        }
        Heard::Nothing => {
            *event = Some("nothing".to_owned());
            return Ok(Handled::default());
        }
    };
    *event = Some(envelope.name.clone());
    let name: Name = (envelope.client, envelope.agent_session.clone());
    let rebuilt = Event::SessionStarted { source: StartSource::Rebuilt };
    if envelope.event != rebuilt && daemon.lifecycle().threads.is_double(&name, digest(line)) {
        daemon.metrics().hook_doubled();
        return Ok(Handled::default());
    }
    let (session, Said { answer, shown }) = match answer(daemon, hello, &envelope, &name).await {
        // A home directory is none: nothing is wrong, and nothing to be said.
        Err(HookError::Bind(BindError::NotAProject(_))) => return Ok(Handled::default()),
        answered => answered?,
    };
    let text = adapter.write(&envelope, &answer);
    if let (Some(shown), Answer::Context(said) | Answer::Instructions(said)) = (shown, answer)
        && !text.is_empty()
    {
        let line = Retrieval {
            tool: shown_at(&envelope).to_owned(),
            ids: shown.ids.iter().map(ToString::to_string).collect(),
            truncated: shown.truncated,
            ..Retrieval::default()
        };
        session.log(daemon, line, started.elapsed(), said);
    }
    let told = (!text.is_empty()).then_some((name, session));
    Ok(Handled { reply: HookReply { stdout: told.is_some().then_some(text) }, told })
}

async fn answer(
    daemon: &Arc<Daemon>,
    hello: &Hello,
    envelope: &Envelope,
    name: &Name,
) -> Result<(Arc<Session>, Said), HookError> {
    let Joined { session, sure, replaced } = daemon.sessions().join(&teller(hello, envelope));
    match replaced {
        Some(Replaced::Same(before)) => {
            sessions::hand_over(daemon, &before, &session).await?;
        }
        Some(Replaced::Cleared(before)) => {
            let agent_session = before.agent_session.as_deref().unwrap_or_default();
            noted::stage_and_forget(daemon, &(name.0, agent_session.to_owned()), &before).await?;
            sessions::keep_and_end(daemon, &before).await?;
        }
        None => {}
    }
    let call = Call { daemon, envelope, session, sure, name: name.clone() };
    tracing::debug!(
        session = %call.session.id,
        sure = call.sure.name(),
        event = envelope.name,
        "an event"
    );
    let said = match &envelope.event {
        Event::SessionStarted { source } => start::started(&call, *source).await,
        Event::PromptSubmitted { prompt } => prompt::submitted(&call, prompt).await,
        Event::ToolBegins { call: id } => {
            subagent::calls(&call, id);
            Ok(Said::default())
        }
        Event::ToolRan(_) => {
            call.note();
            Ok(Said::default())
        }
        Event::CompactionBegins { messages } => compaction::begins(&call, *messages).await,
        Event::Compacted { summary, messages } => {
            compaction::ended(&call, summary.as_deref(), *messages).await
        }
        Event::TurnEnded { .. } => ending::turn(&call).await,
        Event::SubagentStarted(agent) => subagent::started(&call, agent).await,
        Event::SubagentEnded(agent) => subagent::ended(&call, agent).await,
        Event::SessionEnded | Event::Reset => ending::session(&call).await,
    };
    Ok((call.session, said?))
}

/// What the log calls an event at which something is shown.
fn shown_at(envelope: &Envelope) -> &'static str {
    match &envelope.event {
        Event::SessionStarted { source: StartSource::Compact } => "hook restored",
        Event::SessionStarted { .. } if envelope.agent.is_some() => "hook subagent",
        Event::SessionStarted { .. } => "hook start",
        Event::PromptSubmitted { .. } => "hook prompt",
        Event::CompactionBegins { .. } => "hook compaction",
        Event::SubagentStarted(_) => "hook subagent",
        _ => "hook",
    }
}

/// What is known of who told an event. Processes are looked at here.
fn teller(hello: &Hello, envelope: &Envelope) -> Teller {
    let processes = match envelope.pid {
        Some(pid) => vec![pid],
        None => ancestors(hello.agent_pid),
    };
    // A hook lives for milliseconds: the process that counts is the agent's.
    let agent = processes.first().copied().unwrap_or(hello.pid);
    let elsewhere = envelope.cwd.as_ref().filter(|cwd| hello.cwd.as_ref() != Some(cwd));
    let cwd = elsewhere.is_none();
    Teller {
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
    }
}

/// The process that started a hook and those above it, nearest first, without the shells that clients run hooks by.
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

/// What tells one event of a conversation from another: ids of prompts, turns and calls are part of the payload.
fn digest(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.trim_ascii().hash(&mut hasher);
    hasher.finish()
}

impl Lifecycle {
    /// Logs a name that this build does not know, once.
    fn unknown(&self, client: &str, what: &str) {
        let clip = |text: &str| text.chars().take(80).collect::<String>();
        let name = (clip(client), clip(what));
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        if unknown.len() < limits::UNKNOWN_NAMES_MAX && unknown.insert(name.clone()) {
            drop(unknown);
            tracing::info!(client = name.0, what = name.1, "a hook told what this build ignores");
        }
    }
}

#[cfg(test)]
mod tests;
