//! Checks the daemon, its directory and socket, and the versions of our programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anchord_agents::setup::{Agent, Programs};
use anchord_daemon::api::{self, HttpState, StatusReply};
use anchord_proto::host;
use anchord_proto::instance::{InstanceDir, InstanceDirError};

use super::agents::Named;
use super::{Finding, Fix};
use crate::client::{Client, REMOVED};
use crate::exit::{Error, Kind};

const ABOUT: &str = "daemon";

/// The version of this build.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the error of a daemon that is there and cannot be used.
pub(super) fn unserved(dir: &InstanceDir) -> Option<Error> {
    Client::running(dir).err().filter(|error| error.kind != Kind::NoDaemon)
}

/// Checks the daemon. Returns its status, if it answers. Does not ask one that is `unserved`.
pub(super) fn findings(
    dir: &InstanceDir,
    unserved: Option<&Error>,
    found: &mut Vec<Finding>,
) -> Option<StatusReply> {
    let usable = match dir.check() {
        Err(InstanceDirError::Missing(path)) => {
            let what = format!("{} is not there yet: the first agent makes it", path.display());
            found.push(Finding::note(ABOUT, what));
            true
        }
        Ok(_) => true,
        // The modes are checked below.
        Err(InstanceDirError::Open { .. }) => false,
        Err(error) => {
            found.push(Finding::problem(
                ABOUT,
                error.to_string(),
                "Until then no agent has memory.",
            ));
            false
        }
    };
    let own = dir.path().to_owned();
    for (path, most) in [(own, 0o700), (dir.sock(), 0o600), (dir.key(), 0o600)] {
        found.extend(too_open(&path, most));
    }
    if !usable {
        return None;
    }
    let hangs = |error: &Error| {
        let action = error.action.clone().unwrap_or_else(|| "Run `anchord restart`.".to_owned());
        Finding::problem(ABOUT, &error.message, action)
    };
    if let Some(error) = unserved {
        found.push(hangs(error));
        return None;
    }
    let status = Client::running(dir).and_then(|mut client| client.get(api::STATUS, &()));
    let status: StatusReply = match status {
        Ok(status) => status,
        Err(error) if error.kind == Kind::NoDaemon && dir.removed().exists() => {
            found
                .push(Finding::note(ABOUT, "none is running, and none is started").action(REMOVED));
            return None;
        }
        Err(error) if error.kind == Kind::NoDaemon => {
            let what = "none is running; the first agent that needs it starts it";
            found.push(Finding::note(ABOUT, what));
            return None;
        }
        Err(error) => {
            found.push(hangs(&error));
            return None;
        }
    };
    if status.build == VERSION {
        let what = format!("version {VERSION} answers, pid {}", status.pid);
        found.push(Finding::good(ABOUT, what));
    } else {
        let what = format!("version {} runs, this is {VERSION}", status.build);
        found.push(Finding::problem(ABOUT, what, "Run `anchord restart`; sessions continue."));
    }
    if let HttpState::Taken { port, reason } = &status.http {
        let what = format!("the status port {port} cannot be had: {reason}");
        found.push(
            Finding::note(ABOUT, what)
                .action("Set another [http] port in config.toml, or `enabled = false`."),
        );
    }
    if status.counters.panics > 0 {
        let what = format!("{} calls ended in a fault of anchord's own", status.counters.panics);
        let action = format!("The logs in {} say where; please report it.", status.instance.logs);
        found.push(Finding::problem(ABOUT, what, action));
    }
    shims(&status, found);
    elsewhere(&status, host::pid_namespace(), found);
    Some(status)
}

fn too_open(path: &Path, most: u32) -> Option<Finding> {
    let mode = fs::symlink_metadata(path).ok()?.permissions().mode() & 0o777;
    let what = format!("{} has mode {mode:03o}: others can get at it", path.display());
    let action = format!("Run `chmod {most:03o} {}`.", path.display());
    let wrong = Finding::problem(ABOUT, what, action).fix(Fix::Mode(path.to_owned(), most));
    (mode & !most != 0).then_some(wrong)
}

/// Checks that the programs next to this one, on the PATH, and in agents' files match the daemon's
/// version.
pub(super) fn versions(status: Option<&StatusReply>, named: &[Named], found: &mut Vec<Finding>) {
    let (wanted, whose) = match status {
        Some(status) => (status.build.as_str(), "the daemon"),
        None => (VERSION, "this"),
    };
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    let mut programs: BTreeMap<PathBuf, BTreeSet<Agent>> = BTreeMap::new();
    for folder in folders {
        for name in [Programs::MCP, Programs::HOOK, Programs::ANCHORD] {
            if let Ok(program) = fs::canonicalize(folder.join(name)) {
                programs.entry(program).or_default();
            }
        }
    }
    for (agent, program) in named {
        programs.entry(program.clone()).or_default().insert(*agent);
    }
    for (program, agents) in programs {
        let version = version(&program);
        if version.as_deref() == Some(wanted) {
            continue;
        }
        let path = program.display();
        let is = match version {
            Some(version) => format!("{path} is version {version}, {whose} {wanted}"),
            None => format!("{path} does not report its version, {whose} is {wanted}"),
        };
        let mut action = "Install all from the same sources: `cargo install --path cli` and `cargo install --path \
                          shim --profile shim`."
            .to_owned();
        let runs = if agents.is_empty() {
            String::new()
        } else {
            let ids: Vec<&str> = agents.iter().map(|agent| agent.id()).collect();
            action.push_str(" Then run `anchord setup ");
            action.push_str(&ids.join(" "));
            action.push_str("` and restart what runs.");
            let names: Vec<&str> = agents.iter().map(|agent| agent.name()).collect();
            let verb = if names.len() == 1 { "runs" } else { "run" };
            format!("; {} {verb} it", names.join(", "))
        };
        found.push(Finding::problem("programs", format!("{is}{runs}"), action));
    }
}

/// Returns the last word of a program's `--version`.
fn version(program: &Path) -> Option<String> {
    let said = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    Some(text.split_whitespace().last()?.to_owned())
}

/// Finds shims of another version. Agents started them before an update, and they still run.
pub(super) fn shims(status: &StatusReply, found: &mut Vec<Finding>) {
    for connection in &status.connections {
        if connection.build == status.build {
            continue;
        }
        let pid = connection.pid;
        let session = status.sessions.iter().find(|session| session.pid == Some(pid));
        let client = session.map(|session| session.client.as_str()).filter(|name| !name.is_empty());
        let build = if connection.build.is_empty() { "unknown" } else { &connection.build };
        let what = format!(
            "the shim of {}, pid {pid}, is version {build}, the daemon {}",
            client.unwrap_or("an agent"),
            status.build
        );
        let action = "It works; restart that agent, so that it starts the new one.";
        found.push(Finding::note("sessions", what).action(action));
    }
}

/// Finds a home that a container shares with its host. The socket is the same on both sides, but
/// processes and files are not.
pub(super) fn elsewhere(status: &StatusReply, own: Option<u64>, found: &mut Vec<Finding>) {
    let mut note = |what: String, who: &str| {
        let action = format!(
            "{who} are served, but anchord cannot look at their files and processes: name the project there with \
             `--project ID` (`anchord project list` shows ids), or give the container an instance of its own by \
             ANCHORD_HOME."
        );
        found.push(Finding::note("container", what).action(action));
    };
    if own.zip(status.pid_namespace).is_some_and(|(own, theirs)| own != theirs) {
        let what = "the daemon runs in another container than this command, or outside of one: both have this home";
        note(what.to_owned(), "Agents here");
    }
    let number = status.connections.iter().filter(|connection| connection.elsewhere).count();
    if number > 0 {
        let what = format!(
            "{number} of {} connected shims run in another container than the daemon: they have this home, too",
            status.connections.len()
        );
        note(what, "They");
    }
}
