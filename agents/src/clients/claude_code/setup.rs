//! Claude Code. Its servers are in its own state file, edited by its own command; its hooks are in
//! its settings.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{CLIENT, KNOWN};
use crate::setup::parts::{Format, Hooks, Part, ProgramFields, SERVER, Server};
use crate::setup::{
    Document, Facts, HOOK_SECONDS, Json, OwnCommand, Programs, READ_TOOLS, Reads, Scope, Setting,
    Target, UserEnvironment, text_of,
};

pub(super) const FACTS: Facts = Facts {
    instructions: Some("CLAUDE.md"),
    plugin,
    hooks_off,
    ..Facts::of("claude", |place| place.folder(&CLIENT, ".claude"), targets, Reads::Listed)
};

/// The events that matter to a memory. Every tool is reported before it runs, since a rule may stop
/// it. Afterwards only those that use files or run commands are.
const EVENTS: [(&str, Option<&str>); 11] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", None),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("PreCompact", None),
    ("PostCompact", None),
    ("Stop", None),
    ("SubagentStart", None),
    ("SubagentStop", None),
    ("SessionEnd", None),
];

const TOOLS: &str = "Bash|Edit|MultiEdit|Write|NotebookEdit";

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, wishes } = *setting;
    let server = Server {
        list: &["mcpServers"],
        launch: programs.server(),
        fields: ProgramFields::Command,
        // Without it the model sees only the tools' names until it searches for them.
        more: vec![("type", json!("stdio")), ("alwaysLoad", json!(true))],
    };
    let (servers, settings, own) = match scope {
        Scope::User => {
            // The file is in the home directory itself, unless all files have been moved.
            let servers = match place.moved(&CLIENT) {
                Some(folder) => folder.join(".claude.json"),
                None => place.home.join(".claude.json"),
            };
            let own = place.program(FACTS.program).map(|program| own_command(program, &server));
            (servers, place.folder(&CLIENT, ".claude").join("settings.json"), own)
        }
        Scope::Project(root) => (root.join(".mcp.json"), root.join(".claude/settings.json"), None),
    };
    let mut parts = vec![Part::Hooks(Hooks::grouped(EVENTS.to_vec(), handler(programs)))];
    if wishes.reads {
        let names = READ_TOOLS.map(|tool| format!("mcp__{SERVER}__{tool}")).to_vec();
        parts.push(Part::Allowed { list: &["permissions", "allow"], names });
    }
    vec![
        Target { path: servers, format: Format::Jsonc, parts: vec![Part::Server(server)], own },
        Target { path: settings, format: Format::Jsonc, parts, own: None },
    ]
}

fn own_command(program: PathBuf, server: &Server) -> OwnCommand {
    let entry = server.entry(&server.launch).to_string();
    let arguments = ["mcp", "add-json", "-s", "user", SERVER, &entry].map(str::to_owned);
    OwnCommand { program, arguments: arguments.to_vec() }
}

fn plugin(place: &UserEnvironment) -> bool {
    let settings = place.folder(&CLIENT, ".claude").join("settings.json");
    let text = text_of(&settings);
    let json = text.and_then(|text| Json::parse(&text).ok());
    let plugins = json.and_then(|json| json.get(&["enabledPlugins".into()]));
    plugins.as_ref().and_then(Value::as_object).into_iter().flatten().any(|(name, on)| {
        // The name is `anchord@` and the plugin's marketplace.
        name.starts_with("anchord@") && on == &Value::Bool(true)
    })
}

/// Finds `disableAllHooks` in the settings that Claude Code reads.
fn hooks_off(setting: &Setting<'_>) -> Vec<String> {
    let folder = match setting.scope {
        Scope::User => setting.place.folder(&CLIENT, ".claude"),
        Scope::Project(root) => root.join(".claude"),
    };
    let is_off = |file: &PathBuf| {
        let json = text_of(file).and_then(|text| Json::parse(&text).ok());
        json.and_then(|json| json.get(&["disableAllHooks".into()])) == Some(Value::Bool(true))
    };
    let files = ["settings.json", "settings.local.json"].map(|name| folder.join(name));
    let said = |file: PathBuf| format!("`disableAllHooks` in {}", file.display());
    files.into_iter().filter(is_off).map(said).collect()
}

/// Returns the hook's handler. With `args` no shell is started. A build of Claude Code that does
/// not know `args` would run the program alone. `anchord-hook` then does nothing, whereas `anchord`
/// would end with a code that means "stop".
fn handler(programs: &Programs) -> Value {
    if programs.hook.is_some() {
        let words = programs.hook(KNOWN.id);
        let (program, args) = words.split_first().expect("a hook has a program");
        json!({"type": "command", "command": program, "args": args, "timeout": HOOK_SECONDS})
    } else {
        let line = programs.hook_line(KNOWN.id);
        json!({"type": "command", "command": line, "timeout": HOOK_SECONDS})
    }
}
