//! Recorded payloads.

use crate::events::testing::told;

#[test]
fn payloads_are_understood() {
    insta::assert_snapshot!(told(super::super::KNOWN.id, include_str!("../fixtures/events.json")));
}
