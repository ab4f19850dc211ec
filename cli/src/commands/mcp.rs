//! `anchord mcp`: the shim, for users who installed only this binary.

use std::path::PathBuf;
use std::process::ExitCode;

use anchord_proto::hello::ToolSet;
use anchord_proto::limits::BUDGET_TOKENS_MIN;
use anchord_shim::mcp::{self, McpOptions};
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Serve MCP on stdin and stdout; agents run this
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  claude mcp add -s user anchord -- anchord mcp
  anchord mcp --project ~/src/parser --tools all")]
pub(crate) struct Args {
    /// The project's directory [default: the one that the agent names, else the working directory]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Set of tools that the agent is offered
    #[arg(long, value_name = "SET", value_parser = tool_sets(), default_value = ToolSet::Default.name())]
    tools: ToolSet,
    /// Token budget of the session's private notes, 1000 or more [default: by client]
    #[arg(long, value_name = "TOKENS", value_parser = budget())]
    budget: Option<u32>,
    /// Use the memory of exactly this directory, apart from any project; created if missing
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl Args {
    pub(super) fn run(self) -> ExitCode {
        mcp::run(McpOptions {
            program: std::env::current_exe().ok(),
            project: self.project,
            tools: self.tools,
            budget: self.budget,
            state_dir: self.state_dir,
            ..McpOptions::default()
        })
    }
}

fn budget() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(BUDGET_TOKENS_MIN)..)
}

fn tool_sets() -> impl TypedValueParser<Value = ToolSet> {
    PossibleValuesParser::new(ToolSet::ALL.map(ToolSet::name))
        .try_map(|name| name.parse::<ToolSet>())
}
