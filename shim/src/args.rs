//! The command line of `anchord-mcp`, by hand: an argument parser would be larger than the shim.

use std::ffi::OsString;
use std::path::PathBuf;

use anchord_proto::hello::ToolSet;

use crate::mcp::McpOptions;

/// `anchord-mcp --help`.
pub const HELP: &str = "\
anchord-mcp: the MCP server of anchord, the memory that coding agents share

Speaks MCP on stdin and stdout; agents start it. It finds the anchord daemon, or starts it.

Usage: anchord-mcp [--project DIR] [--tools SET] [--budget TOKENS] [--state-dir DIR]

  --project DIR    the project whose memory is meant; else ANCHORD_PROJECT,
                   CLAUDE_PROJECT_DIR or the working directory
  --tools SET      default, all, zipmem, or compactor
  --budget TOKENS  what the session may keep active for itself
  --state-dir DIR  a memory apart: of exactly this directory, made if need be
  --version        print the version
  --help           print this

Examples:
  claude mcp add anchord -- anchord-mcp
  codex mcp add anchord -- anchord-mcp --tools all
  anchord-mcp --project ~/src/app
";

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Asked {
    /// To serve.
    Serve(McpOptions),
    /// To print [`HELP`].
    Help,
    /// To print the version.
    Version,
}

/// Reads the arguments after the program's name. The error says what would be right.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Asked, String> {
    let mut options = McpOptions::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        // A value may also follow an equals sign; one that is not text can only stand alone.
        let (flag, attached) = match argument.to_str().and_then(|text| text.split_once('=')) {
            Some((flag, value)) => (flag.to_owned(), Some(OsString::from(value))),
            None => (argument.to_string_lossy().into_owned(), None),
        };
        let mut value = || {
            attached
                .clone()
                .or_else(|| arguments.next())
                .filter(|value| !value.is_empty())
                .ok_or_else(|| format!("{flag} needs a value"))
        };
        match flag.as_str() {
            "--project" => options.project = Some(PathBuf::from(value()?)),
            "--tools" => {
                let set = value()?;
                options.tools = set
                    .to_string_lossy()
                    .parse()
                    .map_err(|unknown: <ToolSet as std::str::FromStr>::Err| unknown.to_string())?;
            }
            "--state-dir" => options.state_dir = Some(PathBuf::from(value()?)),
            "--budget" => {
                let tokens = value()?.to_str().and_then(|tokens| tokens.parse().ok());
                options.budget = Some(
                    tokens
                        .filter(|tokens| *tokens > 0)
                        .ok_or_else(|| format!("{flag} needs a number of tokens"))?,
                );
            }
            "--help" | "-h" if attached.is_none() => return Ok(Asked::Help),
            "--version" | "-V" if attached.is_none() => return Ok(Asked::Version),
            _ => {
                return Err(format!(
                    "unknown argument `{flag}`, allowed: --project DIR, --tools SET, \
                     --budget TOKENS, --state-dir DIR, --version, --help"
                ));
            }
        }
    }
    Ok(Asked::Serve(options))
}

#[cfg(test)]
mod tests;
