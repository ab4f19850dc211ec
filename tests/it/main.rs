//! Integration tests, one binary: what holds for the tree, and what holds when processes are real.
#![expect(clippy::unwrap_used, reason = "a test says that it fails by panicking")]

mod cold_start;
mod endings;
mod exactly_once;
mod failing_tools;
mod layers;
mod one_session_twice;
mod restart;
mod staged_work;
mod tidy;
mod units;
mod versions;
