//! Differences between outlines of small texts, and laws.

use proptest::prelude::*;

use super::*;
use crate::outline::{Form, number};

/// An outline with an item on each of these lines: a depth, a name and a text.
fn outline(items: &[(u16, &str, &str)]) -> Outline {
    let item = |(at, (depth, name, text)): (usize, &(u16, &str, &str))| Item {
        kind: ItemKind::Function,
        name: (*name).to_owned(),
        signature: format!("fn {name}"),
        first: number(at + 1),
        last: number(at + 1),
        line: number(at + 1),
        depth: *depth,
        doc: String::new(),
        digest: crate::outline::digest([text.as_bytes()]),
    };
    Outline {
        form: Form::Text,
        lines: number(items.len()),
        bytes: 0,
        tokens: 0,
        imports: Vec::new(),
        items: items.iter().enumerate().map(item).collect(),
        left_out: 0,
        has_gaps: false,
    }
}

fn names<'a>(items: &[&'a Item]) -> Vec<&'a str> {
    items.iter().map(|item| item.name.as_str()).collect()
}

#[test]
fn an_item_is_added_removed_changed_or_moved() {
    let before = outline(&[(0, "gone", ""), (0, "same", "a"), (0, "other", "b")]);
    let after = outline(&[(0, "new", ""), (0, "more", ""), (0, "same", "a"), (0, "other", "c")]);
    let found = compare(&before, &after);
    assert_eq!(names(&found.added), ["new", "more"]);
    assert_eq!(names(&found.removed), ["gone"]);
    let changed: Vec<&str> = found.changed.iter().map(|(_, new)| new.name.as_str()).collect();
    assert_eq!(changed, ["other"]);
    let moved: Vec<(&str, u32)> =
        found.moved.iter().map(|moved| (moved.item.name.as_str(), moved.from)).collect();
    assert_eq!(moved, [("same", 2)]);
}

#[test]
fn the_items_of_a_moved_item_are_not_listed_with_it() {
    let before = outline(&[(0, "a", ""), (1, "b", ""), (1, "c", "")]);
    let after = outline(&[(0, "first", ""), (0, "a", ""), (1, "b", ""), (1, "c", "")]);
    let moved = compare(&before, &after).moved;
    assert_eq!(moved.len(), 1);
    assert_eq!(moved[0].item.name, "a");
}

#[test]
fn of_items_with_one_name_the_equal_ones_are_paired() {
    let before = outline(&[(0, "f", "1"), (0, "f", "2")]);
    let after = outline(&[(0, "f", "2"), (0, "f", "3")]);
    let found = compare(&before, &after);
    assert_eq!((found.added.len(), found.removed.len(), found.changed.len()), (0, 0, 1));
    assert_eq!(found.moved[0].from, 2);
}

#[test]
fn imports_are_compared_by_their_text() {
    let import = |line, text: &str| Import { line, text: text.to_owned() };
    let before = Outline { imports: vec![import(1, "a"), import(2, "b")], ..outline(&[]) };
    let after = Outline { imports: vec![import(1, "b"), import(2, "c")], ..outline(&[]) };
    let found = compare(&before, &after);
    assert_eq!(found.imports_added, [&import(2, "c")]);
    assert_eq!(found.imports_removed, [&import(1, "a")]);
}

fn any_outline() -> impl Strategy<Value = Outline> {
    let item = (0_u16..3, "[ab]", "[xy]");
    prop::collection::vec(item, 0..12).prop_map(|items| {
        let items: Vec<(u16, &str, &str)> = items
            .iter()
            .map(|(depth, name, text)| (*depth, name.as_str(), text.as_str()))
            .collect();
        outline(&items)
    })
}

proptest! {
    #[test]
    fn an_outline_does_not_differ_from_itself(outline in any_outline()) {
        prop_assert!(compare(&outline, &outline).is_empty());
    }

    #[test]
    fn the_numbers_of_items_add_up(before in any_outline(), after in any_outline()) {
        let found = compare(&before, &after);
        let kept = before.items.len() - found.removed.len();
        prop_assert_eq!(kept, after.items.len() - found.added.len());
        prop_assert!(found.changed.len() + found.moved.len() <= kept);
    }

    #[test]
    fn backwards_what_was_added_is_removed(before in any_outline(), after in any_outline()) {
        let (there, back) = (compare(&before, &after), compare(&after, &before));
        prop_assert_eq!(there.added.len(), back.removed.len());
        prop_assert_eq!(there.changed.len(), back.changed.len());
    }
}
