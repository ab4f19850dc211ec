//! The programs under test, built once per test process by cargo itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use cargo_metadata::Message;

/// Paths of the built programs.
#[derive(Debug)]
pub struct Binaries {
    /// The daemon and the command line, with the `test-hooks` feature.
    pub anchord: PathBuf,
    /// The shim that agents run.
    pub anchord_mcp: PathBuf,
    /// The shim that agents' hooks run.
    pub anchord_hook: PathBuf,
}

/// Builds what is not built yet, with the profile and into the target directory of the running test.
pub fn binaries() -> &'static Binaries {
    static BUILT: OnceLock<Binaries> = OnceLock::new();
    BUILT.get_or_init(|| {
        build(&["-p", "anchord", "-p", "anchord-shim", "--features", "anchord/test-hooks"])
    })
}

fn build(arguments: &[&str]) -> Binaries {
    let (target, profile) = own_build();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo
        .args(["build", "--bins", "--message-format=json-render-diagnostics"])
        .args(arguments)
        .arg("--profile")
        .arg(profile)
        .arg("--target-dir")
        .arg(target)
        .current_dir(workspace())
        // Set by cargo for this test process; the build must not take them for its own.
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("CARGO_PKG_NAME")
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "cargo could not build the programs under test");
    let built: Vec<PathBuf> = Message::parse_stream(output.stdout.as_slice())
        .filter_map(|message| match message.expect("cargo speaks JSON") {
            Message::CompilerArtifact(artifact) => artifact.executable.map(PathBuf::from),
            _ => None,
        })
        .collect();
    let find = |name: &str| {
        built
            .iter()
            .find(|path| path.file_name().is_some_and(|file| file == name))
            .unwrap_or_else(|| panic!("cargo built no {name}, but {built:?}"))
            .clone()
    };
    Binaries {
        anchord: find("anchord"),
        anchord_mcp: find("anchord-mcp"),
        anchord_hook: find("anchord-hook"),
    }
}

/// The workspace's root.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a folder of the workspace")
}

/// The target directory and profile of the running executable, which is in `<target>/<profile>/` or
/// the `deps` below it.
fn own_build() -> (PathBuf, String) {
    let exe = std::env::current_exe().expect("the system names the running executable");
    let folder = exe
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name().is_some_and(|name| name != "deps"))
        .expect("cargo puts executables into a profile's folder");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev".to_owned(),
        Some(other) => other.to_owned(),
    };
    let target = folder.parent().expect("a profile's folder is in a target directory");
    (target.to_owned(), profile)
}
