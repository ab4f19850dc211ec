//! The MCP side: rmcp over each accepted stream, and the tools. The only place that names rmcp.

mod compaction;
mod context;
mod server;
mod tool;
mod tools;
mod transport;

pub(crate) use server::serve;
pub(crate) use tools::{ToolList, load_text};
