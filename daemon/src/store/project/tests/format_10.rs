//! The changes that format 10 added, for the copy of a team's journal.

use anchord_memory::{Copied, CopyMark};

use super::*;

/// Returns the changes of the formats before, and those that format 10 added.
pub(super) fn changes_10() -> Vec<Vec<Change>> {
    let mark = |digest: &str, epoch| CopyMark { digest: digest.repeat(64).into(), epoch };
    let mut changes = changes_9();
    changes.push(vec![
        record(Kind::Lesson, 42, 1, Body::Lesson(Lesson::default())),
        Change::Copied(Copied { mark: mark("a", 0), member: Some("Bob".into()) }),
    ]);
    changes.push(vec![Change::Copied(mark("b", 1).into())]);
    changes
}
