//! Builds git's layouts by hand for tests, as git itself would leave them on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::locate::{Located, Surroundings, locate};

/// A temporary directory with a canonical path.
pub(super) struct Scratch {
    _dir: tempfile::TempDir,
    pub(super) path: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        Self { _dir: dir, path }
    }

    pub(super) fn dir(&self, relative: &str) -> PathBuf {
        let path = self.path.join(relative);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(super) fn file(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path.join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs git without the user's configuration, which shows what it does itself.
    pub(super) fn git(&self, dir: &Path, args: &[&str]) -> io::Result<Output> {
        Command::new("git")
            .args(["-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b"])
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.path)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
    }

    pub(super) fn repository(&self, relative: &str) -> PathBuf {
        let root = self.dir(relative);
        git_directory(&root.join(".git"));
        root
    }

    /// Creates a worktree of `main`, as `git worktree add` records it.
    pub(super) fn worktree(&self, main: &Path, relative: &str) -> PathBuf {
        let root = self.dir(relative);
        let git_dir = main.join(".git/worktrees").join(root.file_name().unwrap());
        fs::create_dir_all(&git_dir).unwrap();
        fs::write(git_dir.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::write(git_dir.join("commondir"), "../..\n").unwrap();
        fs::write(git_dir.join("gitdir"), format!("{}\n", root.join(".git").display())).unwrap();
        fs::write(root.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        root
    }

    /// Creates a submodule of `main`, as git absorbs it.
    pub(super) fn submodule(main: &Path, name: &str) -> PathBuf {
        let root = main.join(name);
        fs::create_dir_all(&root).unwrap();
        git_directory(&main.join(".git/modules").join(name));
        fs::write(root.join(".git"), format!("gitdir: ../.git/modules/{name}\n")).unwrap();
        root
    }

    /// Writes an index that tracks these names, in git's version 2.
    pub(super) fn index(&self, repository: &Path, names: &[&str]) {
        assert!(repository.starts_with(&self.path));
        let count = u8::try_from(names.len()).unwrap();
        let mut bytes = [b"DIRC".as_slice(), &[0, 0, 0, 2, 0, 0, 0, count]].concat();
        for name in names {
            bytes.extend([0; 61]);
            bytes.push(u8::try_from(name.len()).unwrap());
            bytes.extend(name.as_bytes());
            bytes.extend(vec![0; 8 - (62 + name.len()) % 8]);
        }
        bytes.extend([0; 20]);
        fs::write(repository.join(".git/index"), bytes).unwrap();
    }

    /// Locates the project of a directory, in these surroundings and not named explicitly.
    pub(super) fn locate(&self, start: &Path) -> Located {
        locate(start, &self.surroundings()).unwrap()
    }

    /// Returns surroundings whose home is the scratch directory itself.
    pub(super) fn surroundings(&self) -> Surroundings {
        Surroundings { home: Some(self.path.clone()), tmp: None, ..Surroundings::here(None) }
    }
}

/// Makes a directory a git directory.
pub(super) fn git_directory(path: &Path) {
    fs::create_dir_all(path.join("objects")).unwrap();
    fs::create_dir_all(path.join("refs")).unwrap();
    fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
}

/// Copies a directory with all its content.
pub(super) fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Gives a file to another user, as only root can. Returns whether that was possible.
pub(super) fn give_away(path: &Path) -> bool {
    let owner = rustix::fs::Uid::from_raw(STRANGER);
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    match rustix::fs::chownat(rustix::fs::CWD, path, Some(owner), None, flags) {
        Ok(()) => true,
        Err(rustix::io::Errno::PERM) => {
            println!("SKIPPED: only root can give a file to another user");
            false
        }
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// The id of a user other than the one that runs the tests.
pub(super) const STRANGER: u32 = 4_242;
