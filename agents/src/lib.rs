//! The agents that anchord knows. Each has one folder in `clients/`, which alone knows its names,
//! files and formats, and one line in `clients.rs`, which is the registry.
//!
//! Without features this crate has names alone and no dependency, so that the shim can use it. The
//! features add what the daemon and the command line need. Nothing here knows the daemon, sessions
//! or the wire.

mod client;
mod clients;
#[cfg(feature = "events")]
pub mod events;
#[cfg(any(feature = "events", feature = "setup", feature = "transcripts"))]
pub mod limits;
#[cfg(any(feature = "events", feature = "transcripts"))]
mod patch;
#[cfg(feature = "setup")]
pub mod setup;
#[cfg(feature = "transcripts")]
pub mod transcripts;

pub use client::{Client, ContextLimits, Environment, McpNames};
pub use clients::CLIENTS;

#[cfg(test)]
mod tests;
