//! opencode. Its servers are in its configuration; lifecycle events come from a plugin file.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{CLIENT, KNOWN};
use crate::setup::parts::{Format, Part, Server};
use crate::setup::{Facts, Passes, Reads, Scope, Setting, Target, UserEnvironment};

pub(in crate::clients) const FACTS: Facts = Facts {
    program: "opencode",
    folder,
    has_project_scope: true,
    instructions: Some("AGENTS.md"),
    targets,
    // Its plugin is one of the files that set-up writes.
    plugin: |_| false,
    passes: Passes::All,
    trust: None,
    hooks_off: |_| Vec::new(),
    remarks: |_| Vec::new(),
    leftovers: |_| Vec::new(),
    reads: Reads::Unasked,
};

/// The plugin's text. It names opencode as the client of its events.
const PLUGIN: &str = include_str!("../../../../integrations/opencode/anchord.js");

/// The files of opencode, or of a program that was made from it.
pub(in crate::clients) struct Files {
    /// The client that the plugin's events name.
    pub(in crate::clients) client: &'static str,
    /// The user's folder.
    pub(in crate::clients) folder: fn(&UserEnvironment) -> PathBuf,
    /// The configurations that it reads. An existing one is used; otherwise the last is created.
    pub(in crate::clients) configs: [&'static str; 2],
    /// The folder for plugins in a project.
    pub(in crate::clients) in_project: &'static str,
}

fn folder(place: &UserEnvironment) -> PathBuf {
    place.folder(&CLIENT, ".config").join("opencode")
}

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let files = Files {
        client: KNOWN.id,
        folder,
        configs: ["opencode.jsonc", "opencode.json"],
        in_project: ".opencode",
    };
    files.targets(setting)
}

impl Files {
    /// Returns the configuration and the plugin.
    pub(in crate::clients) fn targets(&self, setting: &Setting<'_>) -> Vec<Target> {
        let Setting { place, scope, programs, .. } = *setting;
        let (configs, plugins) = match scope {
            Scope::User => ((self.folder)(place), (self.folder)(place)),
            Scope::Project(root) => (root.clone(), root.join(self.in_project)),
        };
        let launch = programs.server();
        let more = vec![("type", json!("local")), ("enabled", json!(true))];
        let server = Server { list: &["mcp"], launch, joined: true, more };
        let hook = |client: &str| format!("[\"hook\", \"{client}\"]");
        let plugin = PLUGIN.replace(&hook(KNOWN.id), &hook(self.client));
        vec![
            Target {
                path: self.config(&configs),
                format: Format::Jsonc,
                parts: vec![Part::Server(server)],
                own: None,
            },
            Target {
                path: plugins.join("plugin/anchord.js"),
                format: Format::Whole,
                parts: vec![Part::Whole(programs.in_plugin(&plugin))],
                own: None,
            },
        ]
    }

    fn config(&self, folder: &Path) -> PathBuf {
        let [first, last] = self.configs.map(|name| folder.join(name));
        if first.exists() { first } else { last }
    }
}
