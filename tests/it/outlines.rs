//! Outlines by real processes, and of real code against universal-ctags.

use std::path::PathBuf;

use anchord_tests::{Agent, Instance, Project, Shell, ctags, skip, workspace};
use cargo_metadata::MetadataCommand;
use serde_json::{Value, json};

/// Code that is on every machine that builds this workspace: sources of dependencies, with the
/// language that most of each is written in.
const REPOSITORIES: [(&str, &str); 3] =
    [("tokio", "Rust"), ("hyper", "Rust"), ("tree-sitter", "C")];

#[test]
fn outlines_have_what_ctags_finds() {
    let Some(version) = ctags::ctags() else {
        return skip(
            "universal-ctags is not installed (Debian: `apt-get install universal-ctags`)",
        );
    };
    for (package, language) in REPOSITORIES {
        let all = ctags::compare(&source(package));
        let agreement = all.get(language).unwrap_or_else(|| panic!("{package} has {language}"));
        let (share, missing) = (agreement.share(), &agreement.missing);
        assert!(agreement.tags > 500, "{package}: ctags finds {} only", agreement.tags);
        assert!(share >= 0.99, "{version}, {package}: {share:.4}, without {missing:#?}");
        let ends = agreement.ends_right * 100 >= agreement.ends * 99;
        assert!(ends, "{package}: {} of {} ends", agreement.ends_right, agreement.ends);
    }
}

/// Returns the directory with a dependency's sources.
fn source(package: &str) -> PathBuf {
    let manifest = workspace().join("Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).exec().unwrap();
    let found = metadata.packages.iter().find(|found| found.name.as_str() == package);
    let found = found.expect("the package is a dependency");
    found.manifest_path.parent().unwrap().as_std_path().to_owned()
}

#[test]
fn two_agents_and_a_person_share_an_outline() {
    let instance = Instance::new();
    let project = Project::git();
    project.write("src/long.rs", "/// Adds.\npub fn add(a: u8) -> u8 {\n    a + 1\n}\n");
    let call = json!({ "path": "src/long.rs" });
    let mut first = Agent::with_all_tools(&instance, project.path());
    let cold = first.tool("memory_outline", &call);
    assert!(cold.starts_with("src/long.rs: Rust, 4 lines"), "{cold}");
    assert!(cold.contains("2-4 pub fn add(a: u8) -> u8 — Adds\n"), "{cold}");
    assert!(!cold.contains("cache"), "{cold}");
    let mut second = Agent::with_all_tools(&instance, project.path());
    let cached = second.tool("memory_outline", &call);
    assert!(cached.contains("; outline from the cache\n"), "{cached}");
    let shell = Shell::new(&instance, project.path());
    let shown = shell.done(&["outline", "src/long.rs"]);
    assert!(shown.contains("2-4 pub fn add"), "{shown}");
    let json = shell.done(&["outline", "src/long.rs", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["outline"]["items"][0]["name"], "add");
    assert_eq!(json["outline"]["cached"], true);
    let status = shell.done(&["status"]);
    assert!(status.contains("2 outlines (1 from the cache): "), "{status}");
}

#[test]
fn what_a_session_looked_at_survives_a_killed_daemon() {
    let instance = Instance::new();
    let project = Project::git();
    project.write("src/long.rs", "pub fn add(a: u8) -> u8 {\n    a + 1\n}\n");
    let since = json!({ "path": "src/long.rs", "since_last": true });
    let mut agent = Agent::with_all_tools(&instance, project.path());
    let whole = agent.tool("memory_outline", &since);
    assert!(whole.contains("has not looked at it before"), "{whole}");
    instance.kill9();
    let same = agent.tool("memory_outline", &since);
    assert!(same.contains("Unchanged since your last look"), "{same}");
    instance.kill9();
    project.write("src/long.rs", "pub fn add(a: u8) -> u8 {\n    a + 1\n}\n\npub fn nil() {}\n");
    let changed = agent.tool("memory_outline", &since);
    assert!(changed.contains("Changed since your last look"), "{changed}");
    assert!(changed.contains("pub fn nil()") && !changed.contains("pub fn add"), "{changed}");
    let mut other = Agent::with_all_tools(&instance, project.path());
    let whole = other.tool("memory_outline", &since);
    assert!(whole.contains("has not looked at it before"), "each session has its own: {whole}");
}

#[test]
fn a_file_that_the_parser_cannot_take_is_outlined_by_its_blocks() {
    let instance = Instance::new();
    let project = Project::git();
    // Each bracket is a level of the tree. The process has a limit of memory, not the daemon.
    let deep = "[".repeat(4_000_000);
    project.write("deep.json", &deep);
    let mut agent = Agent::with_all_tools(&instance, project.path());
    let said = agent.tool("memory_outline", &json!({ "path": "deep.json" }));
    assert!(said.starts_with("deep.json: "), "{said}");
    let after = agent.tool("memory_outline", &json!({ "path": "src/lib.rs" }));
    assert!(after.contains("pub fn answer() -> u32"), "the daemon goes on: {after}");
}
