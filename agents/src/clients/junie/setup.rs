//! Junie. The editors and the command line share their servers.

use crate::setup::{Facts, Scope, Setting, Target};

const READS: &str = "Junie asks in its own window; its allowlist keeps the answer";

pub(super) const FACTS: Facts =
    Facts::of_server("junie", |place| place.home.join(".junie"), targets, READS);

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let folder = match setting.scope {
        Scope::User => setting.place.home.join(".junie"),
        Scope::Project(root) => root.join(".junie"),
    };
    vec![Target::server(folder.join("mcp/mcp.json"), &["mcpServers"], Vec::new(), setting)]
}
