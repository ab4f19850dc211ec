//! `anchord`: parses arguments, runs the command, maps errors to exit codes.
//!
//! It is a library, so that tests can drive scratch instances as the demo does.

pub mod agent;
mod agents;
pub mod client;
mod commands;
mod confirm;
mod directive;
mod edit;
pub mod exit;
mod help;
mod history;
pub mod limits;
mod pager;
mod progress;
pub mod scratch;
pub mod show;
mod table;
pub mod tally;
mod terminal;
mod text;
mod tool;

use std::io::Write;
use std::process::ExitCode;

use clap::{FromArgMatches, Parser};

use crate::exit::{Error, Kind};
use crate::terminal::Terminal;

/// The memory that coding agents share: one daemon, one memory per project, nothing lost.
#[derive(Debug, Parser)]
#[command(
    name = "anchord",
    version,
    after_help = exit::AFTER_HELP,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let matches = help::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let commands::Command::Daemon(daemon) = &cli.command {
        // This precedes the next line, since the daemon keeps the socket that it was given.
        daemon.tell_allocator();
    }
    // Any command may start a daemon, and `anchord daemon --detach` starts itself again.
    anchord_shim::descriptors::keep_from_children();
    let stdout = anstream::stdout();
    let mut out: Box<dyn Write> =
        if stdout.is_terminal() { Box::new(Terminal::new(stdout)) } else { Box::new(stdout) };
    let done = cli.command.run(&mut *out).and_then(|code| {
        out.flush()?;
        Ok(code)
    });
    match done {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

/// Prints an error for people and returns its exit code.
pub fn fail(error: &Error) -> ExitCode {
    if error.kind != Kind::ReaderGone {
        // This fails if stderr is closed too; the exit code still reports the failure.
        let _ = writeln!(anstream::stderr(), "{}", show::plain_lines(&error.to_string()));
    }
    ExitCode::from(error.kind.code())
}

#[cfg(test)]
mod tests;
