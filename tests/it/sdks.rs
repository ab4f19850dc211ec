//! Other projects' clients through the shim: the Python and TypeScript SDKs, and the inspector.
//!
//! They are fetched from two registries, so they run only with `ANCHORD_TEST_SDKS=1`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anchord_tests::{Instance, Project, binaries, skip, workspace};
use serde_json::Value;

#[test]
fn the_python_sdk_saves_and_loads() {
    for version in ["2.3", "1.30"] {
        let Some(place) = wanted() else { return };
        let python = place.path().join("bin/python");
        must(Command::new("python3").args(["-m", "venv"]).arg(place.path()));
        must(Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            &format!("mcp=={version}.*"),
        ]));
        let mut client = Command::new(&python);
        run(client.arg(script("client.py")));
    }
}

#[test]
fn the_typescript_sdk_saves_and_loads() {
    let Some(place) = wanted() else { return };
    npm(place.path(), "@modelcontextprotocol/sdk@1.32");
    let client = place.path().join("client.mjs");
    std::fs::copy(script("client.mjs"), &client).unwrap();
    run(Command::new("node").arg(client));
}

#[test]
fn the_inspector_lists_the_tools() {
    let Some(place) = wanted() else { return };
    npm(place.path(), "@modelcontextprotocol/inspector@0.22.0");
    let inspector = place.path().join("node_modules/.bin/mcp-inspector");
    let instance = Instance::new();
    let project = Project::git();
    let mut command = instance.command(&inspector);
    command
        .arg("--cli")
        .arg(&binaries().anchord_mcp)
        .args(["--method", "tools/list"])
        .current_dir(project.path());
    let listed = must(&mut command);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "memory_load"), "{listed}");
}

/// Returns a scratch directory for fetched clients, if these tests are enabled.
fn wanted() -> Option<tempfile::TempDir> {
    if std::env::var_os("ANCHORD_TEST_SDKS").is_none_or(|value| value != "1") {
        skip("set ANCHORD_TEST_SDKS=1 to fetch the SDKs and run them");
        return None;
    }
    Some(tempfile::tempdir().unwrap())
}

/// Runs a client with the shim as its server, in an instance of its own.
fn run(client: &mut Command) {
    let instance = Instance::new();
    let project = Project::git();
    let settings = instance.shim(project.path());
    let ours = settings.get_envs().filter_map(|(name, value)| Some((name, value?)));
    must(client.arg(&binaries().anchord_mcp).envs(ours).current_dir(project.path()));
}

fn npm(place: &Path, package: &str) {
    must(
        Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(place)
            .arg(package),
    );
}

fn script(name: &str) -> PathBuf {
    workspace().join("tests/sdks").join(name)
}

fn must(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
