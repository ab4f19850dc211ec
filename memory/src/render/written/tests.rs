//! The fields of these replies are part of the journal's format.

use serde_json::json;

use super::*;
use crate::Reader;
use crate::plan::{Update, plan_add, plan_forget, plan_update};
use crate::testing::{apply, day, lesson, lessons, origin};

#[test]
fn the_journal_keeps_each_record_in_one_line() {
    let (mut memory, by) = (crate::Memory::default(), origin("one", 1));
    let plan = plan_add(&memory, &by, lessons([lesson("Flush does not fsync", "")])).unwrap();
    let added = AddReply::of(apply(&mut memory, plan), day(1));
    let line = "l1 Flush does not fsync";
    assert_eq!(serde_json::to_value(added).unwrap(), json!({ "added": [line] }));
    let (reader, id) = (Reader::anyone(), "l1".parse().unwrap());
    let pin = Update { pinned: Some(true), ..Update::default() };
    let plan = plan_update(&memory, &reader, id, &pin, None, &by).unwrap();
    let updated = UpdateReply::of(&apply(&mut memory, plan), day(1));
    let fields = json!({ "id": "l1", "version": 2, "title": line, "unchanged": false });
    assert_eq!(serde_json::to_value(updated).unwrap(), fields);
    let plan = plan_forget(&memory, &reader, id, None, &by).unwrap();
    let forgotten = ForgetReply::of(&apply(&mut memory, plan), day(1));
    let fields = json!({ "id": "l1", "title": line, "already": false });
    assert_eq!(serde_json::to_value(forgotten).unwrap(), fields);
}
