//! The programs under test, which cargo builds once per test process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use cargo_metadata::Message;

/// The paths of the built programs.
#[derive(Debug)]
pub struct Binaries {
    /// The daemon and the command line, with the `test-hooks` feature.
    pub anchord: PathBuf,
    /// The shim that agents run.
    pub anchord_mcp: PathBuf,
    /// The shim that agents' hooks run.
    pub anchord_hook: PathBuf,
}

/// Builds the programs that are not built yet, with the running test's profile and target
/// directory.
pub fn binaries() -> &'static Binaries {
    static BUILT: OnceLock<Option<Binaries>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let (_, profile) = own_build();
        // Cargo unites the features of all selected packages, and of development dependencies if a
        // test is selected. A selection other than that of `cargo test --workspace` would recompile
        // half of the dependencies.
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
    // A failure is remembered. Otherwise each test would try again and fail as late.
    built.as_ref().expect("cargo can build the programs under test; it has said above why not")
}

/// Builds the programs as they are shipped, without test hooks. The shims are built alone, so that
/// they link nothing that only the daemon needs. In a release, they have their own profile.
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

/// Returns the executables that cargo built; `None` if it failed.
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
        // Cargo sets these for this test process. The build must not take them for its own.
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

/// Returns the workspace's root.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a folder of the workspace")
}

/// Returns the target directory and the profile of the running executable. The executable is in
/// `<target>/<profile>/`, or in `deps` below it.
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
