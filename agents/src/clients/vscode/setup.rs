//! VS Code. Its file of servers has a name and a list of its own.

use std::path::PathBuf;

use serde_json::json;

use crate::setup::{Facts, Scope, Setting, Target, UserEnvironment};

const READS: &str = "VS Code asks in its own window and keeps the answer itself";

pub(super) const FACTS: Facts = Facts::of_server("code", user, targets, READS);

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let path = match setting.scope {
        Scope::User => user(setting.place).join("User/mcp.json"),
        Scope::Project(root) => root.join(".vscode/mcp.json"),
    };
    vec![Target::server(path, &["servers"], vec![("type", json!("stdio"))], setting)]
}

/// Returns the folder of the user's settings.
fn user(place: &UserEnvironment) -> PathBuf {
    let folder =
        if cfg!(target_os = "macos") { "Library/Application Support/Code" } else { ".config/Code" };
    place.home.join(folder)
}
