//! The hook command that agents run: `anchord-hook CLIENT`, with the event on stdin. It always
//! exits with 0.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anchord_shim::hook::{self, HookOptions};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if let [only] = arguments.as_slice()
        && only == "--version"
    {
        // For `anchord doctor`; no agent asks for it.
        let version = concat!("anchord-hook ", env!("CARGO_PKG_VERSION"), "\n");
        let _ = std::io::stdout().write_all(version.as_bytes());
        return ExitCode::SUCCESS;
    }
    let client = hook::client_from(arguments.into_iter());
    hook::run(HookOptions { client, ..HookOptions::default() })
}
