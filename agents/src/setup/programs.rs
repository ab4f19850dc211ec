//! Our programs, as agents' files name them.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use anchord_memory::shell_line;

use super::is_program;

/// The line of a plugin that names the program it runs. In the repository's files it is a program
/// on the PATH.
const PLUGIN_PROGRAM: &str = "const PROGRAM = \"anchord\"";

/// The beginning of the line of a plugin that names the program it runs.
pub const PLUGIN_PROGRAM_LINE: &str = "const PROGRAM = ";

/// The beginning of the line with the arguments of the server that a plugin starts by itself.
pub const PLUGIN_SERVER_LINE: &str = "const SERVER_ARGUMENTS = ";

/// The absolute paths of our programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    anchord: String,
    mcp: Option<String>,
    pub(crate) hook: Option<String>,
}

impl Programs {
    /// The command line, which is also a shim and a hook.
    pub const ANCHORD: &'static str = "anchord";
    /// The shim as a separate binary.
    pub const MCP: &'static str = "anchord-mcp";
    /// The hook as a separate binary.
    pub const HOOK: &'static str = "anchord-hook";

    /// Creates the programs from their paths.
    pub fn new(anchord: String, mcp: Option<String>, hook: Option<String>) -> Self {
        Self { anchord, mcp, hook }
    }

    /// Returns the programs in this program's directory.
    pub fn here() -> Result<Self, ProgramsError> {
        let program = env::current_exe().map_err(ProgramsError::Unknown)?;
        Self::next_to(&program)
    }

    /// Returns the programs next to this one.
    pub fn next_to(program: &Path) -> Result<Self, ProgramsError> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let built = program.components().any(|part| part.as_os_str() == "target");
        if built {
            return Err(ProgramsError::InBuildFolder(program.to_owned()));
        }
        let anchord = text(program).ok_or_else(|| ProgramsError::NotUtf8(program.to_owned()))?;
        let sibling = |name: &str| {
            let path = program.with_file_name(name);
            is_program(&path).then(|| text(&path)).flatten()
        };
        Ok(Self { anchord, mcp: sibling(Self::MCP), hook: sibling(Self::HOOK) })
    }

    /// Returns the programs as agents find them by name. For inspecting a set-up, not for writing
    /// one.
    pub fn on_path() -> Self {
        Self { anchord: Self::ANCHORD.to_owned(), mcp: None, hook: None }
    }

    /// Returns the absolute path of the command line.
    pub fn anchord(&self) -> &str {
        &self.anchord
    }

    /// Returns the command with which an agent starts its server.
    pub fn server(&self) -> Vec<String> {
        match &self.mcp {
            Some(alone) => vec![alone.clone()],
            None => vec![self.anchord.clone(), "mcp".to_owned()],
        }
    }

    /// Returns the command that an agent runs at an event. Prefers the small binary, which starts
    /// faster.
    pub(crate) fn hook(&self, client: &str) -> Vec<String> {
        let program = match &self.hook {
            Some(alone) => vec![alone.clone()],
            None => vec![self.anchord.clone(), "hook".to_owned()],
        };
        program.into_iter().chain([client.to_owned()]).collect()
    }

    /// Returns a file of a plugin, which runs this program.
    pub(crate) fn in_plugin(&self, text: &str) -> String {
        let program = serde_json::Value::from(self.anchord.as_str());
        text.replace(PLUGIN_PROGRAM, &format!("{PLUGIN_PROGRAM_LINE}{program}"))
    }

    /// Returns the command that an agent runs at an event, as a line for a shell.
    pub(crate) fn hook_line(&self, client: &str) -> String {
        shell_line(self.hook(client))
    }
}

/// The reason our programs cannot be named in agents' files.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// This program's path is unknown.
    #[error("cannot find out where this program is: {0}")]
    Unknown(#[source] io::Error),
    /// It will not stay where it is.
    #[error(
        "{} lies in a build folder, where the next build or `cargo clean` removes it", .0.display()
    )]
    InBuildFolder(PathBuf),
    /// Its path is not UTF-8.
    #[error("{} is not UTF-8, as agents want it", .0.display())]
    NotUtf8(PathBuf),
}

#[cfg(test)]
mod tests;
