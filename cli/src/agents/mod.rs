//! The agents that anchord sets up. One file each knows which files the agent has and what goes
//! into them.

mod claude_code;
mod codex;
mod gemini;
pub(crate) mod manifest;
mod openclaw;
mod opencode;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exit::Error;
use crate::show::shell_line;
use parts::{Format, Part};

/// An agent that anchord knows how to set up.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Agent {
    ClaudeCode,
    Codex,
    Gemini,
    Opencode,
    Openclaw,
}

/// The facts about one agent.
pub(crate) struct Facts {
    /// The id used by the command line and by the agent's hooks.
    pub(crate) id: &'static str,
    /// The name for people.
    pub(crate) name: &'static str,
    /// The agent's program.
    pub(crate) program: &'static str,
    /// The folder of its configuration. If it exists, the agent is installed.
    folder: fn(&UserEnvironment) -> PathBuf,
    /// The files to set up and the parts that go into them.
    targets: fn(&Setting<'_>) -> Vec<Target>,
    /// Whether anchord's plugin is enabled in it.
    plugin: fn(&UserEnvironment) -> bool,
    /// The part of its environment that a server gets.
    passes: Passes,
    /// Remarks on what a person still has to do, or to know.
    pub(crate) remarks: fn(&UserEnvironment) -> Vec<String>,
    /// Remarks on what a person did because of those remarks and a removal leaves. Each sentence
    /// says what to remove from where.
    pub(crate) leftovers: fn(&Setting<'_>) -> Vec<String>,
    /// The way to allow reading without prompts, if there is one and it is needed.
    pub(crate) reads: Reads,
}

/// The ways in which an agent can allow reading memory once and for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// By a list that set-up can write.
    Listed,
    /// The agent never asks.
    Unasked,
    /// Only together with everything else.
    Unlisted(&'static str),
}

/// The environment with which a server is started.
#[derive(Clone, Copy, Debug)]
enum Passes {
    All,
    Only(&'static [&'static str]),
    /// All variables except those with one of these words in their names.
    Without(&'static [&'static str]),
}

/// One file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The path, as the agent names it.
    pub(crate) path: PathBuf,
    /// The format in which it is parsed.
    pub(crate) format: Format,
    /// The parts that go into it.
    pub(crate) parts: Vec<Part>,
    /// The agent's own command that adds the server, if that is safer than writing the file. The
    /// agent rewrites the file while it runs, and takes a lock.
    pub(crate) own: Option<OwnCommand>,
}

/// A command of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnCommand {
    /// The program.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// The scope of a set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All projects of this user.
    User,
    /// One project.
    Project(PathBuf),
}

/// The user's wishes beyond the server and the hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Whether tools that only read may be used without asking.
    pub(crate) reads: bool,
}

/// The data that decides what goes where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    /// The user's environment.
    pub(crate) place: &'a UserEnvironment,
    /// The scope.
    pub(crate) scope: &'a Scope,
    /// Our programs.
    pub(crate) programs: &'a Programs,
    /// Further wishes.
    pub(crate) wishes: Wishes,
}

/// The tools that change nothing.
pub(crate) const READ_TOOLS: [&str; 5] =
    ["memory_load", "memory_search", "memory_get", "memory_list", "memory_status"];

/// Seconds after which an agent stops waiting for a hook, which answers within one.
const HOOK_SECONDS: u64 = 3;

/// The line of a plugin that names the program it runs. In the repository's files it is a program
/// on the PATH.
const PLUGIN_PROGRAM: &str = "const PROGRAM = \"anchord\"";

/// The beginning of that line.
const PLUGIN_PROGRAM_LINE: &str = "const PROGRAM = ";

/// A user's environment: programs and files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserEnvironment {
    /// The home directory.
    pub(crate) home: PathBuf,
    /// The folders of PATH.
    pub(crate) path: Vec<PathBuf>,
    /// Variables that tell agents where their files are.
    pub(crate) variables: BTreeMap<&'static str, PathBuf>,
}

impl UserEnvironment {
    /// Returns the environment of the present user.
    pub(crate) fn here() -> Result<Self, Error> {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| Error::usage("no home directory: set HOME"))?;
        let path = env::var_os("PATH").unwrap_or_default();
        let known = [
            claude_code::FOLDER_VARIABLE,
            codex::FOLDER_VARIABLE,
            opencode::FOLDER_VARIABLE,
            openclaw::FOLDER_VARIABLE,
        ];
        let variables = known.into_iter().filter_map(|name| {
            let folder = PathBuf::from(env::var_os(name)?);
            folder.is_absolute().then_some((name, folder))
        });
        Ok(Self {
            home,
            path: env::split_paths(&path).filter(|folder| folder.is_absolute()).collect(),
            variables: variables.collect(),
        })
    }

    /// Returns the folder that a variable names, or else the one in the home directory.
    fn folder(&self, variable: &str, beneath_home: &str) -> PathBuf {
        self.variables.get(variable).cloned().unwrap_or_else(|| self.home.join(beneath_home))
    }

    /// Finds a program on the PATH.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The absolute paths of our programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Programs {
    anchord: String,
    mcp: Option<String>,
    hook: Option<String>,
}

impl Programs {
    /// The command line, which is also a shim and a hook.
    pub(crate) const ANCHORD: &'static str = "anchord";
    /// The shim as a separate binary.
    pub(crate) const MCP: &'static str = "anchord-mcp";
    /// The hook as a separate binary.
    pub(crate) const HOOK: &'static str = "anchord-hook";

    /// Returns the programs in this program's directory.
    pub(crate) fn here() -> Result<Self, Error> {
        let program = env::current_exe().map_err(|reason| {
            Error::failed(format!("cannot find out where this program is: {reason}"))
        })?;
        Self::next_to(&program)
    }

    fn next_to(program: &Path) -> Result<Self, Error> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let built = program.components().any(|part| part.as_os_str() == "target");
        if built {
            return Err(Error::usage(format!(
                "{} lies in a build folder, where the next build or `cargo clean` takes it away",
                program.display()
            ))
            .with_action("Run `cargo install --path cli` and set up with the installed anchord."));
        }
        let anchord = text(program).ok_or_else(|| {
            Error::usage(format!("{} is not UTF-8, as agents want it", program.display()))
        })?;
        let sibling = |name: &str| {
            let path = program.with_file_name(name);
            is_program(&path).then(|| text(&path)).flatten()
        };
        Ok(Self { anchord, mcp: sibling(Self::MCP), hook: sibling(Self::HOOK) })
    }

    /// Returns the programs as agents find them by name. For inspecting a set-up, not for writing
    /// one.
    pub(crate) fn on_path() -> Self {
        Self { anchord: Self::ANCHORD.to_owned(), mcp: None, hook: None }
    }

    /// Returns the absolute path of the command line.
    pub(crate) fn anchord(&self) -> &str {
        &self.anchord
    }

    /// Returns the command with which an agent starts its server.
    pub(crate) fn server(&self) -> Vec<String> {
        match &self.mcp {
            Some(alone) => vec![alone.clone()],
            None => vec![self.anchord.clone(), "mcp".to_owned()],
        }
    }

    /// Returns the command that an agent runs at an event. Prefers the small binary, which starts
    /// faster.
    fn hook(&self, client: &str) -> Vec<String> {
        let program = match &self.hook {
            Some(alone) => vec![alone.clone()],
            None => vec![self.anchord.clone(), "hook".to_owned()],
        };
        program.into_iter().chain([client.to_owned()]).collect()
    }

    /// Returns a plugin's text that runs this program.
    fn in_plugin(&self, text: &str) -> String {
        let program = serde_json::Value::from(self.anchord.as_str());
        text.replace(PLUGIN_PROGRAM, &format!("{PLUGIN_PROGRAM_LINE}{program}"))
    }

    /// Returns the command that an agent runs at an event, as a line for a shell.
    fn hook_line(&self, client: &str) -> String {
        shell_line(self.hook(client))
    }
}

impl Agent {
    /// All agents.
    pub(crate) const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Opencode, Self::Openclaw];

    /// Returns the facts about the agent.
    pub(crate) fn facts(self) -> &'static Facts {
        match self {
            Self::ClaudeCode => &claude_code::FACTS,
            Self::Codex => &codex::FACTS,
            Self::Gemini => &gemini::FACTS,
            Self::Opencode => &opencode::FACTS,
            Self::Openclaw => &openclaw::FACTS,
        }
    }

    /// Returns the place where it is installed: its program, or else its folder.
    pub(crate) fn found(self, place: &UserEnvironment) -> Option<PathBuf> {
        let facts = self.facts();
        place
            .program(facts.program)
            .or_else(|| Some((facts.folder)(place)).filter(|at| at.exists()))
    }

    /// Returns the files to set up and the parts that go into them.
    pub(crate) fn targets(self, setting: &Setting<'_>) -> Vec<Target> {
        (self.facts().targets)(setting)
    }

    /// Returns whether it has anchord's plugin or extension, which brings its own server and hooks.
    pub(crate) fn plugin(self, place: &UserEnvironment) -> bool {
        (self.facts().plugin)(place)
    }

    /// Returns the environment that it gives to a server.
    pub(crate) fn environment(self) -> Vec<(OsString, OsString)> {
        let passes = |name: &str| match self.facts().passes {
            Passes::All => true,
            Passes::Only(names) => names.contains(&name),
            Passes::Without(words) => {
                let name = name.to_ascii_uppercase();
                !words.iter().any(|word| name.contains(word))
            }
        };
        env::vars_os().filter(|(name, _)| name.to_str().is_some_and(passes)).collect()
    }
}
