//! Parses the command line of `anchord-mcp` by hand. An argument parser would be larger than the
//! shim. Messages are concatenated, since formatting code would add to its size, too.

use std::ffi::OsString;

use anchord_agents::CLIENTS;
use anchord_proto::hello::ToolSet;
use anchord_proto::limits::BUDGET_TOKENS_MIN;

use crate::mcp::McpOptions;

/// Returns the output of `anchord-mcp --help`.
pub fn help() -> String {
    let agents = CLIENTS.iter().filter_map(|client| client.environment.project);
    let variables: Vec<&str> = ["ANCHORD_PROJECT"].into_iter().chain(agents).collect();
    [HELP, &variables.join(", "), OPTIONS].concat()
}

const HELP: &str = "\
anchord-mcp: the MCP server of anchord, the memory that coding agents share

Agents start it and speak MCP on its stdin and stdout. It finds the anchord daemon, or starts it.

Usage: anchord-mcp [--project DIR] [--tools SET] [--budget TOKENS] [--state-dir DIR]

  --project DIR    the project; else ";

const OPTIONS: &str = " or the working directory
  --tools SET      default, all, zipmem, compactor, infinite-context,
                   or snap-memory
  --budget TOKENS  what the session may keep active for itself, 1 or more
  --state-dir DIR  a memory apart: of exactly this directory, made if need be
  --version, --help

Example: claude mcp add anchord -- anchord-mcp
";

/// The action that the command line asks for.
#[derive(Clone, Debug)]
pub enum ShimCommand {
    /// A request to serve MCP with these options.
    Serve(McpOptions),
    /// A request to print [`help`].
    Help,
    /// A request to print the version.
    Version,
}

/// Parses the arguments after the program's name. The error states what is allowed.
pub fn parse(arguments: &mut dyn Iterator<Item = OsString>) -> Result<ShimCommand, String> {
    let mut options = McpOptions::default();
    while let Some(argument) = arguments.next() {
        // A value may also follow an equals sign. A value that is not UTF-8 can only be a separate
        // argument.
        let text = argument.to_str().unwrap_or_default();
        let (flag, attached) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (text, None),
        };
        match flag {
            "--help" | "-h" if attached.is_none() => return Ok(ShimCommand::Help),
            "--version" | "-V" if attached.is_none() => return Ok(ShimCommand::Version),
            "--project" | "--tools" | "--state-dir" | "--budget" => {
                let value = attached.map(OsString::from).or_else(|| arguments.next());
                let Some(value) = value.filter(|value| !value.is_empty()) else {
                    return Err([flag, " needs a value"].concat());
                };
                set(&mut options, flag, value)?;
            }
            _ => {
                let flag = flag.to_owned();
                return Err(["unknown argument `", &flag, "`, allowed: ", ALLOWED].concat());
            }
        }
    }
    Ok(ShimCommand::Serve(options))
}

fn set(options: &mut McpOptions, flag: &str, value: OsString) -> Result<(), String> {
    match flag {
        "--project" => options.project = Some(value.into()),
        "--state-dir" => options.state_dir = Some(value.into()),
        "--tools" => {
            let name = value.to_string_lossy();
            let Some(set) = ToolSet::ALL.into_iter().find(|set| set.name() == name) else {
                return Err(["unknown tool set \"", &name, "\", allowed: ", SETS].concat());
            };
            options.tools = set;
        }
        _ => {
            let tokens = value.to_str().and_then(|tokens| tokens.parse().ok());
            options.budget = tokens.filter(|tokens| *tokens >= BUDGET_TOKENS_MIN);
            if options.budget.is_none() {
                return Err("--budget needs a number of tokens, 1 or more".to_owned());
            }
        }
    }
    Ok(())
}

const ALLOWED: &str =
    "--project DIR, --tools SET, --budget TOKENS, --state-dir DIR, --version, --help";
const SETS: &str = "default, all, zipmem, compactor, infinite-context, snap-memory";

#[cfg(test)]
mod tests;
