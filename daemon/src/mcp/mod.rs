//! The MCP side: rmcp over each accepted stream, and the tools. No other module names rmcp.

mod answer;
mod calls;
mod compaction;
mod context;
mod error;
mod input;
mod prompts;
mod resources;
mod server;
mod service;
mod tool;
mod tools;
mod transport;

pub(crate) use answer::ToolAnswer;
pub(crate) use calls::{Called, call_by_name, internal_text};
pub(crate) use error::ToolError;
pub(crate) use server::serve;
pub(crate) use service::ToolService;
pub(crate) use tool::Reach;
pub(crate) use tools::brief;
