//! The imports between crates, read from `cargo metadata`.
//!
//! Development dependencies count. A unit test that needs a crate of a higher layer belongs here
//! instead.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use cargo_metadata::MetadataCommand;

/// Each crate of ours, with those that it may import. Those in memory's folder know no records.
/// `cli` uses `memory` for its limits, its texts for instruction files and its readers of other
/// systems' data. `tests` and `benches` may import all.
const LAYERS: &[(&str, &[&str])] = &[
    ("anchord-proto", &[]),
    ("anchord-fingerprint", &[]),
    ("anchord-outline", &["anchord-tokens"]),
    ("anchord-rules", &[]),
    ("anchord-search", &[]),
    ("anchord-secrets", &[]),
    ("anchord-tokens", &[]),
    (
        "anchord-memory",
        &[
            "anchord-fingerprint",
            "anchord-rules",
            "anchord-search",
            "anchord-secrets",
            "anchord-tokens",
        ],
    ),
    ("anchord-agents", &["anchord-memory", "anchord-proto"]),
    ("anchord-shim", &["anchord-agents", "anchord-proto"]),
    (
        "anchord-daemon",
        &["anchord-agents", "anchord-memory", "anchord-outline", "anchord-proto", "anchord-team"],
    ),
    (
        "anchord",
        &[
            "anchord-agents",
            "anchord-daemon",
            "anchord-dashboard",
            "anchord-memory",
            "anchord-merge",
            "anchord-outline",
            "anchord-proto",
            "anchord-shim",
        ],
    ),
    ("anchord-merge", &["anchord-daemon"]),
    ("anchord-dashboard", &["anchord-daemon", "anchord-memory"]),
    ("anchord-team", &[]),
    (
        "anchord-tests",
        &[
            "anchord",
            "anchord-daemon",
            "anchord-memory",
            "anchord-outline",
            "anchord-proto",
            "anchord-shim",
            "anchord-team",
        ],
    ),
    (
        "anchord-benches",
        &[
            "anchord-daemon",
            "anchord-fingerprint",
            "anchord-memory",
            "anchord-outline",
            "anchord-proto",
            "anchord-team",
            "anchord-tests",
        ],
    ),
];

/// Crates that the shim must not depend on, since an agent pays for the shim in every session.
const NOT_IN_THE_SHIM: &[&str] = &["tokio", "hyper", "axum", "rmcp", "sled", "futures", "clap"];

/// Crates that the daemon must not depend on, since it calls no model. Over a network it calls the
/// database of a team alone.
const NOT_IN_THE_DAEMON: &[&str] = &["reqwest", "hyper-rustls", "native-tls", "openssl"];

/// Crates that the daemon must not call, since they parse text that is not ours in C.
const NOT_FOR_THE_DAEMON: &str = "tree-sitter";

/// Crates that the domain must not depend on, since it does no I/O.
const NOT_IN_THE_DOMAIN: &[&str] = &[
    "tokio",
    "hyper",
    "axum",
    "rmcp",
    "sled",
    "interprocess",
    "rustix",
    "directories",
    "tempfile",
];

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn crates_import_downwards_only() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let ours: Imports = metadata
        .packages
        .iter()
        .map(|package| {
            let inside = package.dependencies.iter().filter(|dep| dep.path.is_some());
            (package.name.to_string(), inside.map(|dep| dep.name.clone()).collect())
        })
        .collect();
    assert_eq!(violations(&ours), Vec::<String>::new());
}

#[test]
fn the_shim_depends_on_no_async_runtime() {
    assert_eq!(found(NOT_IN_THE_SHIM, &tree("anchord-shim")), Vec::<&str>::new());
}

#[test]
fn the_shim_uses_only_the_names_from_the_agents_crate() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let shim = metadata.packages.iter().find(|package| package.name.as_str() == "anchord-shim");
    let of_agents = |dep: &&cargo_metadata::Dependency| dep.name == "anchord-agents";
    let agents: Vec<_> = shim.unwrap().dependencies.iter().filter(of_agents).collect();
    assert!(!agents.is_empty());
    assert!(agents.iter().all(|agents| agents.features.is_empty()), "{agents:?}");
    let alone = tree("anchord-agents");
    assert_eq!(alone, BTreeSet::from(["anchord-agents".to_owned()]), "by default, no dependency");
}

#[test]
fn the_daemon_depends_on_no_client_of_model_providers() {
    assert_eq!(found(NOT_IN_THE_DAEMON, &tree("anchord-daemon")), Vec::<&str>::new());
    assert_eq!(found(NOT_IN_THE_DAEMON, &tree("anchord-merge")).first(), Some(&"reqwest"));
}

#[test]
fn the_daemon_depends_on_no_parser() {
    assert!(!tree("anchord-daemon").contains(NOT_FOR_THE_DAEMON));
    assert!(tree("anchord").contains(NOT_FOR_THE_DAEMON), "the command that parses does");
}

#[test]
fn the_domain_depends_on_no_io_crate() {
    // brush-parser names its test library `insta` among its dependencies, and these come with it.
    let of_insta = tree("insta");
    let found = found(NOT_IN_THE_DOMAIN, &tree("anchord-memory"));
    let own: Vec<&str> = found.into_iter().filter(|name| !of_insta.contains(*name)).collect();
    assert_eq!(own, Vec::<&str>::new());
}

#[test]
fn the_check_finds_an_upward_import_and_an_unknown_crate() {
    let imports =
        |from: &str, to: &str| Imports::from([(from.into(), BTreeSet::from([to.into()]))]);
    assert_eq!(
        violations(&imports("anchord-shim", "anchord-memory")),
        ["anchord-shim must not import anchord-memory"]
    );
    assert_eq!(
        violations(&imports("anchord-web", "anchord-proto")),
        ["anchord-web has no place in the layers"]
    );
    assert_eq!(found(NOT_IN_THE_SHIM, &tree("anchord-daemon")).first(), Some(&"tokio"));
}

fn violations(ours: &Imports) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, imports) in ours {
        match LAYERS.iter().find(|(layer, _)| layer == name) {
            None => wrong.push(format!("{name} has no place in the layers")),
            Some((_, allowed)) => wrong.extend(
                imports
                    .iter()
                    .filter(|import| !allowed.contains(&import.as_str()))
                    .map(|import| format!("{name} must not import {import}")),
            ),
        }
    }
    wrong
}

/// Returns the names in a crate's tree of normal dependencies, with only the features that this
/// crate enables. `cargo metadata` would show those of the whole workspace.
fn tree(package: &str) -> BTreeSet<String> {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}", "-p", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn found<'a>(unwanted: &[&'a str], tree: &BTreeSet<String>) -> Vec<&'a str> {
    unwanted.iter().copied().filter(|name| tree.contains(*name)).collect()
}
