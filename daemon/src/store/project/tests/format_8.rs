//! The kind and the fields that format 8 added.

use anchord_memory::fingerprint::{Fingerprint, Lines, Source};
use anchord_memory::rules::{Day, Effect, Matches, Window};
use anchord_memory::{Rule, SeenFiles, Standing};

use super::*;

/// Returns the changes of the formats before, and those with the kind and the fields that format 8
/// added.
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
    let source = Source::new("fn one() {\n    1\n}\n\nfn two() {}\n");
    let lines = "1-3".to_owned().into();
    let anchor = Anchor {
        print: Fingerprint::capture(&source, Lines { first: 1, last: 3 }),
        unites_adjacent: true,
        ..Anchor::new("src/one.rs".to_owned(), lines, "counts".to_owned())
    };
    let seen = SeenFiles::new([("src/one.rs".to_owned(), u64::MAX), ("b.rs".to_owned(), 1)]);
    let files = vec!["src/one.rs".to_owned(), "b.rs".to_owned()];
    let lesson = Lesson { files, seen: seen.clone(), ..Lesson::default() };
    let (title, content) = ("Counting".to_owned(), "Only `src/one.rs` counts.".to_owned());
    let blueprint = Blueprint { seen, ..Blueprint::new(Category::Decision, title, content) };
    let mut changes = changes_7();
    changes.push(vec![record(Kind::Rule, 19, 1, Body::Rule(rule))]);
    changes.push(vec![
        record(Kind::Anchor, 20, 1, Body::Anchor(anchor)),
        record(Kind::Lesson, 21, 1, Body::Lesson(lesson)),
        record(Kind::Blueprint, 22, 1, Body::Blueprint(blueprint)),
    ]);
    changes
}
