//! Recorded payloads. The last six are written in our plugin's format rather than recorded.

use crate::events::testing::rendered;

#[test]
fn payloads_are_understood() {
    insta::assert_snapshot!(rendered(
        super::super::KNOWN.id,
        include_str!("../fixtures/events.json")
    ));
}
