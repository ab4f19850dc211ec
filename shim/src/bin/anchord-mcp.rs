//! The MCP command that agents run. Exit codes: 0 ended, 1 could not serve, 2 wrong command line.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use anchord_shim::args::{self, Asked};
use anchord_shim::{complain, mcp};

fn main() -> ExitCode {
    match args::parse(env::args_os().skip(1)) {
        Ok(Asked::Serve(options)) => mcp::run(options),
        Ok(Asked::Help) => print(args::HELP),
        Ok(Asked::Version) => print(concat!("anchord-mcp ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(message) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

fn print(text: &str) -> ExitCode {
    io::stdout().write_all(text.as_bytes()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}
