//! What a shim tells of itself in its hello.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;

use anchord_proto::hello::{Hello, Role};
use anchord_proto::host;
use uuid::Uuid;

/// The variables that name the project, after the command line, in order.
const PROJECT_VARIABLES: [&str; 2] = ["ANCHORD_PROJECT", "CLAUDE_PROJECT_DIR"];

/// The variable in which an agent names its session to the servers and hooks it starts.
const SESSION_VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";

/// The same of an agent that passes on what it was itself started with, another agent's session id included.
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
    hello.project = named_project(project, variable);
    hello
}

/// The agent's own session id, where the environment gives it and it is not that of an agent around this one.
fn agent_session(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    variable(INNER_SESSION_VARIABLE).or_else(|| {
        let inner = INNER_AGENT_VARIABLES.into_iter().any(|name| variable(name).is_some());
        variable(SESSION_VARIABLE).filter(|_| !inner)
    })
}

/// The project that the command line or a variable names: an id as it is, or a directory, absolute and where it exists
/// without links: the daemon compares what servers and hooks name.
fn named_project(
    project: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let named = project
        .map(Path::to_owned)
        .or_else(|| PROJECT_VARIABLES.into_iter().find_map(variable).map(PathBuf::from))?;
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
