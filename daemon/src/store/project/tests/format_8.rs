//! The kind that format 8 added.

use anchord_memory::rules::{Day, Effect, Matches, Window};
use anchord_memory::{Rule, Standing};

use super::*;

/// Returns the changes of the formats before, and those with the kind that format 8 added.
pub(super) fn changes_8() -> Vec<Vec<Change>> {
    let window = Window {
        days: vec![Day::Fri],
        from: Some("12:00".parse().unwrap()),
        until: None,
        tz: "Europe/Berlin".to_owned(),
    };
    let rule = Rule {
        title: "No deploy".to_owned(),
        reason: "nobody is there".to_owned(),
        effect: Effect::Deny,
        matches: Matches { commands: vec!["make deploy".to_owned()], ..Matches::default() },
        windows: vec![window],
        expires: Some(Timestamp(30)),
        fail_closed: true,
        standing: Standing::Accepted,
    };
    let mut changes = changes_7();
    changes.push(vec![record(Kind::Rule, 19, 1, Body::Rule(rule))]);
    changes
}
