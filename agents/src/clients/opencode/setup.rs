//! opencode. Its servers are in its configuration; lifecycle events come from a plugin file.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{CLIENT, KNOWN};
use crate::setup::parts::{Format, Part, ProgramFields, Server};
use crate::setup::{Facts, Reads, Scope, Setting, Target, UserEnvironment, plugin};

pub(in crate::clients) const FACTS: Facts =
    Facts { remarks: |_| Vec::new(), ..Facts::of("opencode", folder, targets, Reads::Unasked) };

/// The plugin's text. It names opencode as the client of its events.
const PLUGIN: &str = plugin!("opencode/anchord.js");

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
        let server = Server { list: &["mcp"], launch, fields: ProgramFields::Joined, more };
        let named = |client: &str| format!("const CLIENT = \"{client}\"");
        let plugin = PLUGIN.replace(&named(KNOWN.id), &named(self.client));
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

#[cfg(test)]
mod tests;
