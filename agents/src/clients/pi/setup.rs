//! pi. One extension file has everything: it starts the server and runs the hooks.

use super::CLIENT;
use crate::setup::parts::{Format, Part};
use crate::setup::{Facts, Reads, Scope, Setting, Target, plugin};

pub(super) const FACTS: Facts = Facts {
    remarks: |_| vec!["sessions that run now see it after `/reload`.".to_owned()],
    ..Facts::of("pi", |place| place.folder(&CLIENT, ".pi/agent"), targets, Reads::Unasked)
};

const EXTENSION: &str = plugin!("pi/anchord.js");

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
