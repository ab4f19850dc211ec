//! Recorded payloads.

use crate::events::testing::rendered;

#[test]
fn payloads_are_understood() {
    insta::assert_snapshot!(rendered(
        super::super::KNOWN.id,
        include_str!("../fixtures/events.json")
    ));
}
