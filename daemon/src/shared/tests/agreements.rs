//! Records that are purged, and memories that are shared anew.

use super::*;
use crate::admin;
use crate::api::PurgeParams;

/// Returns what purges records of a clone by key or by text.
fn wanted(clone: &Checkout, keys: &[&str], query: Option<&str>) -> PurgeParams {
    PurgeParams {
        project: clone.root.to_str().unwrap().to_owned(),
        ids: keys.iter().map(|key| (*key).to_owned()).collect(),
        query: query.map(str::to_owned),
        dry_run: false,
        typed: Vec::new(),
    }
}

async fn save_topic(clone: &Checkout, world: &World, status: &str) {
    let topic = json!({"name": "Deal", "status": status});
    let save = json!({"session_summary": "worked", "topic": topic});
    let said = clone.call(world, "memory_save", save).await;
    assert!(!said.contains("rror"), "{said}");
}

/// The texts are too short for a digest that would keep them away.
#[tokio::test]
async fn a_purged_record_loses_its_file_and_does_not_come_back() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    save_topic(&one, &world, "price is zebra42").await;
    one.note(&world, "zebra42", json!({"key": "before"})).await;
    one.note(&world, "plain", json!({"key": "before"})).await;
    one.note(&world, "PIN 471", json!({"key": "pin"})).await;
    one.note(&world, "kept", json!({})).await;
    one.share(&world).await;
    assert_eq!(one.files().len(), 4);
    // git has left a conflict in the file, so it has nothing to take in.
    let file = one.file_with("PIN 471");
    one.edit(&file, "PIN 471", "<<<<<<< HEAD\nPIN 471\n=======\nPIN 472\n>>>>>>> other");
    for (keys, query) in [(&["pin"][..], None), (&[][..], Some("zebra42"))] {
        let done = admin::purge(&world.daemon.admin, wanted(&one, keys, query)).await.unwrap();
        assert!(done.applied && done.failed.is_empty(), "{done:?}");
    }
    // The note has the text in an earlier version only.
    assert!(one.files().values().all(|text| text.ends_with("kept\n")), "{:?}", one.files());
    for _ in 0..2 {
        let state = one.state(&world).await;
        assert_eq!((state.records, state.files, state.remarks.len()), (1, 1, 0), "{state:?}");
    }
    let load = one.load(&world).await;
    assert!(!load.contains("zebra42") && !load.contains("PIN") && load.contains("kept"), "{load}");
}

#[tokio::test]
async fn a_purged_topic_loses_the_files_of_all_clones() {
    let world = World::new().await;
    let (one, other) = (Checkout::new(&world, "one"), Checkout::new(&world, "other"));
    save_topic(&one, &world, "price is zebra42").await;
    save_topic(&other, &world, "signed").await;
    other.note(&world, "kept", json!({})).await;
    one.share(&world).await;
    other.share(&world).await;
    one.check_out(&merged(&Files::new(), &one.files(), &other.files()));
    assert_eq!(one.state(&world).await.files, 3);
    let done = admin::purge(&world.daemon.admin, wanted(&one, &[], Some("zebra42"))).await.unwrap();
    assert!(done.applied, "{done:?}");
    let state = one.state(&world).await;
    assert_eq!((state.records, state.files), (1, 1), "{state:?}");
    assert!(one.file_with("kept").starts_with("note/"));
}

/// Nothing would bring the records back, but their text would stay on the disk.
#[tokio::test]
async fn a_purge_removes_files_while_nothing_is_shared() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    save_topic(&one, &world, "price is zebra42").await;
    one.note(&world, "PIN 471", json!({"key": "pin"})).await;
    one.note(&world, "PIN 472", json!({"key": "other"})).await;
    one.note(&world, "kept", json!({})).await;
    one.share(&world).await;
    one.act(&world, SharedAction::Unshare).await;
    let pin = one.file_with("PIN 471");
    let done = admin::purge(&world.daemon.admin, wanted(&one, &["pin"], None)).await.unwrap();
    assert_eq!(done.shared, [format!("{DIRECTORY}/{pin}")]);
    // Another person's edit: only the file has the text. A branch may lack the mark.
    let kept = one.file_with("kept");
    one.edit(&kept, "kept", "<<<<<<< HEAD\nkept\n=======\nzebra42\n>>>>>>> other");
    fs::remove_file(one.path("README.md")).unwrap();
    let mut plan = wanted(&one, &[], Some("zebra42"));
    plan.dry_run = true;
    assert_eq!(admin::purge(&world.daemon.admin, plan).await.unwrap().shared.len(), 2);
    // A file that is a link cannot be read, so it is named.
    let other = one.file_with("PIN 472");
    fs::remove_file(one.path(&other)).unwrap();
    symlink("/dev/null", one.path(&other)).unwrap();
    let more = wanted(&one, &["other"], Some("zebra42"));
    let done = admin::purge(&world.daemon.admin, more).await.unwrap();
    assert!(done.applied && done.shared.len() == 2, "{done:?}");
    assert_eq!(done.failed, [one.path(&other).to_str().unwrap()]);
    assert_eq!(one.files().len(), 1, "{:?}", one.files());
}

/// The text of a file that has come back is purged already, so no record has it.
#[tokio::test]
async fn a_purge_by_text_removes_a_file_that_has_come_back() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "The partner is called zebra42.", json!({"key": "partner"})).await;
    one.note(&world, "kept", json!({})).await;
    one.share(&world).await;
    let before = one.files();
    admin::purge(&world.daemon.admin, wanted(&one, &["partner"], None)).await.unwrap();
    one.check_out(&before);
    let state = one.state(&world).await;
    assert_eq!((state.records, state.files, state.remarks.len()), (1, 2, 1), "{state:?}");
    let what = &state.remarks[0].what;
    assert!(what.contains("its note `partner` says what was purged on "), "{what}");
    assert!(what.ends_with("remove the file, or that text from it"), "{what}");
    let again = wanted(&one, &[], Some("zebra42"));
    let done = admin::purge(&world.daemon.admin, again).await.unwrap();
    assert!(done.applied && done.shared.len() == 1 && done.records.is_empty(), "{done:?}");
    let state = one.state(&world).await;
    assert_eq!((state.records, state.files, state.remarks.len()), (1, 1, 0), "{state:?}");
}

#[tokio::test]
async fn a_purge_that_fails_forgets_nothing() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "PIN 471", json!({"key": "pin"})).await;
    one.note(&world, "kept", json!({})).await;
    one.share(&world).await;
    let before = one.files();
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    // Blocks the file that commits the rewrite.
    let obstacle = world.daemon.projects.open.directory(id).join("journal/rewritten.tmp");
    fs::create_dir(&obstacle).unwrap();
    admin::purge(&world.daemon.admin, wanted(&one, &["pin"], None)).await.unwrap_err();
    fs::remove_dir(&obstacle).unwrap();
    let state = one.state(&world).await;
    assert_eq!((state.records, state.files, one.files()), (2, 2, before), "{state:?}");
    let done = admin::purge(&world.daemon.admin, wanted(&one, &["pin"], None)).await.unwrap();
    assert!(done.applied, "{done:?}");
    assert_eq!(one.state(&world).await.files, 1);
}

#[tokio::test]
async fn files_that_went_while_nothing_was_shared_are_written_again() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    save_topic(&one, &world, "half way").await;
    one.note(&world, "alpha", json!({"key": "a"})).await;
    one.note(&world, "beta", json!({"key": "b"})).await;
    one.share(&world).await;
    let before = one.files();
    assert_eq!(before.len(), 3);
    one.act(&world, SharedAction::Unshare).await;
    fs::remove_dir_all(one.root.join(DIRECTORY)).unwrap();
    let reply = one.share(&world).await;
    assert_eq!((reply.records, one.files()), (3, before));
    // A file that stayed still tells that its record was forgotten meanwhile.
    one.act(&world, SharedAction::Unshare).await;
    let found = one.call(&world, "memory_get", json!({"key": "a"})).await;
    let id = found.split_whitespace().next().unwrap();
    let said = one.call(&world, "memory_forget", json!({"id": id})).await;
    assert!(!said.contains("rror"), "{said}");
    fs::remove_file(one.path(&one.file_with("beta"))).unwrap();
    let reply = one.share(&world).await;
    assert_eq!((reply.records, one.files().len()), (2, 2), "{:?}", one.files());
    one.file_with("beta");
    one.file_with("half way");
}

/// Returns a worktree of a bare repository, which has no main one.
fn worktree(world: &World, name: &str) -> Checkout {
    let bare = world.directory("bare.git");
    let record = bare.join("worktrees").join(name);
    let root = world.directory(name);
    for directory in [&bare.join("objects"), &bare.join("refs"), &record, &root] {
        fs::create_dir_all(directory).unwrap();
    }
    let dot_git = root.join(".git");
    for (path, text) in [
        (bare.join("HEAD"), "ref: refs/heads/main\n".to_owned()),
        (record.join("HEAD"), format!("ref: refs/heads/{name}\n")),
        (record.join("commondir"), "../..\n".to_owned()),
        (record.join("gitdir"), format!("{}\n", dot_git.display())),
        (dot_git, format!("gitdir: {}\n", record.display())),
    ] {
        fs::write(path, text).unwrap();
    }
    Checkout { root }
}

#[tokio::test]
async fn another_worktree_takes_over_once_the_one_with_the_files_is_gone() {
    let world = World::new().await;
    let (one, other) = (worktree(&world, "wa"), worktree(&world, "wb"));
    one.note(&world, "Postgres 16", json!({"key": "db"})).await;
    one.share(&world).await;
    // The other branch has an older file, and lacks one.
    let (file, older) = one.files().pop_first().unwrap();
    other.write(&file, &older);
    fs::copy(one.path("README.md"), other.path("README.md")).unwrap();
    one.note(&world, "Postgres 17", json!({"key": "db"})).await;
    one.note(&world, "not committed", json!({})).await;
    assert_eq!(other.state(&world).await.files, 2, "the first worktree has the files");
    let files = one.files();
    fs::remove_dir_all(&one.root).unwrap();

    let reply = other.act(&world, SharedAction::Look).await;
    assert_eq!(reply.lost.as_deref(), one.root.to_str(), "{reply:?}");
    let paused = reply.status.unwrap().paused.unwrap();
    assert!(paused.contains("is gone; `anchord init --shared`"), "{paused}");
    let load = other.load(&world).await;
    assert!(load.contains("which had the files, is gone"), "{load}");
    let reply = other.share(&world).await;
    assert!(reply.is_on && reply.lost.is_none(), "{reply:?}");
    let state = other.state(&world).await;
    assert_eq!((state.records, state.conflicts, state.paused), (2, 0, None));
    assert_eq!(other.files(), files);
    let load = other.load(&world).await;
    assert!(load.contains("Postgres 17") && !load.contains("is gone"), "{load}");
}
