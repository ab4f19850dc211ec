//! The description that is shown before something is deleted.

use anchord_daemon::api::ByKind;
use anchord_memory::PerKind;

use super::*;

#[test]
fn path_records_and_bytes_are_shown() {
    let mut project = ProjectStatus {
        id: "0b8e6a52".into(),
        root: "/src/old".into(),
        name: "old".into(),
        exists: true,
        open: true,
        records: Some(ByKind(PerKind {
            blueprints: 1,
            anchors: 0,
            lessons: 12,
            notes: 0,
            topics: 2,
            rows: 3,
        })),
        revision: 4,
        entries: 9,
        bytes: 81_234,
        last_used: None,
        read_only: None,
    };
    insta::assert_snapshot!(summary(&project), @r"
    project  old
    path     /src/old
    id       0b8e6a52
    records  1 blueprint, 0 anchors, 12 lessons, 0 notes, 2 topics, 3 session rows
    on disk  81 kB
    ");
    project.records = None;
    assert!(summary(&project).contains("records  unknown, its store cannot be read\n"));
}
