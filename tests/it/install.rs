//! The script that installs a release, from an archive that the packaging script makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anchord_tests::{Instance, binaries, skip};
use tempfile::TempDir;

/// A place with releases, and a user's home.
struct Releases {
    instance: Instance,
    root: TempDir,
}

impl Releases {
    fn new() -> Self {
        Self { instance: Instance::new(), root: TempDir::new().unwrap() }
    }

    /// Puts an archive into the newest release and into version 9.9.9.
    fn publish(&self, archive: &Path) {
        let name = archive.file_name().unwrap();
        for release in ["latest/download", "download/v9.9.9"] {
            let folder = self.root.path().join(release);
            fs::create_dir_all(&folder).unwrap();
            let digest = archive.with_file_name(format!("{}.sha256", name.display()));
            fs::copy(archive, folder.join(name)).unwrap();
            fs::copy(&digest, folder.join(digest.file_name().unwrap())).unwrap();
        }
    }

    /// Makes an archive of programs.
    fn package(&self, programs: &Path) -> PathBuf {
        let out = self.root.path().join("out");
        let mut command = Command::new(script("package.sh"));
        command.arg(target()).arg(programs).arg(&out);
        let made = command.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        out.join(format!("anchord-{}.tar.gz", target()))
    }

    fn install(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = self.instance.command(Path::new("sh"));
        command
            .arg(script("install.sh"))
            .args(arguments)
            .env("ANCHORD_RELEASES", format!("file://{}", self.root.path().display()))
            .stdin(Stdio::null());
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = String::from_utf8([stdout, stderr].concat()).unwrap();
        (status.code().unwrap(), text)
    }

    /// Returns every file in the user's home.
    fn files(&self) -> Vec<String> {
        let home = self.instance.user_home();
        let mut files = Vec::new();
        anchord_tests::walk(&home, &mut |file| {
            files.push(file.strip_prefix(&home).unwrap().display().to_string());
        });
        files.sort();
        files
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts").join(name)
}

/// Returns the target that the script chooses here.
fn target() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// Without curl, a file cannot stand for a release.
fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").output().is_ok();
    if !found {
        skip("curl is not installed");
    }
    found
}

/// Writes programs that do just what packaging and installation ask of them.
fn stand_ins(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let text = "#!/bin/sh\ncase \"$1\" in\n--version) echo anchord 9.9.9 ;;\n\
                man) mkdir -p \"$2\" && echo page >\"$2/anchord.1\" ;;\n\
                *) echo \"$*\" ;;\nesac\n";
    for name in ["anchord", "anchord-mcp", "anchord-hook"] {
        fs::write(folder.join(name), text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.join(name), mode).unwrap();
    }
}

#[test]
fn a_release_is_installed_used_and_removed() {
    if !has_curl() {
        return;
    }
    let releases = Releases::new();
    let programs = binaries().anchord.parent().unwrap();
    releases.publish(&releases.package(programs));
    let (code, text) = releases.install(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("installed anchord 0."), "{text}");
    assert!(text.contains("next: add it to your PATH"), "{text}");
    let files = releases.files();
    for name in [
        ".local/bin/anchord",
        ".local/bin/anchord-hook",
        ".local/bin/anchord-mcp",
        ".local/share/man/man1/anchord-setup.1",
        ".local/share/bash-completion/completions/anchord",
        ".local/share/zsh/site-functions/_anchord",
        ".config/fish/completions/anchord.fish",
        ".local/share/doc/anchord/LICENSE-MIT",
        ".local/share/doc/anchord/LICENSE-APACHE",
    ] {
        assert!(files.iter().any(|file| file == name), "{name}: {files:?}");
    }
    let anchord = releases.instance.user_home().join(".local/bin/anchord");
    let mut note = releases.instance.command(&anchord);
    let noted = note.args(["note", "--user", "kept"]).output().unwrap();
    assert!(noted.status.success(), "{}", String::from_utf8_lossy(&noted.stderr));
    assert!(releases.instance.daemon_pid().is_some());

    // A second installation replaces programs that run.
    let (code, text) = releases.install(&["--version", "9.9.9"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(releases.files(), files);

    let (code, text) = releases.install(&["--uninstall"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("removed. Your memory stays"), "{text}");
    assert_eq!(releases.files(), [""; 0], "nothing of it is left");
    assert_eq!(releases.instance.daemon_pid(), None);
    let (code, text) = releases.install(&["--uninstall"]);
    assert!(code == 1 && text.contains("nothing that this script installed is here"), "{text}");
}

#[test]
fn nothing_is_installed_that_is_not_what_was_released() {
    if !has_curl() {
        return;
    }
    let releases = Releases::new();
    let (code, text) = releases.install(&[]);
    assert!(code == 1 && text.contains("error: cannot download"), "{text}");

    let programs = releases.root.path().join("programs");
    stand_ins(&programs);
    let archive = releases.package(&programs);
    let first = fs::read(&archive).unwrap();
    assert_eq!(fs::read(releases.package(&programs)).unwrap(), first, "it is reproducible");
    releases.publish(&archive);

    let released = releases.root.path().join("latest/download").join(archive.file_name().unwrap());
    fs::write(&released, [first.as_slice(), b"x"].concat()).unwrap();
    let (code, text) = releases.install(&[]);
    assert!(code == 1 && text.contains("error: the download is not what was released"), "{text}");
    assert_eq!(releases.files(), [""; 0]);

    let (code, text) = releases.install(&["--version", "v9.9.9", "--dir", "programs"]);
    assert!(code == 0 && text.contains("installed anchord 9.9.9"), "{text}");
    let (code, text) = releases.install(&["--version", "8.0.0"]);
    assert!(code == 1 && text.contains("download/v8.0.0"), "{text}");
    let (code, text) = releases.install(&["--verison", "9.9.9"]);
    assert!(code == 2 && text.contains("unknown option --verison"), "{text}");
    let (code, text) = releases.install(&["--help"]);
    assert!(code == 0 && text.contains("Usage: install.sh"), "{text}");
}

/// A licence asks that its text goes with the program, so no package is made without.
#[test]
fn deb_and_rpm_have_programs_pages_completions_licences_and_notices() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().unwrap();
    let package = metadata.packages.iter().find(|package| package.name.as_str() == "anchord");
    let metadata = &package.unwrap().metadata;
    let deb = metadata["deb"]["assets"].as_array().unwrap();
    let deb: Vec<(&str, &str)> =
        deb.iter().map(|it| (it[0].as_str().unwrap(), it[1].as_str().unwrap())).collect();
    let rpm = metadata["generate-rpm"]["assets"].as_array().unwrap();
    let rpm: Vec<(&str, &str)> = rpm
        .iter()
        .map(|it| (it["source"].as_str().unwrap(), it["dest"].as_str().unwrap()))
        .collect();
    for (assets, licences) in
        [(deb, "usr/share/doc/anchord/"), (rpm, "/usr/share/licenses/anchord/")]
    {
        for (source, place) in [
            ("release/anchord", "usr/bin/"),
            ("release/anchord-mcp", "usr/bin/"),
            ("release/anchord-hook", "usr/bin/"),
            ("share/man/man1/*", "usr/share/man/man1/"),
            ("anchord.bash", "usr/share/bash-completion/completions/anchord"),
            ("_anchord", "/_anchord"),
            ("anchord.fish", "usr/share/fish/vendor_completions.d/anchord.fish"),
            ("LICENSE-MIT", licences),
            ("LICENSE-APACHE", licences),
            ("target/THIRD-PARTY.html", licences),
        ] {
            let is_there =
                assets.iter().any(|(from, to)| from.ends_with(source) && to.contains(place));
            assert!(is_there, "{source}: {assets:?}");
        }
    }
}
