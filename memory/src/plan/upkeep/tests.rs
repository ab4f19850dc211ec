//! Anchors that move, and those that were written meanwhile.

use anchord_fingerprint::{Fingerprint, Lines, Source};

use super::{AnchorMove, plan_upkeep};
use crate::ids::Version;
use crate::kinds::AnchorState;
use crate::lines::LineRange;
use crate::memory::Memory;
use crate::plan::plan_add;
use crate::record::{Anchor, Body, Record};
use crate::testing::{anchor, anchors, apply, origin};

fn print(text: &str) -> Fingerprint {
    let source = Source::new(text);
    Fingerprint::capture(&source, Lines { first: 1, last: source.count() }).unwrap()
}

fn added(memory: &mut Memory, all: Vec<Anchor>) -> Vec<Record> {
    let plan = plan_add(memory, &origin("one", 1), anchors(all)).unwrap();
    apply(memory, plan);
    memory.records().map(|it| Record::clone(it)).collect()
}

fn stored(memory: &Memory) -> Vec<(String, String, Option<Fingerprint>)> {
    let anchors = memory.records().filter(|it| it.state.is_active());
    let anchors = anchors.filter_map(|it| it.anchor());
    anchors.map(|it| (it.file.clone(), it.lines.to_string(), it.print.clone())).collect()
}

#[test]
fn an_anchor_moves_with_its_fingerprint_and_keeps_its_age() {
    let mut memory = Memory::default();
    let was = Anchor { print: Some(print("a line\n")), ..anchor("a.rs", "4-7", "retry") };
    let before = added(&mut memory, vec![was]).remove(0);
    let it = AnchorMove {
        id: before.id,
        version: before.version,
        file: "b.rs".to_owned(),
        lines: LineRange::from("14-17".to_owned()),
        print: print("other\n"),
    };
    let stale = AnchorMove { version: Version(9), ..it.clone() };
    assert_eq!(plan_upkeep(&memory, &[stale]).outcome, []);
    let plan = plan_upkeep(&memory, std::slice::from_ref(&it));
    assert_eq!(apply(&mut memory, plan), [before.id]);
    assert_eq!(stored(&memory), [("b.rs".to_owned(), "14-17".to_owned(), Some(print("other\n")))]);
    let now = memory.record(before.id).unwrap();
    assert_eq!(now.updated, before.updated);
    assert_eq!(plan_upkeep(&memory, &[it]).outcome, [], "it is at another version now");
}

#[test]
fn an_anchor_written_again_keeps_what_is_known_of_its_lines() {
    let mut memory = Memory::default();
    let (one, two) = (print("one line\n"), print("two lines\n"));
    added(
        &mut memory,
        vec![
            Anchor { print: Some(one.clone()), ..anchor("a.rs", "1-5", "one") },
            Anchor { print: Some(two.clone()), ..anchor("a.rs", "6-9", "two") },
        ],
    );
    let place = |lines: &str, print: Option<&Fingerprint>| {
        ("a.rs".to_owned(), lines.to_owned(), print.cloned())
    };
    assert_eq!(stored(&memory), [place("1-5", Some(&one)), place("6-9", Some(&two))]);
    // The same lines: what is known of them stays.
    added(&mut memory, vec![anchor("a.rs", "6-9", "two again")]);
    assert_eq!(stored(&memory), [place("1-5", Some(&one)), place("6-9", Some(&two))]);
    // The same beginning: nothing is known of the other lines.
    added(&mut memory, vec![anchor("a.rs", "6-12", "more")]);
    assert_eq!(stored(&memory), [place("1-5", Some(&one)), place("6-12", None)]);
    // Another tool set unites adjacent ranges, and the record does not keep its rule.
    added(&mut memory, vec![Anchor { unites_adjacent: true, ..anchor("a.rs", "13-14", "all") }]);
    assert_eq!(stored(&memory), [place("1-14", None)]);
    added(&mut memory, vec![anchor("a.rs", "15-19", "next")]);
    assert_eq!(stored(&memory), [place("1-14", None), place("15-19", None)]);
}

#[test]
fn a_state_is_shown_in_few_words_and_never_stored() {
    let mut memory = Memory::default();
    let record = added(&mut memory, vec![anchor("a.rs", "4-7", "retry")]).remove(0);
    let said = |state: AnchorState| {
        let shown = Anchor { state: Some(state), ..anchor("a.rs", "14-17", "retry") };
        assert_eq!(serde_json::to_value(&shown).unwrap().as_object().unwrap().len(), 3);
        let shown = memory.showing([(record.id, Body::Anchor(shown))]);
        let text = crate::render::record(shown.record(record.id).unwrap());
        text.lines().next().unwrap_or_default().to_owned()
    };
    let from = |file: &str| AnchorState::Moved {
        from: (file.to_owned(), LineRange::from("4-7".to_owned())),
    };
    insta::assert_snapshot!(
        [
            AnchorState::Fresh,
            from("a.rs"),
            from("b.rs"),
            AnchorState::Changed { percent: 30 },
            AnchorState::Gone,
            AnchorState::Unchecked,
        ]
        .map(said)
        .join("\n"),
        @r"
    a1 [a.rs -> 14-17 -> retry]
    a1 [a.rs -> 14-17 -> retry] (moved from 4-7)
    a1 [a.rs -> 14-17 -> retry] (moved from b.rs:4-7)
    a1 [a.rs -> 14-17 -> retry] (code changed 30 %)
    a1 [a.rs -> 14-17 -> retry] (code is gone)
    a1 [a.rs -> 14-17 -> retry] (unchecked)
    "
    );
}
