//! Integration tests in one binary: checks of the source tree, and tests with real processes.
#![expect(clippy::unwrap_used, reason = "a test says that it fails by panicking")]

mod anchors;
mod backups;
mod clients;
mod cold_start;
mod commands;
mod damage;
mod disk;
mod endings;
mod exactly_once;
mod failing_tools;
mod floods;
mod hook;
mod identity;
mod install;
mod language;
mod layers;
mod mcp_revisions;
mod merging;
mod modules;
mod one_daemon;
mod one_session_twice;
mod outlines;
mod past_sessions;
mod personal;
mod purge;
mod restart;
mod rollback;
mod sdks;
mod set_up;
mod sharing;
mod staged_work;
mod tidy;
mod traps;
mod units;
mod versions;
