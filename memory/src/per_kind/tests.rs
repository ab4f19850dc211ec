//! The spelling of a value for each kind on disk.

use serde_json::json;

use super::*;

#[test]
fn zeros_are_omitted_except_for_the_first_three_kinds() {
    let counts = Counts { topics: 2, ..Counts::default() };
    let written = serde_json::to_string(&counts).unwrap();
    insta::assert_snapshot!(written, @r#"{"blueprints":0,"anchors":0,"lessons":0,"topics":2}"#);
    assert_eq!(serde_json::from_str::<Counts>(&written).unwrap(), counts);
}

#[test]
fn a_full_count_has_every_kind() {
    let active = PerKind::<u64> { notes: 3, ..PerKind::default() };
    let written = active.serialize_whole(serde_json::value::Serializer).unwrap();
    assert_eq!((&written["notes"], &written["rows"]), (&json!(3), &json!(0)));
    assert_eq!(written.as_object().unwrap().len(), Kind::ALL.len());
}

#[test]
fn a_kind_unknown_to_an_older_build_counts_as_zero() {
    let active: PerKind<u64> = serde_json::from_value(json!({"blueprints": 1})).unwrap();
    assert_eq!((active.blueprints, active.topics), (1, 0));
}
