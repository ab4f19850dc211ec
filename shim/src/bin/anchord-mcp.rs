//! The MCP command that agents run. Exit codes: 0 ended, 1 could not serve, 2 wrong command line.

use std::env;
use std::process::ExitCode;

use anchord_shim::args::{self, ShimCommand};
use anchord_shim::{complain, mcp};

fn main() -> ExitCode {
    match args::parse(&mut env::args_os().skip(1)) {
        Ok(ShimCommand::Serve(options)) => mcp::run(options),
        Ok(ShimCommand::Help) => print(&args::help()),
        Ok(ShimCommand::Version) => print(concat!("anchord-mcp ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(message) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

/// Writes to stdout directly, since nothing else here needs std's buffers.
fn print(text: &str) -> ExitCode {
    match rustix::io::write(rustix::stdio::stdout(), text.as_bytes()) {
        Ok(written) if written == text.len() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
