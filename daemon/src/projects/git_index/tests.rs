//! Tests each form of the index as git itself writes it, and files that are not an index.

use std::fs;

use super::super::layouts::Scratch;
use super::*;

/// Runs git without the user's configuration. Returns `None` if git is missing or too old for this.
fn git(scratch: &Scratch, dir: &Path, args: &[&str]) -> Option<()> {
    let output = scratch.git(dir, args);
    let done = output.as_ref().is_ok_and(|output| output.status.success());
    if !done {
        println!("SKIPPED: git {args:?}: {output:?}");
    }
    done.then_some(())
}

const ID: &str = ".anchord/project-id";

fn tracked(scratch: &Scratch, root: &Path, file: &str) -> bool {
    tracks(&scratch.locate(root).git.unwrap(), Path::new(file)).unwrap()
}

/// Creates a repository with many tracked names around the id's.
fn filled(scratch: &Scratch, name: &str, init: &[&str]) -> Option<PathBuf> {
    let root = scratch.dir(name);
    git(scratch, &root, &[&["init", "--quiet"], init].concat())?;
    for nth in 0..30 {
        scratch.file(&format!("{name}/.a/{nth}"), "");
        scratch.file(&format!("{name}/src/deep/{nth}-{}", "x".repeat(nth * 7)), "");
    }
    scratch.file(&format!("{name}/{ID}"), "");
    scratch.file(&format!("{name}/part/{ID}"), "");
    git(scratch, &root, &["add", "-A"])?;
    Some(root)
}

/// A form of the index: its name, the arguments of `git init`, and the git commands run afterwards.
type Form = (&'static str, &'static [&'static str], &'static [&'static [&'static str]]);

#[test]
fn every_index_format_shows_tracked_files() {
    let scratch = Scratch::new();
    let forms: [Form; 6] = [
        ("v2", &[], &[&["update-index", "--index-version", "2"]]),
        ("v3", &[], &[&["update-index", "--skip-worktree", "src/deep/0-"]]),
        ("v4", &[], &[&["update-index", "--index-version", "4"]]),
        ("sha256", &["--object-format=sha256"], &[]),
        ("split", &[], &[&["update-index", "--split-index"]]),
        (
            "sparse",
            &[],
            &[
                &["commit", "--quiet", "-m", "begin"],
                &["sparse-checkout", "set", "--cone", "--sparse-index", "src"],
            ],
        ),
    ];
    for (form, init, steps) in forms {
        let Some(root) = filled(&scratch, form, init) else { continue };
        if steps.iter().any(|step| git(&scratch, &root, step).is_none()) {
            continue;
        }
        assert!(tracked(&scratch, &root, ID), "{form}");
        assert!(tracked(&scratch, &root, &format!("part/{ID}")), "{form}");
        assert!(tracked(&scratch, &root, ".Anchord/Project-ID"), "{form}: case is ignored");
        for other in [".anchord", ".anchord/project", "other/.anchord/project-id", "src"] {
            if form == "sparse" && other == ".anchord/project" {
                continue; // Such an index names only directories, here the one around the file.
            }
            assert!(!tracked(&scratch, &root, other), "{form}: {other}");
        }
        if form != "split" && form != "sparse" {
            git(&scratch, &root, &["rm", "--quiet", "--cached", ID]);
            assert!(!tracked(&scratch, &root, ID), "{form}: not any more");
        }
    }
}

#[test]
fn a_worktree_has_an_index_of_its_own() {
    let scratch = Scratch::new();
    let Some(main) = filled(&scratch, "main", &[]) else { return };
    let commit = git(&scratch, &main, &["commit", "--quiet", "-m", "begin"]);
    let added = commit.and_then(|()| git(&scratch, &main, &["worktree", "add", "-q", "../side"]));
    if added.is_none() {
        return;
    }
    let side = scratch.path.join("side");
    git(&scratch, &side, &["rm", "--quiet", "--cached", ID]);
    assert!(!tracked(&scratch, &side, ID));
    assert!(tracked(&scratch, &main, ID));
}

#[test]
fn a_repository_without_an_index_tracks_nothing() {
    let scratch = Scratch::new();
    let root = scratch.repository("new");
    assert!(!tracked(&scratch, &root, ID));
}

#[test]
fn an_unreadable_index_is_an_error() {
    let scratch = Scratch::new();
    let root = scratch.repository("app");
    let index = root.join(".git/index");
    let head = |version: u8, entries: u8| {
        [b"DIRC".as_slice(), &[0, 0, 0, version, 0, 0, 0, entries]].concat()
    };
    let endless = [head(2, 1), vec![b'x'; 90_000]].concat();
    let short = [head(4, 1), vec![0; 62], vec![0xff; 20]].concat();
    for bytes in [
        Vec::new(),
        b"TREE".to_vec(),
        head(5, 0),
        head(2, 1),
        [head(2, 1), vec![0; 30]].concat(),
        endless,
        short,
    ] {
        fs::write(&index, &bytes).unwrap();
        let git = scratch.locate(&root).git.unwrap();
        let error = tracks(&git, Path::new(ID)).unwrap_err().to_string();
        assert!(error.starts_with("read git's index ") && error.contains("/.git/index"), "{error}");
    }
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    assert!(tracks(&scratch.locate(&root).git.unwrap(), Path::new(ID)).is_err());
}
