//! The agents that anchord sets up: one file each says where it keeps what, and what goes there.

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

/// What there is to know about an agent.
pub(crate) struct Facts {
    /// As the command line and its hooks name it.
    pub(crate) id: &'static str,
    /// As people name it.
    pub(crate) name: &'static str,
    /// Its program.
    pub(crate) program: &'static str,
    /// Where its configuration is; it is installed if this exists.
    folder: fn(&Place) -> PathBuf,
    /// What goes where.
    targets: fn(&Setting<'_>) -> Vec<Target>,
    /// Whether anchord's plugin is switched on in it.
    plugin: fn(&Place) -> bool,
    /// What of its environment a server gets.
    passes: Passes,
    /// What is left for a person to do, or to know.
    pub(crate) remarks: fn(&Place) -> Vec<String>,
    /// What a person did because of those remarks and a removal leaves: each a sentence that says what to take out where.
    pub(crate) leftovers: fn(&Setting<'_>) -> Vec<String>,
    /// How it can be told to allow reading without prompts; nothing where it cannot, or need not.
    pub(crate) reads: Reads,
}

/// Whether reading memory can be allowed once and for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// By a list that set-up can write.
    Listed,
    /// It never asks.
    Unasked,
    /// Not without allowing everything.
    Unlisted(&'static str),
}

/// The environment that a server is started with.
#[derive(Clone, Copy, Debug)]
enum Passes {
    All,
    Only(&'static [&'static str]),
    /// All but what has one of these words in its name.
    Without(&'static [&'static str]),
}

/// One file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Where, as the agent names it.
    pub(crate) path: PathBuf,
    /// How it is read.
    pub(crate) format: Format,
    /// What goes in.
    pub(crate) parts: Vec<Part>,
    /// The agent's own command that puts the server in, where that is safer than writing the file: the
    /// agent rewrites it while it runs, and takes a lock.
    pub(crate) own: Option<OwnCommand>,
}

/// A command of the agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnCommand {
    /// The program.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// For whom it is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All projects of this user.
    User,
    /// This one.
    Project(PathBuf),
}

/// What the user wants beyond the server and the hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Tools that only read may be used without asking.
    pub(crate) reads: bool,
}

/// What decides what goes where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    /// Where the user's files are.
    pub(crate) place: &'a Place,
    /// For whom.
    pub(crate) scope: &'a Scope,
    /// What is run.
    pub(crate) programs: &'a Programs,
    /// What is wanted beyond that.
    pub(crate) wishes: Wishes,
}

/// The tools that change nothing.
pub(crate) const READ_TOOLS: [&str; 5] =
    ["memory_load", "memory_search", "memory_get", "memory_list", "memory_status"];

/// Seconds after which an agent stops waiting for a hook, which answers within one.
const HOOK_SECONDS: u64 = 3;

/// The line of a plugin that names the program it runs. In the files in the tree it is one on the PATH.
const PLUGIN_PROGRAM: &str = "const PROGRAM = \"anchord\"";

/// What that line begins with.
const PLUGIN_PROGRAM_LINE: &str = "const PROGRAM = ";

/// Where a user's programs and files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The home directory.
    pub(crate) home: PathBuf,
    /// The folders of PATH.
    pub(crate) path: Vec<PathBuf>,
    /// Variables by which agents are told where their files are.
    pub(crate) variables: BTreeMap<&'static str, PathBuf>,
}

impl Place {
    /// This user's.
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

    /// The folder that a variable names, else the one in the home directory.
    fn folder(&self, variable: &str, beneath_home: &str) -> PathBuf {
        self.variables.get(variable).cloned().unwrap_or_else(|| self.home.join(beneath_home))
    }

    /// A program on the PATH.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Our programs, by their absolute paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Programs {
    anchord: String,
    mcp: Option<String>,
    hook: Option<String>,
}

impl Programs {
    /// The command line, which is shim and hook, too.
    pub(crate) const ANCHORD: &'static str = "anchord";
    /// The shim as a binary of its own.
    pub(crate) const MCP: &'static str = "anchord-mcp";
    /// The hook as a binary of its own.
    pub(crate) const HOOK: &'static str = "anchord-hook";

    /// The programs beside this one.
    pub(crate) fn here() -> Result<Self, Error> {
        let program = env::current_exe().map_err(|reason| {
            Error::failed(format!("cannot find out where this program is: {reason}"))
        })?;
        Self::beside(&program)
    }

    fn beside(program: &Path) -> Result<Self, Error> {
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

    /// As agents find them that were told names alone: to look at what is set up, not to set up.
    pub(crate) fn on_path() -> Self {
        Self { anchord: Self::ANCHORD.to_owned(), mcp: None, hook: None }
    }

    /// The command line, by its absolute path.
    pub(crate) fn anchord(&self) -> &str {
        &self.anchord
    }

    /// What an agent runs as its server.
    pub(crate) fn server(&self) -> Vec<String> {
        match &self.mcp {
            Some(alone) => vec![alone.clone()],
            None => vec![self.anchord.clone(), "mcp".to_owned()],
        }
    }

    /// What an agent runs at an event: the small binary where there is one, since it starts faster.
    fn hook(&self, client: &str) -> Vec<String> {
        let program = match &self.hook {
            Some(alone) => vec![alone.clone()],
            None => vec![self.anchord.clone(), "hook".to_owned()],
        };
        program.into_iter().chain([client.to_owned()]).collect()
    }

    /// A plugin's text, running this very program.
    fn in_plugin(&self, text: &str) -> String {
        let program = serde_json::Value::from(self.anchord.as_str());
        text.replace(PLUGIN_PROGRAM, &format!("{PLUGIN_PROGRAM_LINE}{program}"))
    }

    /// What an agent runs at an event, as a line for a shell.
    fn hook_line(&self, client: &str) -> String {
        shell_line(self.hook(client))
    }
}

impl Agent {
    /// All of them.
    pub(crate) const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Opencode, Self::Openclaw];

    /// What there is to know about it.
    pub(crate) fn facts(self) -> &'static Facts {
        match self {
            Self::ClaudeCode => &claude_code::FACTS,
            Self::Codex => &codex::FACTS,
            Self::Gemini => &gemini::FACTS,
            Self::Opencode => &opencode::FACTS,
            Self::Openclaw => &openclaw::FACTS,
        }
    }

    /// Where it is installed: its program, else its folder.
    pub(crate) fn found(self, place: &Place) -> Option<PathBuf> {
        let facts = self.facts();
        place
            .program(facts.program)
            .or_else(|| Some((facts.folder)(place)).filter(|at| at.exists()))
    }

    /// What goes where.
    pub(crate) fn targets(self, setting: &Setting<'_>) -> Vec<Target> {
        (self.facts().targets)(setting)
    }

    /// Whether it has anchord's plugin or extension, which brings a server and hooks of its own.
    pub(crate) fn plugin(self, place: &Place) -> bool {
        (self.facts().plugin)(place)
    }

    /// The environment that it gives to a server.
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
