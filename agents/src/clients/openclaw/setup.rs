//! OpenClaw. Its servers are in its JSON5 configuration; lifecycle events come from a plugin
//! folder.

use std::path::{Path, PathBuf};

use anchord_memory::shell_word;
use serde_json::Value;

use super::CLIENT;
use crate::setup::parts::{Format, Part, ProgramFields, Server};
use crate::setup::{
    Document, Facts, Json, Passes, Reads, Scope, Setting, Target, UserEnvironment, plugin, text_of,
};

pub(super) const FACTS: Facts = Facts {
    has_project_scope: false,
    instructions: None,
    passes: Passes::Only(&["HOME", "PATH", "TERM", "PWD"]),
    remarks,
    leftovers,
    ..Facts::of("openclaw", folder, targets, Reads::Unasked)
};

/// The files of the plugin: their paths beneath OpenClaw's folder, and their contents.
///
/// OpenClaw installs a plugin when a person accepts its permissions, so set-up only puts the files
/// in place.
const PLUGIN_FILES: [(&str, &str); 3] = [
    ("index.js", plugin!("openclaw/index.js")),
    ("package.json", include_str!("../../../../integrations/openclaw/package.json")),
    (
        "openclaw.plugin.json",
        include_str!("../../../../integrations/openclaw/openclaw.plugin.json"),
    ),
];

/// The plugin's id, as in its manifest.
const PLUGIN: &str = "anchord";

fn folder(place: &UserEnvironment) -> PathBuf {
    place.folder(&CLIENT, ".openclaw")
}

fn plugin(place: &UserEnvironment) -> PathBuf {
    folder(place).join("anchord-plugin")
}

fn remarks(place: &UserEnvironment) -> Vec<String> {
    let plugin = shell_word(&plugin(place).to_string_lossy());
    vec![
        format!(
            "it takes in a plugin only once you accept what it may do. Its files lie ready; run\n    \
             openclaw plugins install --link {plugin} --force --accept-capabilities\n    \
             openclaw config set plugins.entries.anchord.hooks.allowConversationAccess true"
        ),
        "it works in its own workspace: for a project's memory add \"--project\" and the project's folder to \
         `args`; set-up keeps them."
            .to_owned(),
    ]
}

/// Lists what OpenClaw wrote into its configuration when a person installed the plugin. A removal
/// deletes the plugin's files.
fn leftovers(setting: &Setting<'_>) -> Vec<String> {
    let config = folder(setting.place).join("openclaw.json");
    let text = text_of(&config);
    let document = text.and_then(|text| Json::parse_json5(&text).ok());
    let plugins = document.and_then(|document| document.get(&["plugins".into()]));
    let linked = plugin(setting.place);
    let mut found = Vec::new();
    if let Some(plugins) = plugins {
        of_plugin("plugins", &plugins, &linked.to_string_lossy(), &mut found);
    }
    if found.is_empty() {
        return found;
    }
    vec![format!(
        "you had it take in the plugin in {}, whose files are gone. Remove from {} by hand: {}.",
        linked.display(),
        config.display(),
        found.join(", ")
    )]
}

/// Finds the places beneath a value that name the plugin, by its name or by its folder. OpenClaw's
/// versions store them in different places.
fn of_plugin(at: &str, value: &Value, linked: &str, found: &mut Vec<String>) {
    let names = |text: &str| text == PLUGIN || Path::new(text).starts_with(linked);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let at = format!("{at}.{name}");
                if names(name) {
                    found.push(format!("`{at}`"));
                } else {
                    of_plugin(&at, value, linked, found);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                of_plugin(&format!("{at}[{index}]"), item, linked, found);
            }
        }
        Value::String(text) if names(text) => found.push(format!("`{at}` ({text})")),
        _ => {}
    }
}

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, .. } = *setting;
    if let Scope::Project(_) = scope {
        return Vec::new();
    }
    let launch = programs.server();
    let server = Server {
        list: &["mcp", "servers"],
        launch,
        fields: ProgramFields::Command,
        more: Vec::new(),
    };
    let mut targets = vec![Target {
        path: folder(place).join("openclaw.json"),
        format: Format::Json5,
        parts: vec![Part::Server(server)],
        own: None,
    }];
    targets.extend(PLUGIN_FILES.iter().map(|(path, text)| Target {
        path: plugin(place).join(path),
        format: Format::Whole,
        parts: vec![Part::Whole(programs.in_plugin(text))],
        own: None,
    }));
    targets
}
