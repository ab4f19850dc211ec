//! Integration tests, one binary: what holds for the tree, and what holds when processes are real.
#![expect(clippy::unwrap_used, reason = "a test says that it fails by panicking")]

mod layers;
mod tidy;
mod units;
