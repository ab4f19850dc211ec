//! The thin processes that agents start. They hold no policy and no memory: find or start the
//! daemon, say hello, forward lines, and when the daemon dies or is replaced, go on with the next
//! one so that the agent notices nothing but a delay.
//!
//! No async runtime: one thread that polls, and one for each search. Nothing but JSON-RPC ever
//! reaches stdout.

use std::io::{self, Write};

pub mod args;
pub mod descriptors;
pub mod hook;
mod identity;
mod ledger;
pub mod link;
pub mod mcp;
mod message;
mod outbox;
mod pipe;
mod pulse;
mod start;
#[cfg(test)]
mod testing;
mod turn;
mod watch;

pub use identity::hello;
pub use start::Launcher;

/// Tells the user something on stderr. Where that is closed, there is nobody to tell.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "anchord: {message}");
}
