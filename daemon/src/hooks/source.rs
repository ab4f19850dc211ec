//! The source of an event: the client's process, its conversation and its directory.

use anchord_agents::events::Envelope;
use anchord_memory::lifecycle::{Event, StartSource};
use anchord_proto::hello::Hello;
use anchord_proto::host;

use super::conversations::Name;
use crate::limits;
use crate::sessions::{EventSource, Session, SessionsElsewhere};

/// Programs with which clients run hooks.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "fish"];

/// Collects what identifies the source of an event. Reads the process table.
pub(super) fn event_source(hello: &Hello, envelope: &Envelope) -> EventSource {
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
pub(super) fn name_in(session: &Session, source: &EventSource) -> Name {
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
