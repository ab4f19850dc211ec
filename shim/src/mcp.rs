//! `anchord-mcp`: the MCP server that agents start, which is a pipe to the daemon.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anchord_proto::PROTOCOL;
use anchord_proto::hello::{Role, ToolSet};
use anchord_proto::instance::{InstanceDir, make_directory};
use anchord_proto::limits::{RECONNECT_DEADLINE_MS, millis};

use crate::descriptors;
use crate::identity;
use crate::link::Search;
use crate::pipe::{self, Ends};
use crate::start::Launcher;
use crate::turn::Turn;
use crate::watch::{self, Parent};

/// The options from the command line.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// The `anchord` that starts a daemon. Defaults to the one beside this program, else on PATH.
    pub program: Option<PathBuf>,
    /// The project's directory, if named.
    pub project: Option<PathBuf>,
    /// The set of tools that the agent is offered.
    pub tools: ToolSet,
    /// Tokens that the session may keep active for itself.
    pub budget: Option<u32>,
    /// A directory that is a project of its own. It is created if missing, and comes before
    /// `project`.
    pub state_dir: Option<PathBuf>,
    /// The protocol version to speak: [`PROTOCOL`], except in tests.
    pub protocol: u32,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            program: None,
            project: None,
            tools: ToolSet::Default,
            budget: None,
            state_dir: None,
            protocol: PROTOCOL,
        }
    }
}

/// Runs the shim on this process's stdin and stdout until one of them ends, a signal comes, or the
/// parent is gone. Call this first in `main`, since it assumes that no other thread runs.
pub fn run(options: McpOptions) -> ExitCode {
    descriptors::keep_from_children();
    let all = rustix::fs::Mode::from_raw_mode(0o777);
    if let Some(Err(reason)) = options.state_dir.as_ref().map(|dir| make_directory(dir, all)) {
        crate::complain(&format!("cannot make the directory of --state-dir: {reason}"));
        return ExitCode::FAILURE;
    }
    let named = options.state_dir.as_deref().or(options.project.as_deref());
    let mut hello = identity::hello(Role::Mcp, named);
    hello.exact = options.state_dir.is_some();
    hello.budget = options.budget;
    hello.anchord = options.protocol;
    hello.tools = Some(options.tools.name().to_owned());
    let dir = InstanceDir::locate();
    let turn = Turn::new(dir.as_ref().ok().map(InstanceDir::resending));
    let search = Search {
        dir: dir.map_err(|error| error.to_string()),
        hello,
        opening: Vec::new(),
        launcher: Some(options.program.map_or_else(Launcher::beside_this_program, Launcher::new)),
        patience: millis(RECONNECT_DEADLINE_MS),
        may_start: Arc::new(AtomicBool::new(true)),
    };
    let ended = watch::end_signals().and_then(|stop| {
        // Not through std's buffers: the polled descriptors must be the ones that are read.
        let ends = Ends {
            stdin: rustix::stdio::stdin(),
            stdout: rustix::stdio::stdout(),
            stop: stop.as_fd(),
            parent: Parent::watch(),
        };
        pipe::run(&ends, search, turn)
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            crate::complain(&format!("cannot serve: {reason}"));
            ExitCode::FAILURE
        }
    }
}
