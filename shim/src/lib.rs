//! The thin processes that agents start. They hold no policy and no memory. They find or start the
//! daemon, say hello and forward lines. When the daemon dies or is replaced, they continue with the
//! next one, and the agent notices only a delay.
//!
//! There is no async runtime: one thread polls, and each search has a thread of its own. Only
//! JSON-RPC reaches stdout.

use std::io::{self, Write};

pub mod args;
pub mod descriptors;
mod hang_check;
pub mod hook;
mod identity;
mod ledger;
pub mod link;
pub mod mcp;
mod message;
mod outbox;
mod pipe;
mod start;
#[cfg(test)]
mod testing;
mod turn;
mod watch;

pub use identity::hello;
pub use start::Launcher;

/// Prints a message for the user on stderr. Ignores errors: if stderr is closed, nobody reads it.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "anchord: {message}");
}
