//! Outlines of real code against universal-ctags.

use std::path::PathBuf;

use anchord_tests::{ctags, skip, workspace};
use cargo_metadata::MetadataCommand;

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
    let manifest = found.unwrap_or_else(|| panic!("{package} is a dependency"));
    manifest.manifest_path.parent().unwrap().as_std_path().to_owned()
}
