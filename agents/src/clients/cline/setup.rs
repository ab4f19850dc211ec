//! Cline. Servers are in a file among its data, for the user alone; lifecycle events come from a
//! plugin file.

use super::CLIENT;
use crate::setup::parts::{Format, Part};
use crate::setup::{Facts, Passes, Reads, Scope, Setting, Target};

pub(super) const FACTS: Facts = Facts {
    program: "cline",
    folder: |place| place.folder(&CLIENT, ".cline"),
    has_project_scope: false,
    instructions: Some("AGENTS.md"),
    targets,
    // Its plugin is one of the files that set-up writes.
    plugin: |_| false,
    passes: Passes::All,
    trust: None,
    hooks_off: |_| Vec::new(),
    remarks: |_| vec!["sessions that run now see it after a restart.".to_owned()],
    leftovers: |_| Vec::new(),
    reads: Reads::Unlisted("it asks about tools only with `--auto-approve false`, then about all"),
};

const PLUGIN: &str = include_str!("../../../../integrations/cline/anchord.js");

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
