//! Texts that are ranges, and the laws of their meeting.

use proptest::prelude::*;

use super::{LineRange, Places};

fn check(text: &str, printed: &str, is_span: bool) {
    let range = LineRange::from(text.to_owned());
    assert_eq!(range.to_string(), printed, "{text:?}");
    assert_eq!(matches!(range, LineRange::Span { .. }), is_span, "{text:?}");
}

#[test]
fn ranges_are_read_as_agents_write_them() {
    check("42-67", "42-67", true);
    check(" 42 - 67 ", "42-67", true);
    check("67-42", "42-67", true);
    check("42", "42", true);
    check("42-42", "42", true);
    for text in ["fn main", "0", "0-4", "1-2-3", "-4", "4-", "1,3", "99999999999"] {
        check(text, text, false);
    }
}

fn any_range() -> impl Strategy<Value = LineRange> {
    prop_oneof![
        (1_u32..30, 1_u32..30).prop_map(|(a, b)| LineRange::from(format!("{a}-{b}"))),
        (1_u32.., 1_u32..).prop_map(|(a, b)| LineRange::from(format!("{a}-{b}"))),
        "[a-c]{1,2}".prop_map(LineRange::from),
    ]
}

proptest! {
    #[test]
    fn a_printed_range_is_read_back(range in any_range()) {
        prop_assert_eq!(LineRange::from(range.to_string()), range);
    }

    #[test]
    fn meeting_is_symmetric_and_reflexive(a in any_range(), b in any_range()) {
        prop_assert!(a.meets(&a, 0));
        prop_assert_eq!(a.meets(&b, 0), b.meets(&a, 0));
        prop_assert_eq!(a.meets(&b, 1), b.meets(&a, 1));
    }

    #[test]
    fn places_are_found_as_by_comparing_all(
        written in prop::collection::vec((any_range(), any::<bool>()), 1..12),
    ) {
        let mut places = Places::default();
        let mut naive: Vec<(LineRange, usize)> = Vec::new();
        for (at, (range, unites)) in written.iter().enumerate() {
            let (lines, mut taken) = match unites {
                true => places.take_met(range),
                false => (range.clone(), places.take_begun(range)),
            };
            places.put(&lines, at);
            taken.sort_unstable();

            let (mut union, mut all) = (range.clone(), Vec::new());
            let is_same = |known: &LineRange, union: &LineRange| match unites {
                true => known.meets(union, 1),
                false => known.begins_like(union),
            };
            while let Some(met) = naive.iter().position(|(known, _)| is_same(known, &union)) {
                let (known, its) = naive.remove(met);
                if *unites {
                    union = union.union(&known);
                }
                all.push(its);
            }
            all.sort_unstable();
            prop_assert_eq!((&lines, &taken), (&union, &all));
            naive.push((union, at));
        }
    }
}
