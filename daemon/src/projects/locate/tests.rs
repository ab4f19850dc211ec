//! Tests of which project each directory belongs to.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::super::layouts::{STRANGER, Scratch, copy_tree, git_directory, give_away};
use super::*;

#[test]
fn a_directory_without_marks_is_its_own_project() {
    let scratch = Scratch::new();
    let dir = scratch.dir("work/notes");
    let located = scratch.locate(&dir);
    assert_eq!((located.root.as_path(), located.name.as_str()), (dir.as_path(), "notes"));
    assert_eq!((located.git, located.part), (None, None));
}

#[test]
fn a_repository_is_found_from_beneath_and_through_a_link() {
    let scratch = Scratch::new();
    let root = scratch.repository("work/app");
    let deep = scratch.dir("work/app/src/deep");
    symlink(&deep, scratch.path.join("shortcut")).unwrap();
    for start in [&deep, &scratch.path.join("shortcut"), &root, &root.join(".git/refs")] {
        let located = scratch.locate(start);
        assert_eq!(located.root, root);
        assert_eq!(located.name, "app");
        assert_eq!(located.git.unwrap().common_dir, root.join(".git"));
    }
}

#[test]
fn worktrees_share_one_memory_and_read_their_own_files() {
    let scratch = Scratch::new();
    let main = scratch.repository("app");
    let side = scratch.worktree(&main, "trees/side");
    let located = scratch.locate(&side);
    assert_eq!(located.root, side);
    assert_eq!(located.name, "app");
    assert_eq!(located.main_root(), main);
    assert_eq!(located.place().unwrap(), scratch.locate(&main).place().unwrap());
}

#[test]
fn a_manually_moved_worktree_is_recognised_once_repaired() {
    let scratch = Scratch::new();
    let main = scratch.repository("app");
    let side = scratch.worktree(&main, "side");
    let moved = scratch.path.join("moved");
    fs::rename(&side, &moved).unwrap();
    let located = scratch.locate(&scratch.dir("moved/src"));
    assert_eq!((located.root.as_path(), located.git), (moved.as_path(), None));
    let record = main.join(".git/worktrees/side/gitdir");
    fs::write(record, format!("{}\n", moved.join(".git").display())).unwrap();
    assert_eq!(scratch.locate(&moved).place().unwrap(), scratch.locate(&main).place().unwrap());
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let scratch = Scratch::new();
    let main = scratch.repository("app");
    scratch.dir("app/.anchord");
    let sub = Scratch::submodule(&main, "lib");
    let located = scratch.locate(&sub);
    assert_eq!((located.root.as_path(), located.name.as_str()), (sub.as_path(), "lib"));
    assert_eq!(located.git.unwrap().common_dir, main.join(".git/modules/lib"));
}

#[test]
fn a_bare_repository_is_its_own_root_and_its_worktrees_belong_to_it() {
    let scratch = Scratch::new();
    let bare = scratch.dir("app.git");
    git_directory(&bare);
    let located = scratch.locate(&bare.join("refs"));
    assert_eq!((located.root.as_path(), located.name.as_str()), (bare.as_path(), "app"));
    assert!(located.git.as_ref().unwrap().bare);

    let tree = scratch.dir("tree");
    let record = scratch.dir("app.git/worktrees/tree");
    fs::write(record.join("commondir"), "../..\n").unwrap();
    fs::write(record.join("gitdir"), format!("{}/.git\n", tree.display())).unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", record.display())).unwrap();
    assert_eq!(scratch.locate(&tree).place().unwrap(), located.place().unwrap());
}

#[test]
fn an_initialised_part_is_a_project_of_its_own_in_its_repository() {
    let scratch = Scratch::new();
    let main = scratch.repository("mono");
    let part = scratch.dir("mono/packages/api");
    scratch.dir("mono/packages/api/.anchord");
    let located = scratch.locate(&scratch.dir("mono/packages/api/src"));
    assert_eq!(
        (located.root.as_path(), located.name.as_str()),
        (part.as_path(), "mono/packages/api")
    );
    assert_eq!(located.part.as_deref(), Some(Path::new("packages/api")));
    assert_eq!(scratch.locate(&main.join("packages")).root, main);

    let side = scratch.worktree(&main, "side");
    scratch.dir("side/packages/api/.anchord");
    let there = scratch.locate(&side.join("packages/api"));
    assert_eq!(there.place().unwrap(), located.place().unwrap());
    assert_eq!(there.main_root(), part);
}

#[test]
fn a_git_root_ends_the_search_and_outside_git_a_marker_does() {
    let scratch = Scratch::new();
    let folder = scratch.dir("work");
    scratch.dir("work/.anchord");
    let app = scratch.repository("work/app");
    let located = scratch.locate(&scratch.dir("work/app/src"));
    assert_eq!(
        (located.root, located.passed.marked.as_deref()),
        (app.clone(), Some(folder.as_path()))
    );
    assert_eq!(locate_named(&app, &scratch.surroundings()).unwrap().root, app);
    assert_eq!(scratch.locate(&scratch.dir("work/notes/old")).root, folder);

    let outer = scratch.repository("outer");
    scratch.dir("outer/vendor/.anchord");
    let inner = scratch.repository("outer/vendor/inner");
    assert_eq!(scratch.locate(&inner).root, inner);
    assert_eq!(scratch.locate(&outer).root, outer);
}

#[test]
fn a_workspace_covers_the_repositories_beneath_it() {
    let scratch = Scratch::new();
    let workspace = scratch.dir("work");
    let uid = scratch.surroundings().uid;
    assert!(workspace::mark(&workspace, uid).unwrap());
    let app = scratch.repository("work/app");
    let part = scratch.repository("work/own");
    scratch.dir("work/own/.anchord");
    for beneath in [scratch.dir("work/app/src"), scratch.dir("work/notes"), workspace.clone()] {
        let located = scratch.locate(&beneath);
        assert_eq!((located.root.as_path(), located.git), (workspace.as_path(), None));
    }
    assert_eq!(scratch.locate(&part).root, part, "what is initialised itself is nearer");

    assert!(workspace::unmark(&workspace).unwrap());
    assert_eq!(scratch.locate(&app).root, app);

    // Within a repository, the workspace is a part of that repository.
    let outer = scratch.repository("outer");
    workspace::mark(&scratch.dir("outer/vendor"), uid).unwrap();
    let located = scratch.locate(&scratch.repository("outer/vendor/inner"));
    assert_eq!(located.git.unwrap().root, outer);
    assert_eq!(located.part.as_deref(), Some(Path::new("vendor")));
}

/// A clone or an archive brings the mark along; a copy leaves it behind.
#[test]
fn a_workspace_mark_made_for_another_directory_is_ignored() {
    let scratch = Scratch::new();
    let workspace = scratch.dir("work");
    let uid = scratch.surroundings().uid;
    workspace::mark(&workspace, uid).unwrap();
    let copy = scratch.path.join("copy");
    copy_tree(&workspace, &copy);
    let app = scratch.repository("copy/app");
    let located = scratch.locate(&app);
    assert_eq!((located.root, located.passed.stale_workspace), (app.clone(), Some(copy.clone())));
    assert!(workspace::mark(&copy, uid).unwrap());
    assert_eq!(scratch.locate(&app).root, copy);
    let moved = scratch.path.join("moved");
    fs::rename(&copy, &moved).unwrap();
    assert_eq!(scratch.locate(&moved.join("app")).root, moved, "it is the same directory");

    scratch.file("bomb/.anchord/workspace", "1\n");
    let app = scratch.repository("bomb/app");
    assert_eq!(scratch.locate(&app).root, app);
    let elsewhere = scratch.file("elsewhere", "");
    symlink(elsewhere, scratch.dir("linked/.anchord").join("workspace")).unwrap();
    let app = scratch.repository("linked/app");
    let located = scratch.locate(&app);
    assert_eq!((located.root, located.passed.stale_workspace), (app, None));
}

#[test]
fn nothing_of_another_user_counts() {
    let scratch = Scratch::new();
    let stranger = Surroundings { uid: STRANGER, ..scratch.surroundings() };
    let workspace = scratch.dir("work");
    workspace::mark(&workspace, scratch.surroundings().uid).unwrap();
    let app = scratch.repository("work/app");
    let side = scratch.worktree(&app, "side");
    let bare = scratch.dir("app.git");
    git_directory(&bare);
    for (start, mark) in [
        (scratch.dir("work/app/src"), app.join(".git")),
        (scratch.dir("work/notes"), workspace.join(".anchord")),
        (scratch.dir("side/src"), side.join(".git")),
        (scratch.dir("app.git/src"), bare),
    ] {
        let located = locate(&start, &stranger).unwrap();
        assert_eq!((located.root, located.git), (start, None));
        assert_eq!(located.passed.foreign.first().map(|foreign| &foreign.path), Some(&mark));
    }
}

/// A shared parent, in which anybody may create a name.
#[test]
fn a_strangers_marks_in_a_shared_parent_do_not_count() {
    let scratch = Scratch::new();
    let mine = scratch.dir("shared/mine");
    let repository = scratch.repository("shared/repository");
    for mark in [".anchord", ".git"] {
        if mark == ".git" {
            git_directory(&scratch.dir("shared/.git"));
        }
        if !give_away(&scratch.dir(&format!("shared/{mark}"))) {
            return;
        }
        let located = scratch.locate(&mine);
        let foreign: Vec<_> = located.passed.foreign.iter().map(|foreign| foreign.uid).collect();
        assert_eq!(located.root, mine, "{mark}");
        assert!(!foreign.is_empty() && foreign.iter().all(|uid| *uid == STRANGER), "{mark}");
        assert_eq!(scratch.locate(&repository).root, repository, "{mark}");
    }
    // A `.git` of ours that leads to another user's git directory.
    let main = scratch.repository("main");
    let side = scratch.worktree(&main, "side");
    give_away(&main.join(".git"));
    assert_eq!(scratch.locate(&side).git, None);
    // A workspace mark, in a marker of ours.
    workspace::mark(&scratch.dir("open"), scratch.surroundings().uid).unwrap();
    give_away(&scratch.path.join("open/.anchord/workspace"));
    let app = scratch.repository("open/app");
    assert_eq!(scratch.locate(&app).root, app);
}

#[test]
fn the_search_skips_home_temporary_and_instance_directories() {
    let scratch = Scratch::new();
    let home = scratch.repository("home");
    scratch.dir("home/.anchord");
    let tmp = scratch.repository("home/tmp");
    let instance_dir = scratch.repository("home/state");
    let facts = Surroundings {
        home: Some(home.clone()),
        tmp: Some(tmp.clone()),
        ..Surroundings::here(Some(instance_dir.clone()))
    };
    for excluded in [&home, &tmp, &instance_dir, Path::new("/"), Path::new("/tmp")] {
        let error = locate(excluded, &facts).unwrap_err();
        assert!(matches!(error, NotAProject::Excluded { .. }), "{error}");
        for way_out in ["--project DIR", "ANCHORD_PROJECT"] {
            assert!(error.to_string().contains(way_out), "{error}");
        }
        assert!(!error.to_string().contains("init"), "that makes nothing a project: {error}");
        let beneath = excluded.join("beneath");
        if excluded.starts_with(&scratch.path) {
            fs::create_dir(&beneath).unwrap();
            assert_eq!(locate(&beneath, &facts).unwrap().root, beneath);
            assert_eq!(locate_named(&beneath, &facts).unwrap().root, beneath);
            assert_eq!(locate_named(excluded, &facts).unwrap().root, *excluded);
        }
    }
}

#[test]
fn an_unfounded_git_file_is_not_trusted() {
    let scratch = Scratch::new();
    let victim = scratch.repository("victim");
    let tree = scratch.worktree(&victim, "tree");
    let claims = [
        // The `.git` of another directory.
        format!("gitdir: {}\n", victim.join(".git").display()),
        // A worktree's record that points back elsewhere.
        format!("gitdir: {}\n", victim.join(".git/worktrees/tree").display()),
        "gitdir: /\n".to_owned(),
        "gitdir: ../nothing/here\n".to_owned(),
        "gitdir:\n".to_owned(),
        "no git file at all".to_owned(),
    ];
    for (nth, claim) in claims.iter().enumerate() {
        let name = format!("hostile{nth}");
        scratch.file(&format!("{name}/.git"), claim);
        let located = scratch.locate(&scratch.path.join(&name));
        assert_eq!((located.git, located.name), (None, name), "{claim}");
    }
    let linked = scratch.dir("linked");
    symlink(victim.join(".git"), linked.join(".git")).unwrap();
    assert_eq!(scratch.locate(&linked).git, None);
    assert!(scratch.locate(&tree).git.is_some());
}

/// An untrusted archive may contain a `.git` prepared down to the records that git would write.
#[test]
fn a_crafted_git_directory_gets_no_other_projects_memory() {
    let scratch = Scratch::new();
    let victim = scratch.repository("victim");
    let tree = scratch.worktree(&victim, "tree");
    for (nth, record) in [".", "missing", "../.git", "../../evil3/.git"].into_iter().enumerate() {
        let name = format!("evil{nth}");
        let git_dir = scratch.dir(&format!("{name}/.git"));
        fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git_dir.join("commondir"), "../../victim/.git\n").unwrap();
        fs::write(git_dir.join("gitdir"), record).unwrap();
        expect_own_project(&scratch, &name);
    }
    // A record of its own making, in a place like git's.
    let record = scratch.dir("evil/real/worktrees/evil");
    let dot_git = scratch.file("evil/.git", &format!("gitdir: {}\n", record.display()));
    fs::write(record.join("commondir"), victim.join(".git").as_os_str().as_bytes()).unwrap();
    fs::write(record.join("gitdir"), dot_git.as_os_str().as_bytes()).unwrap();
    expect_own_project(&scratch, "evil");
    // A link to the true `.git` file of a worktree.
    symlink(tree.join(".git"), scratch.dir("linked").join(".git")).unwrap();
    expect_own_project(&scratch, "linked");
    // A record whose worktree is gone.
    let claim = fs::read(tree.join(".git")).unwrap();
    fs::remove_dir_all(tree).unwrap();
    fs::write(scratch.dir("heir").join(".git"), claim).unwrap();
    expect_own_project(&scratch, "heir");
}

#[test]
fn a_git_directory_that_does_not_name_its_location_is_not_trusted() {
    let scratch = Scratch::new();
    let victim = scratch.repository("victim");
    let sub = Scratch::submodule(&victim, "lib");
    let proj = scratch.dir("proj");
    git_directory(&proj.join(".bare"));
    scratch.file("proj/.git", "gitdir: ./.bare\n");
    let beside = scratch.locate(&scratch.dir("proj/src"));
    assert_eq!(beside.root, proj);
    assert_eq!(beside.git.unwrap().common_dir, proj.join(".bare"));

    let module = victim.join(".git/modules/lib");
    for (nth, git_dir) in [proj.join(".bare"), module.clone()].iter().enumerate() {
        let name = format!("evil{nth}");
        scratch.file(&format!("{name}/.git"), &format!("gitdir: {}\n", git_dir.display()));
        expect_own_project(&scratch, &name);
        let name = format!("linked{nth}");
        symlink(git_dir, scratch.dir(&name).join(".git")).unwrap();
        expect_own_project(&scratch, &name);
    }
    // The submodule names its own directory, so no other directory claims it.
    fs::write(module.join("config"), "[core]\n\tworktree = ../../../lib\n").unwrap();
    scratch.file("victim/evil/.git", "gitdir: ../.git/modules/lib\n");
    expect_own_project(&scratch, "victim/evil");
    assert_eq!(scratch.locate(&sub).git.unwrap().common_dir, module);
}

/// Asserts that the directory is a project of its own, also when located from beneath it.
fn expect_own_project(scratch: &Scratch, relative: &str) {
    let root = scratch.path.join(relative);
    let located = scratch.locate(&scratch.dir(&format!("{relative}/src")));
    assert_eq!((located.root, located.git), (root, None), "{relative}");
}

#[test]
fn a_pipe_named_like_a_git_file_does_not_block() {
    let scratch = Scratch::new();
    let main = scratch.repository("app");
    for name in ["pipe/.git", "app/.git/commondir"] {
        let path = scratch.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    }
    assert_eq!(scratch.locate(&scratch.path.join("pipe")).git, None);
    assert_eq!(scratch.locate(&main).root, main);
}

#[test]
fn only_a_directory_can_be_a_project() {
    let scratch = Scratch::new();
    let file = scratch.file("file", "");
    for start in [file, scratch.path.join("missing")] {
        let error = locate_named(&start, &scratch.surroundings()).unwrap_err();
        assert!(matches!(error, NotAProject::Unreadable { .. }), "{error}");
    }
}

/// Checks the layouts made by hand against git's own.
#[test]
fn git_layouts_are_read_like_git_reads_them() {
    let scratch = Scratch::new();
    let git = |dir: &Path, args: &[&str]| match scratch.git(dir, args) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        output => {
            let output = output.unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "git {args:?}: {said}");
            Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
        }
    };
    let app = scratch.dir("app");
    if git(&app, &["init", "-q"]).is_none() {
        println!("skipped: there is no git");
        return;
    }
    let at = |relative: &str| scratch.path.join(relative);
    let expect_as_git = |relative: &str| {
        let dir = at(relative);
        let common = git(&dir, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let ours = scratch.locate(&dir);
        assert_eq!(ours.root, dir);
        let common = fs::canonicalize(common.unwrap()).unwrap();
        assert_eq!(ours.git.map(|git| git.common_dir), Some(common), "{relative}");
    };
    git(&app, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&app, &["clone", "-q", "--bare", ".", "../bare.git"]);
    git(&app, &["submodule", "--quiet", "add", "../bare.git", "sub"]);
    git(&app, &["commit", "-q", "-m", "second"]);
    git(&app, &["worktree", "add", "-q", "../side"]);
    git(&at("side"), &["submodule", "--quiet", "update", "--init"]);
    git(&at("app/sub"), &["worktree", "add", "-q", "../../of-sub", "-b", "other"]);
    git(&at("bare.git"), &["worktree", "add", "-q", "../of-bare", "-b", "other"]);
    git(&app, &["clone", "-q", "--bare", ".", "../proj/.bare"]);
    scratch.file("proj/.git", "gitdir: ./.bare\n");
    git(&at("proj"), &["worktree", "add", "-q", "tree", "-b", "other"]);
    let layouts = [
        "app",
        "app/sub",
        "side",
        "side/sub",
        "of-sub",
        "bare.git",
        "of-bare",
        "proj",
        "proj/tree",
    ];
    for relative in layouts {
        expect_as_git(relative);
    }

    // A submodule whose worktree setting is in the other file.
    git(&at("app/sub"), &["sparse-checkout", "set", "src"]);
    expect_as_git("app/sub");
    git(&at("bare.git"), &["worktree", "move", "../of-bare", "../elsewhere"]);
    expect_as_git("elsewhere");
    fs::rename(at("elsewhere"), at("moved")).unwrap();
    assert_eq!(scratch.locate(&at("moved")).git, None);
    git(&at("bare.git"), &["worktree", "repair", "../moved"]);
    expect_as_git("moved");

    // A separate git directory does not show where it belongs until `core.worktree` is set.
    git(&app, &["init", "-q", "--separate-git-dir", "../stored", "../apart"]);
    expect_own_project(&scratch, "apart");
    git(&at("apart"), &["config", "core.worktree", "../apart"]);
    expect_as_git("apart");
}

#[test]
fn an_exactly_named_directory_is_its_own_project() {
    let scratch = Scratch::new();
    let root = scratch.repository("app");
    let inside = scratch.dir("app/.notes");
    let uid = scratch.surroundings().uid;
    let located = locate_exactly(&inside, uid).unwrap();
    assert_eq!(
        (located.root.as_path(), &located.git, &located.part),
        (inside.as_path(), &None, &None)
    );
    // Once its id is there, the search would treat it as a part of the repository.
    scratch.dir("app/.notes/.anchord");
    assert_eq!(locate_exactly(&inside, uid).unwrap(), located);
    assert_eq!(locate_exactly(&root, uid).unwrap(), scratch.locate(&root));
    let refused = locate_exactly(&root.join(".git/refs"), uid).unwrap_err();
    assert!(refused.to_string().contains("is within a git directory"), "{refused}");
    assert!(locate_exactly(&scratch.path.join("missing"), uid).is_err());
}

#[test]
fn a_transient_error_never_counts_as_absence() {
    use rustix::io::Errno;
    let seen = |errno: Errno| unless_absent::<()>(Err(errno.into())).is_ok();
    for absent in [Errno::NOENT, Errno::NOTDIR, Errno::ACCESS, Errno::LOOP, Errno::NXIO] {
        assert!(seen(absent), "{absent}");
    }
    for passing in [Errno::MFILE, Errno::NFILE, Errno::IO, Errno::NOMEM, Errno::STALE] {
        assert!(!seen(passing), "{passing}");
    }
}
