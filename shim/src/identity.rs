//! What a shim tells of itself in its hello.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;

use anchord_proto::hello::{Hello, Role};
use anchord_proto::host;
use uuid::Uuid;

/// The variable by which the user names the project, after the command line.
const PROJECT_VARIABLE: &str = "ANCHORD_PROJECT";

/// The variable in which an agent tells its servers and hooks where it was started, a project or not.
const AGENT_PROJECT_VARIABLE: &str = "CLAUDE_PROJECT_DIR";

/// The variable in which an agent names its session to the servers and hooks it starts.
const SESSION_VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";

/// The variable in which an agent names its session that passes on what it was itself started with, another agent's
/// session id included.
const INNER_SESSION_VARIABLE: &str = "GEMINI_SESSION_ID";

/// Variables that such agents set for what they start.
const INNER_AGENT_VARIABLES: [&str; 2] = ["GEMINI_CLI", "OPENCODE"];

/// The variable in which an agent names its own process to its hooks, which a shell may have started.
const AGENT_VARIABLE: &str = "CLAUDE_PID";

/// A hello of this process. `project` is what the command line named, if anything.
pub fn hello(role: Role, project: Option<&Path>) -> Hello {
    let pid = process::id();
    let mut hello = Hello::new(role, Uuid::new_v4(), pid);
    hello.pid_start = host::process_start(pid);
    hello.boot = host::boot_id();
    hello.pidns = host::pid_namespace();
    hello.agent_pid = variable(AGENT_VARIABLE)
        .filter(|_| role == Role::Hook)
        .and_then(|pid| pid.parse().ok())
        .or_else(host::parent_pid);
    hello.agent_session = agent_session(variable);
    hello.cwd = env::current_dir().ok().and_then(into_text);
    // Of `.`, not of the path: they differ where the directory was moved or removed.
    let cwd = fs::metadata(".").ok();
    hello.cwd_dev = cwd.as_ref().map(MetadataExt::dev);
    hello.cwd_ino = cwd.as_ref().map(MetadataExt::ino);
    name_project(&mut hello, project, variable);
    hello
}

/// The agent's own session id, where the environment gives it and it is not that of an agent around this one.
fn agent_session(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    variable(INNER_SESSION_VARIABLE).or_else(|| {
        let inner = INNER_AGENT_VARIABLES.into_iter().any(|name| variable(name).is_some());
        variable(SESSION_VARIABLE).filter(|_| !inner)
    })
}

/// Says which project the command line or a variable names, and whether it is the user who does.
fn name_project(
    hello: &mut Hello,
    project: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) {
    let by_user = project.map(Path::to_owned).or_else(|| Some(variable(PROJECT_VARIABLE)?.into()));
    let named = by_user.clone().or_else(|| Some(variable(AGENT_PROJECT_VARIABLE)?.into()));
    hello.project = named.and_then(plain_name);
    hello.by_agent = by_user.is_none() && hello.project.is_some();
}

/// An id as it is, or a directory, absolute and where it exists without links: the daemon compares what servers and
/// hooks name.
fn plain_name(named: PathBuf) -> Option<String> {
    if named.to_str().is_some_and(|named| Uuid::try_parse(named).is_ok()) {
        return into_text(named);
    }
    fs::canonicalize(&named).or_else(|_| std::path::absolute(&named)).ok().and_then(into_text)
}

/// A variable's value where it is set, not empty, and text.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn into_text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests;
