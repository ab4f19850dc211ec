//! pi. One extension file has everything: it starts the server and runs the hooks.

use super::CLIENT;
use crate::setup::parts::{Format, Part};
use crate::setup::{Facts, Passes, Reads, Scope, Setting, Target};

pub(super) const FACTS: Facts = Facts {
    program: "pi",
    folder: |place| place.folder(&CLIENT, ".pi/agent"),
    has_project_scope: true,
    instructions: Some("AGENTS.md"),
    targets,
    // Its extension is the file that set-up writes.
    plugin: |_| false,
    passes: Passes::All,
    trust: None,
    hooks_off: |_| Vec::new(),
    remarks: |_| vec!["sessions that run now see it after `/reload`.".to_owned()],
    leftovers: |_| Vec::new(),
    reads: Reads::Unasked,
};

const EXTENSION: &str = include_str!("../../../../integrations/pi/anchord.js");

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, .. } = *setting;
    let folder = match scope {
        Scope::User => place.folder(&CLIENT, ".pi/agent"),
        Scope::Project(root) => root.join(".pi"),
    };
    vec![Target {
        path: folder.join("extensions/anchord.js"),
        format: Format::Whole,
        parts: vec![Part::Whole(programs.in_plugin(EXTENSION))],
        own: None,
    }]
}
