//! Files beneath a data directory, without opening a store.

use std::os::unix::fs::symlink;

use anchord_memory::Memory;

use super::*;

#[test]
fn an_interrupted_removal_is_finished_by_the_next_daemon() {
    let scratch = tempfile::tempdir().unwrap();
    let projects = scratch.path().join("projects");
    fs::create_dir_all(projects.join(".deleted-1/journal")).unwrap();
    fs::create_dir_all(projects.join("2")).unwrap();
    FileStores::new(scratch.path().to_owned());
    let left = fs::read_dir(&projects).unwrap().map(|name| name.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["2"]);
}

#[test]
fn leftovers_of_an_earlier_removal_do_not_block_the_next() {
    let scratch = tempfile::tempdir().unwrap();
    let stores = FileStores::new(scratch.path().to_owned());
    fs::create_dir_all(scratch.path().join(".deleted-1/journal")).unwrap();
    fs::create_dir_all(scratch.path().join("1/journal")).unwrap();
    Stores::<Memory>::remove(&stores, "1").unwrap();
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    Stores::<Memory>::remove(&stores, "1").unwrap();
}

#[test]
fn usage_counts_all_files_and_has_the_journals_time() {
    let scratch = tempfile::tempdir().unwrap();
    let stores = FileStores::new(scratch.path().to_owned());
    let usage = || Stores::<Memory>::usage(&stores, "1");
    assert_eq!(usage(), Usage::default());
    fs::create_dir_all(scratch.path().join("1/journal")).unwrap();
    fs::write(scratch.path().join("1/journal/000001.jsonl"), "four").unwrap();
    fs::write(scratch.path().join("1/retrievals.jsonl"), "six or").unwrap();
    assert_eq!(usage().bytes, 10);
    assert!(usage().written.is_some());
    assert_eq!(usage().unread, None);
}

#[test]
fn usage_names_a_directory_that_cannot_be_read() {
    let scratch = tempfile::tempdir().unwrap();
    let stores = FileStores::new(scratch.path().to_owned());
    // No read of it succeeds, for root either.
    symlink("1", scratch.path().join("1")).unwrap();
    let Usage { bytes, unread, .. } = Stores::<Memory>::usage(&stores, "1");
    let unread = unread.unwrap();
    assert!(bytes == 0 && unread.contains("/1: Too many levels"), "{unread}");
}
