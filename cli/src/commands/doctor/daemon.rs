//! The daemon, its directory and socket, and the versions of our programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anchord_daemon::http::api::{self, HttpState, StatusReply};
use anchord_proto::instance::{InstanceDir, InstanceError};

use super::{Finding, Fix};
use crate::agents::Programs;
use crate::client::Client;
use crate::exit::Kind;

const ABOUT: &str = "daemon";

/// This build.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Looks at the daemon; its status, if it answers.
pub(super) fn findings(dir: &InstanceDir, found: &mut Vec<Finding>) -> Option<StatusReply> {
    match dir.check() {
        Err(InstanceError::Missing(path)) => {
            let what = format!("{} is not there yet: the first agent makes it", path.display());
            found.push(Finding::note(ABOUT, what));
        }
        // Modes are looked at below.
        Ok(_) | Err(InstanceError::Open { .. }) => {}
        Err(error) => {
            found.push(Finding::problem(
                ABOUT,
                error.to_string(),
                "Until then no agent has memory.",
            ));
        }
    }
    let own = dir.path().to_owned();
    for (path, most) in [(own, 0o700), (dir.sock(), 0o600), (dir.key(), 0o600)] {
        found.extend(too_open(&path, most));
    }
    versions(found);
    let status = Client::running(dir).and_then(|mut client| client.get(api::STATUS, &()));
    let status: StatusReply = match status {
        Ok(status) => status,
        Err(error) if error.kind == Kind::NoDaemon => {
            let what = "none is running; the first agent that needs it starts it";
            found.push(Finding::note(ABOUT, what));
            return None;
        }
        Err(error) => {
            let action = error.action.unwrap_or_else(|| "Run `anchord restart`.".to_owned());
            found.push(Finding::problem(ABOUT, error.message, action));
            return None;
        }
    };
    if status.build == VERSION {
        let what = format!("version {VERSION} answers, pid {}", status.pid);
        found.push(Finding::good(ABOUT, what));
    } else {
        let what = format!("version {} runs, this is {VERSION}", status.build);
        found.push(Finding::problem(ABOUT, what, "Run `anchord restart`; sessions go on."));
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
    Some(status)
}

fn too_open(path: &Path, most: u32) -> Option<Finding> {
    let mode = fs::symlink_metadata(path).ok()?.permissions().mode() & 0o777;
    let what = format!("{} has mode {mode:03o}: others can get at it", path.display());
    let action = format!("Run `chmod {most:03o} {}`.", path.display());
    let wrong = Finding::problem(ABOUT, what, action).fix(Fix::Mode(path.to_owned(), most));
    (mode & !most != 0).then_some(wrong)
}

/// The shims beside this program and on the PATH have to be of this build's kind.
fn versions(found: &mut Vec<Finding>) {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    let mut seen: Vec<PathBuf> = Vec::new();
    for folder in folders {
        for name in [Programs::MCP, Programs::HOOK, Programs::ANCHORD] {
            let Ok(program) = fs::canonicalize(folder.join(name)) else { continue };
            if seen.contains(&program) {
                continue;
            }
            // The hook has no options: whatever it is given, it is quiet.
            if name != Programs::HOOK
                && let Some(version) = version(&program)
                && version != VERSION
            {
                let what = format!("{} is version {version}, this is {VERSION}", program.display());
                let action = "Install both from the same sources: `cargo install --path cli` and \
                              `cargo install --path shim --profile shim`.";
                found.push(Finding::problem("programs", what, action));
            }
            seen.push(program);
        }
    }
}

/// What `--version` says last.
fn version(program: &Path) -> Option<String> {
    let said = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    Some(text.split_whitespace().last()?.to_owned())
}
