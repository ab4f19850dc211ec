//! Factory Droid. Servers and hooks are in two files.

use serde_json::json;

use super::KNOWN;
use crate::setup::parts::{Format, Hooks, Part};
use crate::setup::{Facts, HOOK_SECONDS, Reads, Scope, Setting, Target};

pub(super) const FACTS: Facts = Facts::of(
    "droid",
    |place| place.home.join(".factory"),
    targets,
    Reads::Unlisted("`droid mcp permissions` lists tools that it does not ask about"),
);

const EVENTS: [(&str, Option<&str>); 7] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    // Rules may stop any tool.
    ("PreToolUse", None),
    ("PostToolUse", Some("Read|Create|Edit|ApplyPatch|Execute")),
    ("PreCompact", None),
    ("Stop", None),
    ("SessionEnd", None),
];

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, .. } = *setting;
    let folder = match scope {
        Scope::User => place.home.join(".factory"),
        Scope::Project(root) => root.join(".factory"),
    };
    let line = programs.hook_line(KNOWN.id);
    let handler = json!({"type": "command", "command": line, "timeout": HOOK_SECONDS});
    let more = vec![("type", json!("stdio"))];
    vec![
        Target::server(folder.join("mcp.json"), &["mcpServers"], more, setting),
        Target {
            path: folder.join("settings.json"),
            format: Format::Jsonc,
            parts: vec![Part::Hooks(Hooks::grouped(EVENTS.to_vec(), handler))],
            own: None,
        },
    ]
}
