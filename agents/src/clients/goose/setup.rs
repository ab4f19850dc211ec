//! Goose. Its servers are extensions in a file of YAML, and it has no file for a project.

use std::path::PathBuf;

use serde_json::json;

use super::CLIENT;
use crate::setup::parts::{Format, Part, ProgramFields, Server};
use crate::setup::{Facts, Setting, Target, UserEnvironment};

const READS: &str =
    "Goose keeps what it may do in `permission.yaml`, which `goose configure` edits";

pub(super) const FACTS: Facts =
    Facts { has_project_scope: false, ..Facts::of_server("goose", folder, targets, READS) };

fn folder(place: &UserEnvironment) -> PathBuf {
    place.folder(&CLIENT, ".config").join("goose")
}

fn targets(setting: &Setting<'_>) -> Vec<Target> {
    let more = vec![
        ("enabled", json!(true)),
        ("type", json!("stdio")),
        ("name", json!("anchord")),
        ("description", json!("The memory that coding agents share")),
        // Seconds.
        ("timeout", json!(300)),
    ];
    let launch = setting.programs.server();
    let server = Server { list: &["extensions"], launch, fields: ProgramFields::Cmd, more };
    vec![Target {
        path: folder(setting.place).join("config.yaml"),
        format: Format::Yaml,
        parts: vec![Part::Server(server)],
        own: None,
    }]
}
