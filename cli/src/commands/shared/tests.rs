//! The words about a shared memory.

use anchord_daemon::api::SharedStatus;

use super::*;

fn reply() -> SharedReply {
    SharedReply {
        root: "/home/ada/src/shop".into(),
        directory: ".anchord/memory".into(),
        records: 12,
        files: 214,
        has_files: true,
        ..SharedReply::default()
    }
}

#[test]
fn the_plan_says_what_goes_which_way() {
    let text = plan(&reply(), Some(Path::new("/home/ada")));
    assert!(text.starts_with("~/src/shop: share the memory through git\n"), "{text}");
    assert!(text.contains("write     12 records of this memory as files in .anchord/memory\n"));
    assert!(text.contains("take in   214 files that others shared there\n"));
    let alone = SharedReply { has_files: false, files: 0, ..reply() };
    assert!(!plan(&alone, None).contains("take in"));
    let on = SharedReply { is_on: true, ..reply() };
    assert_eq!(plan(&on, None), "/home/ada/src/shop: the memory is shared already\n");
    // Sharing again is the way out once the worktree with the files is gone.
    let lost = SharedReply { lost: Some("/home/ada/src/old".into()), ..on };
    assert!(plan(&lost, None).contains("instead   of /home/ada/src/old, which is gone\n"));
}

#[test]
fn files_of_others_are_named_with_the_command_that_takes_them_in() {
    let text = state(&reply(), None);
    assert!(text.contains("214 files of others") && text.contains("`anchord init --shared`"));
}

#[test]
fn files_of_before_are_not_those_of_others() {
    let stopped = SharedReply { was_on: true, ..reply() };
    insta::assert_snapshot!(state(&stopped, Some(Path::new("/home/ada"))), @r"
    ~/src/shop: the memory is not shared any more; 214 files from before are still in .anchord/memory. `git rm -r .anchord/memory` removes them, and `anchord init --shared` shares the memory again
    ");
    let text = plan(&stopped, None);
    assert!(text.contains("take in   214 files that are there from before\n"), "{text}");
}

#[test]
fn conflicts_come_with_their_files() {
    let conflict = SharedRemark {
        record: Some("n12".parse().unwrap()),
        file: Some("note/0123456789ab-db.md".into()),
        what: "n12 and its file were both changed".into(),
        is_conflict: true,
    };
    let odd = SharedRemark { is_conflict: false, what: "odd".into(), ..conflict.clone() };
    let status = SharedStatus {
        files: 214,
        conflicts: 1,
        remarks: vec![conflict, odd],
        ..SharedStatus::default()
    };
    let on = SharedReply { is_on: true, status: Some(status.clone()), ..reply() };
    let text = state(&on, None);
    assert_eq!(line(&status), "shared through git: 214 files, 1 conflict, 1 remark");
    assert!(text.contains("conflict  note/0123456789ab-db.md: n12 and its file"), "{text}");
    let paused = SharedStatus { paused: Some("no space".into()), ..status };
    assert_eq!(line(&paused), "shared through git, paused: no space");
}
