//! Tests of the payload of notifications.

use uuid::Uuid;

use super::{HeadNotification, parse};

#[test]
fn only_a_project_and_a_position_are_heard() {
    let project = Uuid::nil();
    assert_eq!(parse(&format!("{project} 7")), Some(HeadNotification { project, seq: 7 }));
    for payload in ["", "7", "x 7", &format!("{project}"), &format!("{project} -1")] {
        assert_eq!(parse(payload), None, "{payload}");
    }
}
