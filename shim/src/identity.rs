//! The facts about itself that a shim puts in its hello.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;

use anchord_agents::Environment;
use anchord_proto::hello::{Hello, Role};
use anchord_proto::host;
use uuid::Uuid;

/// The variable in which the user names the project. The command line comes first.
const PROJECT_VARIABLE: &str = "ANCHORD_PROJECT";

/// Builds this process's hello. `project` is the one that the command line named.
pub fn hello(role: Role, project: Option<&Path>) -> Hello {
    let pid = process::id();
    let mut hello = Hello::new(role, Uuid::new_v4(), pid);
    hello.pid_start = host::process_start(pid);
    hello.boot = host::boot_id();
    hello.pidns = host::pid_namespace();
    hello.agent_pid = host::parent_pid();
    hello.agent_session = Environment::session_in(variable);
    hello.cwd = env::current_dir().ok().and_then(into_text);
    // From `.`, not from the path: they differ if the directory was moved or removed.
    let cwd = fs::metadata(".").ok();
    hello.cwd_dev = cwd.as_ref().map(MetadataExt::dev);
    hello.cwd_ino = cwd.as_ref().map(MetadataExt::ino);
    name_project(&mut hello, project, variable);
    hello
}

/// Returns the process of the agent that runs this hook: the one that the agent names, else the
/// parent.
pub(crate) fn agent_of_hook(client: Option<&str>) -> Option<u32> {
    let named = Environment::process_in(client, variable);
    named.and_then(|pid| pid.parse().ok()).or_else(host::parent_pid)
}

/// Sets the project that the command line or a variable names, and whether the agent named it
/// instead of the user.
fn name_project(
    hello: &mut Hello,
    project: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) {
    let by_user = project.map(Path::to_owned).or_else(|| Some(variable(PROJECT_VARIABLE)?.into()));
    let named = by_user.clone().or_else(|| Some(Environment::project_in(variable)?.into()));
    hello.project = named.and_then(plain_name);
    hello.by_agent = by_user.is_none() && hello.project.is_some();
}

/// Returns an id unchanged, and a directory as an absolute path, without links if it exists. The
/// daemon compares the paths that servers and hooks report.
fn plain_name(named: PathBuf) -> Option<String> {
    if named.to_str().is_some_and(|named| Uuid::try_parse(named).is_ok()) {
        return into_text(named);
    }
    fs::canonicalize(&named).or_else(|_| std::path::absolute(&named)).ok().and_then(into_text)
}

/// Returns a variable's value if it is set, not empty, and UTF-8.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn into_text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests;
