//! The text of outlines, and its limits.

use proptest::prelude::*;

use super::*;
use crate::difference::compare;
use crate::outline_text;

fn item(kind: ItemKind, depth: u16, at: u32, name: &str) -> Item {
    Item {
        kind,
        name: name.to_owned(),
        signature: format!("fn {name}(of: &str) -> usize"),
        first: at,
        last: at + 1,
        line: at,
        depth,
        doc: "Counts the words of a text that is not too long".to_owned(),
        digest: 0,
    }
}

fn outline(items: u32) -> Outline {
    let items = (0..items).map(|at| {
        let (kind, depth) = match at % 3 {
            0 => (ItemKind::Struct, 0),
            1 => (ItemKind::Method, 1),
            _ => (ItemKind::Variable, 0),
        };
        item(kind, depth, at * 2 + 1, &format!("name_{at}"))
    });
    Outline { items: items.collect(), ..outline_text("") }
}

fn view(chars_max: usize, tokens_max: Option<u32>) -> View<'static> {
    View { lines: None, chars_max, tokens_max, selects: "lines" }
}

#[test]
fn a_short_outline_is_whole() {
    let shown = render(&outline(3), &view(9_000, None));
    assert!(!shown.is_cut);
    insta::assert_snapshot!(shown.text, @r"
    1-2 fn name_0(of: &str) -> usize — Counts the words of a text that is not too long
      3-4 fn name_1(of: &str) -> usize — Counts the words of a text that is not too long
    5-6 fn name_2(of: &str) -> usize — Counts the words of a text that is not too long
    ");
}

#[test]
fn what_a_budget_cuts_is_named() {
    let notes: Vec<String> = [5_000, 2_100, 1_600, 900]
        .into_iter()
        .map(|chars_max| {
            let shown = render(&outline(60), &view(chars_max, None));
            assert!(shown.is_cut);
            shown.text.lines().last().unwrap_or_default().to_owned()
        })
        .collect();
    insta::assert_snapshot!(notes.join("\n"), @r"
    Left out: documentation. `lines` (as 120-300) shows a part in full.
    Left out: documentation, 20 variables. `lines` (as 120-300) shows a part in full.
    Left out: documentation, 20 variables, 20 inner items. `lines` (as 120-300) shows a part in full.
    Left out: documentation, 20 variables, 20 inner items, 3 items from line 103 on. `lines` (as 120-300) shows a part in full.
    ");
}

#[test]
fn a_part_is_selected_by_its_lines() {
    let view = View { lines: Some((3, 5)), ..view(9_000, None) };
    let text = render(&outline(9), &view).text;
    assert!(text.contains("name_1") && text.contains("name_2"), "{text}");
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn a_difference_is_worded() {
    let (before, mut after) = (outline(4), outline(5));
    after.items.remove(1);
    if let Some(changed) = after.items.get_mut(1) {
        changed.signature = "const NAME: u8".to_owned();
    }
    if let Some(moved) = after.items.get_mut(0) {
        (moved.first, moved.last) = (11, 20);
    }
    let text = render_difference(&compare(&before, &after), 9_000).text;
    insta::assert_snapshot!(text, @r"
    + 9-10 fn name_4(of: &str) -> usize
    ~ 5-6 const NAME: u8 (was: fn name_2(of: &str) -> usize)
    - fn name_1(of: &str) -> usize
    only moved: name_0 11-20 (was 1)
    ");
}

#[test]
fn a_long_difference_says_how_much_is_missing() {
    let shown = render_difference(&compare(&outline(0), &outline(100)), 1_000);
    assert!(shown.is_cut);
    assert!(shown.text.chars().count() <= 1_000);
    assert!(shown.text.contains("more lines of changes are left out"), "{}", shown.text);
}

proptest! {
    #[test]
    fn an_outline_stays_within_its_budget(
        items in 0_u32..200,
        chars_max in 400_usize..9_000,
        tokens_max in prop::option::of(120_u32..3_000),
    ) {
        let shown = render(&outline(items), &view(chars_max, tokens_max));
        prop_assert!(shown.text.chars().count() <= chars_max);
        let tokens = anchord_tokens::count(&shown.text);
        prop_assert!(tokens_max.is_none_or(|max| tokens <= max), "{tokens} of {tokens_max:?}");
    }

    #[test]
    fn a_difference_stays_within_its_budget(
        before in 0_u32..100,
        after in 0_u32..100,
        chars_max in 400_usize..9_000,
    ) {
        let (before, after) = (outline(before), outline(after));
        let shown = render_difference(&compare(&before, &after), chars_max);
        prop_assert!(shown.text.chars().count() <= chars_max);
    }
}
