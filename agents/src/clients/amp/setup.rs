//! Amp. Servers are among its settings, whose keys have dots.

use crate::setup::{Facts, Scope, Setting, Target};

const READS: &str = "`amp permissions` keeps rules about tools";

pub(super) const FACTS: Facts =
    Facts::of_server("amp", |place| place.home.join(".config/amp"), targets, READS);

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let path = match setting.scope {
        Scope::User => setting.place.home.join(".config/amp/settings.json"),
        Scope::Project(root) => root.join(".amp/settings.json"),
    };
    vec![Target::server(path, &["amp.mcpServers"], Vec::new(), setting)]
}
