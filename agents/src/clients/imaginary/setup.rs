//! Its only file: JSON with servers and hooks.

use serde_json::json;

use super::{CLIENT, KNOWN};
use crate::setup::parts::{Format, Hooks, Part, ProgramFields, Server};
use crate::setup::{Facts, HOOK_SECONDS, Reads, Scope, Setting, Target, Trust};

pub(super) const FACTS: Facts = Facts {
    instructions: Some("IMAGINARY.md"),
    trust: Some(Trust {
        remark: "It asks you whether its hooks may run.",
        untrusted: |_, _, _| Vec::new(),
    }),
    remarks: |_| Vec::new(),
    ..Facts::of("imaginary", |place| place.folder(&CLIENT, ".imaginary"), targets, Reads::Unasked)
};

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let folder = match setting.scope {
        Scope::User => setting.place.folder(&CLIENT, ".imaginary"),
        Scope::Project(root) => root.join(".imaginary"),
    };
    let launch = setting.programs.server();
    let server =
        Server { list: &["tools"], launch, fields: ProgramFields::Joined, more: Vec::new() };
    let line = setting.programs.hook_line(KNOWN.id);
    let handler = json!({"type": "command", "command": line, "timeout": HOOK_SECONDS});
    let events = ["talk.begins", "talk.asks", "talk.answers", "talk.ends"];
    let hooks = Hooks::grouped(events.map(|event| (event, None)).to_vec(), handler);
    vec![Target {
        path: folder.join("imaginary.json"),
        format: Format::Jsonc,
        parts: vec![Part::Server(server), Part::Hooks(hooks)],
        own: None,
    }]
}
