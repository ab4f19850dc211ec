//! The description that is shown before something is deleted.

use anchord_daemon::api::ByKind;
use anchord_memory::PerKind;

use super::*;

#[test]
fn a_list_shows_path_records_and_bytes() {
    let mut project = ProjectStatus {
        id: "0b8e6a52".into(),
        root: "/src/old".into(),
        name: "old".into(),
        exists: true,
        open: true,
        records: Some(ByKind(PerKind {
            blueprints: 1,
            lessons: 12,
            topics: 2,
            rows: 3,
            ..PerKind::default()
        })),
        revision: 4,
        entries: 9,
        bytes: 81_234,
        last_used: None,
        read_only: None,
        unread: false,
        shared: None,
        team: None,
    };
    let shown = summary(&project);
    let counts = "1 blueprint, 0 anchors, 12 lessons, 0 notes, 2 topics, 3 session rows";
    let head = "project  old\npath     /src/old\nid       0b8e6a52\nrecords  ";
    assert!(shown.starts_with(&format!("{head}{counts}")), "{shown}");
    assert!(shown.ends_with("\non disk  81 kB\n"), "{shown}");
    project.records = None;
    assert!(summary(&project).contains("records  unknown, its store cannot be read\n"));
}
