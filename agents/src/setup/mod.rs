//! Set-up: the files that each agent has and the parts of anchord's that go into them. Nothing here
//! writes a file. The command line plans the changes and carries them out.

mod edit;
pub mod parts;
mod programs;
mod read;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub use edit::Clash;
pub(crate) use edit::{Document, Json, Step, Toml};
pub use programs::{PLUGIN_PROGRAM_LINE, PLUGIN_SERVER_LINE, Programs, ProgramsError};
pub(crate) use read::text_of;

use anchord_memory::shell_line;

use crate::{CLIENTS, Client};
use parts::{Format, FoundHook, Part, ProgramFields};

/// Expands to a plugin's text: its file in `integrations/`, and below it the part that all plugins
/// have.
macro_rules! plugin {
    ($file:literal) => {
        concat!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../integrations/", $file)),
            "\n",
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../integrations/hook.js")),
        )
    };
}
pub(crate) use plugin;

/// An agent that anchord can set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Agent(&'static Client);

/// The facts with which an agent is set up.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The agent's program.
    pub program: &'static str,
    /// The folder of its configuration. If it exists, the agent is installed.
    pub(crate) folder: fn(&UserEnvironment) -> PathBuf,
    /// Whether it has a configuration for a project.
    pub has_project_scope: bool,
    /// The file of a project in which it looks for instructions, if it has one.
    pub instructions: Option<&'static str>,
    /// The files to set up and the parts that go into them.
    pub(crate) targets: fn(&Setting<'_>) -> Vec<Target>,
    /// Whether anchord's plugin is enabled in it.
    pub(crate) plugin: fn(&UserEnvironment) -> bool,
    /// The part of its environment that a server gets.
    pub(crate) passes: Passes,
    /// The trust that its hooks need, if any.
    pub trust: Option<Trust>,
    /// Returns what switches all its hooks off: the setting and its file, in words.
    pub(crate) hooks_off: fn(&Setting<'_>) -> Vec<String>,
    /// Remarks on what a person still has to do, or to know.
    pub remarks: fn(&UserEnvironment) -> Vec<String>,
    /// Remarks on what a person did because of those remarks and a removal leaves. Each sentence
    /// says what to remove from where.
    pub leftovers: fn(&Setting<'_>) -> Vec<String>,
    /// The way to allow reading without prompts, if there is one and it is needed.
    pub reads: Reads,
}

impl Facts {
    /// The facts of most agents. They can be set up for a project, read AGENTS.md, pass their whole
    /// environment on, and see a set-up after a restart. `folder` shows that one is installed.
    pub(crate) const fn of(
        program: &'static str,
        folder: fn(&UserEnvironment) -> PathBuf,
        targets: fn(&Setting<'_>) -> Vec<Target>,
        reads: Reads,
    ) -> Self {
        Self {
            program,
            folder,
            has_project_scope: true,
            instructions: Some("AGENTS.md"),
            targets,
            plugin: |_| false,
            passes: Passes::All,
            trust: None,
            hooks_off: |_| Vec::new(),
            remarks: |_| vec!["sessions that run now see it after a restart.".to_owned()],
            leftovers: |_| Vec::new(),
            reads,
        }
    }

    /// The facts of an agent that takes a server and has no hooks, known from its documentation
    /// alone.
    pub(crate) const fn of_server(
        program: &'static str,
        folder: fn(&UserEnvironment) -> PathBuf,
        targets: fn(&Setting<'_>) -> Vec<Target>,
        reads: &'static str,
    ) -> Self {
        let remarks: fn(&UserEnvironment) -> Vec<String> = |_| {
            vec![
                "this is from its documentation; nobody has seen it run with anchord yet. It has \
                 no hooks that anchord uses: `anchord init` tells the agent what to do."
                    .to_owned(),
            ]
        };
        Self { remarks, ..Self::of(program, folder, targets, Reads::Unlisted(reads)) }
    }
}

/// The trust that a person has to give an agent's hooks before they run.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    /// Instructions for the person.
    pub remark: &'static str,
    /// Returns the events of those hooks of ours, in the file, that nobody has trusted yet.
    pub untrusted: fn(&UserEnvironment, &Path, &[FoundHook]) -> Vec<String>,
}

/// The ways in which an agent can allow reading memory once and for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// By a list that set-up can write.
    Listed,
    /// The agent never asks.
    Unasked,
    /// Only together with everything else.
    Unlisted(&'static str),
}

/// The environment with which a server is started.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passes {
    All,
    Only(&'static [&'static str]),
    /// All variables except those with one of these words in their names.
    Without(&'static [&'static str]),
}

/// One file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path, as the agent names it.
    pub path: PathBuf,
    /// The format in which it is parsed.
    pub format: Format,
    /// The parts that go into it.
    pub parts: Vec<Part>,
    /// The agent's own command that adds the server, if that is safer than writing the file. The
    /// agent rewrites the file while it runs, and takes a lock.
    pub own: Option<OwnCommand>,
}

impl Target {
    /// A JSON file, comments allowed, with a list of servers that gets ours.
    pub(crate) fn server(
        path: PathBuf,
        list: &'static [&'static str],
        more: Vec<(&'static str, serde_json::Value)>,
        setting: &Setting<'_>,
    ) -> Self {
        let launch = setting.programs.server();
        let server = parts::Server { list, launch, fields: ProgramFields::Command, more };
        Self { path, format: Format::Jsonc, parts: vec![Part::Server(server)], own: None }
    }
}

/// A command of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// The scope of a set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All projects of this user.
    User,
    /// One project.
    Project(PathBuf),
}

/// The user's wishes beyond the server and the hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Whether tools that only read may be used without asking.
    pub reads: bool,
}

/// The data that decides what goes where.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The user's environment.
    pub place: &'a UserEnvironment,
    /// The scope.
    pub scope: &'a Scope,
    /// Our programs.
    pub programs: &'a Programs,
    /// Further wishes.
    pub wishes: Wishes,
}

/// The tools that change nothing.
pub const READ_TOOLS: [&str; 5] =
    ["memory_load", "memory_search", "memory_get", "memory_list", "memory_status"];

/// The file of a project in which agents look for instructions, whatever agents they are.
const INSTRUCTIONS: &str = "memory.md";

/// Returns the files of a project in which agents look for instructions, the usual one first.
pub fn instruction_files() -> Vec<&'static str> {
    let own = CLIENTS.iter().filter_map(|client| client.setup.as_ref()?.instructions);
    let mut files: Vec<&str> = Vec::new();
    for name in own.chain([INSTRUCTIONS]) {
        if !files.contains(&name) {
            files.push(name);
        }
    }
    files
}

/// Seconds after which an agent stops waiting for a hook, which answers within one.
pub(crate) const HOOK_SECONDS: u64 = 3;

/// A user's environment: programs and files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserEnvironment {
    /// The home directory.
    pub home: PathBuf,
    /// The folders of PATH.
    pub path: Vec<PathBuf>,
    /// Variables that tell agents where their files are.
    pub variables: BTreeMap<&'static str, PathBuf>,
}

impl OwnCommand {
    /// Returns the command as people would type it.
    pub fn line(&self) -> String {
        let name = self.program.file_name().unwrap_or_default().to_string_lossy();
        shell_line([&*name].into_iter().chain(self.arguments.iter().map(String::as_str)))
    }
}

impl UserEnvironment {
    /// Returns the environment of the present user; `None` without a home directory.
    pub fn here() -> Option<Self> {
        let home = env::home_dir().filter(|home| home.is_absolute())?;
        let path = env::var_os("PATH").unwrap_or_default();
        let known = CLIENTS.iter().filter_map(|client| client.environment.folder);
        let variables = known.filter_map(|name| {
            let folder = PathBuf::from(env::var_os(name)?);
            folder.is_absolute().then_some((name, folder))
        });
        Some(Self {
            home,
            path: env::split_paths(&path).filter(|folder| folder.is_absolute()).collect(),
            variables: variables.collect(),
        })
    }

    /// Returns the folder that a client's variable names, or else the one in the home directory.
    pub(crate) fn folder(&self, client: &Client, beneath_home: &str) -> PathBuf {
        self.moved(client).cloned().unwrap_or_else(|| self.home.join(beneath_home))
    }

    /// Returns the folder that a client's variable names.
    pub(crate) fn moved(&self, client: &Client) -> Option<&PathBuf> {
        self.variables.get(client.environment.folder?)
    }

    /// Finds a program on the PATH.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

impl Agent {
    /// Returns all agents, in the order in which commands list them.
    pub fn all() -> Vec<Self> {
        let can = |client: &&&'static Client| client.setup.is_some();
        CLIENTS.iter().filter(can).map(|client| Self(client)).collect()
    }

    /// Returns the agent with this id.
    pub fn named(id: &str) -> Option<Self> {
        Client::named(id).filter(|client| client.setup.is_some()).map(Self)
    }

    /// Returns the id used by the command line and by the agent's hooks.
    pub fn id(self) -> &'static str {
        self.0.id
    }

    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the facts about the agent.
    pub fn facts(self) -> &'static Facts {
        self.0.setup.as_ref().expect("an agent is a client with set-up")
    }

    /// Returns the place where it is installed: its program, or else its folder.
    pub fn found(self, place: &UserEnvironment) -> Option<PathBuf> {
        let facts = self.facts();
        place
            .program(facts.program)
            .or_else(|| Some((facts.folder)(place)).filter(|at| at.exists()))
    }

    /// Returns the files to set up and the parts that go into them.
    pub fn targets(self, setting: &Setting<'_>) -> Vec<Target> {
        (self.facts().targets)(setting)
    }

    /// Returns what switches all its hooks off: the setting and its file, in words.
    pub fn hooks_off(self, setting: &Setting<'_>) -> Vec<String> {
        (self.facts().hooks_off)(setting)
    }

    /// Returns whether it has anchord's plugin or extension, which brings its own server and hooks.
    pub fn plugin(self, place: &UserEnvironment) -> bool {
        (self.facts().plugin)(place)
    }

    /// Returns the environment that it gives to a server.
    pub fn environment(self) -> Vec<(OsString, OsString)> {
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
