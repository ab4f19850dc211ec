//! Cline. Servers are in a file among its data, for the user alone; lifecycle events come from a
//! plugin file.

use super::CLIENT;
use crate::setup::parts::{Format, Part};
use crate::setup::{Facts, Reads, Scope, Setting, Target, plugin};

pub(super) const FACTS: Facts = Facts {
    has_project_scope: false,
    ..Facts::of(
        "cline",
        |place| place.folder(&CLIENT, ".cline"),
        targets,
        Reads::Unlisted("it asks about tools only with `--auto-approve false`, then about all"),
    )
};

const PLUGIN: &str = plugin!("cline/anchord.js");

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, .. } = *setting;
    if *scope != Scope::User {
        return Vec::new();
    }
    let folder = place.folder(&CLIENT, ".cline");
    let servers = folder.join("data/settings/cline_mcp_settings.json");
    vec![
        Target::server(servers, &["mcpServers"], Vec::new(), setting),
        Target {
            path: folder.join("plugins/anchord.js"),
            format: Format::Whole,
            parts: vec![Part::Whole(programs.in_plugin(PLUGIN))],
            own: None,
        },
    ]
}
