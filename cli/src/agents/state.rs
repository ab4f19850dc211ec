//! The parts of anchord that an agent has now, regardless of who added them.

use std::path::{Path, PathBuf};

use anchord_agents::setup::parts::{self, FoundHook, Part, SERVER};
use anchord_agents::setup::{Agent, PLUGIN_PROGRAM_LINE, PLUGIN_SERVER_LINE, Setting};

use crate::edit::Original;

/// The parts found in an agent's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Entries that start the server: the file, their name, their command.
    pub(crate) servers: Vec<(PathBuf, String, Vec<String>)>,
    /// Hooks, each with its file.
    pub(crate) hooks: Vec<(PathBuf, FoundHook)>,
    /// Events that should have a hook but do not.
    pub(crate) missing: Vec<&'static str>,
    /// Events whose hook waits for a person's trust.
    pub(crate) untrusted: Vec<String>,
    /// Files that are entirely ours, each with whether it is as it should be.
    pub(crate) whole: Vec<(PathBuf, bool)>,
    /// The programs that the plugins among them run.
    pub(crate) plugins_run: Vec<String>,
    /// Files that cannot be read, with the reason.
    pub(crate) unreadable: Vec<(PathBuf, String)>,
}

/// Returns whether a plugin is the wanted one, whichever anchord it runs, and that anchord exists.
fn is_same(text: &str, wanted: &str) -> bool {
    let rest = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with(PLUGIN_PROGRAM_LINE));
        lines.collect::<Vec<_>>().join("\n")
    };
    let there = program_in(text)
        .is_none_or(|program| !program.contains('/') || Path::new(&program).exists());
    there && rest(text) == rest(wanted)
}

/// Returns the program that a plugin runs.
fn program_in(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(PLUGIN_PROGRAM_LINE))?;
    serde_json::from_str(line).ok()
}

/// Returns the command of the server that a plugin starts by itself, for agents without MCP.
fn server_in(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.strip_prefix(PLUGIN_SERVER_LINE))?;
    let arguments: Vec<String> = serde_json::from_str(line).ok()?;
    Some([vec![program_in(text)?], arguments].concat())
}

impl State {
    /// Returns every program that these files make the agent run, as they name it.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        let servers = self.servers.iter().filter_map(|(.., words)| words.first());
        let hooks = self.hooks.iter().filter_map(|(_, hook)| hook.words.first());
        servers.chain(hooks).chain(&self.plugins_run).map(String::as_str)
    }

    /// Inspects an agent's files.
    pub(crate) fn of(agent: Agent, setting: &Setting<'_>) -> Self {
        let mut state = Self::default();
        for target in agent.targets(setting) {
            let text = match Original::read(&target.path) {
                Ok(original) => original.text,
                Err(error) => {
                    state.unreadable.push((target.path, error.message));
                    continue;
                }
            };
            if let [Part::Whole(wanted)] = target.parts.as_slice() {
                state.plugins_run.extend(text.as_deref().and_then(program_in));
                let server = text.as_deref().and_then(server_in);
                let entry = |words| (target.path.clone(), SERVER.to_owned(), words);
                state.servers.extend(server.map(entry));
                let right = text.is_some_and(|text| is_same(&text, wanted));
                state.whole.push((target.path, right));
                continue;
            }
            let text = text.unwrap_or_default();
            let found = match parts::inspect(&text, target.format, &target.parts) {
                Ok(found) => found,
                Err(error) => {
                    state.unreadable.push((target.path, error.to_string()));
                    continue;
                }
            };
            for (name, words) in found.servers {
                state.servers.push((target.path.clone(), name, words));
            }
            for part in &target.parts {
                let Part::Hooks(hooks) = part else { continue };
                let there = |event: &str| found.hooks.iter().any(|hook| hook.event == event);
                let events = hooks.events.iter().map(|(event, _)| *event);
                state.missing.extend(events.filter(|event| !there(event)));
                if let Some(trust) = &agent.facts().trust {
                    state.untrusted = (trust.untrusted)(setting.place, &target.path, &found.hooks);
                }
            }
            for hook in found.hooks {
                state.hooks.push((target.path.clone(), hook));
            }
        }
        state
    }
}
