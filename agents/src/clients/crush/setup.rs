//! Crush. Its `crushrc` is a shell script, which set-up cannot edit safely. Its JSON file is merged
//! with that script.

use std::path::PathBuf;

use serde_json::json;

use super::{CLIENT, KNOWN};
use crate::setup::parts::{Hooks, Part};
use crate::setup::{Facts, HOOK_SECONDS, Scope, Setting, Target, UserEnvironment};

const READS: &str = "`permissions allow` in `crushrc` lists tools that it does not ask about";

pub(super) const FACTS: Facts = Facts {
    remarks: |_| {
        vec![
            "this is from its documentation; nobody has seen it run with anchord yet. It has no \
             hook at a start: `anchord init` tells the agent to load."
                .to_owned(),
        ]
    },
    ..Facts::of_server("crush", folder, targets, READS)
};

fn folder(place: &UserEnvironment) -> PathBuf {
    place.folder(&CLIENT, ".config").join("crush")
}

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let folder = match setting.scope {
        Scope::User => folder(setting.place),
        Scope::Project(root) => root.clone(),
    };
    let line = setting.programs.hook_line(KNOWN.id);
    let hooks = Hooks::flat(&["PreToolUse"], json!({ "command": line, "timeout": HOOK_SECONDS }));
    let more = vec![("type", json!("stdio"))];
    let mut target = Target::server(folder.join("crush.json"), &["mcp"], more, setting);
    target.parts.push(Part::Hooks(hooks));
    vec![target]
}
