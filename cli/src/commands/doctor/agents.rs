//! Checks each agent's entry, hooks and plugin, and whether they work.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anchord_agents::setup::{Agent, Programs, Scope, Setting, UserEnvironment, Wishes};
use anchord_daemon::api::StatusReply;
use anchord_daemon::projects::FOREIGN;

use super::{Finding, Fix};
use crate::agents::state::State;
use crate::commands::setup::round_trip;
use crate::show;

/// A program of ours that an agent is configured to run: the agent, and the program's resolved
/// path.
pub(super) type Named = (Agent, PathBuf);

/// Checks every agent on this machine. Also returns the programs that they run. `project` is the
/// project of the working directory, if there is one. Servers are started only if `may_ask`.
pub(super) fn findings(
    place: &UserEnvironment,
    project: Option<&Scope>,
    may_ask: bool,
) -> (Vec<Finding>, Vec<Named>) {
    // This includes a program in a build folder; only set-up refuses it.
    let programs = Programs::here().unwrap_or_else(|_| Programs::on_path());
    let (mut found, mut named) = (Vec::new(), Vec::new());
    for agent in Agent::all() {
        if agent.found(place).is_none() {
            continue;
        }
        let mut states = Vec::new();
        let project = project.filter(|_| agent.facts().has_project_scope);
        for scope in [Some(&Scope::User), project].into_iter().flatten() {
            let (programs, wishes) = (&programs, Wishes::default());
            let setting = Setting { place, scope, programs, wishes };
            leftovers(agent, &setting, &mut found);
            let state = State::of(agent, &setting);
            let programs = state.programs().filter_map(|program| really(program, place));
            named.extend(programs.map(|program| (agent, program)));
            states.push((scope, state));
        }
        let unreadable = unreadable(agent, &states);
        if !unreadable.is_empty() {
            // What else could be said would follow from this.
            found.extend(unreadable);
            continue;
        }
        judged(agent, place, &states, &mut found);
        for off in states.iter().flat_map(|(scope, _)| {
            let (programs, wishes) = (&programs, Wishes::default());
            agent.hooks_off(&Setting { place, scope, programs, wishes })
        }) {
            let what = format!("no hook runs, because of {off}");
            found.push(Finding::problem(agent.name(), what, "Remove it, or set it to false."));
        }
        if may_ask {
            found.extend(answers(agent, place, &states));
        }
    }
    (found, named)
}

/// Returns a program's path with all links resolved.
fn really(program: &str, place: &UserEnvironment) -> Option<PathBuf> {
    let path =
        if program.contains('/') { PathBuf::from(program) } else { place.program(program)? };
    fs::canonicalize(path).ok()
}

/// Reports the files that cannot be read.
fn unreadable(agent: Agent, states: &[(&Scope, State)]) -> Vec<Finding> {
    let finding = |(path, why): &(PathBuf, String)| {
        let what = format!("{} cannot be read: {why}", path.display());
        Finding::problem(agent.name(), what, "Repair it: the agent cannot read it either.")
    };
    states.iter().flat_map(|(_, state)| &state.unreadable).map(finding).collect()
}

/// Judges an agent's files. Starts nothing.
fn judged(
    agent: Agent,
    place: &UserEnvironment,
    states: &[(&Scope, State)],
    found: &mut Vec<Finding>,
) {
    let (name, id) = (agent.name(), agent.id());
    let plugin = agent.plugin(place);
    let servers: Vec<_> = states.iter().flat_map(|(_, state)| &state.servers).collect();
    let serverless = servers.is_empty() && !plugin;
    if serverless && states.iter().all(|(_, state)| state.hooks.is_empty()) {
        let what = "it is on this machine and does not know anchord";
        found.push(Finding::note(name, what).action(format!("Run `anchord setup {id}`.")));
        return;
    }
    let several = servers.len() + usize::from(plugin);
    if several > 1 {
        let mut places: Vec<String> = servers
            .iter()
            .map(|(path, entry, _)| format!("`{entry}` in {}", path.display()))
            .collect();
        places.extend(plugin.then(|| "the plugin".to_owned()));
        let what = format!("the server is registered {several} times: {}", places.join(", "));
        found.push(Finding::problem(name, what, "Keep one; the model sees every tool twice."));
    }
    for (scope, state) in states {
        found.extend(judged_in(agent, place, scope, state, plugin, serverless));
    }
    let hooks =
        |(scope, state): &&(&Scope, State)| **scope == Scope::User && !state.hooks.is_empty();
    let in_project =
        |(scope, state): &&(&Scope, State)| **scope != Scope::User && !state.hooks.is_empty();
    if states.iter().any(|state| hooks(&state)) && states.iter().any(|state| in_project(&state)) {
        let what = "hooks are in your own settings and in this project's";
        let action =
            format!("Each event comes twice: `anchord setup {id} --scope project --remove`.");
        found.push(Finding::problem(name, what, action));
    }
}

/// Judges the files of one scope. `plugin` tells whether anchord's plugin is installed, and
/// `serverless` whether no server is registered anywhere.
fn judged_in(
    agent: Agent,
    place: &UserEnvironment,
    scope: &Scope,
    state: &State,
    plugin: bool,
    serverless: bool,
) -> Vec<Finding> {
    let (name, id) = (agent.name(), agent.id());
    let mut found = Vec::new();
    let suffix = if *scope == Scope::User { "" } else { " --scope project" };
    let again = format!("Run `anchord setup {id}{suffix}`.");
    let set_up = Fix::SetUp(agent, scope.clone());
    let words = state.servers.iter().map(|(path, _, words)| (path, words));
    let words = words.chain(state.hooks.iter().map(|(path, hook)| (path, &hook.words)));
    let mut stale: Vec<(PathBuf, String)> = words
        .filter_map(|(path, words)| Some((path.clone(), words.first()?.clone())))
        .filter(|(_, program)| !exists(program, place))
        .collect();
    stale.sort();
    stale.dedup();
    if serverless && !state.hooks.is_empty() {
        let what = "hooks run and no server is registered: it has no tools to save or find with";
        found.push(Finding::problem(name, what, &again).fix(set_up.clone()));
    }
    for (path, program) in stale {
        let what = format!("{} runs {program}, which is not there", path.display());
        found.push(Finding::problem(name, what, &again).fix(set_up.clone()));
    }
    let twice = |event: &str| state.hooks.iter().filter(|(_, h)| h.event == event).count() > 1;
    if let Some((path, hook)) = state.hooks.iter().find(|(_, hook)| twice(&hook.event)) {
        let what =
            format!("{} runs anchord's hook several times at {}", path.display(), hook.event);
        found.push(Finding::problem(name, what, "Remove all but one by hand."));
    }
    if plugin && !state.hooks.is_empty() {
        let what = "hooks come from the plugin and from the settings";
        let action =
            format!("Use one: `anchord setup {id}{suffix} --remove`, or remove the plugin.");
        found.push(Finding::problem(name, what, action));
    } else if !state.servers.is_empty() && !state.missing.is_empty() && !plugin {
        let what = format!("no hook at {}", state.missing.join(", "));
        found.push(Finding::problem(name, what, &again).fix(set_up.clone()));
    }
    let outdated = state.hooks.iter().filter(|(_, hook)| hook.outdated);
    let outdated: BTreeSet<&str> = outdated.map(|(_, hook)| hook.event.as_str()).collect();
    if !outdated.is_empty() {
        let events = outdated.into_iter().collect::<Vec<_>>().join(", ");
        let what = format!("hooks are not as this version sets them up: {events}");
        found.push(Finding::problem(name, what, &again).fix(set_up.clone()));
    }
    for (path, _) in state.whole.iter().filter(|(_, right)| !right) {
        if !state.servers.is_empty() {
            let what = format!("{} is not there, or of another version", path.display());
            found.push(Finding::problem(name, what, &again).fix(set_up.clone()));
        }
    }
    if let Some(trust) = agent.facts().trust.filter(|_| !state.untrusted.is_empty()) {
        let number = state.untrusted.len();
        let what = format!("{number} of {} hooks wait for your trust", state.hooks.len());
        found.push(Finding::problem(name, what, trust.remark));
    }
    found
}

/// Starts the server of each entry, as its agent would.
fn answers(agent: Agent, place: &UserEnvironment, states: &[(&Scope, State)]) -> Vec<Finding> {
    let name = agent.name();
    let mut tried: Vec<&Vec<String>> = Vec::new();
    let mut found = Vec::new();
    for (path, _, words) in states.iter().flat_map(|(_, state)| &state.servers) {
        let there = words.first().is_some_and(|program| exists(program, place));
        if tried.contains(&words) || !there {
            continue;
        }
        tried.push(words);
        found.push(match round_trip(agent, words) {
            Ok(tools) => Finding::good(name, format!("its server answers, {tools} tools")),
            // The server does answer. A separate finding reports that it cannot see files here, in
            // a container.
            Err(why) if why.contains(FOREIGN) => {
                let what = format!("its server in {} knows no project here", path.display());
                Finding::note(name, what).action("Add `--project ID` to its arguments.")
            }
            Err(why) => {
                let what = format!("its server in {} does not answer: {why}", path.display());
                Finding::problem(name, what, "Run `anchord status`, and see the logs.")
            }
        });
    }
    found
}

/// Finds temporary files of a set-up that was killed.
fn leftovers(agent: Agent, setting: &Setting<'_>, found: &mut Vec<Finding>) {
    let mut folders: Vec<PathBuf> = agent
        .targets(setting)
        .iter()
        .filter_map(|target| target.path.parent().map(Path::to_owned))
        .collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()) {
            let ours = path.file_name().and_then(|name| name.to_str());
            let leftover = ours.is_some_and(|name| name.starts_with(".anchord-")) && path.is_file();
            let known = |finding: &Finding| finding.fix == Some(Fix::Remove(path.clone()));
            if leftover && !found.iter().any(known) {
                let what = format!("{} was left by a set-up that was killed", path.display());
                let finding = Finding::problem(agent.name(), what, "Remove it.");
                found.push(finding.fix(Fix::Remove(path)));
            }
        }
    }
}

fn exists(program: &str, place: &UserEnvironment) -> bool {
    if program.contains('/') {
        Path::new(program).exists()
    } else {
        place.program(program).is_some()
    }
}

/// Reports the hook events that the running daemon received.
pub(super) fn hooks_delivered(status: &StatusReply, found: &mut Vec<Finding>) {
    let hooks = &status.hooks;
    for agent in Agent::all() {
        let events: u64 = hooks
            .events
            .iter()
            .filter(|events| events.client == agent.id())
            .map(|events| events.count)
            .sum();
        if events > 0 {
            let events = show::count(events, "event");
            let what = format!("{events} came from its hooks since the daemon started");
            found.push(Finding::good(agent.name(), what));
        }
    }
    if hooks.doubled > 0 {
        let what = came_twice(hooks.doubled);
        let action = "An agent has the hooks in two places, a plugin and its settings, or its settings and a project's: \
                      keep one.";
        found.push(Finding::problem("hooks", what, action));
    }
    if let Some(failure) = &hooks.last_failure {
        let what = format!(
            "the last that failed: {} of {}: {}",
            failure.event, failure.client, failure.error
        );
        let action = "The agent went on without it. If it comes again, the logs say more.";
        found.push(Finding::note("hooks", what).action(action));
    }
}

fn came_twice(count: u64) -> String {
    let were = if count == 1 { "was" } else { "were" };
    format!("{} came twice and {were} answered once", show::count(count, "event"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_event_is_counted_in_the_singular() {
        assert_eq!(came_twice(1), "1 event came twice and was answered once");
        assert_eq!(came_twice(2), "2 events came twice and were answered once");
    }
}
