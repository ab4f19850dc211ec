//! Codex. Its servers are in its TOML configuration, its hooks in a separate file. A person has to
//! trust the hooks.
//!
//! Its own `codex mcp add` dropped comments from the tables of other servers, so the file is edited
//! directly.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{CLIENT, KNOWN};
use crate::setup::parts::{Format, FoundHook, Hooks, Part, ProgramFields, Server};
use crate::setup::{
    Document, Facts, HOOK_SECONDS, Passes, READ_TOOLS, Reads, Scope, Setting, Step, Target, Toml,
    Trust, UserEnvironment, text_of,
};

pub(super) const FACTS: Facts = Facts {
    plugin,
    passes: Passes::Only(&[
        "HOME", "LANG", "LC_ALL", "LOGNAME", "USER", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    ]),
    trust: Some(Trust { remark: TRUST, untrusted }),
    remarks: |_| Vec::new(),
    leftovers,
    ..Facts::of("codex", |place| place.folder(&CLIENT, ".codex"), targets, Reads::Listed)
};

/// Instructions for the person who has to trust the hooks before they run.
const TRUST: &str = "Codex runs hooks only once you trust them: start `codex`, type /hooks, look at \
    anchord's, trust them. Until then the tools work and nothing happens by itself.";

const EVENTS: [&str; 10] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
];

const SERVERS: &[&str] = &["mcp_servers"];

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let Setting { place, scope, programs, wishes } = *setting;
    let folder = match scope {
        Scope::User => place.folder(&CLIENT, ".codex"),
        Scope::Project(root) => root.join(".codex"),
    };
    let launch = programs.server();
    let mut parts = vec![Part::Server(Server {
        list: SERVERS,
        launch,
        fields: ProgramFields::Command,
        more: Vec::new(),
    })];
    if wishes.reads {
        parts.push(Part::Approved { servers: SERVERS, tools: &READ_TOOLS });
    }
    let line = programs.hook_line(KNOWN.id);
    let handler = json!({"type": "command", "command": line, "timeout": HOOK_SECONDS});
    let hooks = Hooks::grouped(EVENTS.map(|event| (event, None)).to_vec(), handler);
    vec![
        Target { path: folder.join("config.toml"), format: Format::Toml, parts, own: None },
        Target {
            path: folder.join("hooks.json"),
            format: Format::Jsonc,
            parts: vec![Part::Hooks(hooks)],
            own: None,
        },
    ]
}

/// Lists the trust in hooks of a file that is gone. If others have hooks in that file, their places
/// cannot be distinguished from ours.
fn leftovers(setting: &Setting<'_>) -> Vec<String> {
    let folder = match setting.scope {
        Scope::User => setting.place.folder(&CLIENT, ".codex"),
        Scope::Project(root) => root.join(".codex"),
    };
    let (hooks, config) = (folder.join("hooks.json"), config(setting.place));
    let text = text_of(&config);
    let document = text.and_then(|text| Toml::parse(&text).ok());
    let state = document.and_then(|document| document.get(&["hooks".into(), "state".into()]));
    let beginning = format!("{}:", hooks.display());
    let trusted = state.as_ref().and_then(Value::as_object).into_iter().flatten();
    let number = trusted.filter(|(place, _)| place.starts_with(&beginning)).count();
    if number == 0 || hooks.exists() {
        return Vec::new();
    }
    vec![format!(
        "your trust in hooks of {}, which is gone, stays in {}: {number} tables `[hooks.state.\"{beginning}…\"]`. They do \
         nothing; remove them by hand if you like.",
        hooks.display(),
        config.display()
    )]
}

/// Returns the events whose hook of ours nobody has trusted yet. `hooks` is the hooks' file. Codex
/// keeps trust in its configuration, under that file's path and the hook's place in it. A change to
/// a hook after it was trusted is not detected here.
fn untrusted(place: &UserEnvironment, hooks: &Path, ours: &[FoundHook]) -> Vec<String> {
    let config = text_of(&config(place)).and_then(|text| Toml::parse(&text).ok());
    let trusted = |hook: &FoundHook| {
        let FoundHook { event, group, index, .. } = hook;
        let key = format!("{}:{}:{group}:{index}", hooks.display(), snake(event));
        let at = ["hooks", "state", &key, "trusted_hash"].map(Step::from);
        config.as_ref().is_some_and(|config| config.get(&at).is_some())
    };
    ours.iter().filter(|hook| !trusted(hook)).map(|hook| hook.event.clone()).collect()
}

/// Converts an event's name to the form of Codex's keys: `SessionStart` becomes `session_start`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

fn plugin(place: &UserEnvironment) -> bool {
    let text = text_of(&config(place));
    let toml = text.and_then(|text| Toml::parse(&text).ok());
    let plugins = toml.and_then(|toml| toml.get(&["plugins".into()]));
    plugins.as_ref().and_then(Value::as_object).into_iter().flatten().any(|(name, entry)| {
        name.starts_with("anchord@") && entry.get("enabled") != Some(&Value::Bool(false))
    })
}

/// Returns the file in which the trust of hooks is kept.
fn config(place: &UserEnvironment) -> PathBuf {
    place.folder(&CLIENT, ".codex").join("config.toml")
}
