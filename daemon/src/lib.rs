//! anchord's daemon: one memory per project, any number of sessions.
//!
//! Calls inside go one way: `http` → `admin` → `mcp`, `hooks` → `sessions` → `project` →
//! `store`. ARCHITECTURE.md has the map, the invariants and the lock table.

pub mod activation;
mod admin;
mod anchors;
pub mod api;
mod blocking;
mod bounded_fs;
mod budgets;
pub mod clock;
pub mod config;
pub mod detach;
mod heap;
mod hooks;
mod http;
pub mod instance;
mod jobs;
pub mod limits;
mod lines;
pub mod logs;
mod mcp;
mod merging;
mod metrics;
mod outlines;
mod private_file;
mod process;
pub mod project;
pub mod projects;
mod purging;
mod registry_store;
pub mod retrieval_log;
pub mod rules;
mod run;
mod secrets;
mod sessions;
mod shared;
mod shutdown;
mod socket;
mod spelling;
pub mod store;
mod team;
mod team_copy;
mod team_upkeep;
#[cfg(test)]
mod testing;
mod topic_files;
mod zipmem_files;

pub use run::{RunError, Started, run};
