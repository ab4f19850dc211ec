//! The form of changes in a journal.

use super::*;
use crate::ids::Kind;

/// A build that does not know the field reads this build's notices, and the reverse.
#[test]
fn a_notice_with_all_files_read_serializes_as_before() {
    let notice = Notice {
        id: NoticeId(1),
        time: Timestamp(9),
        session: SessionId::new("s"),
        row: RecordId::new(Kind::SessionRow, 4),
        cause: NoticeCause::Crashed { files: vec!["a.rs".to_owned()], more: 2 },
        kept: Counts { anchors: 1, ..Counts::default() },
        files_unseen: false,
        private: false,
    };
    let known = r#"{"id":1,"time":9,"session":"s","row":"s4","cause":{"crashed":{"files":["a.rs"],"more":2}},"kept":{"blueprints":0,"anchors":1,"lessons":0}}"#;
    assert_eq!(serde_json::to_string(&notice).unwrap(), known);
    assert_eq!(serde_json::from_str::<Notice>(known).unwrap(), notice);
    let unseen = Notice { files_unseen: true, ..notice };
    let text = serde_json::to_string(&unseen).unwrap();
    assert!(text.ends_with(r#","files_unseen":true}"#), "{text}");
    assert_eq!(serde_json::from_str::<Notice>(&text).unwrap(), unseen);
}
