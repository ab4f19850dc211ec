//! Zed. Servers are among its settings, with comments.

use crate::setup::{Facts, Scope, Setting, Target};

const READS: &str = "Zed asks in its own window and keeps the answer itself";

pub(super) const FACTS: Facts =
    Facts::of_server("zed", |place| place.home.join(".config/zed"), targets, READS);

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let path = match setting.scope {
        Scope::User => setting.place.home.join(".config/zed/settings.json"),
        Scope::Project(root) => root.join(".zed/settings.json"),
    };
    vec![Target::server(path, &["context_servers"], Vec::new(), setting)]
}
