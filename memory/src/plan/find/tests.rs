//! The keys that a miss names.

use super::*;
use crate::testing::{apply, note, origin};
use crate::{NewNote, plan_notes};

#[test]
fn only_keys_with_a_part_in_common_are_suggested() {
    let mut memory = Memory::default();
    let keys = [
        "database.port",
        "server.http.port",
        "test.command",
        "build.command",
        "deployConfiguration",
        "api.base_url",
    ];
    let facts = keys.map(|key| Ok(NewNote { key: Some(key.to_owned()), ..note(key) }));
    let plan = plan_notes(&memory, &origin("one", 1), facts.into()).unwrap();
    apply(&mut memory, plan);
    let near = |key: &str| match find_fact(&memory, &Reader::anyone(), key) {
        Err(Refusal::NoSuchKey { nearest, .. }) => nearest.join(" "),
        other => panic!("{other:?}"),
    };
    for (asked, named) in [
        ("db.port", "database.port server.http.port"),
        ("port", "database.port server.http.port"),
        ("database port", "database.port server.http.port"),
        ("databse.prot", "database.port"),
        ("my.secretplan", ""),
        ("tests.command", "test.command build.command"),
        ("command", "test.command build.command"),
        ("build", "build.command"),
        ("base-url", "api.base_url"),
        ("zzz", ""),
    ] {
        assert_eq!(near(asked), named, "{asked}");
    }
}
