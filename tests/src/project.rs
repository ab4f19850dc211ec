//! Code bases to work in: scratch directories, with or without a git repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A directory that an agent works in. It is removed on drop.
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// Creates a git repository with one commit, without the user's git configuration.
    pub fn git() -> Self {
        let project = Self::plain();
        project.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
        project.run_git(&["init", "--quiet", "--initial-branch=main"]);
        project.run_git(&["add", "."]);
        project.run_git(&["commit", "--quiet", "-m", "begin"]);
        project
    }

    /// Creates a directory without git.
    pub fn plain() -> Self {
        let folder = tempfile::Builder::new().prefix("project-").tempdir();
        Self { folder: folder.expect("the temporary directory can be written") }
    }

    /// Returns its root.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file below the root, and creates the folders that it needs.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("a scratch directory can be written");
        std::fs::write(&path, text).expect("a scratch directory can be written");
        path
    }

    /// Runs git in the root. Panics if git fails.
    pub fn run_git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git is installed");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
    }
}
