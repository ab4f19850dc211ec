//! The registry: each line declares the folder of one client. `build.rs` puts the `CLIENT` of each
//! into the list, in this order, which is also the order in which commands list them.

use crate::Client;

mod claude_code;
mod codex;
mod gemini;
mod opencode;

// Blank lines keep rustfmt from sorting.
mod openclaw;

mod copilot;
mod qwen;

mod cline;
mod droid;
mod kilo;
mod pi;

mod cursor;

mod vscode;
mod windsurf;
mod zed;

mod amp;
mod crush;
mod goose;
mod junie;
mod kiro;

#[cfg(test)]
mod imaginary;

/// All clients.
pub static CLIENTS: &[&Client] = include!(concat!(env!("OUT_DIR"), "/clients.rs"));
