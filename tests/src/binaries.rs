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
    static BUILT: OnceLock<Option<Binaries>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let (_, profile) = own_build();
        // Cargo unites features over the packages that are chosen, with development dependencies if a
        // test is. With another choice than `cargo test --workspace` makes, it would compile half of
        // the dependencies again.
        let built = build(
            &profile,
            &["--workspace", "--bins", "--test", "it", "--features", "anchord/test-hooks"],
        )?;
        Some(Binaries {
            anchord: find(&built, "anchord"),
            anchord_mcp: find(&built, "anchord-mcp"),
            anchord_hook: find(&built, "anchord-hook"),
        })
    });
    // Remembered: each test would try again and fail as late.
    built.as_ref().expect("cargo can build the programs under test; it has said above why not")
}

/// The programs as they are shipped: without what only tests may reach, the shims built alone, so
/// that they link nothing that only the daemon wants, and with their own profile in a release.
pub fn shipped() -> &'static Binaries {
    static BUILT: OnceLock<Binaries> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (_, profile) = own_build();
        let for_shims = if profile == "release" { "shim" } else { profile.as_str() };
        let can = "cargo can build the programs; it has said above why not";
        let shims = build(for_shims, &["-p", "anchord-shim", "--bins"]).expect(can);
        let anchord = build(&profile, &["-p", "anchord", "--bins"]).expect(can);
        Binaries {
            anchord: find(&anchord, "anchord"),
            anchord_mcp: find(&shims, "anchord-mcp"),
            anchord_hook: find(&shims, "anchord-hook"),
        }
    })
}

/// The executables that cargo built; none if it could not.
fn build(profile: &str, arguments: &[&str]) -> Option<Vec<PathBuf>> {
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
    if !output.status.success() {
        return None;
    }
    let executables = Message::parse_stream(output.stdout.as_slice())
        .filter_map(|message| match message.expect("cargo speaks JSON") {
            Message::CompilerArtifact(artifact) => artifact.executable.map(PathBuf::from),
            _ => None,
        })
        .collect();
    Some(executables)
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
