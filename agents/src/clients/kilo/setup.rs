//! Kilo. Its files have other names than opencode's, and the same form.

use super::{CLIENT, KNOWN};
use crate::clients::opencode::setup::{self as opencode, Files};
use crate::setup::{Facts, Setting, Target};

pub(super) const FACTS: Facts = Facts {
    program: "kilo",
    folder: |place| place.folder(&CLIENT, ".config").join("kilo"),
    targets,
    ..opencode::FACTS
};

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let files = Files {
        client: KNOWN.id,
        folder: FACTS.folder,
        configs: ["kilo.jsonc", "kilo.json"],
        in_project: ".kilo",
    };
    files.targets(setting)
}
