//! The changes that format 9 added, for a memory that a team shares.

use anchord_memory::{Held, HeldKey, Team};

use super::*;

/// Returns the changes of the formats before, and those that format 9 added.
pub(super) fn changes_9() -> Vec<Vec<Change>> {
    let key = HeldKey { instance: Arc::from("5e2c"), number: 90 };
    let held = Held {
        key: key.clone(),
        session: SessionId::new("s-1"),
        client: Arc::from("codex"),
        time: Timestamp(31),
        started: Timestamp(30),
        summary: Some("Taught the cache to expire.".to_owned()),
        expected: None,
        staged: Staged { first: Timestamp(30), last: Timestamp(31), ..Staged::default() },
        merge: None,
        merge_end: None,
        left_out: Vec::new(),
        unseen: Vec::new(),
    };
    let later = HeldKey { number: 91, ..key.clone() };
    let waits = Held { key: later, summary: None, ..held.clone() };
    let team = Team { project: Some("0d3c".to_owned()), last_number: 40, session_rows: 3 };
    let settings = Settings { load_tokens: Some(3_000), ..Settings::default() };
    let mut here = match record(Kind::Lesson, 23, 1, Body::Lesson(Lesson::default())) {
        Change::Put(record) => Record::clone(&record),
        other => unreachable!("{other:?}"),
    };
    (here.id, here.private) = (RecordId::private(Kind::Lesson, 1), true);
    let mut changes = changes_8();
    changes.push(vec![Change::Team(team)]);
    changes.push(vec![Change::Put(Arc::new(here)), Change::Hold(Box::new(held))]);
    changes.push(vec![Change::Hold(Box::new(waits))]);
    changes.push(vec![Change::Configure { client: None, settings, shared: true }]);
    changes.push(vec![
        record(Kind::Lesson, 41, 1, Body::Lesson(Lesson::default())),
        Change::Release(key),
    ]);
    changes
}
