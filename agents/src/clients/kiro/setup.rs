//! Kiro, the editor and its command line, which share their servers.

use crate::setup::{Facts, Scope, Setting, Target};

const READS: &str = "Kiro asks in its own window and keeps the answer itself";

pub(super) const FACTS: Facts =
    Facts::of_server("kiro-cli", |place| place.home.join(".kiro"), targets, READS);

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let folder = match setting.scope {
        Scope::User => setting.place.home.join(".kiro"),
        Scope::Project(root) => root.join(".kiro"),
    };
    let path = folder.join("settings/mcp.json");
    vec![Target::server(path, &["mcpServers"], Vec::new(), setting)]
}
