//! The harness: builds the binaries once, runs instances of anchord in scratch directories, and
//! plays agents that speak MCP to a shim over stdio.
//!
//! Everything waits for an event or polls to a deadline, and ends only what it started. If anchord
//! does not do its part, the harness panics with what it saw, so a test needs no error handling.

#![expect(clippy::panic, reason = "a harness says by panicking what did not happen")]

mod agent;
mod binaries;
pub mod ctags;
mod instance;
pub mod linear;
mod load;
mod peer;
pub mod poll;
pub mod process;
mod project;
mod shell;
pub mod write;

pub use agent::{Agent, Reply, RpcError};
pub use binaries::{Binaries, binaries, shipped, workspace};
pub use instance::{Instance, walk};
pub use load::{Load, under_load};
pub use peer::{Peer, hello};
pub use poll::{PATIENCE, poll};
pub use project::Project;
pub use rustix::process::Signal;
pub use shell::Shell;

use std::io::Write;

/// Reports that a test checked nothing, and why. It writes to stderr directly, since libtest would
/// hold the message back.
pub fn skip(why: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    writeln!(std::io::stderr(), "SKIPPED {name}: {why}").expect("stderr is open");
}
