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
        let (_, profile) = own_build();
        // The same choice of packages and targets as `cargo test --workspace`: cargo unites features over
        // what is chosen, and would compile half of the dependencies again for another choice.
        let built = build(
            &profile,
            &["--workspace", "--bins", "--tests", "--features", "anchord/test-hooks"],
        );
        Binaries {
            anchord: find(&built, "anchord"),
            anchord_mcp: find(&built, "anchord-mcp"),
            anchord_hook: find(&built, "anchord-hook"),
        }
    })
}

/// The programs as they are shipped: without what only tests may reach, the shims built alone, so
/// that they link nothing that only the daemon wants, and with their own profile in a release.
pub fn shipped() -> &'static Binaries {
    static BUILT: OnceLock<Binaries> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (_, profile) = own_build();
        let for_shims = if profile == "release" { "shim" } else { profile.as_str() };
        let shims = build(for_shims, &["-p", "anchord-shim", "--bins"]);
        let anchord = build(&profile, &["-p", "anchord", "--bins"]);
        Binaries {
            anchord: find(&anchord, "anchord"),
            anchord_mcp: find(&shims, "anchord-mcp"),
            anchord_hook: find(&shims, "anchord-hook"),
        }
    })
}

fn build(profile: &str, arguments: &[&str]) -> Vec<PathBuf> {
    let (target, _) = own_build();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo
        .args(["build", "--message-format=json-render-diagnostics"])
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
    Message::parse_stream(output.stdout.as_slice())
        .filter_map(|message| match message.expect("cargo speaks JSON") {
            Message::CompilerArtifact(artifact) => artifact.executable.map(PathBuf::from),
            _ => None,
        })
        .collect()
}

fn find(built: &[PathBuf], name: &str) -> PathBuf {
    built
        .iter()
        .find(|path| path.file_name().is_some_and(|file| file == name))
        .unwrap_or_else(|| panic!("cargo built no {name}, but {built:?}"))
        .clone()
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
