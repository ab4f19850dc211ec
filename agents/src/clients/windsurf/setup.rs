//! Windsurf. It has servers for the user alone; a project has instructions.

use crate::setup::{Facts, Scope, Setting, Target};

const READS: &str = "Windsurf asks in its own window and keeps the answer itself";

pub(super) const FACTS: Facts = Facts {
    has_project_scope: false,
    ..Facts::of_server("windsurf", |place| place.home.join(".codeium/windsurf"), targets, READS)
};

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    match setting.scope {
        Scope::User => {
            let path = setting.place.home.join(".codeium/windsurf/mcp_config.json");
            vec![Target::server(path, &["mcpServers"], Vec::new(), setting)]
        }
        Scope::Project(_) => Vec::new(),
    }
}
