//! GitHub Copilot CLI. Servers and hooks are in two files. An event lists its hooks directly, and a
//! hook has a line for each shell.

use serde_json::json;

use super::KNOWN;
use crate::setup::parts::{Format, Hooks, Part, ProgramFields, Server};
use crate::setup::{Facts, HOOK_SECONDS, Reads, Setting, Target};

pub(super) const FACTS: Facts = Facts {
    has_project_scope: false,
    ..Facts::of(
        "copilot",
        |place| place.home.join(".copilot"),
        targets,
        Reads::Unlisted("`copilot --allow-tool` allows tools for one run"),
    )
};

const EVENTS: [&str; 6] =
    ["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"];

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let folder = setting.place.home.join(".copilot");
    let server = Server {
        list: &["mcpServers"],
        launch: setting.programs.server(),
        fields: ProgramFields::Command,
        more: vec![("type", json!("local")), ("tools", json!(["*"]))],
    };
    let handler = json!({
        "type": "command",
        "bash": setting.programs.hook_line(KNOWN.id),
        "timeoutSec": HOOK_SECONDS,
    });
    vec![
        Target {
            path: folder.join("mcp-config.json"),
            format: Format::Jsonc,
            parts: vec![Part::Server(server)],
            own: None,
        },
        Target {
            path: folder.join("settings.json"),
            format: Format::Jsonc,
            parts: vec![Part::Hooks(Hooks::flat(&EVENTS, handler))],
            own: None,
        },
    ]
}
