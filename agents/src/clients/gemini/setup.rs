//! Gemini CLI. Servers and hooks are in one settings file.
//!
//! Its own `gemini mcp add` indents the whole file again and takes seconds, so the file is edited
//! directly. `PreCompress` is left out: it came before every model call, compression or not.

use serde_json::json;

use super::KNOWN;
use crate::setup::parts::{Format, Hooks, Part, ProgramFields, Server};
use crate::setup::{Facts, HOOK_SECONDS, Passes, Reads, Scope, Setting, Target};

pub(super) const FACTS: Facts = Facts {
    instructions: Some("GEMINI.md"),
    plugin: |place| place.home.join(".gemini/extensions/anchord").exists(),
    passes: Passes::Without(&["TOKEN", "KEY", "SECRET", "PASSWORD", "AUTH", "CREDENTIAL"]),
    remarks: |_| {
        vec!["it starts servers and hooks in folders that you trust, and in no other.".to_owned()]
    },
    ..Facts::of(
        "gemini",
        |place| place.home.join(".gemini"),
        targets,
        Reads::Unlisted(
            "it knows only `\"trust\": true` for a whole server, writing tools included; add that by hand if you want it",
        ),
    )
};

const EVENTS: [(&str, Option<&str>); 6] = [
    ("SessionStart", None),
    ("BeforeAgent", None),
    // Rules may stop any tool.
    ("BeforeTool", None),
    ("AfterTool", Some("read_file|write_file|replace|run_shell_command")),
    ("AfterAgent", None),
    ("SessionEnd", None),
];

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
        "name": "anchord",
        "type": "command",
        "command": programs.hook_line(KNOWN.id),
        // Gemini CLI expects milliseconds.
        "timeout": HOOK_SECONDS * 1000,
    });
    let hooks = Hooks::grouped(EVENTS.to_vec(), handler);
    vec![Target {
        path: folder.join(".gemini/settings.json"),
        format: Format::Jsonc,
        parts: vec![Part::Server(server), Part::Hooks(hooks)],
        own: None,
    }]
}
