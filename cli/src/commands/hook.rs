//! `anchord hook`: passes one lifecycle event to the daemon and prints its reply.

use std::ffi::OsString;
use std::process::ExitCode;

use anchord_shim::hook::{self, HookOptions};

/// Pass one lifecycle event from stdin to the daemon; agents' hooks run this
///
/// Always exits with 0, also after a wrong argument: agents take some codes as an order to stop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord hook claude-code < event.json")]
pub(crate) struct Args {
    /// The agent that reports the event
    #[arg(value_name = "CLIENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Args {
    pub(super) fn run(self) -> ExitCode {
        hook::run(HookOptions {
            program: std::env::current_exe().ok(),
            client: hook::client_from(self.arguments.into_iter()),
            ..HookOptions::default()
        })
    }
}
