//! Cursor. Servers and hooks are in two files. An event lists its hooks directly. Sources disagree
//! about the unit of a hook's timeout, so none is written; `anchord-hook` limits itself.

use serde_json::json;

use super::KNOWN;
use crate::setup::parts::{Format, Hooks, Part, ProgramFields, Server};
use crate::setup::{Facts, Reads, Scope, Setting, Target};

pub(super) const FACTS: Facts = Facts {
    remarks: |_| {
        vec!["this is from its documentation; nobody has seen it run with anchord yet.".to_owned()]
    },
    ..Facts::of(
        "cursor-agent",
        |place| place.home.join(".cursor"),
        targets,
        Reads::Unlisted("Cursor asks in its own window and keeps the answer itself"),
    )
};

const EVENTS: [&str; 6] =
    ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop", "sessionEnd"];

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let folder = match setting.scope {
        Scope::User => setting.place.home.join(".cursor"),
        Scope::Project(root) => root.join(".cursor"),
    };
    let launch = setting.programs.server();
    let server =
        Server { list: &["mcpServers"], launch, fields: ProgramFields::Command, more: Vec::new() };
    let handler = json!({ "command": setting.programs.hook_line(KNOWN.id) });
    let hooks = Hooks { needs: vec![("version", json!(1))], ..Hooks::flat(&EVENTS, handler) };
    let target = |name: &str, part: Part| Target {
        path: folder.join(name),
        format: Format::Jsonc,
        parts: vec![part],
        own: None,
    };
    vec![target("mcp.json", Part::Server(server)), target("hooks.json", Part::Hooks(hooks))]
}
