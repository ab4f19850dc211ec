//! Qwen Code. Servers and hooks are in one settings file.

use serde_json::json;

use super::KNOWN;
use crate::setup::parts::{Format, Hooks, Part, ProgramFields, Server};
use crate::setup::{Facts, HOOK_SECONDS, Reads, Scope, Setting, Target};

pub(super) const FACTS: Facts = Facts {
    instructions: Some("QWEN.md"),
    ..Facts::of(
        "qwen",
        |place| place.home.join(".qwen"),
        targets,
        Reads::Unlisted(
            "it knows only `\"trust\": true` for a whole server, writing tools included; add that by hand if you want it",
        ),
    )
};

const EVENTS: [(&str, Option<&str>); 7] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    // Rules may stop any tool.
    ("PreToolUse", None),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("Stop", None),
    ("SessionEnd", None),
];

const TOOLS: &str = "read_file|write_file|edit|notebook_edit|run_shell_command";

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, .. } = *setting;
    let folder = match scope {
        Scope::User => &place.home,
        Scope::Project(root) => root,
    };
    let launch = programs.server();
    let server =
        Server { list: &["mcpServers"], launch, fields: ProgramFields::Command, more: Vec::new() };
    let handler = json!({
        "type": "command",
        "command": programs.hook_line(KNOWN.id),
        // Qwen Code expects milliseconds.
        "timeout": HOOK_SECONDS * 1000,
    });
    vec![Target {
        path: folder.join(".qwen/settings.json"),
        format: Format::Jsonc,
        parts: vec![Part::Server(server), Part::Hooks(Hooks::grouped(EVENTS.to_vec(), handler))],
        own: None,
    }]
}
