//! The hook command that agents run: `anchord-hook CLIENT`, the event on stdin. Always exits with 0.

use std::env;
use std::process::ExitCode;

use anchord_shim::hook::{self, HookOptions};

fn main() -> ExitCode {
    let client = hook::client_from(env::args_os().skip(1));
    hook::run(HookOptions { client, ..HookOptions::default() })
}
