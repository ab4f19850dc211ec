//! opencode. Its servers are in its configuration; lifecycle events come from a plugin file.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::CLIENT;
use crate::setup::parts::{Format, Part, Server};
use crate::setup::{Facts, Passes, Reads, Scope, Setting, Target, UserEnvironment};

pub(super) const FACTS: Facts = Facts {
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

/// The files of the plugin: their paths beneath opencode's folder, and their contents.
const PLUGIN_FILES: [(&str, &str); 1] =
    [("plugin/anchord.js", include_str!("../../../../integrations/opencode/anchord.js"))];

/// The files that opencode reads. An existing one is used; otherwise `opencode.json` is created.
const CONFIGS: [&str; 2] = ["opencode.jsonc", "opencode.json"];

fn folder(place: &UserEnvironment) -> PathBuf {
    place.folder(&CLIENT, ".config").join("opencode")
}

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, .. } = *setting;
    let (configs, plugins) = match scope {
        Scope::User => (folder(place), folder(place)),
        Scope::Project(root) => (root.clone(), root.join(".opencode")),
    };
    let launch = programs.server();
    let more = vec![("type", json!("local")), ("enabled", json!(true))];
    let server = Server { list: &["mcp"], launch, joined: true, more };
    let mut targets = vec![Target {
        path: config(&configs),
        format: Format::Jsonc,
        parts: vec![Part::Server(server)],
        own: None,
    }];
    targets.extend(PLUGIN_FILES.iter().map(|(path, text)| Target {
        path: plugins.join(path),
        format: Format::Whole,
        parts: vec![Part::Whole(programs.in_plugin(text))],
        own: None,
    }));
    targets
}

fn config(folder: &Path) -> PathBuf {
    let found = CONFIGS.map(|name| folder.join(name)).into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| folder.join(CONFIGS[1]))
}
