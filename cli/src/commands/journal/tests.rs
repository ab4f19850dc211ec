//! Entries and verdicts as a person reads them.

use anchord_daemon::api::{Problem, ProjectRef};

use super::*;

#[test]
fn changes_are_grouped_and_name_what_they_wrote() {
    let entry = [
        serde_json::json!({"put": {"id": "b1", "version": 1}}),
        serde_json::json!({"put": {"id": "l2", "version": 3}}),
        serde_json::json!({"unstage": {"session": "s"}}),
    ];
    assert_eq!(changes(&entry), "put b1 l2, unstage");
    assert_eq!(changes(&[]), "");
}

#[test]
fn times_and_ids_are_short() {
    assert_eq!(time(1_800_000_000_123), "2027-01-15 08:00:00");
    assert_eq!(time(i64::MAX), i64::MAX.to_string());
    assert_eq!(short("0198c0de-0000-7000-8000-00005f3a9c1e"), "5f3a9c1e");
    assert_eq!(short("abc"), "abc");
}

#[test]
fn a_verdict_names_each_bad_place() {
    let mut reply = VerifyReply {
        project: ProjectRef { id: "i".into(), root: "/src/parser".into() },
        segments: 1,
        entries: 41,
        is_cut: false,
        bytes: 20_480,
        index: IndexState::InUse,
        problems: Vec::new(),
    };
    insta::assert_snapshot!(verdict(&reply), @r"
    /src/parser: 41 entries intact in 1 segment, 20 kB
    The index needs no repair.
    ");
    reply.index = IndexState::OutOfUse { reason: "the disk is full".into() };
    reply.is_cut = true;
    reply.problems.push(Problem {
        file: "000001.jsonl".into(),
        line: 7,
        what: "its checksum differs".into(),
        is_unread: false,
    });
    let nowhere = "the entries do not lead to the memory that is served";
    reply.problems.push(Problem {
        file: String::new(),
        line: 0,
        what: nowhere.into(),
        is_unread: false,
    });
    insta::assert_snapshot!(verdict(&reply), @r"
    /src/parser: 41 entries intact before the first bad place, and those after it were not read: 1 segment, 20 kB
      000001.jsonl line 7: its checksum differs
      the entries do not lead to the memory that is served
    The index is not used until it is rebuilt: the disk is full
    ");
    reply.index = IndexState::InUse;
    assert!(!verdict(&reply).contains("needs no repair"), "the journal does");
}
